# A node is lost that held much: it is copied again, two shards at a time, because the settings say so.
cluster: pages
settings: {rebalance_delay: 1s, recovery: {copies: 2}}
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 2, min_active: 1}]
---
at 0s    expect settled within 20s
at 25s   kill n1
         expect at most 2 copies for 1m
         expect n1 holds nothing within 1m
at 1m30s end
