# A whole zone that is gone counts as one: what it held is made anew in the others. One node more, and nothing moves.
cluster: pages
settings: {rebalance_delay: 20s, max_offline: 2}
nodes: [{name: "n[1-9]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 9, replicas: 2}]
---
at 0s    expect settled within 30s
at 30s   kill n1
         kill n4
         kill n7
at 45s   expect not the cluster is in maintenance for 1m
         expect every shard has a leader within 10s
         expect n1 holds nothing within 1m
at 3m    start n1
         start n4
         start n7
         expect settled within 2m
at 6m    kill n1
         kill n2
         kill n3
         expect the cluster is in maintenance within 20s
at 7m    expect t/0 says "maintenance: 3 nodes are gone, and 2 may be"
         start n1
         start n2
         start n3
         expect settled within 1m
at 8m    end
