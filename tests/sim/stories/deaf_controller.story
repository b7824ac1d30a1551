# A controller that is cut off from all nodes does no harm; one that stood still finds that it is active no more.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
at 1m    cut controller 1 from the nodes for 5m
         cut controller 2 from the nodes for 5m
         expect every shard has a leader for 5m
at 6m    expect settled
         stop controller 1 for 20s
at 6m5s  stop controller 2 for 20s
at 6m10s kill n2
         expect every shard has a leader within 40s
         start n2
at 8m    expect settled
         expect at most 0 moves
         end
