# A node drops its last replica of one workload while one of another goes on answering clients there: it is not taken for gone because of that.
cluster: pages
nodes: [{name: "n[1-2]", zone: "z[1-2]"}]
workloads:
  - {name: t, shards: 1, replicas: 1, state_model: online-offline, linger: 20s}
  - {name: u, shards: 1, replicas: 2, state_model: online-offline, linger: 5s}
---
at 0s    expect settled within 30s
at 30s   kill n1
         kill n2
at 31s   start n1
         start n2
         expect settled within 20s
at 1m    drain n1
         drain n2
         add {name: n3, zone: z3}
         add {name: n4, zone: z4}
         expect n1 holds nothing within 2m
         expect n2 holds nothing within 2m
at 4m    expect settled within 10s
         end
