# Where nobody says how many copies a write has, all who may come back are waited for, but not longer than seal_wait.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, seal_wait: 20s, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect t/0 is led by n1 within 30s
at 1m    kill n1
         expect t/0 says "waits for n1" within 15s
at 1m15s expect nobody leads t/0 for 10s
at 1m25s expect every shard has a leader within 10s
at 2m    start n1
         expect t/0 is led by n1 within 90s
at 4m    kill n1
at 4m13s start n1                       # in time: nobody has to wait any longer
         expect every shard has a leader within 4s
at 5m    end
