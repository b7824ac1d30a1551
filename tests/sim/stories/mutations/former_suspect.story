# One that was suspect leads again when it was steady for a while, not at once.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 3, replicas: 3, acks: 2, fencing: epoch}]
---
at 0s    expect settled within 20s
         expect n1 leads 1 shards within 20s
at 30s   cut n1 from the controllers for 20s
         expect n1 leads 0 shards within 15s
at 46s   expect n1 leads 0 shards for 50s
at 1m45s expect n1 leads 1 shards within 30s
at 2m20s end
