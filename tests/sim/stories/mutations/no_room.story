# A node is gone, and there is no other place for what it held. It is not told off: too few would be left.
cluster: pages
settings: {rebalance_delay: 5s}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, min_active: 3}]
---
at 0s    expect settled within 20s
at 25s   kill n3
at 50s   expect t/0 is on n1 n2 n3
         start n3
         expect settled within 20s
at 1m15s expect at most 0 moves
         end
