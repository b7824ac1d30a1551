# Everything is frozen, a leader is lost, and the controller changes: its successor keeps still as well.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 3, replicas: 3}]
---
at 0s    expect settled within 20s
at 30s   freeze
at 32s   kill controller 1
         kill n1
         expect controller 2 is active within 10s
at 45s   expect not every shard has a leader for 10s
at 1m    thaw
         expect every shard has a leader within 5s
at 1m10s end
