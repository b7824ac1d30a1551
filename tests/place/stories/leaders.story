# Leadership is levelled without moving replicas.
plan
nodes: [{name: "n[1-2]"}]
workloads: [{name: t1, shards: 4, replicas: 2}]
placement: {t1: [[n1, n2], [n1, n2], [n1, n2], [n1, n2]]}
----
t1/0: n2 n1
t1/1: n2 n1
t1/2: n1 n2
t1/3: n1 n2
leader t1/0 n1 -> n2
leader t1/1 n1 -> n2

# A node without leaders gets none.
plan
nodes: [{name: n1}, {name: n2, status: no-leaders}, {name: n3, leaders: false}]
workloads: [{name: t1, shards: 3, replicas: 3}]
----
t1/0: n1 n2 n3
t1/1: n1 n2 n3
t1/2: n1 n2 n3

# Unless no other can.
plan
nodes: [{name: n1, status: no-leaders}]
workloads: [{name: t1, shards: 1}]
----
t1/0: n1
violation t1/0 leaders soft: n1 leads, and should not

# One that leads there hands over.
plan
nodes: [{name: n1, status: no-leaders}, {name: n2}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n2]]}
----
t1/0: n2 n1
leader t1/0 n1 -> n2

# A leader's node is down: a live replica leads at once, not the one that comes.
plan
nodes: [{name: n1, status: down}, {name: n2}, {name: n3}, {name: n4}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2, n3]]}
----
t1/0: n2 n4 n3
move t1/0 n1 -> n4 repair step 1
leader t1/0 n1 -> n2

# Leaders are levelled by what leading costs: the shard of 3 against three of 1.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads:
  - {name: big, shards: 1, replicas: 2, load: {cpu: 1}, leader_load: {cpu: 3}}
  - {name: small, shards: 3, replicas: 2, load: {cpu: 1}, leader_load: {cpu: 1}}
placement:
  big: [[n1, n2]]
  small: [[n1, n2], [n1, n2], [n2, n1]]
----
big/0: n1 n2
small/0: n2 n1
small/1: n2 n1
small/2: n2 n1
leader small/0 n1 -> n2
leader small/1 n1 -> n2

# The leader is lost and the others drain: the one that finds no home leads, not one that only arrives.
plan
nodes: [{name: n1, status: down}, {name: "n[2-3]", status: draining}, {name: "n[4-5]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2, n3]]}
----
t1/0: n3 n5 n4
move t1/0 n1 -> n5 repair step 1
move t1/0 n2 -> n4 drain step 2
leader t1/0 n1 -> n3
refused t1/0 on n3 nodes proved: all 2 nodes that are able hold a replica of this shard already
  n1: down
  n2: draining
  n4: it has a replica of this shard
  n5: it has a replica of this shard
violation t1/0 draining hard: n3 is draining
