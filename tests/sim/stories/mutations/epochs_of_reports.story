# The store and both controllers have lost half a minute in which leadership has changed: what nodes have heard of is not given again.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2}]
---
at 0s    expect settled within 20s
at 1m    lead t/0 on n2
         expect t/0 is led by n2 within 5s
at 1m5s  lead t/0 on n3
         expect t/0 is led by n3 within 5s
at 1m15s kill controller 1
         kill controller 2
at 1m16s the store loses 30s
at 1m17s start controller 1
         start controller 2
         expect every shard has a leader within 30s
         expect settled within 40s
at 2m    end
