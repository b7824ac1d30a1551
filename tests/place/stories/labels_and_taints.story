# Only nodes with every label asked for.
summary
nodes:
  - {name: n1, labels: {disk: ssd, os: linux}}
  - {name: n2, labels: {disk: ssd}}
  - {name: n3, labels: {disk: hdd, os: linux}}
workloads: [{name: t1, shards: 2, require: {disk: ssd, os: linux}}]
----
n1: holds 2, leads 2
n2: holds 0, leads 0
n3: holds 0, leads 0

# A taint refuses all that do not tolerate it; a toleration without a value matches any.
plan
nodes:
  - {name: n1, taints: [{key: dedicated, value: db}]}
  - {name: n2, taints: [{key: dedicated, value: web}]}
workloads:
  - {name: none, shards: 1}
  - {name: db, shards: 1, replicas: 1, tolerate: [{key: dedicated, value: db}]}
  - {name: any, shards: 1, replicas: 2, tolerate: [{key: dedicated}]}
----
any/0: n2 n1
db/0: n1
refused none labels proved: needs 1 nodes with its labels and tolerated taints; 0 have them
  n1: has taint dedicated=db, which is not tolerated
  n2: has taint dedicated=web, which is not tolerated

# A taint that says avoid is soft: taken only where nothing else is.
plan
nodes:
  - {name: n1}
  - {name: n2, taints: [{key: slow, value: "yes", effect: avoid}]}
workloads:
  - {name: one, shards: 1, replicas: 1}
  - {name: two, shards: 1, replicas: 2}
----
one/0: n1
two/0: n2 n1

# A node that lost its label is left as in draining.
plan
nodes:
  - {name: n1}
  - {name: n2, labels: {disk: ssd}}
  - {name: n3, labels: {disk: ssd}}
workloads: [{name: t1, shards: 1, replicas: 2, require: {disk: ssd}}]
placement: {t1: [[n1, n2]]}
----
t1/0: n3 n2
move t1/0 n1 -> n3 rules step 1

# Unless the replica is pinned there.
plan
nodes:
  - {name: n1}
  - {name: n2, labels: {disk: ssd}}
  - {name: n3, labels: {disk: ssd}}
workloads: [{name: t1, shards: 1, replicas: 2, require: {disk: ssd}, pinned: {0: [n1]}}]
placement: {t1: [[n1, n2]]}
----
t1/0: n1 n2
violation t1/0 able hard: n1 is not able to hold it

# And if no node has the label, it is refused, and stays.
plan
nodes:
  - {name: n1, taints: [{key: dedicated, value: db}]}
  - {name: n2, labels: {disk: ssd}}
workloads: [{name: t1, shards: 1, replicas: 2, require: {disk: ssd}, tolerate: [{key: dedicated}]}]
placement: {t1: [[n1, n2]]}
----
t1/0: n1 n2
refused t1/0 on n1 nodes proved: all 1 nodes that are able hold a replica of this shard already
  n2: it has a replica of this shard
violation t1/0 able hard: n1 is not able to hold it
