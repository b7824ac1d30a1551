# While nothing is to move, nothing is split.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 2, replicas: 3}]
---
at 0s    expect settled within 30s
at 30s   maintenance
at 35s   split t
         expect not an event says "to be split" for 30s
         expect t/0 says "is not split while nothing moves" within 5s
at 1m30s end maintenance
         expect settled within 1m
at 3m    end
