# Where nobody leads, replicas copy while they serve.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 4, replicas: 2, state_model: online-offline}]
---
at 0s    expect settled within 30s
at 1m    split t
         expect 2 serve t/0 for 20s
         expect an event says "t is split: it has 8 shards" within 1m
         expect settled within 2m
at 4m    expect 2 serve t/7
         end
