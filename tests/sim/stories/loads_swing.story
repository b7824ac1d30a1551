# Loads that swing within the margin move nothing, nor does a spike; nor what is planned for another reason meanwhile.
cluster: pages
settings: {tolerance: 2%}
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 64, replicas: 2, load: {cpu: 10}, pinned: {0: [n1], 1: [n1], 2: [n1], 3: [n1]}}]
---
at 0s    expect settled within 30s
         load t {cpu: 10}
at 1m    load t/0 {cpu: 17}
         load t/1 {cpu: 17}
         load t/2 {cpu: 17}
         load t/3 {cpu: 17}
         expect at most 0 moves for 15m
at 4m    load t/0 {cpu: 3}
         load t/1 {cpu: 3}
         load t/2 {cpu: 3}
         load t/3 {cpu: 3}
at 7m    load t/0 {cpu: 17}
         load t/1 {cpu: 17}
         load t/2 {cpu: 17}
         load t/3 {cpu: 17}
at 8m    settings {permit: 5m}
at 10m   load t {cpu: 10}
         load t/0 {cpu: 90}
         load t/1 {cpu: 90}
         load t/2 {cpu: 90}
         load t/3 {cpu: 90}
at 10m4s load t {cpu: 10}
at 16m   expect not an event says "loads have changed"
         end
