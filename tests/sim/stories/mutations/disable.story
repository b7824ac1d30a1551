# A shard is kept off a node that holds it.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 2}]
---
at 0s    expect settled within 20s
         expect t/0 is on n1 n2 within 20s
at 25s   disable t/0 on n1
         expect t/0 is on n2 n3 within 30s
at 1m    end
