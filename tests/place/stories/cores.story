# The core with fewest replicas of this workload, then of all, then the lowest; core 0 counts as holding the reserve of 2 already.
plan cores
nodes: [{name: n1, cores: 4}]
workloads: [{name: t1, shards: 5}]
----
t1/0: n1 core 1
t1/1: n1 core 2
t1/2: n1 core 3
t1/3: n1 core 1
t1/4: n1 core 2

# Once the others hold more than the reserve, core 0 is taken.
plan cores
nodes: [{name: n1, cores: 2}]
workloads: [{name: t1, shards: 6}]
----
t1/0: n1 core 1
t1/1: n1 core 1
t1/2: n1 core 0
t1/3: n1 core 1
t1/4: n1 core 0
t1/5: n1 core 1

# A replica keeps its core.
plan cores
nodes: [{name: n1, cores: 4}]
workloads: [{name: t1, shards: 3}]
placement: {t1: [[n1], [n1]]}
cores: {t1: [[0], [0]]}
----
t1/0: n1 core 0
t1/1: n1 core 0
t1/2: n1 core 1

# A node that names no cores has core 0 only.
plan cores
nodes: [{name: n1}]
workloads: [{name: t1, shards: 2}]
----
t1/0: n1 core 0
t1/1: n1 core 0
