# A node that does not come back is waited for, and then replaced: what was on it moves, and nothing else.
cluster: pages
settings: {rebalance_delay: 2m}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 10, replicas: 3}]
---
at 0s    expect settled within 30s
         expect n3 holds 6 shards within 30s
at 1m    kill n3
at 2m50s expect at most 0 moves
at 3m    expect n3 holds nothing within 90s
at 5m    expect at most 6 moves
         expect not at most 5 moves
         remove n3
         expect settled within 10s
at 6m    end
