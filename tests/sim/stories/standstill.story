# A process that stands still longer than its session lasts is followed, and when it goes on it is just one of the others.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
at 1m    stop n1 for 3s
at 1m20s expect n1 leads 2 shards
at 2m    stop n1 for 30s
         expect n1 leads 0 shards within 20s
         expect every shard has a leader within 20s
at 3m    expect settled
         expect at most 0 moves
         end
