# n4 is lost, and t2 is new. Zones leave one node for each replica.
file c.yaml
cluster: pages
nodes:
  - {name: "n[1-3]", zone: "dc[1-3]", capacity: {cpu: 10}}
  - {name: n4, zone: dc1, capacity: {cpu: 10}, status: down}
settings: {spread: {level: zone, hard: true}}
workloads:
  - {name: t1, shards: 2, replicas: 3, load: {cpu: 1}}
  - {name: t2, shards: 1, replicas: 3, load: {cpu: 500m}}
placement:
  t1: [[n2, n4, n3], [n3, n2, n1]]
----
kept

run plan -f c.yaml
----
----
1 shard placed; 1 move (1 repair); 1 leader change
fullest node over its fair share: cpu 1.2 -> 1 (floor 1)

PLACED  SHARDS  REPLICAS
t2           1         3

MOVE  FROM  TO  REASON
t1/0  n4    n1  repair

LEADER OF  FROM  TO
t1/0       n2    n1
----
----

run plan -f c.yaml -o wide
----
----
1 shard placed; 1 move (1 repair); 1 leader change
fullest node over its fair share: cpu 1.2 -> 1 (floor 1)

NODE  ZONE  STATUS  REPLICAS  AFTER  LEADERS  AFTER  IN  OUT
n1    dc1   up             1      3        0      1   1    0
n2    dc2   up             2      3        1      1   0    0
n3    dc3   up             2      3        1      1   0    0
n4    dc1   down           1      0        0      0   0    1

PLACED  SHARDS  REPLICAS
t2           1         3

MOVE  FROM  TO  REASON  STEP
t1/0  n4    n1  repair     1

LEADER OF  FROM  TO
t1/0       n2    n1
----
----

run plan -f c.yaml -o json
----
{
  "placement": {
    "t1": [
      ["n1", "n2", "n3"],
      ["n3", "n2", "n1"]
    ],
    "t2": [
      ["n2", "n1", "n3"]
    ]
  },
  "moves": [
    {"workload": "t1", "shard": 0, "from": "n4", "to": "n1", "reason": "repair", "step": 1}
  ],
  "leaders": [
    {"workload": "t1", "shard": 0, "from": "n2", "to": "n1"}
  ],
  "cancelled": [],
  "refused": [],
  "violations": [],
  "stats": {
    "seconds": …,
    "evaluated_moves": …,
    "moves": 1,
    "moves_floor": 1,
    "cut_short": false,
    "balance": {
      "cpu": {"max_over_mean": 1, "floor": 1, "stddev_over_mean": 0, "max_over_mean_without_giants": null}
    }
  }
}

run plan -f c.yaml -o yaml --cores
----
placement:
  t1:
    - [n1, n2, n3]
    - [n3, n2, n1]
  t2:
    - [n2, n1, n3]
cores:
  t1:
    - [0, 0, 0]
    - [0, 0, 0]
  t2:
    - [0, 0, 0]
moves:
  - {workload: t1, shard: 0, from: n4, to: n1, reason: repair, step: 1}
leaders:
  - {workload: t1, shard: 0, from: n2, to: n1}
cancelled: []
refused: []
violations: []
stats:
  seconds: …
  evaluated_moves: …
  moves: 1
  moves_floor: 1
  cut_short: false
  balance:
    cpu: {max_over_mean: 1, floor: 1, stddev_over_mean: 0, max_over_mean_without_giants: null}

run plan -f c.yaml -o name
----
shard/t1/0
shard/t2/0

# A part of the work.
run plan -f c.yaml --only repair
----
----
1 move (1 repair)
fullest node over its fair share: cpu 1.2 -> 1 (floor 1)

MOVE  FROM  TO  REASON
t1/0  n4    n1  repair
----
----

run plan -f c.yaml --only allocate -o name
----
shard/t2/0
! evenkeel: the plan does not meet everything: 1 hard rule broken
exit 1

# Why a shard is where it is.
run plan -f c.yaml --explain t1/0
----
----
t1/0: n2 n4 n3 -> n1 n2 n3
  a replica moves from n4 to n1 in step 1: repair
  leadership passes from n2 to n1

n1  leads
n2  holds
n3  holds
n4  leaves  down
----
----

run plan -f c.yaml --explain t1/0 -o json
----
{
  "workload": "t1",
  "shard": 0,
  "before": ["n2", "n4", "n3"],
  "after": ["n1", "n2", "n3"],
  "summary": [
    "a replica moves from n4 to n1 in step 1: repair",
    "leadership passes from n2 to n1"
  ],
  "nodes": [
    {"node": "n1", "verdict": "leads", "reason": null},
    {"node": "n2", "verdict": "holds", "reason": null},
    {"node": "n3", "verdict": "holds", "reason": null},
    {"node": "n4", "verdict": "leaves", "reason": "down"}
  ]
}

run plan -f c.yaml --explain t1/2
----
! evenkeel: there is no shard 2: t1 has 2, counted from 0
exit 3

run plan -f c.yaml --explain t9/0
----
! evenkeel: there is no workload t9
exit 3

run plan -f c.yaml --explain t1
----
! evenkeel: --explain: "t1" names no shard: write WORKLOAD/NUMBER, for example t1/9
!   see: evenkeel plan --help
exit 2

run plan -f c.yaml --explain t1/0 --apply next.yaml
----
! evenkeel: --explain and --apply exclude each other: run them one after the other
exit 2

run plan -f c.yaml --explain t1/0 -o name
----
! evenkeel: --explain has no form name: give table, json or yaml
exit 2

# A shard that is barred from a node leaves it, and the others do not mind.
file barred.yaml
nodes: [{name: "n[1-3]"}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
barred: [{workload: t1, shard: 0, node: n1}, {workload: t1, shard: 0, node: n2}]
----
kept

run plan -f barred.yaml --explain t1/0
----
----
t1/0: n1 -> n3
  a replica moves from n1 to n3 in step 1: rules

n3  leads
n1  leaves  the shard is barred from it
n2  cannot  the shard is barred from it
----
----

# Plans chain: the result is the next problem, and there is nothing left to do.
run plan -f c.yaml --apply next.yaml -o name
----
shard/t1/0
shard/t2/0

show next.yaml
----
cluster: pages
settings:
  spread: {level: zone, hard: true}
nodes:
  - {name: "n[1-3]", zone: "dc[1-3]", capacity: {cpu: 10}}
  - {name: n4, zone: dc1, capacity: {cpu: 10}, status: down}
workloads:
  - name: t1
    shards: 2
    replicas: 3
    load: {cpu: 1}
  - name: t2
    shards: 1
    replicas: 3
    load: {cpu: 0.5}
placement:
  t1:
    - [n1, n2, n3]
    - [n3, n2, n1]
  t2:
    - [n2, n1, n3]

run plan -f next.yaml
----
nothing to move: no node is more than 5% above its fair share
fullest node over its fair share: cpu 1 (floor 1)

run plan -f c.yaml --apply next.json -o name
----
shard/t1/0
shard/t2/0

run plan -f next.json -o name
----

run plan -f c.yaml --apply -
----
cluster: pages
settings:
  spread: {level: zone, hard: true}
nodes:
  - {name: "n[1-3]", zone: "dc[1-3]", capacity: {cpu: 10}}
  - {name: n4, zone: dc1, capacity: {cpu: 10}, status: down}
workloads:
  - name: t1
    shards: 2
    replicas: 3
    load: {cpu: 1}
  - name: t2
    shards: 1
    replicas: 3
    load: {cpu: 0.5}
placement:
  t1:
    - [n1, n2, n3]
    - [n3, n2, n1]
  t2:
    - [n2, n1, n3]

run plan -f c.yaml --apply - -o json
----
{
  "cluster": "pages",
  "settings": {
    "spread": {"level": "zone", "hard": true}
  },
  "nodes": [
    {"name": "n[1-3]", "zone": "dc[1-3]", "capacity": {"cpu": 10}},
    {"name": "n4", "zone": "dc1", "capacity": {"cpu": 10}, "status": "down"}
  ],
  "workloads": [
    {
      "name": "t1",
      "shards": 2,
      "replicas": 3,
      "load": {"cpu": 1}
    },
    {
      "name": "t2",
      "shards": 1,
      "replicas": 3,
      "load": {"cpu": 0.5}
    }
  ],
  "placement": {
    "t1": [
      ["n1", "n2", "n3"],
      ["n3", "n2", "n1"]
    ],
    "t2": [
      ["n2", "n1", "n3"]
    ]
  }
}

# What cannot be written is an error, and then nothing is on standard output.
run plan -f c.yaml --apply /next.yaml
----
! evenkeel: cannot write /next.yaml: Permission denied
exit 6

full plan -f c.yaml
----
! evenkeel: standard output: No space left on device
exit 1

# More replicas than able nodes: refused, and the rest of the plan is there. Exit status 1.
file refused.yaml
nodes: [{name: "n[1-3]"}]
workloads:
  - {name: t1, shards: 2, replicas: 4}
  - {name: t2, shards: 1}
----
kept

run plan -f refused.yaml
----
----
1 shard placed; 1 refused
fullest node over its fair share: replicas 3 (floor 3)

PLACED  SHARDS  REPLICAS
t2           1         1

REFUSED  AT  REASON  DETAIL
t1       -   nodes   needs 4 nodes; 3 are up
! evenkeel: the plan does not meet everything: 1 request refused
exit 1
----
----

run plan -f refused.yaml -o json
----
{
  "placement": {
    "t2": [
      ["n2"]
    ]
  },
  "moves": [],
  "leaders": [],
  "cancelled": [],
  "refused": [
    {"workload": "t1", "shard": null, "node": null, "reason": "nodes", "detail": "needs 4 nodes; 3 are up", "proved": true, "nodes": {}}
  ],
  "violations": [],
  "stats": {
    "seconds": …,
    "evaluated_moves": …,
    "moves": 0,
    "moves_floor": 0,
    "cut_short": false,
    "balance": {
      "replicas": {"max_over_mean": 3, "floor": 3, "stddev_over_mean": 1.414214, "max_over_mean_without_giants": null}
    }
  }
}
! evenkeel: the plan does not meet everything: 1 request refused
exit 1

run plan -f refused.yaml -o wide
----
----
1 shard placed; 1 refused
fullest node over its fair share: replicas 3 (floor 3)

NODE  ZONE  STATUS  REPLICAS  AFTER  LEADERS  AFTER  IN  OUT
n1    -     up             0      0        0      0   0    0
n2    -     up             0      1        0      1   0    0
n3    -     up             0      0        0      0   0    0

PLACED  SHARDS  REPLICAS
t2           1         1

REFUSED  AT  REASON  DETAIL
t1       -   nodes   needs 4 nodes; 3 are up
! evenkeel: the plan does not meet everything: 1 request refused
exit 1
----
----

# Of a shard that was refused every node says why: status, label, taint, limit in figures, and where there was room, how much.
file why.yaml
nodes:
  - {name: "n[1-2]", zone: dc1, capacity: {disk: 100}, used: {disk: 10}}
  - {name: n3, zone: dc2, capacity: {disk: 100}, used: {disk: 90}}
  - {name: n4, zone: dc2, capacity: {disk: 0}}
  - {name: n5, zone: dc2, capacity: {disk: 100}, status: down}
  - {name: n6, zone: dc3, capacity: {disk: 100}, labels: {disk: hdd}}
  - {name: n7, zone: dc3, capacity: {disk: 100}, taints: [{key: dedicated, value: db, effect: refuse}]}
  - {name: n8, zone: dc3, capacity: {disk: 100}, replicas_max: 1, status: cordoned}
  - {name: n9, zone: dc3, capacity: {disk: 100}, labels: {disk: ssd}, replicas_max: 1}
workloads:
  - {name: first, shards: 1, load: {disk: 1}, require: {disk: ssd}}
  - {name: large, shards: 5, replicas: 3, load: {disk: 20}}
  - {name: fast, shards: 1, replicas: 2, load: {disk: 1}, require: {disk: ssd}}
  - {name: apart, shards: 2, replicas: 4, load: {disk: 1}, tolerate: [{key: dedicated}], spread: {level: zone, hard: true}}
  - {name: hot, shards: 2, replicas: 2, load: {disk: 1}, leader_load: {disk: 60}, shard_loads: {1: {disk: 99}}}
  - {name: held, shards: 1, replicas: 1, load: {disk: 1}, pinned: {0: [n5]}}
----
kept

run plan -f why.yaml --explain large/0
----
----
large/0: nowhere
  refused by capacity: needs 15 slots on different nodes; 12 are free

n1  cannot  has room for 4 like it, but the request is placed wholly or not at all
n2  cannot  has room for 4 like it, but the request is placed wholly or not at all
n3  cannot  disk 90%+20% > 95%
n4  cannot  has no disk
n5  cannot  down
n6  cannot  has room for 4 like it, but the request is placed wholly or not at all
n7  cannot  has taint dedicated=db, which is not tolerated
n8  cannot  cordoned
n9  cannot  replicas 1+1 > 1
----
----

run plan -f why.yaml --explain fast/0
----
----
fast/0: nowhere
  refused by labels: needs 2 nodes with its labels and tolerated taints; 1 have them

n1  cannot  has no label disk=ssd
n2  cannot  has no label disk=ssd
n3  cannot  has no label disk=ssd
n4  cannot  has no label disk=ssd
n5  cannot  down
n6  cannot  has label disk=hdd, not ssd
n7  cannot  has no label disk=ssd
n8  cannot  cordoned
n9  cannot  replicas 1+1 > 1
----
----

run plan -f why.yaml --explain apart/1
----
----
apart/1: nowhere
  refused by spread: needs 4 domains of level zone; 3 have an able node

n1  cannot  has room, but dc1 may hold only one of the shard's 4 replicas
n2  cannot  has room, but dc1 may hold only one of the shard's 4 replicas
n3  cannot  has room, but dc2 may hold only one of the shard's 4 replicas
n4  cannot  has no disk
n5  cannot  down
n6  cannot  has room, but dc3 may hold only one of the shard's 4 replicas
n7  cannot  has room, but dc3 may hold only one of the shard's 4 replicas
n8  cannot  cordoned
n9  cannot  replicas 1+1 > 1
----
----

run plan -f why.yaml --explain hot/0
----
----
hot/0: nowhere
  refused by capacity: no room for 4 replicas: disk binds

n1  cannot  has room for 2 like it, but the request is placed wholly or not at all
n2  cannot  has room for 2 like it, but the request is placed wholly or not at all
n3  cannot  could not lead it: disk 90%+61% > 95%
n4  cannot  has no disk
n5  cannot  down
n6  cannot  has room for 2 like it, but the request is placed wholly or not at all
n7  cannot  has taint dedicated=db, which is not tolerated
n8  cannot  cordoned
n9  cannot  replicas 1+1 > 1
----
----

run plan -f why.yaml --explain hot/1
----
----
hot/1: nowhere
  refused by capacity: no room for 4 replicas: disk binds

n1  cannot  disk 10%+99% > 95%
n2  cannot  disk 10%+99% > 95%
n3  cannot  disk 90%+99% > 95%
n4  cannot  has no disk
n5  cannot  down
n6  cannot  disk 0%+99% > 95%
n7  cannot  has taint dedicated=db, which is not tolerated
n8  cannot  cordoned
n9  cannot  disk 1%+99% > 95%
----
----

run plan -f why.yaml --explain held/0
----
----
held/0: nowhere
  refused by capacity: shard 0 is pinned to n5, which cannot take it

n1  cannot  the shard is pinned elsewhere
n2  cannot  the shard is pinned elsewhere
n3  cannot  the shard is pinned elsewhere
n4  cannot  has no disk
n5  cannot  down
n6  cannot  the shard is pinned elsewhere
n7  cannot  has taint dedicated=db, which is not tolerated
n8  cannot  cordoned
n9  cannot  replicas 1+1 > 1
----
----

# A part of planning that places nothing new says so.
run plan -f why.yaml --explain first/0 --only repair
----
----
first/0: nowhere
  new shards are not placed in this part of planning

n9  could   new shards are not placed in this part of planning
n1  cannot  has no label disk=ssd
n2  cannot  has no label disk=ssd
n3  cannot  has no label disk=ssd
n4  cannot  has no label disk=ssd
n5  cannot  down
n6  cannot  has label disk=hdd, not ssd
n7  cannot  has no label disk=ssd
n8  cannot  cordoned
----
----

# A soft rule that nothing can mend is said, and is no failure.
file spread.yaml
nodes: [{name: "n[1-3]", zone: dc1}]
workloads: [{name: t1, shards: 1, replicas: 2}]
placement: {t1: [[n1, n2]]}
----
kept

run plan -f spread.yaml
----
----
nothing to move: no placement is more level; 1 rule broken
fullest node over its fair share: replicas 1.5 (floor 1.5)

BROKEN  RULE    KIND  DETAIL
t1/0    spread  soft  2 replicas in dc1
----
----

# A move in flight to a node that went away is cancelled.
file moving.yaml
nodes: [{name: "n[1-3]"}, {name: n4, status: down}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n1]]}
moving: [{workload: t1, shard: 0, from: n1, to: n4}]
----
kept

run plan -f moving.yaml
----
----
1 move cancelled
fullest node over its fair share: replicas 3 (floor 3)

CANCELLED  FROM  TO  REASON
t1/0       n1    n4  destination down
----
----

# Moves in flight leave no room for others: the plan waits for them, and with --all begins after them.
file full.yaml
settings: {moves_max: 1}
nodes: [{name: a}, {name: b}]
workloads: [{name: t, shards: 8}]
placement: {t: [[a], [a], [a], [a], [a], [a], [a], [a]]}
moving: [{workload: t, shard: 0, from: a, to: b}]
----
kept

run plan -f full.yaml
----
nothing to move yet: it waits for 1 move in flight
fullest node over its fair share: replicas 1.75 (floor 1)
cut short: plan again when this is done

run plan -f full.yaml --all
----
----
3 moves in 3 steps after those in flight (3 balance)
fullest node over its fair share: replicas 1.75 -> 1 (floor 1)

MOVE  FROM  TO  REASON   STEP
t/1   a     b   balance     2
t/2   a     b   balance     3
t/3   a     b   balance     4
----
----

# Nothing at all.
file empty.yaml
cluster: empty
----
kept

run plan -f empty.yaml
----
nothing to move: nothing is placed

run plan -f empty.yaml -o json
----
{
  "placement": {},
  "moves": [],
  "leaders": [],
  "cancelled": [],
  "refused": [],
  "violations": [],
  "stats": {
    "seconds": …,
    "evaluated_moves": …,
    "moves": 0,
    "moves_floor": 0,
    "cut_short": false,
    "balance": {}
  }
}

run plan -f empty.yaml -o name
----

# Wrong input: every problem with its place, and an empty standard output.
file bad.yaml
nodes: [{name: n1}]
workloads: [{name: t1, shards: 1}]
placement: {t1: [[n2]]}
----
kept

run plan -f bad.yaml -o json
----
! bad.yaml:3:19: error: there is no node "n2"
!   list it under nodes
exit 2

run plan -f missing.yaml
----
! evenkeel: cannot read missing.yaml: No such file or directory
exit 3

run plan
----
! evenkeel: --file is required
!   see: evenkeel plan --help
exit 2

run plan -f c.yaml --seed x
----
! evenkeel: --seed: "x" is not a whole number: write digits only, for example 12
!   see: evenkeel plan --help
exit 2

run plan -f c.yaml --budget -1
----
! evenkeel: --budget: "-1" is negative: write 0 or more
!   see: evenkeel plan --help
exit 2

run plan -f c.yaml --time 0s
----
! evenkeel: --time: must be longer than nothing, for example 5s
!   see: evenkeel plan --help
exit 2

run plan -f c.yaml --only repiar
----
! evenkeel: --only: "repiar" is not a part of planning; did you mean "repair"?
!   see: evenkeel plan --help
exit 2

run plan -f c.yaml -o kafka
----
! evenkeel: --output: "kafka" is not a form of output; known: table, wide, json, yaml, name, kafka-reassign
!   see: evenkeel plan --help
exit 2

run plan -f c.yaml --describe x
----
! evenkeel: --describe goes with --from kafka-reassign; what kcat prints is read alone with --from kcat
exit 2

run plan -f c.yaml --overlay x
----
! evenkeel: --overlay goes with --from kafka-reassign and --from kcat; a cluster file says everything itself
exit 2

# Not named by broker ids.
run plan -f c.yaml -o kafka-reassign
----
! evenkeel: -o kafka-reassign: node "n1" is not named by a broker id, a whole number
exit 2

# More time than it needs changes nothing.
run plan -f c.yaml --time 1h --budget 100000 --seed 0 --force --all
----
----
1 shard placed; 1 move (1 repair); 1 leader change
fullest node over its fair share: cpu 1.2 -> 1 (floor 1)

PLACED  SHARDS  REPLICAS
t2           1         3

MOVE  FROM  TO  REASON
t1/0  n4    n1  repair

LEADER OF  FROM  TO
t1/0       n2    n1
----
----

# Where a draw without coordination would put everything.
run plan -f refused.yaml --method rendezvous -o name
----
shard/t2/0
! evenkeel: the plan does not meet everything: 1 request refused
exit 1

run plan -f c.yaml --method crush --seed 3 -o name
----
shard/t1/0
shard/t1/1
shard/t2/0

run plan -f c.yaml --method crush --only repair
----
! evenkeel: --method crush only computes where things belong: of the options of the search it takes --seed alone
exit 2

run plan -f c.yaml --method dice
----
! evenkeel: --method: "dice" is not a method; known: engine, rendezvous, crush
!   see: evenkeel plan --help
exit 2

run __complete plan --only r
----
repair	
:words

run __complete plan -o k
----
kafka-reassign	
:words

run __complete plan --apply x
----
:files
