# One copy is allowed at a time, and takes long: a lost leader is followed all the same.
cluster: pages
settings: {rebalance_delay: 1s, recovery: {copies: 1}, max_offline: 3}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 6, replicas: 3, acks: 2, min_active: 1}]
---
at 0s    expect settled within 20s
at 25s   slow n3 20 times
         slow n4 20 times
         slow n5 20 times
         kill n1
at 45s   kill n2
         expect every shard has a leader within 20s
at 1m10s end
