# What is newer is refused as such.
document view
{"format": 3, "shards": "elsewhere"}
----
view has format 3, and this version reads up to 2: something newer wrote it (refused)

document workload
{"format": 3}
----
workload has format 3, and this version reads up to 2: something newer wrote it (refused)

# No document, or one without a format.
document waits
----
waits:1:1: error: expected a document with its fields, found the end

document waits
[1, 2]
----
waits:1:1: error: expected a document with its fields, found a list

document waits
{}
----
waits:1:1: error: a document lacks the field "format"
  add it

document config
{"settings": {}}
----
config:1:1: error: a document lacks the field "format"
  add it

document waits
{"format": 0}
----
waits:1:12: error: there is no format 0
  the first is 1

document waits
{"format": "1"}
----
waits:1:12: error: expected a whole number, found the text "1"

document waits
{"format": 1.5}
----
waits:1:12: error: "1.5" is not a whole number

# Not JSON. The first thing that is wrong is said, with its line and column.
document waits
{"format": 1,
 "gone": {"n1" "5s"}}
----
waits:2:16: error: expected a colon, found the text "5s"

document waits
{"format": 1, "entered": yes}
----
waits:1:26: error: not valid JSON: expected a value, found "yes"

document waits
{"format": 1, "entered": true,}
----
waits:1:31: error: not valid JSON: expected a value, found "}"

document waits
{"format": 1, "gone": {"n1": "5s}}
----
waits:1:35: error: a control character in a text
  write it as an escape

document waits
{"format": 1} {}
----
waits:1:15: error: something stands behind the end: "{"

document waits
{"format": 1, "bans": [["t1/9", "2m"]]}
----
waits:1:24: error: expected a ban, [shard, node, time], found a list of another length

document waits
{"format": 1, "given_up": [["t1", "2m"]]}
----
waits:1:29: error: "t1" names no shard: write WORKLOAD/NUMBER, for example t1/9

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "reason": "\q"}
----
permit:1:76: error: not a valid escape
  use \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "reason": "\ud834 alone"}
----
permit:1:76: error: not a valid escape
  use \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "other": 007}
----
permit:1:74: error: not valid JSON: expected a value, found "007"

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "other": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}
----
permit:1:107: error: nested deeper than 32 levels

document config
{"format": 1, "settings": {"max_offline": 1]}
----
config:1:44: error: not valid JSON: syntax error while parsing object - unexpected ']'; expected '}'

# A field that is missing, given twice, or of the wrong kind.
document records
{"format": 1}
----
records:1:1: error: a bucket of records lacks the field "shards"
  add it

document records
{"format": 1, "shards": [
  {"shard": 1, "version": [1, 0], "holders": [{"node": "n1", "told": "leader", "reason": "first"}]}]}
----
records:2:47: error: a holder lacks the field "version"
  add it

document records
{"format": 1, "shards": [{"shard": 1, "shard": 2, "version": [1, 0]}]}
----
records:1:39: error: "shard" is given twice in one map
  keep one

document records
{"format": 1, "shards": {"1": {}}}
----
records:1:25: error: expected a list, found a map

document records
{"format": 1, "shards": [{"shard": 2, "version": [1, 0]}, {"shard": 1, "version": [1, 0]}]}
----
records:1:59: error: shard 1 stands after shard 2
  each is there once, in rising order

document records
{"format": 1, "shards": [{"shard": 2, "version": [1, 0]}, {"shard": 2, "version": [1, 0]}]}
----
records:1:59: error: shard 2 stands after shard 2
  each is there once, in rising order

document records
{"format": 1, "shards": [{"shard": 4294967296, "version": [1, 0]}]}
----
records:1:36: error: 4294967296 is out of range
  give a whole number from 0 to 4294967295

document records
{"format": 1, "shards": [{"shard": -1, "version": [1, 0]}]}
----
records:1:36: error: "-1" is not a whole number

document records
{"format": 1, "shards": [{"shard": "1", "version": [1, 0]}]}
----
records:1:36: error: expected a whole number, found the text "1"

document records
{"format": 1, "shards": [{"shard": 1, "version": [1]}]}
----
records:1:50: error: expected a version, [epoch, change], found a list of another length

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0, 2]}]}
----
records:1:50: error: expected a version, [epoch, change], found a list of another length

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "has_data": "true"}]}
----
records:1:70: error: expected true or false, found the text "true"

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "seal": null}]}
----
records:1:66: error: expected a whole number, found nothing

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "placement": ["n1", "a/b"]}]}
----
records:1:78: error: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "holders": [{"node": "n1", "told": "leader", "version": [1, 0], "reason": "mood"}]}]}
----
records:1:132: error: expected a reason, found the text "mood"
  known: first, restart, move, failover, balance, operator, split

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "holders": [{"node": "n1", "told": "", "version": [1, 0], "reason": "first"}]}]}
----
records:1:93: error: a name must not be empty

document target
{"format": 1, "incarnation": 12, "number": [1, 1], "model": "leader-follower", "replicas": []}
----
target:1:30: error: expected an incarnation, found "12"

document target
{"format": 1, "incarnation": "12", "number": [1, 1], "model": "leader-follower", "replicas": []}
----
target:1:30: error: "12" is not an incarnation: it has 16 hexadecimal digits

document target
{"format": 1, "incarnation": "00000000000000AB", "number": [1, 1], "model": "leader-follower", "replicas": []}
----
target:1:30: error: "00000000000000AB" is not an incarnation: it has 16 hexadecimal digits

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "lead", "replicas": []}
----
target:1:77: error: there is no built-in state model "lead"

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": {"name": "own", "states": [{"name": "on", "count": 1}], "initial": "off", "transitions": []}, "replicas": []}
----
target:1:77: error: this state model is not sound: the initial state names the unknown state "off"

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": {"name": "own", "states": [{"name": "on", "count": "few"}], "initial": "on", "transitions": []}, "replicas": []}
----
target:1:128: error: expected a number, replicas or nodes, found the text "few"

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "deadline": "soon", "replicas": []}
----
target:1:103: error: "soon" is not a duration: write a number and a unit, for example 15s or 1h30m

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "deadline": "-5s", "replicas": []}
----
target:1:103: error: -5s is negative
  give zero or more

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "fencing": "wall", "replicas": []}
----
target:1:102: error: expected a kind of fencing, found the text "wall"
  known: session, epoch

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "replicas": [{"shard": 1, "state": "online", "version": [0, 0], "reason": "first", "peers": ["n1"]}]}
----
target:1:184: error: expected a peer, [node, state], found the text "n1"

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1", "progress": 1}]}
----
pulse:1:99: error: "t1" names no shard: write WORKLOAD/NUMBER, for example t1/9

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1/1", "load": {"cpu": "5x"}}]}
----
pulse:1:123: error: "5x" has the unknown suffix "x": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1/1", "load": {"cpu": -1}}]}
----
pulse:1:123: error: -1 is negative
  give zero or more

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1/1", "load": {"cpu": 1, "cpu": 2}}]}
----
pulse:1:126: error: "cpu" is given twice in one map
  keep one

document permit
{"format": 1, "incarnation": "00000000000000ab", "stage": "maybe"}
----
permit:1:59: error: expected a stage, found the text "maybe"
  known: asked, granted, go, refused

# What the rules for nodes say, at its place.
document node
{"format": 1, "operation": "dran"}
----
node:1:28: error: expected an operation, found the text "dran"
  known: none, cordon, drain, swap, no-leaders, forget, remove

document node
{"format": 1, "power": 0, "labels": {"bad key": "x"},
 "taints": [{"key": "a", "effect": "refuse"}, {"key": "b", "value": "\u0007", "effect": "avoid"}]}
----
node:1:24: error: power 0 is not above zero
  use status: cordoned for a node that should get nothing
node:1:38: error: the name "bad key" contains " "; allowed are letters, digits and _ . - : @ + /
node:2:69: error: the value "\u0007" contains a control character

document node
{"format": 1, "disabled": ["t1/4", "t1/3"]}
----
node:1:36: error: shard t1/3 stands after shard t1/4
  each is there once, in rising order

document live
{"format": 1, "incarnation": "00000000000000ab", "data": "d1", "address": "", "reads": 1, "zone": "dc1//r1", "cores": 70000}
----
live:1:99: error: the zone "dc1//r1" is no path of names: a name must not be empty
live:1:119: error: 70000 cores are too many

# The rules for settings and workloads, as for a cluster file: all that is wrong is said.
document config
{"format": 1, "settings": {"session_ttl": "100ms", "max_offline": 1, "resume_offline": 2}, "freeze": {"timeout": "-1s"}, "maintenance": 5}
----
config:1:114: error: the text "-1s" is negative
  give zero or more
config:1:137: error: expected maintenance with its fields, found "5"

document config
{"format": 1,
 "settings": {"session_ttl": "100ms", "max_offline": 1, "resume_offline": 2},
 "state_models": [{"name": "everywhere", "states": [{"name": "on", "count": 2}], "initial": "on", "transitions": []}]}
----
config:2:30: error: 100ms is not between 1s and 1h
  shorter, a pause looks like a death; longer, a death is seen late
config:2:75: error: resume_offline 2 is above max_offline 1
  maintenance would end before it begins: lower it
config:3:28: error: the state model "everywhere" is built in
  choose another name

document workload
{"format": 1, "shards": 3}
----
workload:1:1: error: a workload lacks the field "buckets"
  add it

document workload
{"format": 1, "buckets": 3, "shards": 3}
----
workload:1:26: error: 3 buckets: their number is a power of two

document workload
{"format": 1, "buckets": 2, "shards": 3, "replicas": 2, "acks": 3, "min_active": 3, "fencing": "epoch",
 "close_to": ["t1", "t2", "t2"], "pinned": {"1": ["n1", "n1"], "9": ["n2"], "2": ["n1", "n2", "n3"]}}
----
workload:1:65: error: acks 3 is more than the 2 replicas of a shard
  lower it, or raise replicas
workload:1:82: error: min_active 3 is more than the 2 replicas of a shard
  lower it, or raise replicas
workload:2:15: error: a workload cannot be related to itself
workload:2:27: error: workload "t2" is listed twice
workload:2:57: error: two replicas of one shard on node "n1"
  name each node once
workload:2:64: error: there is no shard 9: t1 has 3
  shards count from 0
workload:2:82: error: pins 3 nodes for a shard's 2 replicas

document workload
{"format": 1, "buckets": 2, "shards": 3, "pinned": {"1": ["n1"], "01": ["n2"], "x": []}}
----
workload:1:66: error: shard 1 is pinned twice
  keep one
workload:1:80: error: "x" is not a shard's number
  shards are numbered from 0

document workload
{"format": 1, "buckets": 2, "shards": 3, "state_model": "not a name", "pinned": {"1": ["a b"]}}
----
workload:1:1: error: the name "a b" contains " "; allowed are letters, digits and _ . - : @ +
workload:1:57: error: there is no state model "not a name"
  name a built-in one or list it under state_models
