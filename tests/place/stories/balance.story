# Within the tolerance nothing moves: 21 and 20 are less than 5 % off the mean.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 5, load: {cpu: 10}, shard_loads: {0: {cpu: 21}, 1: {cpu: 5}, 2: {cpu: 5}, 3: {cpu: 5}, 4: {cpu: 5}}}]
placement: {t1: [[n1], [n2], [n2], [n2], [n2]]}
----
t1/0: n1
t1/1: n2
t1/2: n2
t1/3: n2
t1/4: n2

# Outside it balancing goes on to the level, 4 and 4, not only to the edge.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 8, load: {cpu: 1}}]
placement: {t1: [[n1], [n1], [n1], [n1], [n1], [n1], [n2], [n2]]}
----
t1/0: n2
t1/1: n2
t1/2: n1
t1/3: n1
t1/4: n1
t1/5: n1
t1/6: n2
t1/7: n2
move t1/0 n1 -> n2 balance step 1
move t1/1 n1 -> n2 balance step 1

# A new node gets its fair share, 2 of 6, and nothing else moves.
plan
nodes: [{name: "n[1-3]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 6, load: {cpu: 1}}]
placement: {t1: [[n1], [n2], [n1], [n2], [n1], [n2]]}
----
t1/0: n3
t1/1: n3
t1/2: n1
t1/3: n2
t1/4: n1
t1/5: n2
move t1/0 n1 -> n3 balance step 1
move t1/1 n2 -> n3 balance step 1

# What moved lately stays: shard 0 would be as good a choice as the others.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 2, load: {cpu: 1}}]
placement: {t1: [[n1], [n1]]}
recent: [{workload: t1, shard: 0, node: n1}]
----
t1/0: n1
t1/1: n2
move t1/1 n1 -> n2 balance step 1

# So does what is pinned; with both held nothing can move.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 2, load: {cpu: 1}, pinned: {1: [n1]}}]
placement: {t1: [[n1], [n1]]}
recent: [{workload: t1, shard: 0, node: n1}]
----
t1/0: n1
t1/1: n1

# What moved lately still leaves a draining node.
plan
nodes: [{name: n1, status: draining}, {name: n2}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
recent: [{workload: t1, shard: 0, node: n1}]
----
t1/0: n2
move t1/0 n1 -> n2 drain step 1

# Balancing stays below the soft limit: n2's other users leave it 80 - 75 = 5 units, so one replica of 4 may come, not two.
plan
nodes:
  - {name: n1, capacity: {cpu: 100}, used: {cpu: 60}}
  - {name: n2, capacity: {cpu: 100}, used: {cpu: 75}}
workloads: [{name: t1, shards: 8, load: {cpu: 4}}]
placement: {t1: [[n1], [n1], [n1], [n1], [n1], [n1], [n1], [n1]]}
----
t1/0: n2
t1/1: n1
t1/2: n1
t1/3: n1
t1/4: n1
t1/5: n1
t1/6: n1
t1/7: n1
move t1/0 n1 -> n2 balance step 1

# Cheap moves are preferred: t2 costs a hundredth to move, and both are as heavy.
plan
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads:
  - {name: t1, shards: 1, load: {cpu: 10}, move_cost: 100}
  - {name: t2, shards: 1, load: {cpu: 10}, move_cost: 1}
placement: {t1: [[n1]], t2: [[n1]]}
----
t1/0: n1
t2/0: n2
move t2/0 n1 -> n2 balance step 1

# A giant is uneven by no fault of the plan, and the floor says so: 30 of 42 on two nodes is 30/21 of the mean.
stats
nodes: [{name: "n[1-2]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 5, load: {cpu: 3}, shard_loads: {0: {cpu: 30}}}]
----
moves 0, at least 0
cpu: max over mean 1.4286, floor 1.4286

# With nothing changed nothing moves, and the floor of moves is none.
stats
nodes: [{name: "n[1-3]", capacity: {cpu: 100}}]
workloads: [{name: t1, shards: 3, replicas: 2, load: {cpu: 1}}]
placement: {t1: [[n1, n2], [n2, n3], [n3, n1]]}
----
moves 0, at least 0
cpu: max over mean 1.0000, floor 1.0000

# n8 has one slot, and with a replica in it stands out more than any other: once it is empty it is not filled again.
plan
settings: {replicas_per_core: 3}
nodes: [{name: n8, cores: 1}, {name: n9}, {name: n10}, {name: n11, cores: 4}]
workloads: [{name: t1, shards: 4, replicas: 3}, {name: t2, shards: 1}]
placement: {t2: [[n8]]}
----
t1/0: n9 n11 n10
t1/1: n11 n10 n9
t1/2: n11 n10 n9
t1/3: n10 n11 n9
t2/0: n11
move t2/0 n8 -> n11 balance step 1

# A new shard would be better where others leave only now: that room is not for it yet, and a further run is announced.
stats all
nodes:
  - {name: n2, capacity: {cpu: 10, disk: 200}}
  - {name: n3}
  - {name: n4, status: down}
  - {name: "n[5-6]", zone: z2/r0}
  - {name: n8, capacity: {cpu: 20}, taints: [{key: k, value: b, effect: avoid}]}
workloads:
  - {name: t0, shards: 2, replicas: 3, load: {cpu: 1}, tolerate: [{key: k}]}
  - {name: t1, shards: 8, replicas: 3, load: {cpu: 1}}
placement: {t0: [[n6, n2, n5, n3], [n4, n8, n2]]}
----
moves 4, at least 1, cut short
cpu: max over mean 1.7500, floor 1.1111

# n2 leads since n1 is lost, but should be avoided: once n1 is replaced it goes, and n5, which was there all along, leads.
plan
nodes: [{name: n1, status: down}, {name: n2, taints: [{key: k, effect: avoid}]}, {name: "n[3-5]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2, n5]]}
----
t1/0: n5 n3 n4
move t1/0 n1 -> n3 repair step 1
move t1/0 n2 -> n4 rules step 2
leader t1/0 n1 -> n5

# Where nobody else was there, it still leads where it goes.
plan
nodes: [{name: n1, status: down}, {name: n2, taints: [{key: k, effect: avoid}]}, {name: "n[3-4]"}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n2]]}
----
t1/0: n4 n3
move t1/0 n1 -> n3 repair step 1
move t1/0 n2 -> n4 rules step 2
leader t1/0 n1 -> n4
