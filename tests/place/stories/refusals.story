# More replicas than nodes.
plan
nodes: [{name: "n[1-2]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
----
refused t1 nodes proved: needs 3 nodes; 2 are up

# More replicas than nodes that are able to take one: n3 is cordoned, n4 down, n5 draining.
plan
nodes:
  - {name: n1}
  - {name: n2, status: no-leaders}
  - {name: n3, status: cordoned}
  - {name: n4, status: down}
  - {name: n5, status: draining}
workloads:
  - {name: t1, shards: 1, replicas: 2}
  - {name: t2, shards: 1, replicas: 3}
----
t1/0: n1 n2
refused t2 nodes proved: needs 3 nodes; 2 are up
  n3: cordoned
  n4: down
  n5: draining

# Labels that no node has.
plan
nodes: [{name: n1, labels: {disk: hdd}}, {name: n2}]
workloads: [{name: t1, shards: 1, require: {disk: ssd}}]
----
refused t1 labels proved: needs 1 nodes with its labels and tolerated taints; 0 have them
  n1: has label disk=hdd, not ssd
  n2: has no label disk=ssd

# Fewer domains than replicas, where they must differ.
plan
nodes: [{name: "n[1-6]", zone: "z[1-2]"}]
workloads: [{name: t1, shards: 1, replicas: 3, spread: {level: zone, hard: true}}]
----
refused t1 spread proved: needs 3 domains of level zone; 2 have an able node

# Too many for the number that nodes may hold.
plan
nodes: [{name: "n[1-2]", replicas_max: 2}]
workloads: [{name: t1, shards: 5}]
----
refused t1 count proved: needs 5 slots; 4 are free

# Too much for the capacity; the reason names the bound that binds.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 10, disk: 100}}]
workloads: [{name: t1, shards: 20, load: {cpu: 1, disk: 1}}]
----
refused t1 capacity proved: needs 20 slots; 18 are free

# One replica larger than every node.
plan
nodes: [{name: "n[1-2]", capacity: {disk: 10Gi}}]
workloads: [{name: t1, shards: 1, load: {disk: 10Gi}}]
----
refused t1 capacity proved: needs 1 nodes with 1 slot; 0 have one
  n1: disk 0%+100% > 95%
  n2: disk 0%+100% > 95%

# A billion shards are refused at once, and cost nothing.
plan
nodes: [{name: "n[1-3]", cores: 16}]
workloads: [{name: t1, shards: 1000000000, replicas: 3}]
----
refused t1 too-large proved: 3000000000 replicas, and 134217728 are the most that one cluster may have

# More than 2^27 replicas are too large for one problem even where nothing limits them.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1000000000, replicas: 3}]
----
refused t1 too-large proved: 3000000000 replicas, and 134217728 are the most that one cluster may have

# Unlike replicas are bin packing: 6 + 6, 4 + 4 + 4 on two nodes of 12 fit only one way.
plan
settings: {hard_limit: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 12}}]
workloads: [{name: t1, shards: 5, load: {cpu: 4}, shard_loads: {0: {cpu: 6}, 3: {cpu: 6}}}]
----
t1/0: n2
t1/1: n1
t1/2: n1
t1/3: n2
t1/4: n1
