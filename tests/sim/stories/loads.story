# Four shards become hot where the spec knows nothing of it: what nodes measure is levelled, two copies at a time, and then all is calm.
cluster: pages
settings: {balance: {copies: 2}}
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 16, replicas: 2, load: {cpu: 10}, leader_load: {cpu: 2}, pinned: {0: [n1], 1: [n1], 2: [n1], 3: [n1]}}]
---
at 0s    load t {cpu: 10}
         expect settled within 30s
at 30s   expect n1 holds 8 shards
at 5m    expect at most 0 moves
         expect not an event says "loads have changed"
         load t/0 {cpu: 40}
         load t/1 {cpu: 40}
         load t/2 {cpu: 40}
         load t/3 {cpu: 40}
         expect at most 0 moves for 1m
         expect at most 2 copies for 5m
         expect an event says "shards anew: loads have changed" within 3m
         expect n1 holds 4 shards within 10m
at 15m   expect settled
         expect settled for 5m
at 20m   end
