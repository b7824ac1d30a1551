# What is newer is refused as such.
document view
{"format": 2, "shards": "elsewhere"}
----

document workload
{"format": 2}
----

# No document, or one without a format.
document waits
----

document waits
[1, 2]
----

document waits
{}
----

document config
{"settings": {}}
----

document waits
{"format": 0}
----

document waits
{"format": "1"}
----

document waits
{"format": 1.5}
----

# Not JSON. The first thing that is wrong is said, with its line and column.
document waits
{"format": 1,
 "gone": {"n1" "5s"}}
----

document waits
{"format": 1, "entered": yes}
----

document waits
{"format": 1, "entered": true,}
----

document waits
{"format": 1, "gone": {"n1": "5s}}
----

document waits
{"format": 1} {}
----

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "reason": "\q"}
----

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "reason": "\ud834 alone"}
----

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "other": 007}
----

document permit
{"format": 1, "incarnation": "0000000000000001", "stage": "go", "other": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}
----

document config
{"format": 1, "settings": {"max_offline": 1]}
----

# A field that is missing, given twice, or of the wrong kind.
document records
{"format": 1}
----

document records
{"format": 1, "shards": [
  {"shard": 1, "version": [1, 0], "holders": [{"node": "n1", "told": "leader", "reason": "first"}]}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "shard": 2, "version": [1, 0]}]}
----

document records
{"format": 1, "shards": {"1": {}}}
----

document records
{"format": 1, "shards": [{"shard": 2, "version": [1, 0]}, {"shard": 1, "version": [1, 0]}]}
----

document records
{"format": 1, "shards": [{"shard": 2, "version": [1, 0]}, {"shard": 2, "version": [1, 0]}]}
----

document records
{"format": 1, "shards": [{"shard": 4294967296, "version": [1, 0]}]}
----

document records
{"format": 1, "shards": [{"shard": -1, "version": [1, 0]}]}
----

document records
{"format": 1, "shards": [{"shard": "1", "version": [1, 0]}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "version": [1]}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0, 2]}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "has_data": "true"}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "seal": null}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "placement": ["n1", "a/b"]}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "holders": [{"node": "n1", "told": "leader", "version": [1, 0], "reason": "mood"}]}]}
----

document records
{"format": 1, "shards": [{"shard": 1, "version": [1, 0], "holders": [{"node": "n1", "told": "", "version": [1, 0], "reason": "first"}]}]}
----

document target
{"format": 1, "incarnation": 12, "number": [1, 1], "model": "leader-follower", "replicas": []}
----

document target
{"format": 1, "incarnation": "12", "number": [1, 1], "model": "leader-follower", "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000AB", "number": [1, 1], "model": "leader-follower", "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "lead", "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": {"name": "own", "states": [{"name": "on", "count": 1}], "initial": "off", "transitions": []}, "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": {"name": "own", "states": [{"name": "on", "count": "few"}], "initial": "on", "transitions": []}, "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "deadline": "soon", "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "deadline": "-5s", "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "fencing": "wall", "replicas": []}
----

document target
{"format": 1, "incarnation": "00000000000000ab", "number": [1, 1], "model": "everywhere", "replicas": [{"shard": 1, "state": "online", "version": [0, 0], "reason": "first", "peers": ["n1"]}]}
----

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1", "progress": 1}]}
----

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1/1", "load": {"cpu": "5x"}}]}
----

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1/1", "load": {"cpu": -1}}]}
----

document pulse
{"format": 1, "node": "n1", "incarnation": "00000000000000ab", "count": 1, "replicas": [{"shard": "t1/1", "load": {"cpu": 1, "cpu": 2}}]}
----

document permit
{"format": 1, "incarnation": "00000000000000ab", "stage": "maybe"}
----

# What the rules for nodes say, at its place.
document node
{"format": 1, "operation": "dran"}
----

document node
{"format": 1, "power": 0, "labels": {"bad key": "x"},
 "taints": [{"key": "a", "effect": "refuse"}, {"key": "b", "value": "\u0007", "effect": "avoid"}]}
----

document node
{"format": 1, "disabled": ["t1/4", "t1/3"]}
----

document live
{"format": 1, "incarnation": "00000000000000ab", "data": "d1", "address": "", "reads": 1, "zone": "dc1//r1", "cores": 70000}
----

# The rules for settings and workloads, as for a cluster file: all that is wrong is said.
document config
{"format": 1, "settings": {"session_ttl": "100ms", "max_offline": 1, "resume_offline": 2}, "freeze": {"timeout": "-1s"}, "maintenance": 5}
----

document config
{"format": 1,
 "settings": {"session_ttl": "100ms", "max_offline": 1, "resume_offline": 2},
 "state_models": [{"name": "everywhere", "states": [{"name": "on", "count": 2}], "initial": "on", "transitions": []}]}
----

document workload
{"format": 1, "shards": 3}
----

document workload
{"format": 1, "buckets": 3, "shards": 3}
----

document workload
{"format": 1, "buckets": 2, "shards": 3, "replicas": 2, "acks": 3, "min_active": 3, "fencing": "epoch",
 "close_to": ["t1", "t2", "t2"], "pinned": {"1": ["n1", "n1"], "9": ["n2"], "2": ["n1", "n2", "n3"]}}
----

document workload
{"format": 1, "buckets": 2, "shards": 3, "pinned": {"1": ["n1"], "01": ["n2"], "x": []}}
----

document workload
{"format": 1, "buckets": 2, "shards": 3, "state_model": "not a name", "pinned": {"1": ["a b"]}}
----
