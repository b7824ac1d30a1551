# A new controller has measured nothing yet, and knows that the one before had: it moves nothing back to where the spec alone would have it.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 16, replicas: 2, load: {cpu: 10}, pinned: {0: [n1], 1: [n1], 2: [n1], 3: [n1]}}]
---
at 0s    expect settled within 30s
         load t {cpu: 10}
         load t/0 {cpu: 40}
         load t/1 {cpu: 40}
         load t/2 {cpu: 40}
         load t/3 {cpu: 40}
         expect n1 holds 4 shards within 10m
at 15m   expect settled
         expect n1 holds 4 shards for 25m
at 16m   kill controller 1
         expect controller 2 is active within 10s
at 20m   start controller 1
at 21m   kill controller 2
         expect controller 1 is active within 10s
at 22m   kill n4
at 25m   start n4
at 40m   expect settled
         end
