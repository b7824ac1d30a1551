# Who is gone is waited for, but what falls below min_active is mended at once, and no more than that.
cluster: pages
settings: {rebalance_delay: 10m, max_offline: 3}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads:
  - {name: t, shards: 10, replicas: 3, acks: 2}
  - {name: u, shards: 1, replicas: 3, min_active: 3}
---
at 0s    expect settled within 30s
at 30s   kill n1
at 2m    expect at most 1 moves
         kill n2
at 4m    expect 2 serve t/0
         expect 2 serve t/1
         expect 2 serve t/9
         expect 3 serve u/0
         expect not at most 1 moves
         expect at most 6 moves
         start n1
         start n2
         expect settled within 2m
at 7m    end
