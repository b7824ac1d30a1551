# A workload is deleted and made again: its epochs go on, for somebody may still have heard of the old ones.
cluster: pages
nodes: [{name: "n[1-2]", zone: "z[1-2]"}]
workloads: [{name: t, shards: 1, replicas: 2}]
---
at 0s    expect settled within 20s
at 25s   lead t/0 on n2
         expect t/0 is led by n2 within 5s
at 30s   lead t/0 on n1
         expect t/0 is led by n1 within 5s
at 40s   delete t
         expect n1 holds nothing within 15s
         expect n2 holds nothing within 15s
at 1m    create {name: t, shards: 1, replicas: 2}
         expect every shard has a leader within 10s
at 1m20s end
