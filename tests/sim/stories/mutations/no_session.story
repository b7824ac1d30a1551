# A leader without the store stops by itself before anybody follows it, and clients that still come to it are refused.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3}]
---
at 0s    expect settled within 20s
at 25s   expect t/0 is led by n1
at 30s   cut n1 from the store for 30s
         expect not t/0 is led by n1 within 15s
         expect every shard has a leader within 20s
at 1m10s end
