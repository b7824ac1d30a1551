# An operator says who leads: it does once it has all that the old one had. One that does not hold the shard never does.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect t/0 is led by n1 within 30s
at 1m    lead t/0 on n2
         expect t/0 is led by n2 within 2s
at 2m    lead t/0 on n4
at 3m    expect t/0 is on n1 n2 n3
         expect every shard has a leader
         expect at most 0 moves
         end
