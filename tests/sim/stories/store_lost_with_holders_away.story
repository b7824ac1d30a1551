# The store loses everything while those that hold the data are away: it does not begin anew on those that are there, nor from too few of them.
cluster: pages
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect settled within 30s
at 30s   kill n1
         kill n2
         kill n3
at 1m    the store loses everything
at 2m    change t {linger: 6s}          # an operator writes the workload again
at 2m30s expect t/0 says "the store has lost its record"
         start n1
at 3m    adopt
at 4m    expect t/0 says "1 of 2 that are needed can be adopted"
         expect nobody leads t/0
         start n3
at 5m    adopt
         expect every shard has a leader within 30s
at 6m    start n2
         expect settled within 1m
at 7m    end
