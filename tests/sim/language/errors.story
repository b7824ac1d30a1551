# All at once, those of the cluster and those of the lines; names are not looked up in a cluster that is wrong.
story
nodes: [{name: "n[1-3]", zon: z1}]
workloads: [{name: t, shards: 8, replicas: 3}]
---
at 10s kil n9
at 5s  stop n3
----
a.story:1:26: error: unknown field "zon" of a node
  did you mean "zone"?
a.story:4:8: error: "kil" is no action
  did you mean `kill`?
a.story:5:4: error: 5s is before 10s, the time of the line above
  times count from the start and do not go back
a.story:5:15: error: this lacks `for TIME`
  write `stop NODE for TIME`

story
nodes: [{name: n1}]
----
a.story:1:1: error: the story lacks its line `---`
  first the cluster as in a cluster file, then a line `---`, then what happens

story
----
a.story: error: the file is empty
  check its name, and that it was saved
a.story:1:1: error: the story lacks its line `---`
  first the cluster as in a cluster file, then a line `---`, then what happens

story
nodes: [{name: n1}]
at 10s kill n1
----
a.story:2:1: error: the story lacks its line `---`
  first the cluster as in a cluster file, then a line `---`, then what happens
a.story:3:1: error: not valid YAML: could not find expected ':' (while scanning a simple key)

# Words that are not there, or too many.
lines
kil n3
stop n3
stop n3 for
stop n3 for ever
stop n3 for 5
stop controller 1
cut n3 from the stor for 5s
start n3 on new disk
start
kill n3 now
fail n3 on n1
explode
----
a.story:4:1: error: "kil" is no action
  did you mean `kill`?
a.story:5:8: error: this lacks `for TIME`
  write `stop NODE for TIME`
a.story:6:12: error: this lacks `TIME`
  write `stop NODE for TIME`
a.story:7:13: error: "ever" is not a duration: write a number and a unit, for example 15s or 1h30m
  write `stop NODE for TIME`
a.story:8:13: error: "5" has no unit: add a unit, for example 5s
a.story:9:18: error: this lacks `for TIME`
  write `stop controller NUMBER for TIME`
a.story:10:17: error: unexpected "stor"
  did you mean `store`? write `cut NODE from the store for TIME` or `cut NODE from the controllers for TIME`
a.story:11:13: error: unexpected "new"
  write `start NODE on a new disk`
a.story:12:6: error: this ends too early
  write `start NODE`, `start NODE on a new disk`, `start a twin of NODE` or `start controller NUMBER`
a.story:13:9: error: unexpected "now"
  write `kill NODE`
a.story:14:6: error: unexpected "n3"
  write `fail NUMBER percent on NODE` or `fail SHARD on NODE`
a.story:15:1: error: "explode" is no action
  docs/simulator.md has the table of all actions

# Expectations.
lines
every shard has a leader within 5s
t/3 is led by n1
expect kill n3
expect
expect not
expect settled in 5s
expect settled within
expect settled within soon
expect settled within 5s please
expect n3 hold nothing
expect n3
expect t/3 is on
at
at 10s
at noon kill n1
----
a.story:4:1: error: "every" is no action
  it is a condition: write `expect` before it
a.story:5:1: error: "t/3" is no action
  it is a condition: write `expect` before it
a.story:6:8: error: "kill" is no condition
  it is an action: write it without `expect`
a.story:7:1: error: `expect` lacks its condition
  write `expect settled within 1m`
a.story:8:1: error: `expect` lacks its condition
  write `expect settled within 1m`
a.story:9:16: error: unexpected "in"
  write `settled`, then nothing, `within TIME` or `for TIME`
a.story:10:22: error: `within` lacks its time
  write `within 15s`
a.story:11:23: error: "soon" is not a duration: write a number and a unit, for example 15s or 1h30m
a.story:12:26: error: unexpected "please"
  an expectation ends with its time
a.story:13:11: error: unexpected "hold"
  did you mean `holds`? write `NODE holds nothing`, `NODE holds NUMBER shards`, `NODE leads NUMBER shards`, `NODE is up`, `NODE is gone`, `NODE is suspect` or `NODE has stopped`
a.story:14:10: error: this ends too early
  write `NODE holds nothing`, `NODE holds NUMBER shards`, `NODE leads NUMBER shards`, `NODE is up`, `NODE is gone`, `NODE is suspect` or `NODE has stopped`
a.story:15:17: error: this lacks `NODES`
  write `SHARD is on NODES`
a.story:16:3: error: `at` lacks its time
  write `at 10s kill n1`
a.story:17:7: error: nothing happens at 10s
  say what: `at 10s kill n1`
a.story:18:4: error: "noon" is not a duration: write a number and a unit, for example 15s or 1h30m

# Names and numbers.
lines
kill n4
kill m17
kill -n1
expect t/8 is led by n1
expect u/1 is led by n1
expect t/x is led by n1
expect t/3 is on n1 n2 n1
delete u
kill controller 0
fail 101 percent on n1
slow n1 -3 times
writes 99999999999999999999 per second
let the clock of n1 run 1000000 ppm slow
at -5s kill n1
at 4000d kill n1
----
a.story:4:6: error: there is no node "n4"
  known: n1, n2, n3
a.story:5:6: error: there is no node "m17"
  known: n1, n2, n3
a.story:6:6: error: the name "-n1" must start with a letter, a digit or _
a.story:7:8: error: there is no shard t/8
  t has 8, counted from 0
a.story:8:8: error: there is no workload "u"
  known: t
a.story:9:8: error: "t/x": "x" is not a whole number: write digits only, for example 12
a.story:10:24: error: "n1" is named twice
  name it once
a.story:11:8: error: there is no workload "u"
  known: t
a.story:12:17: error: 0 is out of range
  in `kill controller NUMBER` it is from 1 to 9
a.story:13:6: error: 101 is out of range
  in `fail NUMBER percent on NODE` it is from 0 to 100
a.story:14:9: error: "-3" is negative: write 0 or more
a.story:15:8: error: "99999999999999999999" is too large: at most 18446744073709551615
a.story:16:25: error: 1000000 is out of range
  in `let the clock of NODE run NUMBER ppm slow` it is from 0 to 900000
a.story:17:4: error: -5s is out of range
  times are from 0 to 3650d
a.story:18:4: error: 4000d is out of range
  times are from 0 to 3650d

# Times that go back, and what follows the end.
lines
at 10s kill n3
at 5s  start n3
       kill n2
at 20s end
at 30s kill n1
----
a.story:5:4: error: 5s is before 10s, the time of the line above
  times count from the start and do not go back
a.story:8:1: error: the story has ended above
  put `end` last

# Texts and fields.
lines
expect t/3 says waits
expect t/3 says "waits
expect t/3 says "a \q"
change t {replicas: 2
change t {replicas: two}
change t {replica: 2}
change t {name: u}
change t {replicas: 2, replicas: 3}
change t replicas 2
create {name: t, shards: 1}
add {name: n1}
settings {session_ttl: 10}
load t/1 {cpu: many}
load t {cpu: -1}
delete t
change t {replicas: 2}
create {name: u, shards: 2, apart_from: [t]}
kill n1 {a: b}
----
a.story:4:17: error: unexpected "waits"
  write `SHARD says TEXT`
a.story:5:17: error: a quote that is not closed
  close it in the same line
a.story:6:17: error: not valid JSON: syntax error while parsing value - invalid string: forbidden character after backslash
a.story:7:10: error: a brace that is not closed
  close it in the same line
a.story:8:10: error: "two" is not a whole number: write digits only, for example 12
a.story:9:10: error: unknown field "replica" of a workload (did you mean "replicas"?)
a.story:10:10: error: a workload's name does not change
a.story:11:10: error: "replicas" is given twice in one map (the first is at line 1, column 2: keep one)
a.story:12:10: error: unexpected "replicas"
  write `change WORKLOAD FIELDS`
a.story:13:8: error: workload "t" is named twice (rename one)
a.story:14:5: error: node "n1" is named twice (rename one)
a.story:15:10: error: "10" has no unit: add a unit, for example 10s
a.story:16:10: error: "many" is not a quantity: write a number, for example 0.5, 500m or 64Gi
a.story:17:8: error: "-1" is negative (give zero or more)
a.story:19:10: error: the workload t was deleted above
a.story:20:8: error: there is no workload "t" (list it under workloads)
a.story:21:9: error: unexpected "{a: b}"
  write `kill NODE`

# Columns count characters.
lines
expect t/3 says "für é" vithin 5s
----
a.story:4:25: error: unexpected "vithin"
  did you mean `within`? write `SHARD says TEXT`, then nothing, `within TIME` or `for TIME`
