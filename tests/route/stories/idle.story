# A standby holds no data: it is where it should be, and is named, but nobody asks it.
table
node n1 10.0.0.1:9090
node n2 10.0.0.2:9090
node n3 n3.example:9090
workload t1 2 idle=standby
shard t1/0 4.0 leader=n1 n2=standby n3=standby
shard t1/1 3.1 n2=standby
----
t1/0 changed
t1/1 changed

pick t1/0 any
----
n1 leader at 10.0.0.1:9090, epoch 4

pick t1/0 follower
----
nobody

pick t1/1 any
----
nobody

map json
----
{
  "format": 1,
  "workloads": {
    "t1": {
      "shards": 2,
      "key_map": "hash",
      "hash_version": 1,
      "idle": ["standby"],
      "replicas": [
        {"shard": 0, "epoch": 4, "change": 0, "leader": "n1", "others": {"n2": "standby", "n3": "standby"}},
        {"shard": 1, "epoch": 3, "change": 1, "others": {"n2": "standby"}}
      ]
    }
  },
  "nodes": {
    "n1": {"address": "10.0.0.1:9090", "zone": ""},
    "n2": {"address": "10.0.0.2:9090", "zone": ""},
    "n3": {"address": "n3.example:9090", "zone": ""}
  }
}

# Nor is it in a file whose readers ask everybody that is in it, nor missed there.
map rocksplicator
----
{
  "t1": {
    "num_shards": 2,
    "10.0.0.1:9090:_0": ["00000:M"]
  }
}

left_out rocksplicator
----
nobody

# The workload's model is another now, in which they serve.
table
workload t1 2
shard t1/0 4.0 leader=n1 n2=standby n3=standby
----
no shard changed

pick t1/0 follower
----
n3 standby at n3.example:9090, epoch 4
n2 standby at 10.0.0.2:9090, epoch 4
