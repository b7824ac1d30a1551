# A new shard is placed where it is pinned.
plan
nodes: [{name: "n[1-4]"}]
workloads: [{name: t1, shards: 2, replicas: 2, pinned: {0: [n3], 1: [n3, n4]}}]
----
t1/0: n2 n3
t1/1: n3 n4

# A pin to a node that is not able cannot be kept, and is reported.
plan
nodes: [{name: n1, status: cordoned}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 1, pinned: {0: [n1]}}]
----
refused t1 capacity proved: shard 0 is pinned to n1, which cannot take it
  n1: cordoned
