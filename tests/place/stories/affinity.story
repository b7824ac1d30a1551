# Apart: t1 and t2 share no node where they need not.
plan
nodes: [{name: "n[1-4]"}]
workloads:
  - {name: t1, shards: 2, apart_from: [t2]}
  - {name: t2, shards: 2}
----
t1/0: n2
t1/1: n3
t2/0: n1
t2/1: n4

# It is soft: with one node both are there, and it is a violation.
plan
nodes: [{name: n1}]
workloads:
  - {name: t1, shards: 1, apart_from: [t2]}
  - {name: t2, shards: 1}
----
t1/0: n1
t2/0: n1
violation t1/0 apart_from soft: t2 is on n1 too

# Close: t2 is where t1 is.
plan
nodes: [{name: "n[1-4]"}]
workloads:
  - {name: t1, shards: 1, pinned: {0: [n3]}}
  - {name: t2, shards: 1, close_to: [t1]}
----
t1/0: n3
t2/0: n3
