# Two moves of four: the others wait, which is a hard violation with its reason.
plan
settings: {moves_max: 2}
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 4}]
placement: {t1: [[n1], [n1], [n1], [n1]]}
----
t1/0: n3
t1/1: n2
t1/2: n1
t1/3: n1
move t1/0 n1 -> n3 drain step 1
move t1/1 n1 -> n2 drain step 1
violation t1/2 draining hard: n1 is draining, waits for moves_max
violation t1/3 draining hard: n1 is draining, waits for moves_max

# Repair and draining come before balance, and moves in flight count.
plan
settings: {moves_max: 2}
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 7}]
placement: {t1: [[n1], [n2], [n2], [n2], [n2], [n2], [n2]]}
moving: [{workload: t1, shard: 1, from: n2, to: n3}]
----
t1/0: n3
t1/1: n3
t1/2: n2
t1/3: n2
t1/4: n2
t1/5: n2
t1/6: n2
move t1/0 n1 -> n3 drain step 1

# Balance that waits is no violation.
plan
settings: {moves_max: 1}
nodes: [{name: "n[1-2]"}]
workloads: [{name: t1, shards: 6}]
placement: {t1: [[n1], [n1], [n1], [n1], [n1], [n1]]}
----
t1/0: n2
t1/1: n1
t1/2: n1
t1/3: n1
t1/4: n1
t1/5: n1
move t1/0 n1 -> n2 balance step 1

# All of it, in steps of two.
plan all
settings: {moves_max: 2}
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 4}]
placement: {t1: [[n1], [n1], [n1], [n1]]}
----
t1/0: n3
t1/1: n2
t1/2: n3
t1/3: n2
move t1/0 n1 -> n3 drain step 1
move t1/1 n1 -> n2 drain step 1
move t1/2 n1 -> n3 drain step 2
move t1/3 n1 -> n2 drain step 2

# One move per node, in or out: n1 gives one, the other waits.
plan
settings: {moves_per_node_max: 1}
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 2}]
placement: {t1: [[n1], [n1]]}
----
t1/0: n3
t1/1: n1
move t1/0 n1 -> n3 drain step 1
violation t1/1 draining hard: n1 is draining, waits for moves_max

# Moves out of a down node do not count, those into the others do.
plan
settings: {moves_per_node_max: 1}
nodes: [{name: n1, status: down}, {name: "n[2-4]"}]
workloads: [{name: t1, shards: 3, replicas: 2}]
placement: {t1: [[n2, n1], [n3, n1], [n4, n1]]}
----
t1/0: n2 n3
t1/1: n3 n2
t1/2: n4 n1
move t1/0 n1 -> n3 repair step 1
move t1/1 n1 -> n2 repair step 1
violation t1/2 down hard: n1 is down, waits for moves_max

# The limit is used up, but v/0 is pinned and t/0 has lost its quorum: what no move mends does not wait for one.
plan
settings: {moves_max: 1}
nodes:
  - {name: a, zone: z1}
  - {name: b, zone: z1}
  - {name: c, zone: z2}
  - {name: d, zone: z2, status: down}
  - {name: e, zone: z1, status: draining}
workloads: [{name: t, shards: 1, replicas: 3}, {name: u, shards: 2}, {name: v, shards: 1, replicas: 2, pinned: {0: [a, b]}}]
placement: {t: [[d]], u: [[e], [e]], v: [[a, b]]}
----
t/0: d
u/0: c
u/1: e
v/0: a b
move u/0 e -> c drain step 1
violation t/0 down hard: d is down
violation t/0 quorum hard: more than half of its replicas are down
violation t/0 replicas hard: 1 of 3 replicas
violation u/1 draining hard: e is draining, waits for moves_max
violation v/0 spread soft: 2 replicas in z1

# Only a can hold u: its replica on b is refused, and waits for nothing.
plan
settings: {moves_max: 1}
nodes: [{name: a, labels: {d: ssd}}, {name: b}, {name: c, status: draining}]
workloads: [{name: t, shards: 2}, {name: u, shards: 1, replicas: 2, require: {d: ssd}}]
placement: {t: [[c], [c]], u: [[a, b]]}
----
t/0: b
t/1: c
u/0: a b
move t/0 c -> b drain step 1
refused u/0 on b nodes proved: all 1 nodes that are able hold a replica of this shard already
  a: it has a replica of this shard
  c: draining
violation t/1 draining hard: c is draining, waits for moves_max
violation u/0 able hard: b is not able to hold it

# What is in flight counts until the first step is done: where it fills moves_max, the plan begins with the second.
plan all
settings: {moves_max: 1}
nodes: [{name: a}, {name: b}, {name: c}, {name: d}]
workloads: [{name: t, shards: 8}]
placement: {t: [[a], [a], [a], [a], [a], [a], [a], [a]]}
moving: [{workload: t, shard: 0, from: a, to: b}]
----
t/0: b
t/1: d
t/2: c
t/3: d
t/4: c
t/5: b
t/6: a
t/7: a
move t/1 a -> d balance step 2
move t/2 a -> c balance step 3
move t/3 a -> d balance step 4
move t/4 a -> c balance step 5
move t/5 a -> b balance step 6

# Where it leaves room, the first step has fewer moves than the others.
plan all
settings: {moves_max: 2}
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 5}]
placement: {t1: [[n1], [n1], [n1], [n1], [n1]]}
moving: [{workload: t1, shard: 0, from: n1, to: n2}]
----
t1/0: n2
t1/1: n3
t1/2: n3
t1/3: n2
t1/4: n3
move t1/1 n1 -> n3 drain step 1
move t1/2 n1 -> n3 drain step 2
move t1/3 n1 -> n2 drain step 2
move t1/4 n1 -> n3 drain step 3

# The same for each node.
plan all
settings: {moves_per_node_max: 1}
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 3}]
placement: {t1: [[n1], [n1], [n1]]}
moving: [{workload: t1, shard: 0, from: n1, to: n2}]
----
t1/0: n2
t1/1: n3
t1/2: n3
move t1/1 n1 -> n3 drain step 2
move t1/2 n1 -> n3 drain step 3
