# A node has leave to be gone, for ten minutes. When they are over and it is not back, it is waited for as long as any other, and then replaced.
cluster: pages
settings: {rebalance_delay: 10s}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 2}]
---
at 0s     expect settled within 20s
          expect t/0 is on n1 n2 within 20s
at 25s    leave n1
          expect n1 has stopped within 10s
at 10m20s expect at most 0 moves
          expect n1 holds nothing within 1m
at 11m30s end
