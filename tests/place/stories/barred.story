# A replica on a node that its shard is barred from leaves it, and the other shard makes up for its load.
plan
nodes: [{name: "n[1-4]"}]
workloads: [{name: t1, shards: 2, replicas: 2}]
placement: {t1: [[n1, n2], [n3, n4]]}
barred: [{workload: t1, shard: 0, node: n2}]
----
t1/0: n1 n3
t1/1: n2 n4
move t1/0 n2 -> n3 rules step 1
move t1/1 n3 -> n2 balance step 1

# It is not the load that decides: the emptiest node is barred, and so the next one gets it.
plan
nodes: [{name: n1, status: down}, {name: "n[2-4]"}]
workloads: [{name: t1, shards: 5, replicas: 2}]
placement: {t1: [[n1, n2], [n2, n3], [n2, n3], [n2, n3], [n3, n2]]}
barred: [{workload: t1, shard: 0, node: n4}]
----
t1/0: n2 n3
t1/1: n4 n3
t1/2: n2 n4
t1/3: n4 n3
t1/4: n3 n2
move t1/0 n1 -> n3 repair step 1
move t1/1 n2 -> n4 balance step 1
move t1/2 n3 -> n4 balance step 1
move t1/3 n2 -> n4 balance step 1
leader t1/0 n1 -> n2

# Balance passes by what is barred: only shards that may go to n3 do.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 6}]
placement: {t1: [[n1], [n1], [n1], [n2], [n2], [n2]]}
barred:
  - {workload: t1, shard: 0, node: n3}
  - {workload: t1, shard: 1, node: n3}
  - {workload: t1, shard: 3, node: n3}
----
t1/0: n1
t1/1: n1
t1/2: n3
t1/3: n2
t1/4: n3
t1/5: n2
move t1/2 n1 -> n3 balance step 1
move t1/4 n2 -> n3 balance step 1

# New shards stay away from the start, and all are level.
plan
nodes: [{name: "n[1-4]"}]
workloads: [{name: t1, shards: 4, replicas: 2}]
barred:
  - {workload: t1, shard: 1, node: n1}
  - {workload: t1, shard: 1, node: n2}
  - {workload: t1, shard: 3, node: n4}
----
t1/0: n4 n1
t1/1: n3 n4
t1/2: n2 n3
t1/3: n1 n2

# A new shard that is barred from too many nodes refuses the whole request, and says which shard it is.
plan
nodes: [{name: "n[1-3]"}, {name: n4, status: cordoned}]
workloads: [{name: t1, shards: 4, replicas: 2}]
barred:
  - {workload: t1, shard: 2, node: n1}
  - {workload: t1, shard: 2, node: n3}
----
refused t1 barred proved: needs 2 nodes; shard 2 is not barred from 1 of those that are able
  n1: shard 2 is barred from it
  n3: shard 2 is barred from it
  n4: cordoned

# The same with domains.
plan
nodes: [{name: "a[1-2]", zone: a}, {name: b1, zone: b}]
workloads: [{name: t1, shards: 1, replicas: 2, spread: {level: zone, hard: true}}]
barred: [{workload: t1, shard: 0, node: b1}]
----
refused t1 barred proved: needs 2 domains of level zone; 1 have an able node that shard 0 is not barred from
  b1: shard 0 is barred from it

# Nowhere else to go: it stays, refused, and the rule is broken.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n2]]}
barred:
  - {workload: t1, shard: 0, node: n2}
  - {workload: t1, shard: 0, node: n3}
----
t1/0: n1 n2
refused t1/0 on n2 barred proved: of 2 nodes that are able the shard is barred from 1, and the others hold a replica of it already
  n1: it has a replica of this shard
  n3: the shard is barred from it
violation t1/0 barred hard: it is barred from n2

# All others are barred.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
barred:
  - {workload: t1, shard: 0, node: n1}
  - {workload: t1, shard: 0, node: n2}
  - {workload: t1, shard: 0, node: n3}
----
t1/0: n1
refused t1/0 on n1 barred proved: the shard is barred from all 2 other nodes that are able
  n2: the shard is barred from it
  n3: the shard is barred from it
violation t1/0 barred hard: it is barred from n1

# A move in flight to a node that the shard was barred from meanwhile is cancelled; one away from it goes on.
plan
nodes: [{name: "n[1-4]"}]
workloads: [{name: t1, shards: 2, replicas: 2}]
placement: {t1: [[n1, n2], [n3, n4]]}
moving:
  - {workload: t1, shard: 0, from: n2, to: n3}
  - {workload: t1, shard: 1, from: n4, to: n1}
barred:
  - {workload: t1, shard: 0, node: n3}
  - {workload: t1, shard: 1, node: n4}
----
t1/0: n4 n2
t1/1: n3 n1
move t1/0 n1 -> n4 balance step 1
cancelled t1/0 n2 -> n3: the shard is barred from its destination

# It waits for the limit on moves like any other leaver, after what is lost.
plan
settings: {moves_max: 1}
nodes: [{name: n1, status: down}, {name: "n[2-4]"}]
workloads: [{name: t1, shards: 2, replicas: 2}]
placement: {t1: [[n3, n2], [n1, n4]]}
barred: [{workload: t1, shard: 0, node: n2}]
----
t1/0: n3 n2
t1/1: n4 n2
move t1/1 n1 -> n2 repair step 1
leader t1/1 n1 -> n4
violation t1/0 barred hard: it is barred from n2, waits for moves_max

# Of one replica too many the barred one goes.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n2, n3]]}
barred: [{workload: t1, shard: 0, node: n2}]
----
t1/0: n1 n3
move t1/0 n2 -> null shrink step 1

# Pinned and barred at once: it stays, and the rule is told to be broken.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1, pinned: {0: [n1]}}]
placement: {t1: [[n1]]}
barred: [{workload: t1, shard: 0, node: n1}]
----
t1/0: n1
violation t1/0 barred hard: it is barred from n1

# The room that it needs is made by a chain of moves: 0 may not go to n3, so 1 goes there and leaves it n2.
plan
nodes: [{name: "n[1-3]", capacity: {cpu: 10}, hard_limit: 100%, soft_limit: 100%}]
workloads:
  - {name: t1, shards: 2, load: {cpu: 6}}
placement: {t1: [[n1], [n2]]}
barred:
  - {workload: t1, shard: 0, node: n1}
  - {workload: t1, shard: 0, node: n3}
----
t1/0: n2
t1/1: n3
move t1/1 n2 -> n3 room step 1
move t1/0 n1 -> n2 rules step 2

# The next problem keeps what is barred.
next
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
barred: [{workload: t1, shard: 0, node: n1}, {workload: t1, shard: 0, node: n3}]
----
cluster: default
nodes:
  - {name: "n[1-3]"}
workloads:
  - name: t1
    shards: 1
placement:
  t1:
    - [n2]
barred:
  - {workload: t1, shard: 0, node: n1}
  - {workload: t1, shard: 0, node: n3}
