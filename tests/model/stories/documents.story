# The config: settings as in a cluster file, state models, and what operators hold the controller to.
document config
{"format": 1, "settings": {"rebalance_delay": "10m", "max_offline": 3, "recovery": {"bytes_per_second": "50Mi"}, "hard_limit": "90%"},
 "state_models": [{"name": "own", "states": [{"name": "on", "count": 2}, {"name": "off", "data": false}], "initial": "off",
                   "transitions": [["off", "on"], ["on", "off"]]}],
 "freeze": {"keep_leaders": true, "reason": "new switch", "timeout": "2h"}, "maintenance": {"reason": "moving house"}, "compact": true}
----
{
  "format": 1,
  "settings": {
    "hard_limit": "90%",
    "rebalance_delay": "10m",
    "max_offline": 3,
    "recovery": {"bytes_per_second": "50Mi"}
  },
  "state_models": [
    {
      "name": "own",
      "states": [
        {"name": "on", "count": 2},
        {"name": "off", "data": false}
      ],
      "initial": "off",
      "transitions": [["off", "on"], ["on", "off"]]
    }
  ],
  "freeze": {"keep_leaders": true, "reason": "new switch", "timeout": "2h"},
  "maintenance": {"reason": "moving house"},
  "compact": true
}

document config
{"format": 1}
----
{
  "format": 1
}

# What is to be done with a node, and what is said over its own head. An empty map of labels is not none.
document node
{"format": 1, "operation": "swap", "swap_with": "n9", "reason": "old disk", "rebalance_delay": "1h", "capacity": {"disk": "2Ti", "cpu": 500e-3},
 "power": 1.5, "labels": {}, "taints": [{"key": "dedicated", "value": "db", "effect": "refuse"}, {"key": "slow", "effect": "avoid"}],
 "disabled": ["t1/3", "t1/10", "t2/0"]}
----
{
  "format": 1,
  "operation": "swap",
  "swap_with": "n9",
  "reason": "old disk",
  "rebalance_delay": "1h",
  "capacity": {"cpu": 0.5, "disk": "2Ti"},
  "power": 1.5,
  "labels": {},
  "taints": [
    {"key": "dedicated", "value": "db", "effect": "refuse"},
    {"key": "slow", "effect": "avoid"}],
  "disabled": ["t1/3", "t1/10", "t2/0"]
}

document node
{"format": 1, "operation": "remove", "data": "8c7f03a1b2d4e5f6"}
----
{
  "format": 1,
  "operation": "remove",
  "data": "8c7f03a1b2d4e5f6"
}

document node
{"format": 1, "operation": "forget", "since": "00000000000004d2"}
----
{
  "format": 1,
  "operation": "forget",
  "since": "00000000000004d2"
}

# A workload: its spec as in a cluster file, without the name, which is in the key.
document workload
{"format": 1, "buckets": 2, "shards": 64, "replicas": 3, "state_model": "MasterSlave", "min_active": 2, "acks": 2, "fencing": "epoch",
 "lag_max": 1000, "linger": "10s", "key_map": "range", "metadata": "{\"codec\": \"zstd\"}", "load": {"disk": "10Gi"}, "weight": 2,
 "close_to": ["t2"], "spread": {"level": "row", "hard": true}, "pinned": {"10": ["n2"], "3": ["n2", "n1"]}}
----
{
  "format": 1,
  "buckets": 2,
  "shards": 64,
  "replicas": 3,
  "load": {"disk": "10Gi", "weight": 2},
  "spread": {"level": "row", "hard": true},
  "close_to": ["t2"],
  "min_active": 2,
  "fencing": "epoch",
  "acks": 2,
  "lag_max": 1000,
  "linger": "10s",
  "key_map": "range",
  "metadata": "{\"codec\": \"zstd\"}",
  "pinned": {
    "3": ["n2", "n1"],
    "10": ["n2"]
  }
}

# What is left of one that was deleted.
document workload
{"format": 1, "buckets": 2, "shards": 0, "deleted": true, "highest": 71}
----
{
  "format": 1,
  "buckets": 2,
  "deleted": true,
  "highest": 71,
  "shards": 0
}

document order
{"format": 1, "lead": "n2", "accept_loss": true, "reset": ["n1"], "adopt": ["n3"], "drop": ["n4", "n5"]}
----
{
  "format": 1,
  "lead": "n2",
  "accept_loss": true,
  "reset": ["n1"],
  "adopt": ["n3"],
  "drop": ["n4", "n5"]
}

document live
{"format": 1, "incarnation": "5b2e91c04d7a8f36", "data": "8c7f03a1b2d4e5f6", "address": "10.0.0.1:9090", "version": "2.3.1", "reads": 1,
 "zone": "dc1/r1", "labels": {"disk": "ssd"}, "cores": 16, "capacity": {"disk": "2Ti", "cpu": 16}, "inventory": 2}
----
{
  "format": 1,
  "incarnation": "5b2e91c04d7a8f36",
  "data": "8c7f03a1b2d4e5f6",
  "address": "10.0.0.1:9090",
  "version": "2.3.1",
  "reads": 1,
  "zone": "dc1/r1",
  "labels": {"disk": "ssd"},
  "cores": 16,
  "capacity": {"cpu": 16, "disk": "2Ti"},
  "inventory": 2
}

document permit
{"format": 1, "incarnation": "5b2e91c04d7a8f36", "stage": "granted", "timeout": "10m", "reason": "t1/9 has no other leader yet"}
----
{
  "format": 1,
  "incarnation": "5b2e91c04d7a8f36",
  "stage": "granted",
  "timeout": "10m",
  "reason": "t1/9 has no other leader yet"
}

document waits
{"format": 1, "gone": {"n3": "2m10s"}, "permits": {"n1": "30s"}, "maintenance": "1m", "entered": true, "freeze": "0", "measured": true}
----
{
  "format": 1,
  "gone": {"n3": "2m10s"},
  "permits": {"n1": "30s"},
  "maintenance": "1m",
  "entered": true,
  "freeze": "0s",
  "measured": true
}

document waits
{"format": 1, "steady": {"n3": "20s"}, "bans": [["t1/9", "n3", "2m"], ["t1/9", "n4", "600s"]], "given_up": [["t1/3", "12s"]], "timed_out": [["t1/3", "12s"]]}
----
{
  "format": 1,
  "steady": {"n3": "20s"},
  "bans": [["t1/9", "n3", "2m"], ["t1/9", "n4", "10m"]],
  "given_up": [["t1/3", "12s"]],
  "timed_out": [["t1/3", "12s"]]
}

# The truth, a line for each shard and each holder.
document records
{"format": 1, "shards": [
 {"shard": 3, "version": [5, 2], "has_data": true, "placement": ["n1", "n2", "n3"], "holders": [
  {"node": "n1", "data": "8c7f03a1b2d4e5f6", "incarnation": "5b2e91c04d7a8f36", "told": "leader", "version": [5, 2], "reason": "failover", "held_before": 4, "arrived": true},
  {"node": "n2", "data": "d2", "incarnation": "0000000000000002", "told": "follower", "may_be": "leader", "version": [5, 0], "reason": "first", "arrived": true},
  {"node": "n3", "data": "d3", "incarnation": "0000000000000003", "told": "follower", "version": [5, 1], "reason": "move", "copy_from": "n2", "leaving": false}]},
 {"shard": 17, "version": [7, 0], "has_data": true, "seal": 8, "placement": ["n2"], "holders": []},
 {"shard": 40, "version": [1, 4], "hand_over": {"from": "n1", "to": "n2"}}]}
----
{
  "format": 3,
  "nodes": {"n1": ["8c7f03a1b2d4e5f6", "5b2e91c04d7a8f36"], "n2": ["d2", "0000000000000002"], "n3": ["d3", "0000000000000003"]},
  "shards": [
    {"shard": 3, "version": [5, 2], "told": [0, 0], "holders": [
      {"node": "n1", "told": "leader", "version": [5, 2], "reason": "failover", "held_before": 4},
      {"node": "n2", "told": "follower", "may_be": "leader", "version": [5, 0]},
      {"node": "n3", "told": "follower", "version": [5, 1], "reason": "move", "copy_from": "n2", "arrived": false}]},
    {"shard": 17, "version": [7, 0], "told": [0, 0], "seal": 8, "placement": ["n2"]},
    {"shard": 40, "version": [1, 4], "told": [0, 0], "has_data": false, "hand_over": {"from": "n1", "to": "n2"}}]
}

# What a node must make true. Its state model is a name if it is built in.
document target
{"format": 1, "incarnation": "5b2e91c04d7a8f36", "number": [7, 123], "model": "leader-follower", "deadline": "10m", "metadata": "x",
 "replicas": [
 {"shard": 3, "state": "leader", "version": [5, 2], "reason": "failover", "held_before": 4, "peers": [["n2", "follower"], ["n3", "follower"]]},
 {"shard": 17, "state": "follower", "version": [7, 0], "reason": "operator", "copy_from": "n2", "seal": 8},
 {"shard": 40, "state": "dropped", "version": [1, 4], "reason": "balance"}]}
----
{
  "format": 1,
  "incarnation": "5b2e91c04d7a8f36",
  "number": [7, 123],
  "model": "leader-follower",
  "deadline": "10m",
  "metadata": "x",
  "replicas": [
    {"shard": 3, "state": "leader", "version": [5, 2], "reason": "failover", "held_before": 4, "peers": [["n2", "follower"], ["n3", "follower"]]},
    {"shard": 17, "state": "follower", "version": [7, 0], "reason": "operator", "copy_from": "n2", "seal": 8},
    {"shard": 40, "state": "dropped", "version": [1, 4], "reason": "balance"}]
}

document target
{"format": 1, "incarnation": "5b2e91c04d7a8f36", "number": [7, 124], "fencing": "epoch", "replicas": [],
 "model": {"name": "own", "initial": "off", "states": [{"name": "on", "count": 2}, {"name": "rest", "count": "replicas"}, {"name": "off", "data": false}],
           "transitions": [["off", "rest"], ["rest", "on"], ["on", "rest"], ["rest", "off"]]}}
----
{
  "format": 1,
  "incarnation": "5b2e91c04d7a8f36",
  "number": [7, 124],
  "model": {"name": "own", "states": [
    {"name": "on", "count": 2},
    {"name": "rest", "count": "replicas"},
    {"name": "off", "data": false}], "initial": "off", "transitions": [["off", "rest"], ["rest", "on"], ["on", "rest"], ["rest", "off"]]},
  "fencing": "epoch",
  "replicas": []
}

# What is true there.
document report
{"format": 1, "incarnation": "5b2e91c04d7a8f36", "data": "8c7f03a1b2d4e5f6", "obeyed": [7, 123], "replicas": [
 {"shard": 3, "state": "leader", "version": [5, 2], "progress": 18446744073709551615},
 {"shard": 17, "state": "follower", "version": [7, 0], "progress": 90, "sealed": {"against": 8, "last": 7, "progress": 90}},
 {"shard": 40, "state": "error", "version": [1, 4], "error": "No space left on device: \"/data/t1\"", "tries": 5, "gave_up": true}]}
----
{
  "format": 1,
  "incarnation": "5b2e91c04d7a8f36",
  "data": "8c7f03a1b2d4e5f6",
  "obeyed": [7, 123],
  "replicas": [
    {"shard": 3, "state": "leader", "version": [5, 2], "progress": 18446744073709551615},
    {"shard": 17, "state": "follower", "version": [7, 0], "progress": 90, "sealed": {"against": 8, "last": 7, "progress": 90}},
    {"shard": 40, "state": "error", "version": [1, 4], "error": "No space left on device: \"/data/t1\"", "tries": 5, "gave_up": true}]
}

document view
{"format": 1, "shards_in_all": 64, "key_map": "hash", "hash_version": 1, "shards": [
 {"shard": 3, "version": [5, 2], "leader": "n1", "others": [["n2", "follower"], ["n3", "follower"]]},
 {"shard": 17, "version": [8, 0], "next": "n2"}]}
----
{
  "format": 1,
  "shards_in_all": 64,
  "key_map": "hash",
  "hash_version": 1,
  "shards": [
    {"shard": 3, "version": [5, 2], "leader": "n1", "others": [["n2", "follower"], ["n3", "follower"]]},
    {"shard": 17, "version": [8, 0], "next": "n2"}]
}

document controller_epoch
{"format": 1, "epoch": 7}
----
{
  "format": 1,
  "epoch": 7
}

document pulse
{"format": 1, "node": "n1", "incarnation": "5b2e91c04d7a8f36", "count": 12, "replicas": [
 {"shard": "t1/3", "progress": 100, "lag": 0, "load": {"cpu": 0.25, "disk": "10Gi"}}, {"shard": "t2/0", "progress": 7}]}
----
{
  "format": 1,
  "node": "n1",
  "incarnation": "5b2e91c04d7a8f36",
  "count": 12,
  "replicas": [
    {"shard": "t1/3", "progress": 100, "lag": 0, "load": {"cpu": 0.25, "disk": "10Gi"}},
    {"shard": "t2/0", "progress": 7}]
}
