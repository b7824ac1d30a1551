# An operator knows that a node does not come back: it is not waited for.
cluster: pages
settings: {rebalance_delay: 1h}
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 3}]
---
at 0s    expect settled within 30s
at 30s   kill n3
at 2m    expect at most 0 moves
         expect not n3 holds nothing
         forget n3
         expect n3 holds nothing within 30s
at 3m    start n3                      # it did, and is taken again
         expect n3 is up within 10s
         expect settled within 2m
at 6m    end
