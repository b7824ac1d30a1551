# A node was removed. Its disk does not come back under its name.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 2, replicas: 2}]
---
at 0s    expect settled within 20s
at 25s   kill n4
         expect n4 is gone within 15s
at 45s   remove n4
         expect n4 holds nothing within 10s
at 1m    start n4
         expect not n4 is up for 15s
at 1m20s end
