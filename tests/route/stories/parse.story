parse
{"format": 1, "workloads": {}, "nodes": {}}
----
{
  "format": 1,
  "workloads": {},
  "nodes": {}
}

# Fields that this program does not know are overlooked.
parse
{"format": 1, "new": 1, "workloads": {"t1": {"shards": 2, "new": [], "replicas": [{"shard": 1, "epoch": 4, "change": 0, "new": {}, "others": {"n1": "online"}}]}}, "nodes": {"n1": {"address": "h:1", "new": 0}, "n2": {"address": "h:2"}, "n3": {"address": "h:3", "live": false}}}
----
{
  "format": 1,
  "workloads": {
    "t1": {
      "shards": 2,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 1, "epoch": 4, "change": 0, "others": {"n1": "online"}}
      ]
    }
  },
  "nodes": {
    "n1": {"address": "h:1", "zone": ""},
    "n2": {"address": "h:2", "zone": ""}
  }
}

parse
{"format": 2, "workloads": 7}
----
refused
map.json: format 2 was written by a newer program; this one reads up to 1

parse
{"workloads": {}, "nodes": []}
----
invalid
map.json:1:1: error: a shard map lacks the field "format"
  add it
map.json:1:28: error: expected a map of the nodes, found a list

parse
{"format": 1, "workloads": {"a/b": {}, "t1": {"shards": 2, "key_map": "hsah", "replicas": [{"shard": 2, "epoch": -1, "change": 0}, {"shard": 1, "epoch": 0, "change": 0, "leader": "", "others": {"n1": ""}}, {"shard": 1, "epoch": 0, "change": 0}, 7]}}, "nodes": {"n1": {"zone": 3}}}
----
invalid
map.json:1:29: error: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
map.json:1:71: error: expected a key map, found the text "hsah"
  did you mean "hash"?
map.json:1:102: error: 2 is out of range
  give a whole number from 0 to 1
map.json:1:180: error: a name must not be empty
map.json:1:201: error: a name must not be empty
map.json:1:207: error: shards stand in order of their numbers, each once
map.json:1:246: error: expected a shard with its fields, found "7"
map.json:1:268: error: a node lacks the field "address"
  add it

parse
{"format": 1, "workloads": {"t1": {"shards": 0, "replicas": [{"shard": 0, "epoch": 0, "change": 0}]}, "t2": {"shards": 4000000000, "replicas": {}}}, "nodes": {}}
----
invalid
map.json:1:61: error: a workload without shards has none here
map.json:1:120: error: 4000000000 is out of range
  give a whole number from 0 to 2147483647
map.json:1:144: error: expected a list of the shards of a workload, found a map

# A count that no table has is no reason to walk through it.
parse
{"format": 1, "workloads": {"t1": {"shards": 2147483647, "replicas": [{"shard": 2147483646, "epoch": 0, "change": 18446744073709551615, "leader": "n1"}]}}, "nodes": {}}
----
{
  "format": 1,
  "workloads": {
    "t1": {
      "shards": 2147483647,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 2147483646, "epoch": 0, "change": 18446744073709551615, "leader": "n1"}
      ]
    }
  },
  "nodes": {}
}

parse
{"format": 1,
----
invalid
map.json:1:14: error: not valid JSON: syntax error while parsing object key - unexpected end of input; expected string literal
