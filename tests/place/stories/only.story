# Three things to do: t1/0 to drain, t1 to level, t2 to place. Here only what is new.
plan only=allocate
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 5}, {name: t2, shards: 1}]
placement: {t1: [[n1], [n2], [n2], [n2], [n2]]}
----
t1/0: n1
t1/1: n2
t1/2: n2
t1/3: n2
t1/4: n2
t2/0: n3
violation t1/0 draining hard: n1 is draining

# Only what has to leave.
plan only=repair
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 5}, {name: t2, shards: 1}]
placement: {t1: [[n1], [n2], [n2], [n2], [n2]]}
----
t1/0: n3
t1/1: n2
t1/2: n2
t1/3: n2
t1/4: n2
move t1/0 n1 -> n3 drain step 1

# Only the load.
plan only=balance
nodes: [{name: n1, status: draining}, {name: "n[2-3]"}]
workloads: [{name: t1, shards: 5}, {name: t2, shards: 1}]
placement: {t1: [[n1], [n2], [n2], [n2], [n2]]}
----
t1/0: n1
t1/1: n3
t1/2: n3
t1/3: n2
t1/4: n2
move t1/1 n2 -> n3 balance step 1
move t1/2 n2 -> n3 balance step 1
violation t1/0 draining hard: n1 is draining
