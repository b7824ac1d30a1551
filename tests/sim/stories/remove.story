# A disk that was removed does not come back under its name; a new one does.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 3}]
---
at 0s    expect settled within 30s
at 30s   kill n2
         expect n2 is gone within 15s
at 1m    remove n2
         expect n2 holds nothing within 30s
         expect settled within 30s
at 2m    start n2
         expect an event says "this disk does not come back" within 5s
at 2m30s expect n2 holds nothing
         kill n2
at 3m    start n2 on a new disk
         expect n2 is up within 10s
         expect settled within 2m
at 6m    expect not n2 holds nothing
         end
