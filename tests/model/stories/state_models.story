# The built-in models, by their own names and by Helix's.
built_in leader-follower
----
leader-follower: initial offline, bounded leader
  leader count 1, serves
  follower count replicas, serves
  offline count none
  leader to offline goes by follower
  leader to dropped goes by follower
  follower to dropped goes by offline
  offline to leader goes by follower
  error to leader goes by offline
  error to follower goes by offline
  dropped to leader: no way
  dropped to follower: no way
  dropped to offline: no way
  3 replicas on 5 nodes: leader follower follower

built_in LeaderStandby
----
leader-standby: initial offline, bounded leader
  leader count 1, serves
  standby count replicas, no data, serves
  offline count none, no data
  standby is not asked
  leader to offline goes by standby
  leader to dropped goes by standby
  standby to dropped goes by offline
  offline to leader goes by standby
  error to leader goes by offline
  error to standby goes by offline
  dropped to leader: no way
  dropped to standby: no way
  dropped to offline: no way
  3 replicas on 5 nodes: leader standby standby

built_in onlineoffline
----
online-offline: initial offline, bounded none
  online count replicas, serves
  offline count none
  online to dropped goes by offline
  error to online goes by offline
  dropped to online: no way
  dropped to offline: no way
  3 replicas on 5 nodes: online online online

built_in bootstrap
----
bootstrap: initial offline, bounded none
  online count replicas, serves
  bootstrap count none
  offline count none
  online to bootstrap goes by offline
  online to dropped goes by offline
  bootstrap to dropped goes by offline
  offline to online goes by bootstrap
  error to online goes by offline
  error to bootstrap goes by offline
  dropped to online: no way
  dropped to bootstrap: no way
  dropped to offline: no way
  3 replicas on 5 nodes: online online online

built_in everywhere
----
everywhere: initial offline, bounded none
  online count nodes, serves
  offline count none
  online to dropped goes by offline
  error to online goes by offline
  dropped to online: no way
  dropped to offline: no way
  3 replicas on 5 nodes: online online online online online

built_in MasterSlave
----
leader-follower: initial offline, bounded leader
  leader count 1, serves
  follower count replicas, serves
  offline count none
  leader to offline goes by follower
  leader to dropped goes by follower
  follower to dropped goes by offline
  offline to leader goes by follower
  error to leader goes by offline
  error to follower goes by offline
  dropped to leader: no way
  dropped to follower: no way
  dropped to offline: no way
  3 replicas on 5 nodes: leader follower follower

built_in MasterMaster
----
no such model

# A user's own: two ranks of copies, and a way around.
state_models
state_models:
  - name: tiered
    states: [{name: leader, count: 1}, {name: hot, count: 1}, {name: warm, count: replicas}, {name: loading}, {name: offline, data: false}]
    initial: offline
    transitions: [[offline, loading], [loading, warm], [warm, hot], [hot, leader], [leader, warm], [hot, warm], [warm, offline], [loading, offline]]
workloads: [{name: t, shards: 1, state_model: tiered}]
----
tiered: initial offline, bounded leader
  leader count 1, serves
  hot count 1, serves
  warm count replicas, serves
  loading count none
  offline count none, no data
  leader to hot goes by warm
  leader to loading goes by warm
  leader to offline goes by warm
  leader to dropped goes by warm
  hot to loading goes by warm
  hot to offline goes by warm
  hot to dropped goes by warm
  warm to leader goes by hot
  warm to loading goes by offline
  warm to dropped goes by offline
  loading to leader goes by warm
  loading to hot goes by warm
  loading to dropped goes by offline
  offline to leader goes by loading
  offline to hot goes by loading
  offline to warm goes by loading
  error to leader goes by offline
  error to hot goes by offline
  error to warm goes by offline
  error to loading goes by offline
  dropped to leader: no way
  dropped to hot: no way
  dropped to warm: no way
  dropped to loading: no way
  dropped to offline: no way
  3 replicas on 5 nodes: leader hot warm

# Models that make no sense are refused, with every reason.
parse
state_models:
  - name: a
    states: [{name: up, count: 1}, {name: down}]
    initial: off
    transitions: [[down, up], [up, dwn], [up, up]]
  - name: b
    states: [{name: up, count: replicas}, {name: more, count: 2}, {name: down}, {name: error}, {name: down}]
    initial: down
    transitions: []
  - name: c
    states: [{name: up}, {name: down}]
    initial: down
    transitions: [[down, up], [up, down]]
  - name: d
    states: [{name: up, count: 1}, {name: lost}, {name: down}]
    initial: down
    transitions: [[down, up], [up, down], [up, lost]]
  - name: e
    states: [{name: up, count: 1}, {name: down}]
    initial: down
    transitions: [[down, up, x], [up, down]]
  - name: f
    states: [{name: up, count: 0}, {name: x, count: many}, {name: down}]
    initial: down
    transitions: [[down, up], [up, down]]
  - name: MasterSlave
    states: [{name: up, count: 1}, {name: down}]
    initial: down
    transitions: [[down, up], [up, down]]
workloads: [{name: t, shards: 1, state_model: tired}]
----
c.yaml:2:5: error: this state model is not sound: the initial state names the unknown state "off"
c.yaml:2:5: error: this state model is not sound: the transition up -> dwn names the unknown state "dwn"; did you mean "down"?
c.yaml:2:5: error: this state model is not sound: the transition up -> up leads nowhere
c.yaml:6:5: error: this state model is not sound: the state "down" is listed twice
c.yaml:6:5: error: this state model is not sound: the state "error" is in every model and must not be listed
c.yaml:6:5: error: this state model is not sound: the state "more" can never be used: a better one takes all replicas
c.yaml:10:5: error: this state model is not sound: no state has a count, so no replica would ever serve
c.yaml:14:5: error: this state model is not sound: the initial state cannot be reached from the state "lost"
c.yaml:21:19: error: expected a transition, found a list
  write it as [from, to]
c.yaml:23:32: error: 0 is out of range
  give a whole number from 1 to 4294967295
c.yaml:23:53: error: expected a number, replicas or nodes, found "many"
  known: replicas, nodes
c.yaml:26:11: error: the state model "MasterSlave" is built in
  choose another name

# Ids of shards.
shard
t1/9
t1
t1/x
/9
t1/99999999999
a/b/9
----
t1 shard 9
"t1" names no shard: write WORKLOAD/NUMBER, for example t1/9 (invalid)
"t1/x": "x" is not a whole number: write digits only, for example 12 (invalid)
a name must not be empty (invalid)
"t1/99999999999": the shard's number is too large (invalid)
"a/b/9": "b/9" is not a whole number: write digits only, for example 12 (invalid)
