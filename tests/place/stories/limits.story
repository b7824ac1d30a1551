# New shards may go up to the hard limit, 95 % of 20, and no further.
plan
nodes: [{name: n1, capacity: {cpu: 20}}]
workloads:
  - {name: t1, shards: 1, load: {cpu: 19}}
  - {name: t2, shards: 1, load: {cpu: 0.001}}
----
t1/0: n1
refused t2 capacity proved: needs 1 nodes with 1 slot; 0 have one
  n1: cpu 95%+0.005% > 95%

# What is used by others counts.
plan
nodes: [{name: n1, capacity: {cpu: 20}, used: {cpu: 10}}]
workloads:
  - {name: t1, shards: 1, load: {cpu: 9}}
  - {name: t2, shards: 1, load: {cpu: 0.001}}
----
t1/0: n1
refused t2 capacity proved: needs 1 nodes with 1 slot; 0 have one
  n1: cpu 95%+0.005% > 95%

# A node's own limit is over the cluster's.
plan
nodes: [{name: n1, capacity: {cpu: 20}, soft_limit: 50%, hard_limit: 50%}, {name: n2, capacity: {cpu: 20}}]
workloads: [{name: t1, shards: 29, load: {cpu: 1}}]
----
t1/0: n2
t1/1: n1
t1/2: n2
t1/3: n1
t1/4: n2
t1/5: n2
t1/6: n1
t1/7: n2
t1/8: n2
t1/9: n1
t1/10: n2
t1/11: n2
t1/12: n1
t1/13: n2
t1/14: n2
t1/15: n1
t1/16: n2
t1/17: n2
t1/18: n1
t1/19: n2
t1/20: n2
t1/21: n1
t1/22: n2
t1/23: n2
t1/24: n1
t1/25: n2
t1/26: n2
t1/27: n1
t1/28: n2

# The leader's load counts where it leads: 4 + 2 on one of the nodes does not fit 5.
plan
settings: {hard_limit: 100%}
nodes: [{name: n1, capacity: {cpu: 5}}, {name: n2, capacity: {cpu: 6}}]
workloads: [{name: t1, shards: 1, replicas: 2, load: {cpu: 4}, leader_load: {cpu: 2}}]
----
t1/0: n2 n1

# By number: a node has cores * replicas_per_core - core0_reserve slots, 2 * 3 - 2 = 4.
plan
settings: {replicas_per_core: 3}
nodes: [{name: n1, cores: 2}]
workloads:
  - {name: t1, shards: 4}
  - {name: t2, shards: 1}
----
t1/0: n1
t1/1: n1
t1/2: n1
t1/3: n1
refused t2 count proved: needs 1 nodes with 1 slot; 0 have one
  n1: replicas 4+1 > 4

# A system workload is neither counted nor refused by that limit.
summary
settings: {replicas_per_core: 3}
nodes: [{name: n1, cores: 2}]
workloads:
  - {name: sys, shards: 9, system: true}
  - {name: t1, shards: 4}
----
n1: holds 13, leads 13

# A node that names no cores has no limit; the shares follow the slots of those that do.
summary
settings: {replicas_per_core: 10, core0_reserve: 0}
nodes:
  - {name: one, cores: 1}
  - {name: three, cores: 3}
workloads: [{name: t1, shards: 20}]
----
one: holds 5, leads 5
three: holds 15, leads 15

# A node above its hard limit is relieved, down to the soft one; what is within the tolerance is not levelled beyond that.
plan
settings: {tolerance: 1000%}
nodes: [{name: "n[1-2]", capacity: {cpu: 10}}]
workloads: [{name: t1, shards: 12, load: {cpu: 1}}]
placement: {t1: [[n1], [n1], [n1], [n1], [n1], [n1], [n1], [n1], [n1], [n1], [n2], [n2]]}
----
t1/0: n2
t1/1: n2
t1/2: n1
t1/3: n1
t1/4: n1
t1/5: n1
t1/6: n1
t1/7: n1
t1/8: n1
t1/9: n1
t1/10: n2
t1/11: n2
move t1/0 n1 -> n2 limit step 1
move t1/1 n1 -> n2 balance step 1

# Where nothing can relieve it, it is a hard violation.
plan
nodes: [{name: n1, capacity: {cpu: 1}}]
workloads: [{name: t1, shards: 1, load: {cpu: 1}}]
placement: {t1: [[n1]]}
----
t1/0: n1
violation t1/0 capacity hard: n1: cpu 100% > 95%

# The same by number.
plan
nodes: [{name: n1, replicas_max: 1}]
workloads: [{name: t1, shards: 2}]
placement: {t1: [[n1], [n1]]}
----
t1/0: n1
t1/1: n1
violation t1/0 count hard: n1 holds 2 replicas of at most 1
violation t1/1 count hard: n1 holds 2 replicas of at most 1

# Peak for safety: two full nodes cannot exchange replicas, since both would be there at once. Each label says where it must be.
plan all
settings: {hard_limit: 100%}
nodes:
  - {name: n1, capacity: {cpu: 1}, labels: {a: "1"}}
  - {name: n2, capacity: {cpu: 1}, labels: {b: "1"}}
workloads:
  - {name: t1, shards: 1, load: {cpu: 1}, require: {b: "1"}}
  - {name: t2, shards: 1, load: {cpu: 1}, require: {a: "1"}}
placement: {t1: [[n1]], t2: [[n2]]}
----
t1/0: n1
t2/0: n2
refused t1/0 on n1 capacity not proved: none of 1 nodes has room
  n2: cpu 100%+100% > 100%
refused t2/0 on n2 capacity not proved: none of 1 nodes has room
  n1: cpu 100%+100% > 100%
violation t1/0 able hard: n1 is not able to hold it
violation t2/0 able hard: n2 is not able to hold it

# n2 leads t1/0 since n1 is lost, and holds one too many. The other is pinned, so that the new leader goes once n1 is replaced.
plan
nodes: [{name: n1, status: down}, {name: n2, replicas_max: 1}, {name: "n[3-4]"}]
workloads: [{name: t1, shards: 1, replicas: 2}, {name: t2, shards: 1, pinned: {0: [n2]}}]
placement: {t1: [[n1, n2]], t2: [[n2]]}
----
t1/0: n4 n3
t2/0: n2
move t1/0 n1 -> n3 repair step 1
move t1/0 n2 -> n4 limit step 2
leader t1/0 n1 -> n4
