# A node comes back with much on its disk, which is slow: one replica opens after the other, because the settings say so.
cluster: pages
settings: {session_ttl: 5s, openings_per_node: {copies: 1}}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 8, replicas: 2, min_active: 1}]
---
at 0s    expect settled within 1m
at 1m    slow n1 20 times
         kill n1
at 1m15s start n1
         expect settled within 2m
at 4m    end
