# Losing a node moves exactly what was on it; each shard gets back its second replica, and one that led passes its leadership to a live one.
plan
nodes: [{name: n1, status: down}, {name: "n[2-4]"}]
workloads: [{name: t1, shards: 4, replicas: 2}]
placement: {t1: [[n1, n2], [n3, n1], [n2, n3], [n3, n4]]}
----
t1/0: n2 n4
t1/1: n3 n2
t1/2: n2 n3
t1/3: n4 n3
move t1/0 n1 -> n4 repair step 1
move t1/1 n1 -> n2 repair step 1
leader t1/0 n1 -> n2
leader t1/3 n3 -> n4

# A sole replica on a down node: all of it is down, so the quorum is lost and it is not touched.
plan
nodes: [{name: n1, status: down}, {name: n2}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
----
t1/0: n1
violation t1/0 down hard: n1 is down
violation t1/0 quorum hard: more than half of its replicas are down

# Forced, it is placed anew.
plan force
nodes: [{name: n1, status: down}, {name: n2}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
----
t1/0: n2
move t1/0 n1 -> n2 repair step 1

# Two of three down: not touched, and reported.
plan
nodes: [{name: "n[1-2]", status: down}, {name: "n[3-6]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2, n3]]}
----
t1/0: n1 n2 n3
violation t1/0 down hard: n1, n2 are down
violation t1/0 quorum hard: more than half of its replicas are down

# Forced, both are replaced, one after the other.
plan force
nodes: [{name: "n[1-2]", status: down}, {name: "n[3-6]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2, n3]]}
----
t1/0: n3 n5 n4
move t1/0 n1 -> n5 repair step 1
move t1/0 n2 -> n4 repair step 2
leader t1/0 n1 -> n3

# Exactly half is not more than half: it is repaired.
plan
nodes: [{name: "n[1-2]", status: down}, {name: "n[3-6]"}]
workloads: [{name: t1, shards: 1, replicas: 4}]
placement: {t1: [[n1, n2, n3, n4]]}
----
t1/0: n3 n5 n6 n4
move t1/0 n1 -> n5 repair step 1
move t1/0 n2 -> n6 repair step 2
leader t1/0 n1 -> n3

# There is no node to go to: refused, and it stays.
plan
nodes: [{name: n1, status: down}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n2, n1, n3]]}
----
t1/0: n2 n1 n3
refused t1/0 on n1 nodes proved: all 2 nodes that are able hold a replica of this shard already
  n2: it has a replica of this shard
  n3: it has a replica of this shard
violation t1/0 down hard: n1 is down

# Repair may go up to the hard limit, beyond the soft one.
plan
nodes: [{name: n1, capacity: {cpu: 100}, status: down}, {name: "n[2-3]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 2, replicas: 2, load: {cpu: 45}}]
placement: {t1: [[n2, n1], [n3, n2]]}
----
t1/0: n2 n3
t1/1: n3 n2
move t1/0 n1 -> n3 repair step 1

# And not beyond that one: 49 + 48 of 100.
plan
nodes: [{name: n1, capacity: {cpu: 100}, status: down}, {name: "n[2-3]", capacity: {cpu: 100}}]
workloads:
  - {name: t1, shards: 1, replicas: 2, load: {cpu: 48}}
  - {name: t2, shards: 1, load: {cpu: 49}}
placement: {t1: [[n2, n1]], t2: [[n3]]}
----
t1/0: n2 n1
t2/0: n3
refused t1/0 on n1 capacity not proved: none of 1 nodes has room
  n2: it has a replica of this shard
  n3: cpu 49%+48% > 95%
violation t1/0 down hard: n1 is down

# Only a chain makes room: t1/0 needs the node of 10, where t2 sits, which fits elsewhere.
plan
settings: {hard_limit: 100%, tolerance: 1000%}
nodes:
  - {name: n1, capacity: {cpu: 10}, status: down}
  - {name: n2, capacity: {cpu: 10}}
  - {name: n3, capacity: {cpu: 10}}
  - {name: n4, capacity: {cpu: 4}}
workloads:
  - {name: t1, shards: 1, replicas: 2, load: {cpu: 8}}
  - {name: t2, shards: 1, load: {cpu: 4}}
placement: {t1: [[n2, n1]], t2: [[n3]]}
----
t1/0: n2 n3
t2/0: n4
move t2/0 n3 -> n4 room step 1
move t1/0 n1 -> n3 repair step 2
