# A node is lost, and too few are left: another one takes its place at once, whatever the delay.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 2, replicas: 2, min_active: 2}]
---
at 0s    expect settled within 20s
at 25s   kill n1
         expect n1 is gone within 15s
at 45s   expect 2 serve t/0 within 15s
         expect 2 serve t/1 within 15s
at 1m5s  end
