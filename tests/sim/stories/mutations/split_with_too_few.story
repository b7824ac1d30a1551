# The leader alone is there: with its copy alone the other half would have fewer than acknowledge a write.
cluster: pages
settings: {max_offline: 3}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, min_active: 1, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect settled within 30s
at 30s   kill n2
         kill n3
at 50s   split t
         expect t/0 says "1 of 2 that are needed" within 5s
at 1m20s start n2
         start n3
         expect settled within 2m
at 4m    end
