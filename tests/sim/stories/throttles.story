# Two copies at once in the whole cluster, one to a node; leaders do not wait for that.
cluster: pages
settings: {rebalance_delay: 10s, recovery: {copies: 2}, recovery_per_node: {copies: 1}, balance: {copies: 1}}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 20, replicas: 3}]
---
at 0s    expect settled within 30s
at 1m    kill n3
         expect every shard has a leader within 15s
         expect at most 2 copies for 3m
         expect not at most 1 copies within 1m
         expect t/18 says "waits for its turn to copy" within 1m
         expect n3 holds nothing within 3m
at 4m    remove n3
         expect settled within 1m
at 5m    add {name: n6, zone: z3}
         expect at most 1 copies for 2m
         expect not at most 0 copies within 30s
         expect settled within 4m
at 10m   end
