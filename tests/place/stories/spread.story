# Soft: as many different zones as possible, here all three.
plan
nodes: [{name: "n[1-6]", zone: "z[1-3]"}]
workloads: [{name: t1, shards: 2, replicas: 3}]
----
t1/0: n3 n5 n4
t1/1: n2 n1 n6

# Soft with fewer zones than replicas is met as far as it goes, and what cannot be is said.
plan
nodes: [{name: "n[1-4]", zone: "z[1-2]"}]
workloads: [{name: t1, shards: 1, replicas: 3}]
----
t1/0: n3 n1 n2
violation t1/0 spread soft: 2 replicas in z1

# Hard: the zone's domain is the first part of the path, so racks do not help.
plan
nodes:
  - {name: n1, zone: z1/r1}
  - {name: n2, zone: z1/r2}
workloads: [{name: t1, shards: 1, replicas: 2, spread: {level: zone, hard: true}}]
----
refused t1 spread proved: needs 2 domains of level zone; 1 have an able node

# By rack they differ.
plan
nodes:
  - {name: n1, zone: z1/r1}
  - {name: n2, zone: z1/r2}
workloads: [{name: t1, shards: 1, replicas: 2, spread: {level: rack, hard: true}}]
----
t1/0: n1 n2

# A path shorter than the level is one domain: both are in the rack "z1", so the third node is needed.
plan
nodes:
  - {name: n1, zone: z1}
  - {name: n2, zone: z1}
  - {name: n3, zone: z1/r1}
workloads: [{name: t1, shards: 1, replicas: 2, spread: {level: rack, hard: true}}]
----
t1/0: n3 n2

# A node without a zone is its own domain.
plan
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1, replicas: 3, spread: {level: zone, hard: true}}]
----
t1/0: n3 n2 n1

# A placement that breaks hard spread is mended by one move.
plan
settings: {spread: {level: zone, hard: true}}
nodes: [{name: "n[1-4]", zone: "z[1-2]"}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n3]]}
----
t1/0: n2 n3
move t1/0 n1 -> n2 spread step 1

# So is soft spread.
plan
nodes: [{name: "n[1-4]", zone: "z[1-2]"}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n3]]}
----
t1/0: n2 n3
move t1/0 n1 -> n2 spread step 1

# Where nothing better exists the violation stays, and says so.
plan
settings: {spread: {level: zone, hard: true}}
nodes: [{name: "n[1-2]", zone: z1}, {name: n3, zone: z2, status: cordoned}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n2]]}
----
t1/0: n1 n2
violation t1/0 spread hard: 2 replicas in z1

# A leaving replica and the one that replaces it count as one: n1 drains into its own zone.
plan
settings: {spread: {level: zone, hard: true}}
nodes:
  - {name: n1, zone: z1, status: draining}
  - {name: n2, zone: z1}
  - {name: n3, zone: z2}
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n3]]}
----
t1/0: n2 n3
move t1/0 n1 -> n2 drain step 1

# Hard spread refuses a repair: the only free node is in the other replica's zone.
plan
settings: {spread: {level: zone, hard: true}}
nodes:
  - {name: n1, zone: z1, status: down}
  - {name: n2, zone: z2}
  - {name: n3, zone: z2}
  - {name: n4, zone: z3, status: cordoned}
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n2, n1]]}
----
t1/0: n2 n1
refused t1/0 on n1 spread proved: every domain with an able node has a replica of this shard already
  n2: it has a replica of this shard
  n3: a replica of this shard is in its domain
  n4: cordoned
violation t1/0 down hard: n1 is down
