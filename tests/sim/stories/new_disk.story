# A machine that comes back with an empty disk holds nothing, whatever the records said, and gets its replicas anew.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 8, replicas: 3, acks: 2}]
---
at 0s   expect settled within 30s
at 1m   kill n2
        expect every shard has a leader within 20s
at 2m   start n2 on a new disk
        expect settled within 1m
        expect n2 holds 8 shards within 1m
at 4m   end
