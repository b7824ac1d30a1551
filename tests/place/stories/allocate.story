# A new workload is dealt level: nine replicas on three like nodes are three each, and every node leads one shard.
summary
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 3, replicas: 3}]
----
n1: holds 3, leads 1
n2: holds 3, leads 1
n3: holds 3, leads 1

# No closed groups: six shards of two replicas on four nodes use every one of the six pairs once.
plan
nodes: [{name: "n[1-4]"}]
workloads: [{name: t1, shards: 6, replicas: 2}]
----
t1/0: n4 n2
t1/1: n3 n1
t1/2: n2 n3
t1/3: n1 n4
t1/4: n3 n4
t1/5: n2 n1

# Shares follow capacity: a node of twice the size gets twice the load.
summary
nodes:
  - {name: small1, capacity: {cpu: 50}}
  - {name: small2, capacity: {cpu: 50}}
  - {name: large, capacity: {cpu: 100}}
workloads: [{name: t1, shards: 40, load: {cpu: 1}}]
----
small1: holds 10, leads 10
small2: holds 10, leads 10
large: holds 20, leads 20

# Power multiplies a node's fair share, not its limits.
summary
nodes:
  - {name: weak, capacity: {cpu: 100}}
  - {name: strong, capacity: {cpu: 100}, power: 3}
workloads: [{name: t1, shards: 40, load: {cpu: 1}}]
----
weak: holds 10, leads 10
strong: holds 30, leads 30

# Limits come before shares: its power would give the strong node 27, its soft limit, 80 % of 20, keeps it at 16.
summary
nodes:
  - {name: weak, capacity: {cpu: 20}}
  - {name: strong, capacity: {cpu: 20}, power: 9}
workloads: [{name: t1, shards: 30, load: {cpu: 1}}]
----
weak: holds 14, leads 14
strong: holds 16, leads 16

# A node that names no capacity counts as the mean of those that do: (20 + 60) / 2 = 40, so the shares are 1 : 3 : 2.
summary
nodes:
  - {name: a, capacity: {cpu: 20}}
  - {name: b, capacity: {cpu: 60}}
  - {name: c}
workloads: [{name: t1, shards: 60, load: {cpu: 1}}]
----
a: holds 10, leads 10
b: holds 30, leads 30
c: holds 20, leads 20

# Where nobody names a capacity there is no limit, and all nodes are equal.
summary
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 6, replicas: 2, load: {cpu: 1000000}}]
----
n1: holds 4, leads 2
n2: holds 4, leads 2
n3: holds 4, leads 2

# Shards with loads of their own: 8 against the sum of the eight others.
summary
nodes: [{name: "n[1-2]", capacity: {cpu: 20}}]
workloads: [{name: t1, shards: 9, load: {cpu: 1}, shard_loads: {4: {cpu: 8}}}]
----
n1: holds 8, leads 8
n2: holds 1, leads 1

# Two workloads are each level, not only their sum: neither is bunched on one node.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads:
  - {name: t1, shards: 2, load: {cpu: 10}}
  - {name: t2, shards: 2, load: {cpu: 10}}
----
t1/0: n2
t1/1: n1
t2/0: n1
t2/1: n2

# A workload without load is balanced by number, beside one that has load.
summary
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads:
  - {name: t1, shards: 2, load: {cpu: 10}}
  - {name: t2, shards: 4}
----
n1: holds 3, leads 3
n2: holds 3, leads 3

# A workload of no shards is met by nothing.
plan
nodes: [{name: n1}]
workloads: [{name: t1, shards: 0}]
----
t1: no shards

# No nodes: refused, not wrong.
plan
workloads: [{name: t1, shards: 1}]
----
refused t1 nodes proved: needs 1 nodes; 0 are up
