# The next problem: moves done, those in flight too, new workloads there; recent is kept where it still holds.
next
nodes: [{name: n1, status: draining}, {name: "n[2-4]"}]
workloads: [{name: t1, shards: 3}, {name: t2, shards: 1}]
placement: {t1: [[n1], [n2], [n3]]}
moving: [{workload: t1, shard: 1, from: n2, to: n4}]
recent: [{workload: t1, shard: 0, node: n1}, {workload: t1, shard: 2, node: n3}]
----
cluster: default
nodes:
  - {name: n1, status: draining}
  - {name: "n[2-4]"}
workloads:
  - name: t1
    shards: 3
  - name: t2
    shards: 1
placement:
  t1:
    - [n2]
    - [n4]
    - [n3]
  t2:
    - [n2]
recent:
  - {workload: t1, shard: 2, node: n3}

# A move in flight that was cancelled is gone.
next
nodes: [{name: n1}, {name: n2, status: cordoned}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
moving: [{workload: t1, shard: 0, from: n1, to: n2}]
----
cluster: default
nodes:
  - {name: n1}
  - {name: n2, status: cordoned}
workloads:
  - name: t1
    shards: 1
placement:
  t1:
    - [n1]
