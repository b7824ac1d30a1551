# A node is waited for a minute, and the controller changes meanwhile: what was waited before counts.
cluster: pages
settings: {rebalance_delay: 1m}
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 4, replicas: 2, min_active: 1}]
---
at 0s    expect settled within 20s
at 30s   kill n1
         expect n1 is gone within 15s
at 1m24s expect controller 2 is active
at 1m25s kill controller 2
         expect controller 1 is active within 10s
at 2m    expect n1 holds nothing within 15s
at 2m20s end
