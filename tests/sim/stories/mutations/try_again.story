# A node of which every other transition fails: what fails is tried again, and nothing goes elsewhere.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 4, replicas: 2}]
---
at 0s    expect settled within 20s
at 25s   fail 50 percent on n4
         kill n4
at 30s   start n4
         expect settled within 1m
at 1m20s mend n4
at 1m40s expect settled
         expect at most 0 moves
         end
