# Three shards of one unit do not fit two units: none is placed.
plan
settings: {hard_limit: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 1}}]
workloads: [{name: t1, shards: 3, load: {cpu: 1}}]
----
refused t1 capacity proved: needs 3 slots; 2 are free

# New workloads are decided in the order of the file, each on what the earlier left: the first takes the room, the second is refused whole,
# the third, which is small, still fits.
plan
settings: {hard_limit: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 4}}]
workloads:
  - {name: first, shards: 6, load: {cpu: 1}}
  - {name: second, shards: 3, load: {cpu: 1}}
  - {name: third, shards: 2, load: {cpu: 1}}
----
first/0: n2
first/1: n1
first/2: n2
first/3: n1
first/4: n1
first/5: n2
third/0: n2
third/1: n1
refused second capacity proved: needs 3 slots; 2 are free

# The same in another order: what comes first counts, not what is larger.
summary
settings: {hard_limit: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 4}}]
workloads:
  - {name: second, shards: 3, load: {cpu: 1}}
  - {name: first, shards: 6, load: {cpu: 1}}
  - {name: third, shards: 2, load: {cpu: 1}}
----
n1: holds 3, leads 3
n2: holds 2, leads 2
refused first capacity proved: needs 6 slots; 5 are free

# New shards of a workload that is there are one request too: refused together, its rows stay as they were.
plan
settings: {hard_limit: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 2}}]
workloads: [{name: t1, shards: 5, load: {cpu: 1}}]
placement: {t1: [[n1], [n2]]}
----
t1/0: n1
t1/1: n2
refused t1 capacity proved: needs 3 slots; 2 are free

# With one fewer they are placed.
plan
settings: {hard_limit: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 2}}]
workloads: [{name: t1, shards: 4, load: {cpu: 1}}]
placement: {t1: [[n1], [n2]]}
----
t1/0: n1
t1/1: n2
t1/2: n2
t1/3: n1

# Slots of 3, 1, 1 hold two shards of two replicas only if both use the large node: taking the two small ones together would be the end.
plan
nodes:
  - {name: a, replicas_max: 3}
  - {name: b, replicas_max: 1}
  - {name: c, replicas_max: 1}
workloads: [{name: t1, shards: 2, replicas: 2}]
----
t1/0: a c
t1/1: b a

# Slots of 9, 1, 1 hold no third: the sum of min(slots, shards) is 3 + 1 + 1, and 6 are needed.
plan
nodes:
  - {name: a, replicas_max: 9}
  - {name: b, replicas_max: 1}
  - {name: c, replicas_max: 1}
workloads: [{name: t1, shards: 3, replicas: 2}]
----
refused t1 count proved: needs 6 slots on different nodes; 5 are free

# Room that a drained replica will leave is not there yet for what is new: n1 is full until t1/0 has gone.
plan
settings: {hard_limit: 100%}
nodes:
  - {name: n1, capacity: {cpu: 4}, labels: {old: "yes"}}
  - {name: n2, capacity: {cpu: 4}, labels: {disk: ssd}}
workloads:
  - {name: t1, shards: 1, load: {cpu: 4}, require: {disk: ssd}}
  - {name: t2, shards: 1, load: {cpu: 1}, require: {old: "yes"}}
placement: {t1: [[n1]]}
----
t1/0: n2
move t1/0 n1 -> n2 rules step 1
refused t2 capacity proved: needs 1 nodes with 1 slot; 0 have one
  n1: cpu 100%+25% > 100%
  n2: has no label old=yes

# What is there is not moved to make room for what is new: t2 needs a node of its own size, and t1 sits on both.
plan
settings: {hard_limit: 100%, tolerance: 100%}
nodes: [{name: "n[1-2]", capacity: {cpu: 4}}]
workloads:
  - {name: t1, shards: 2, load: {cpu: 1}}
  - {name: t2, shards: 1, load: {cpu: 4}}
placement: {t1: [[n1], [n2]]}
----
t1/0: n1
t1/1: n2
refused t2 capacity proved: needs 1 nodes with 1 slot; 0 have one
  n1: cpu 25%+100% > 100%
  n2: cpu 25%+100% > 100%
