# A replica moves: the new one comes first, then the old one leaves the view, and goes on for a while.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 2, replicas: 2}]
---
at 0s    expect settled within 20s
at 30s   drain n1
         expect n1 holds nothing within 30s
         expect settled within 40s
at 1m15s end
