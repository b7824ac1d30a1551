# A move in flight counts as done, and is not repeated: nothing is left to do.
plan
nodes: [{name: "n[1-2]"}]
workloads: [{name: t1, shards: 2}]
placement: {t1: [[n1], [n1]]}
moving: [{workload: t1, shard: 1, from: n1, to: n2}]
----
t1/0: n1
t1/1: n2

# Its destination is down: cancelled, and the replica, on a draining node, is planned anew.
plan
nodes: [{name: n1, status: draining}, {name: n2, status: down}, {name: n3}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
moving: [{workload: t1, shard: 0, from: n1, to: n2}]
----
t1/0: n3
move t1/0 n1 -> n3 drain step 1
cancelled t1/0 n1 -> n2: destination down

# Cancelled too: a destination that drains, is cordoned, or lacks the label.
plan
nodes:
  - {name: n1, labels: {a: "1"}}
  - {name: n2, status: draining, labels: {a: "1"}}
  - {name: n3, status: cordoned, labels: {a: "1"}}
  - {name: n4}
workloads: [{name: t1, shards: 3, require: {a: "1"}}]
placement: {t1: [[n1], [n1], [n1]]}
moving:
  - {workload: t1, shard: 0, from: n1, to: n2}
  - {workload: t1, shard: 1, from: n1, to: n3}
  - {workload: t1, shard: 2, from: n1, to: n4}
----
t1/0: n1
t1/1: n1
t1/2: n1
cancelled t1/0 n1 -> n2: destination draining
cancelled t1/1 n1 -> n3: destination cordoned
cancelled t1/2 n1 -> n4: destination no longer able

# A shard with a move in flight gets none, and if it needs one that is a violation.
plan
nodes: [{name: "n[1-2]"}, {name: n3, status: draining}, {name: "n[4-5]"}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n3]]}
moving: [{workload: t1, shard: 0, from: n1, to: n2}]
----
t1/0: n2 n3
violation t1/0 draining hard: n3 is draining
violation t1/0 moving soft: it has a move in flight, and needs another

# Limits count it at both ends: n2 has no room for t2 while t1/0 may still come, and n1 none until it has left.
plan
settings: {hard_limit: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 1}}]
workloads:
  - {name: t1, shards: 1, load: {cpu: 1}}
  - {name: t2, shards: 1, load: {cpu: 1}}
placement: {t1: [[n1]]}
moving: [{workload: t1, shard: 0, from: n1, to: n2}]
----
t1/0: n2
refused t2 capacity proved: needs 1 nodes with 1 slot; 0 have one
  n1: cpu 100%+100% > 100%
  n2: cpu 100%+100% > 100%

# One that is being added, and one that is being removed.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 2, replicas: 2}]
placement: {t1: [[n1], [n1, n2, n3]]}
moving:
  - {workload: t1, shard: 0, from: null, to: n2}
  - {workload: t1, shard: 1, from: n3, to: null}
----
t1/0: n1 n2
t1/1: n1 n2
