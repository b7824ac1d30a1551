# Where replicas must be in different zones, a node of another zone takes the places that it can, and the rest goes elsewhere.
cluster: pages
settings: {spread: {level: zone, hard: true}}
nodes:
  - {name: "n[1-3]", zone: "z[1-3]"}
  - {name: "n[4-6]", zone: "z[1-3]"}
workloads: [{name: t, shards: 12, replicas: 2}]
---
at 0s    expect settled within 30s
at 1m    add {name: n7, zone: z2}
at 1m10s swap n1 with n7
         expect n1 holds nothing within 3m
         expect settled within 3m
at 5m    end
