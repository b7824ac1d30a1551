# A node without the store steps down before anybody follows it; pulses alone are no reason to follow it.
cluster: pages
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 10, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
at 1m    cut n2 from the store for 40s
         expect n2 leads 0 shards within 15s
         expect every shard has a leader within 20s
at 3m    expect settled
at 5m    cut n3 from the controllers for 30s
         expect n3 is suspect within 15s
at 5m20s expect n3 holds 6 shards
         expect n3 leads 2 shards
at 6m    expect settled
         cut n4 for 40s
         expect n4 is gone within 20s
         expect every shard has a leader within 20s
at 8m    expect settled
         expect at most 0 moves
         end
