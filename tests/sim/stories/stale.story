# A node without the store steps down where it leads; where nobody does, it goes on, and so it is back at once.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads:
  - {name: t, shards: 3, replicas: 3, acks: 2}
  - {name: o, shards: 3, replicas: 3, state_model: online-offline}
---
at 0s    expect settled within 30s
at 1m    cut n1 from the store for 40s
         expect n1 leads 0 shards within 15s
         expect every shard has a leader within 15s
         expect 2 serve o/0 for 1m
at 1m41s expect 3 serve o/0 within 10s
         expect settled within 2m
at 4m    expect at most 0 moves
         end
