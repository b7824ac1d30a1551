# A draining node ends empty.
plan
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 4}]
placement: {t1: [[n1], [n1], [n2], [n3]]}
----
t1/0: n3
t1/1: n2
t1/2: n2
t1/3: n3
move t1/0 n1 -> n3 drain step 1
move t1/1 n1 -> n2 drain step 1

# A leader that drains leads from where it goes, or hands over; either way a node that stays leads.
plan
nodes: [{name: n1, status: draining}, {name: "n[2-4]"}]
workloads: [{name: t1, shards: 2, replicas: 2}]
placement: {t1: [[n1, n2], [n3, n1]]}
----
t1/0: n4 n2
t1/1: n3 n2
move t1/0 n1 -> n4 drain step 1
move t1/1 n1 -> n2 drain step 1

# Two replicas of a shard drain one at a time, in successive steps.
plan
nodes: [{name: "n[1-2]", status: draining}, {name: "n[3-5]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
placement: {t1: [[n1, n2, n3]]}
----
t1/0: n5 n4 n3
move t1/0 n1 -> n5 drain step 1
move t1/0 n2 -> n4 drain step 2

# What has no room stays, is refused, and the node is still draining.
plan
settings: {hard_limit: 100%}
nodes: [{name: n1, capacity: {cpu: 4}, status: draining}, {name: n2, capacity: {cpu: 4}}]
workloads: [{name: t1, shards: 6, load: {cpu: 1}}]
placement: {t1: [[n1], [n1], [n1], [n2], [n2], [n2]]}
----
t1/0: n2
t1/1: n1
t1/2: n1
t1/3: n2
t1/4: n2
t1/5: n2
move t1/0 n1 -> n2 drain step 1
refused t1/1 on n1 capacity not proved: none of 1 nodes has room
  n2: cpu 100%+25% > 100%
refused t1/2 on n1 capacity not proved: none of 1 nodes has room
  n2: cpu 100%+25% > 100%
violation t1/1 draining hard: n1 is draining
violation t1/2 draining hard: n1 is draining

# A cordoned node keeps what it has and gets nothing, and balance leaves it alone.
plan
nodes: [{name: n1, status: cordoned}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 6}, {name: t2, shards: 2}]
placement: {t1: [[n1], [n1], [n1], [n1], [n2], [n3]]}
----
t1/0: n1
t1/1: n1
t1/2: n1
t1/3: n1
t1/4: n2
t1/5: n3
t2/0: n3
t2/1: n2
