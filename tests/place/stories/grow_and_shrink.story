# Rows that are missing are new shards: placed, and no moves.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 3}]
placement: {t1: [[n1]]}
----
t1/0: n1
t1/1: n2
t1/2: n3

# A short row gets replicas.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 2, replicas: 2}]
placement: {t1: [[n1], [n2, n3]]}
----
t1/0: n1 n3
t1/1: n2 n3
move t1/0 null -> n3 grow step 1

# Two at a time would be two moves of one shard: they are in successive steps.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1]]}
----
t1/0: n1 n3 n2
move t1/0 null -> n3 grow step 1
move t1/0 null -> n2 grow step 2

# A long row loses the worst placed: of n1 and n3, both in z1, one goes, and the leader is not it.
plan
nodes: [{name: "n[1-4]", zone: "z[1-2]"}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n2, n3]]}
----
t1/0: n1 n2
move t1/0 n3 -> null shrink step 1

# One on a down node goes first, and need not be repaired.
plan
nodes: [{name: "n[1-3]"}, {name: n4, status: down}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2, n3, n4]]}
----
t1/0: n1 n2 n3
move t1/0 n4 -> null shrink step 1

# A pinned one stays.
plan
nodes: [{name: "n[1-3]", zone: z1}, {name: n4, zone: z2}]
workloads: [{name: t1, shards: 1, replicas: 1, pinned: {0: [n2]}}]
placement: {t1: [[n1, n2, n4]]}
----
t1/0: n2
move t1/0 n4 -> null shrink step 1
move t1/0 n1 -> null shrink step 2
leader t1/0 n1 -> n2

# But not if it is lost and the other is the last one alive: nothing is left there to keep.
plan
nodes: [{name: n1}, {name: n2, status: down}]
workloads: [{name: t1, shards: 1, replicas: 1, pinned: {0: [n2]}}]
placement: {t1: [[n1, n2]]}
----
t1/0: n1
move t1/0 n2 -> null shrink step 1
violation t1/0 pinned hard: pinned to n2, which lacks it

# No home for the third replica: refused, and it goes on with two.
plan
nodes: [{name: "n[1-2]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2]]}
----
t1/0: n1 n2
refused t1/0 nodes proved: all 2 nodes that are able hold a replica of this shard already
  n1: it has a replica of this shard
  n2: it has a replica of this shard
violation t1/0 replicas hard: 2 of 3 replicas
