# A workload may be more or less patient than the cluster, and a node than both.
cluster: pages
settings: {rebalance_delay: 3m}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads:
  - {name: t, shards: 5, replicas: 3, rebalance_delay: 1m}
  - {name: u, shards: 5, replicas: 3}
  - {name: v, shards: 5, replicas: 3, rebalance_delay: 6m}
---
at 0s    expect settled within 30s
         expect n3 holds 9 shards within 30s
at 30s   kill n3
at 1m30s expect at most 0 moves
         expect n3 holds 6 shards within 40s
at 3m30s expect n3 holds 6 shards
         expect n3 holds 3 shards within 40s
at 6m30s expect n3 holds 3 shards
         expect n3 holds nothing within 40s
at 8m    end
