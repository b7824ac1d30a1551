# A node dies while shards are split: those that it led are split later, by whoever leads them then, and the rest when enough are there.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 6, replicas: 3, acks: 2}]
---
at 0s      expect settled within 30s
           writes 100 per second
at 1m      split t
at 1m0.1s  kill n1
           expect every shard has a leader within 40s
at 2m      start n1
           expect an event says "t is split: it has 12 shards" within 10m
           expect settled within 11m
at 14m     kill n2
           expect every shard has a leader within 20s
at 15m     end
