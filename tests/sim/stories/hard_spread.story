# Three zones, three replicas, never two in one zone: still a node can be drained, swapped, and a shard moved, for who goes and who comes count as
# one.
cluster: pages
settings: {spread: {level: zone, hard: true}}
nodes: [{name: "n[1-6]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3}]
---
at 0s    expect settled within 30s
at 30s   drain n1
         expect n1 holds nothing within 1m
         expect 2 serve t/0 for 2m
at 1m30s expect settled
         expect n4 holds 6 shards
         add {name: n7, zone: z2}
         swap n2 with n7
         expect n2 holds nothing within 1m
at 3m    expect settled
         undo n1
         expect settled within 2m
at 5m    disable t/0 on n3
         disable t/1 on n6
         expect settled within 1m
at 6m    drain n5
         expect n5 holds nothing within 1m
at 7m    drain n7                       # the last of its zone: there is no place, and it says so
         expect t/0 says "no place" within 5s
         expect not n7 holds nothing for 30s
at 8m    expect every shard has a leader
         end
