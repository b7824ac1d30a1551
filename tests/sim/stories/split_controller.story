# Controllers die, stand still and are cut off while shards are split: whoever acts next goes on where the records say it is.
cluster: pages
settings: {balance_per_node: {copies: 1}}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3, acks: 2}]
---
at 0s      expect settled within 30s
           writes 100 per second
at 1m      split t
at 1m0.2s  kill controller 1
at 1m8s    start controller 1
           kill controller 2
at 1m16s   start controller 2
           stop controller 1 for 6s
at 1m24s   cut controller 2 for 6s
at 1m32s   kill controller 1
at 1m40s   start controller 1
           expect an event says "t is split: it has 12 shards" within 2m
           expect settled within 3m
at 5m      kill n1
           expect every shard has a leader within 20s
at 6m      end
