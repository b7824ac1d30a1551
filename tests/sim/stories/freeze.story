# Frozen, nothing changes, not even a lost leader is followed; keeping leaders, that is.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3}]
---
at 0s    expect settled within 30s
at 1m    freeze
at 1m5s  kill n1
at 1m10s expect not every shard has a leader for 1m
at 2m30s thaw
         expect every shard has a leader within 5s
         start n1
         expect settled within 30s
at 4m    freeze keeping leaders
at 4m5s  kill n2
         expect every shard has a leader within 20s
at 5m    thaw
         start n2
         expect settled within 30s
at 6m    end
