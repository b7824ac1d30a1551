# All that is wrong is said at once, with what was meant.
parse
cluster: pages
nodes:
  - {name: n1, zone: dc1, capcity: {cpu: 4}}
  - {name: n2, zone: dc1, status: drainig}
  - {zone: dc1}
workloads:
  - {name: t1, shards: 2, replica: 3, load: {cpu: 5x, memory: 64GB}}
  - {name: t2, shards: 2, replicas: 2, apart_from: [t11], soft: 1, state_model: MasterSlav}
placment: {}
----
c.yaml:3:27: error: unknown field "capcity" of a node
  did you mean "capacity"?
c.yaml:4:35: error: expected a status, found "drainig"
  did you mean "draining"?
c.yaml:5:5: error: a node lacks the field "name"
  add it
c.yaml:7:27: error: unknown field "replica" of a workload
  did you mean "replicas"?
c.yaml:7:51: error: "5x" has the unknown suffix "x": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none
c.yaml:7:63: error: "64GB" has the unknown suffix "GB": did you mean 64G?
c.yaml:8:53: error: there is no workload "t11"
  did you mean "t1"?
c.yaml:8:59: error: unknown field "soft" of a workload
  known: name, shards, replicas, state_model, load, leader_load, shard_loads, weight, move_cost, require, tolerate, spread, apart_from, close_to, system, min_active, rebalance_delay, fencing, acks, lag_max, seal_wait, hand_over, linger, transition, key_map, metadata, pinned
c.yaml:8:81: error: there is no state model "MasterSlav"
  did you mean "MasterSlave"?
c.yaml:9:1: error: unknown field "placment" of a cluster file
  did you mean "placement"?

# A file of the wrong shape.
parse
- a
- b
----
c.yaml:1:1: error: expected a cluster file with its fields, found a list

parse
just words
----
c.yaml:1:1: error: expected a cluster file with its fields, found "just words"

parse
----
c.yaml: error: the file is empty
  check its name, and that it was saved

parse c.json
----
c.json: error: the file is empty
  check its name, and that it was saved

parse
# only a comment
----
c.yaml: error: the file is empty
  check its name, and that it was saved

# Shapes and kinds.
parse
cluster: [x]
settings: 5
nodes: {n1: {}}
workloads: [5, {name: {}, shards: "3"}, {name: t, shards: 1.5, system: yes, load: [1], tolerate: {key: a}}]
----
c.yaml:1:10: error: expected text, found a list
c.yaml:2:11: error: expected settings with its fields, found "5"
c.yaml:3:8: error: expected a list of nodes, found a map
c.yaml:4:13: error: expected a workload with its fields, found "5"
c.yaml:4:23: error: expected text, found a map
c.yaml:4:35: error: expected a whole number, found the text "3"
  remove the quotes
c.yaml:4:59: error: "1.5" is not a whole number: write digits only, for example 12
c.yaml:4:72: error: expected true or false, found "yes"
c.yaml:4:83: error: expected a map of resources and quantities, found a list
c.yaml:4:98: error: expected a list of tolerations, found a map

# Values that are missing.
parse
cluster:
nodes:
  - {name: , zone: ~}
workloads:
  - {name: t}
----
c.yaml:1:9: error: "cluster" of a cluster file has no value
  give one, or remove the field
c.yaml:3:12: error: "name" of a node has no value
  give one, or remove the field
c.yaml:3:20: error: "zone" of a node has no value
  give one, or remove the field
c.yaml:5:5: error: a workload lacks the field "shards"
  add it

# Numbers.
parse
settings: {moves_max: -1, replicas_per_core: 4294967296, soft_limit: 120000%, tolerance: -1%, core0_reserve: two}
nodes:
  - {name: a, cores: 65536, power: 0, capacity: {cpu: 1e400}}
  - {name: b, cores: -4, power: -1, capacity: {cpu: -1, memory: nan, disk: .inf}}
workloads:
  - {name: t, shards: 2147483648, replicas: 0}
  - {name: u, shards: -1, replicas: 99999999999999999999}
----
c.yaml:1:23: error: "-1" is negative
  give zero or more
c.yaml:1:46: error: 4294967296 is out of range
  give a whole number from 0 to 4294967295
c.yaml:1:70: error: "120000%" is too large: at most 1000 (100000%)
c.yaml:1:90: error: "-1%" is negative: write 0 or more
c.yaml:1:110: error: "two" is not a whole number: write digits only, for example 12
c.yaml:3:22: error: 65536 is out of range
  give a whole number from 0 to 65535
c.yaml:3:36: error: power 0 is not above zero
  use status: cordoned for a node that should get nothing
c.yaml:3:55: error: "1e400" is too large: at most 9223372036854775807 (2^63 - 1)
c.yaml:4:22: error: "-4" is negative
  give zero or more
c.yaml:4:33: error: "-1" is negative
  give zero or more
c.yaml:4:53: error: "-1" is negative
  give zero or more
c.yaml:4:65: error: "nan" is not a quantity: write a number, for example 0.5, 500m or 64Gi
c.yaml:4:76: error: ".inf" has a point without a digit before it: write 0.5
c.yaml:6:23: error: 2147483648 is out of range
  give a whole number from 0 to 2147483647
c.yaml:6:45: error: 0 is out of range
  give a whole number from 1 to 2147483647
c.yaml:7:23: error: "-1" is negative
  give zero or more
c.yaml:7:37: error: "99999999999999999999" is too large: at most 18446744073709551615

parse c.json
{"workloads": [{"name": "t", "shards": 1, "load": {"cpu": 1e400}}]}
----
c.json:1:59: error: the number 1e400 is too large

# Names.
parse
cluster: a/b
nodes: [{name: "a\nb"}, {name: -x}, {name: ""}, {name: é}, {name: ok, zone: a//b}, {name: ok2, zone: a/b/c/d/e/f/g/h/i}]
workloads: [{name: t/1, shards: 1, load: {"c pu": 1}, require: {"": x}}]
----
c.yaml:1:10: error: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
c.yaml:2:16: error: the name "a\nb" contains "\n"; allowed are letters, digits and _ . - : @ +
c.yaml:2:32: error: the name "-x" must start with a letter, a digit or _
c.yaml:2:44: error: a name must not be empty
c.yaml:2:56: error: the name "é" must start with a letter, a digit or _
c.yaml:2:77: error: the zone "a//b" is no path of names: a name must not be empty
c.yaml:2:102: error: the zone "a/b/c/d/e/f/g/h/i" has more than 8 parts
c.yaml:3:20: error: the name "t/1" contains "/"; allowed are letters, digits and _ . - : @ +
c.yaml:3:43: error: the name "c pu" contains " "; allowed are letters, digits and _ . - : @ +
c.yaml:3:65: error: a name must not be empty

# Keys given twice, and the rest of the file all the same.
parse
cluster: x
cluster: y
nodes: [{name: n1, name: n2, zome: a}]
----
c.yaml:2:1: error: "cluster" is given twice in one map
  the first is at line 1, column 1: keep one
c.yaml:3:20: error: "name" is given twice in one map
  the first is at line 3, column 10: keep one
c.yaml:3:30: error: unknown field "zome" of a node
  did you mean "zone"?

parse c.json
{"cluster": "x",
 "cluster": "y"}
----
c.json:2:2: error: "cluster" is given twice in one map
  the first is at line 1, column 2: keep one

# What YAML can do and we do not take.
parse
a: &a [x, x, x]
----
c.yaml:1:4: error: YAML anchors and aliases are not accepted
  write the value out where it is used

parse
nodes: [*a]
----
c.yaml:1:9: error: YAML anchors and aliases are not accepted
  write the value out where it is used

parse
cluster: !!str x
----
c.yaml:1:10: error: YAML tags are not accepted
  remove the word that starts with !

parse
cluster: x
---
cluster: y
----
c.yaml:2:1: error: a second document starts here
  one file holds one document: remove the line ---

parse
cluster: x
nodes:
	- name: n1
----
c.yaml:3:1: error: not valid YAML: found character that cannot start any token (while scanning for the next token)
  YAML is indented by spaces, never by tabs; quote text that starts with @, % or `

parse
? {a: b}
: c
----
c.yaml:1:3: error: a key must be a single word, not a list or a map
  put quotes around it

# Not JSON.
parse c.json
{"cluster": "x",}
----
c.json:1:17: error: not valid JSON: syntax error while parsing object key - unexpected '}'; expected string literal

parse c.json
{"cluster": "x"
----
c.json:1:16: error: not valid JSON: syntax error while parsing object - unexpected end of input; expected '}'

parse c.json
{'cluster': 'x'}
----
c.json:1:2: error: not valid JSON: syntax error while parsing object key - invalid literal; expected string literal

parse c.json
{"cluster": "x"} {}
----
c.json:1:18: error: not valid JSON: syntax error while parsing value - unexpected '{'; expected end of input

# Placement, cores, moves: each names what exists, and they fit each other.
parse
nodes: [{name: "n[1-4]", cores: 2}]
workloads: [{name: t1, shards: 2, replicas: 3}, {name: t2, shards: 1}]
placement:
  t1: [[n1, n2, n1], [n2, n5], [n3]]
  t3: [[n1]]
  t2: [n1]
cores:
  t1: [[0]]
----
c.yaml:4:27: error: there is no node "n5"
  list it under nodes
c.yaml:5:3: error: there is no workload "t3"
  list it under workloads
c.yaml:6:8: error: expected a list of nodes, found "n1"

parse
nodes: [{name: "n[1-4]", cores: 2}]
workloads: [{name: t1, shards: 2, replicas: 3}, {name: t2, shards: 1}]
placement:
  t1: [[n1, n2, n1], [n2], [n3]]
  t3: [[n1]]
cores:
  t2: [[0]]
moving:
  - {workload: t1, shard: 0, from: n3, to: n2}
  - {workload: t1, shard: 7, from: n1, to: n2}
  - {workload: t9, shard: 0, from: n1, to: n2}
  - {workload: t1, shard: 0}
  - {workload: t1, shard: 1, from: n2, to: n3}
  - {workload: t1, shard: 1, from: n2, to: n4}
  - {workload: t1, shard: one, from: n2, to: n9}
recent:
  - {workload: t1, shard: 2, node: n1}
  - {workload: x, shard: 0, node: n1}
  - {shard: 0, node: n1}
----
c.yaml:4:17: error: two replicas of one shard on node "n1"
  name each node once
c.yaml:4:28: error: 3 rows for 2 shards of "t1"
  raise shards or remove rows
c.yaml:5:3: error: there is no workload "t3"
  list it under workloads
c.yaml:7:3: error: "t2" has cores but no placement
  cores go with the rows of placement
c.yaml:9:36: error: t1/0 has no replica on n3
  placement holds `from` until the move is done
c.yaml:9:44: error: t1/0 has a replica on n2 already
  `to` is named only in moving until the move is done
c.yaml:10:27: error: t1/7 is not placed anywhere
  only a placed shard can move
c.yaml:11:16: error: there is no workload "t9"
  list it under workloads
c.yaml:12:5: error: a move lacks the field "from"
  add it; null: there is none
c.yaml:12:5: error: a move lacks the field "to"
  add it; null: there is none
c.yaml:14:36: error: two moves of t1/1 leave one node
  keep one
c.yaml:15:27: error: "one" is not a whole number: write digits only, for example 12
c.yaml:15:46: error: there is no node "n9"
  list it under nodes
c.yaml:17:27: error: there is no shard 2: t1 has 2
  shards count from 0
c.yaml:18:16: error: there is no workload "x"
  list it under workloads
c.yaml:19:5: error: a recent move lacks the field "workload"
  add it

parse
nodes: [{name: "n[1-3]", cores: 2}, {name: m}]
workloads: [{name: t1, shards: 2, replicas: 2}]
placement: {t1: [[n1, m], [n2, n3]]}
cores: {t1: [[2, 1], [0]]}
----
c.yaml:4:15: error: node "n1" has no core 2
  it has 2 core(s), counted from 0
c.yaml:4:18: error: node "m" has no core 1
  it has 1 core(s), counted from 0
c.yaml:4:22: error: 1 cores for 2 replicas

# Pins and loads of shards that do not exist, or given twice.
parse
nodes: [{name: "n[1-3]"}]
workloads:
  - {name: t, shards: 2, replicas: 1, pinned: {2: [n1], 1: [n1, n2], 0: [n1, n1], x: [n1]}}
  - {name: u, shards: 2, shard_loads: {5: {cpu: 1}, 1: {"b/d": 1}}}
  - {name: v, shards: 2, shard_loads: {1: {cpu: 1}, 01: {cpu: 2}}, load: {weight: 1}, weight: 2}
----
c.yaml:3:83: error: "x" is not a shard's number
  shards are numbered from 0
c.yaml:4:57: error: the name "b/d" contains "/"; allowed are letters, digits and _ . - : @ +
c.yaml:5:39: error: shard 1 has two loads
  keep one
c.yaml:5:95: error: weight is given twice: it is short for load: {weight: …}
  keep one of the two

parse
nodes: [{name: "n[1-3]"}]
workloads:
  - {name: t, shards: 2, replicas: 1, pinned: {2: [n1], 1: [n1, n2], 0: [n1, n1]}}
  - {name: u, shards: 2, shard_loads: {5: {cpu: 1}, 1: {"b/d": 1}}}
----
c.yaml:3:48: error: there is no shard 2: t has 2
  shards count from 0
c.yaml:3:60: error: pins 2 nodes for a shard's 1 replicas
c.yaml:3:73: error: pins 2 nodes for a shard's 1 replicas
c.yaml:3:78: error: two replicas of one shard on node "n1"
  name each node once
c.yaml:4:57: error: the name "b/d" contains "/"; allowed are letters, digits and _ . - : @ +

# Settings that contradict each other.
parse
settings: {soft_limit: 99%, levels: [zone, zone, "a b"], spread: {level: row}}
nodes: [{name: a, soft_limit: 96%}, {name: b, hard_limit: 50%}]
workloads: [{name: t, shards: 1, spread: {level: house, hrad: true}, apart_from: [t, t], close_to: [t]}]
----
c.yaml:1:11: error: soft_limit 99% is above hard_limit 95%
  raise the hard one or lower the soft one
c.yaml:1:44: error: level "zone" is named twice
c.yaml:1:50: error: the name "a b" contains " "; allowed are letters, digits and _ . - : @ +
c.yaml:1:74: error: there is no level "row"
  settings.levels names zone, zone, a b: name one of them here
c.yaml:2:9: error: soft_limit 96% is above hard_limit 95%
  raise the hard one or lower the soft one
c.yaml:2:37: error: soft_limit 99% is above hard_limit 50%
  raise the hard one or lower the soft one
c.yaml:3:50: error: there is no level "house"
  settings.levels names zone, zone, a b: name one of them here
c.yaml:3:57: error: unknown field "hrad" of a spread
  did you mean "hard"?
c.yaml:3:83: error: a workload cannot be related to itself
c.yaml:3:86: error: a workload cannot be related to itself
c.yaml:3:101: error: a workload cannot be related to itself

# More errors than anyone reads are counted.
parse
nodes: [{x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}]
----
c.yaml:1:9: error: a node lacks the field "name"
  add it
c.yaml:1:10: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:17: error: a node lacks the field "name"
  add it
c.yaml:1:18: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:25: error: a node lacks the field "name"
  add it
c.yaml:1:26: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:33: error: a node lacks the field "name"
  add it
c.yaml:1:34: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:41: error: a node lacks the field "name"
  add it
c.yaml:1:42: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:49: error: a node lacks the field "name"
  add it
c.yaml:1:50: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:57: error: a node lacks the field "name"
  add it
c.yaml:1:58: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:65: error: a node lacks the field "name"
  add it
c.yaml:1:66: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:73: error: a node lacks the field "name"
  add it
c.yaml:1:74: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml:1:81: error: a node lacks the field "name"
  add it
c.yaml:1:82: error: unknown field "x" of a node
  known: name, zone, cores, capacity, used, power, labels, taints, status, replicas_max, soft_limit, hard_limit, leaders
c.yaml: and 4 more

# One cause, one error: what only follows from another is not said.
parse
settings: {soft_limit: 99%}
nodes: [{name: "n[1-50]"}]
----
c.yaml:1:11: error: soft_limit 99% is above hard_limit 95%
  raise the hard one or lower the soft one

parse
nodes: [{name: "w$[1-50]"}, {name: "x[1-50]", soft_limit: 99%}]
----
c.yaml:1:16: error: the name "w$1" contains "$"; allowed are letters, digits and _ . - : @ +
c.yaml:1:29: error: soft_limit 99% is above hard_limit 95%
  raise the hard one or lower the soft one

parse
nodes: [{name: "n[1-"}, {name: m, cores: 2}]
workloads: [{name: t, shards: 1, replicas: 2}]
placement: {t: [[n1, m]]}
cores: {t: [[0, 1]]}
moving: [{workload: t, shard: 0, from: n1, to: n2}]
recent: [{workload: t, shard: 0, node: n1}]
----
c.yaml:1:16: error: "n[1-" is not a range: a bracket is not closed; write for example w[1-100]

parse
nodes: [{name: n1, core: 8}]
workloads: {t: 1}
placement: {t: [[n1]]}
cores: {t: [[3]]}
moving: [{workload: t, shard: 0, from: n1, to: ~}]
----
c.yaml:1:20: error: unknown field "core" of a node
  did you mean "cores"?
c.yaml:2:12: error: expected a list of workloads, found a map

parse
nodes: [{name: n1}]
workloads: [{name: t, shards: 1, replica: 3, pinned: {0: [n1, n1]}}]
placement: 5
moving: [{workload: t, shard: 0, from: n1, to: ~}]
----
c.yaml:2:34: error: unknown field "replica" of a workload
  did you mean "replicas"?
c.yaml:3:12: error: expected a map of workloads and their rows, found "5"

parse
nodes: [{name: n1}]
workloads: [{name: t, shards: 1, spread: {level: region}}]
settings: {levels: 5}
placement: {t: 5}
cores: {t: [[0]]}
----
c.yaml:3:20: error: expected a list of names of levels, found "5"
c.yaml:4:16: error: expected a list of rows, one for each shard, found "5"

# Both sides of a move are named.
parse
nodes: [{name: "n[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 1}]
placement: {t: [[n1]]}
moving: [{workload: t, shard: 0, from: n1}]
----
c.yaml:4:10: error: a move lacks the field "to"
  add it; null: there is none

# A leading zero means different things to different readers.
parse
workloads: [{name: t, shards: 010, shard_loads: {1: {"a b": 0}}}]
----
c.yaml:1:31: error: "010" starts with a zero
  some read that as octal: leave the zero out
c.yaml:1:54: error: the name "a b" contains " "; allowed are letters, digits and _ . - : @ +

# Little text that stands for much.
parse
nodes: [{name: "w[1-1048576]", labels: {a: 1, b: 1, c: 1, d: 1, e: 1}}]
----
c.yaml:1:16: error: more than 4194304 labels, taints and amounts of all nodes together
  name fewer nodes

# What the controller cannot be told.
parse
settings: {session_ttl: 500ms, controller_ttl: 2h, max_offline: 2, resume_offline: 3, extra_replicas: 0, permit: 0s, errors_max: 101%, loads_pause: 0s}
nodes: [{name: n1}]
workloads:
  - {name: t1, shards: 8, replicas: 3, min_active: 4, acks: 5, transition: 0s}
  - {name: t2, shards: 8, replicas: 3, acks: 1, fencing: epoch}
  - {name: t3, shards: 8, replicas: 3, fencing: epoch}
barred:
  - {workload: t1, shard: 3, node: n1}
  - {workload: t1, shard: 8, node: n1}
  - {workload: t4, shard: 0, node: n1}
  - {workload: t1, shard: 3, node: n1}
----
c.yaml:1:25: error: 500ms is not between 1s and 1h
  shorter, a pause looks like a death; longer, a death is seen late
c.yaml:1:48: error: 2h is not between 300ms and 1h
  shorter, a pause looks like a death; longer, a death is seen late
c.yaml:1:84: error: resume_offline 3 is above max_offline 2
  maintenance would end before it begins: lower it
c.yaml:1:103: error: without an extra replica nothing can move: a move adds one before it drops one
  give 1 or more
c.yaml:1:114: error: a permit of no time would end at once
  give it some
c.yaml:1:130: error: 101% of the replicas can never be in error
  give at most 100%
c.yaml:1:149: error: 0s is not between 1s and 1d
  shorter, a spike looks like a load; longer, a load is seen late
c.yaml:4:52: error: min_active 4 is more than the 3 replicas of a shard
  lower it, or raise replicas
c.yaml:4:61: error: acks 5 is more than the 3 replicas of a shard
  lower it, or raise replicas
c.yaml:4:76: error: a transition that may take no time is always overdue
  give it some
c.yaml:5:58: error: fencing: epoch needs acks of at least 2, and has 1
  a leader that acknowledges a write alone is not stopped by sealing the others
c.yaml:6:49: error: fencing: epoch needs acks of at least 2, and has 0
  a leader that acknowledges a write alone is not stopped by sealing the others
c.yaml:9:27: error: there is no shard 8: t1 has 8
  shards count from 0
c.yaml:10:16: error: there is no workload "t4"
  list it under workloads
c.yaml:11:5: error: t1/3 is barred from n1 twice
  keep one

parse
settings: {rebalance_delay: 5, recovery: 3, balance: {copys: 1}, recovery_per_zone: {copies: -1, bytes_per_second: fast}, permit: -1s}
workloads:
  - {name: t1, shards: 8, fencing: epochs, key_map: list, lag_max: 18446744073709551616, metadata: [], linger: soon}
barred: [{workload: t1, shard: x, node: n1}, 5]
----
c.yaml:1:29: error: "5" has no unit: add a unit, for example 5s
c.yaml:1:42: error: expected a limit with its fields, found "3"
c.yaml:1:55: error: unknown field "copys" of a limit
  known: copies, bytes_per_second
c.yaml:1:94: error: "-1" is negative
  give zero or more
c.yaml:1:116: error: "fast" is not a quantity: write a number, for example 0.5, 500m or 64Gi
c.yaml:1:131: error: "-1s" is negative
  give zero or more
c.yaml:3:36: error: expected session or epoch, found "epochs"
  did you mean "epoch"?
c.yaml:3:53: error: expected hash or range, found "list"
  known: hash, range
c.yaml:3:68: error: "18446744073709551616" is too large: at most 18446744073709551615
c.yaml:3:100: error: expected text, found a list
c.yaml:3:112: error: "soon" is not a duration: write a number and a unit, for example 15s or 1h30m
c.yaml:4:32: error: "x" is not a whole number: write digits only, for example 12
c.yaml:4:41: error: there is no node "n1"
  list it under nodes
c.yaml:4:46: error: expected a barred node with its fields, found "5"

# Of what is wrong already, nothing more is said.
parse
workloads: [{name: t1, shards: 8, replicas: three, min_active: 2, acks: 3}]
----
c.yaml:1:45: error: "three" is not a whole number: write digits only, for example 12
