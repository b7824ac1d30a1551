# The example of Rocksplicator's own form.
table
node n1 10.0.0.1:9090 us-east-1a
workload t1 3
shard t1/0 4.0 leader=n1
shard t1/2 4.1 leader=n9 n1=follower
----
t1/0 changed
t1/2 changed

map rocksplicator
----
{
  "t1": {
    "num_shards": 3,
    "10.0.0.1:9090:us-east-1a_0": ["00000:M", "00002:S"]
  }
}

# Nobody has ever said where n9 is.
left_out rocksplicator
----
n9

left_out json
----
n9

map json
----
{
  "format": 1,
  "workloads": {
    "t1": {
      "shards": 3,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 4, "change": 0, "leader": "n1"},
        {"shard": 2, "epoch": 4, "change": 1, "leader": "n9", "others": {"n1": "follower"}}
      ]
    }
  },
  "nodes": {
    "n1": {"address": "10.0.0.1:9090", "zone": "us-east-1a"}
  }
}

# The zone is the outermost part of the path, the group the last one; a colon would end the host. One without a zone has an empty one.
table
node n1 10.0.0.1:9090 us-east-1a/rows/r7
node n9 10.0.0.9:9090 us:east/r1
node n8 10.0.0.8:9090
shard t1/1 1.0 leader=n8 n9=follower n1=follower
----
t1/1 changed

map rocksplicator
----
{
  "t1": {
    "num_shards": 3,
    "10.0.0.1:9090:us-east-1a_r7": ["00000:M", "00001:S", "00002:S"],
    "10.0.0.8:9090:_0": ["00001:M"],
    "10.0.0.9:9090:us-east_r1": ["00001:S", "00002:M"]
  }
}

# A host that its clients could not read would cost them the whole file.
table
node n9 db9.example.org:9090 us-east-1a
node n8 [::1]:9090 us-east-1a
node n7 10.0.0.256:9090 us-east-1a
node n6 10.0.0.6 us-east-1a
shard t1/1 1.1 leader=n8 n9=follower n7=follower n6=follower
----
t1/1 changed

map rocksplicator
----
{
  "t1": {
    "num_shards": 3,
    "10.0.0.1:9090:us-east-1a_r7": ["00000:M", "00002:S"]
  }
}

left_out rocksplicator
----
n6
n7
n8
n9

left_out json
----
nobody

# A node that is not live stays where the view has it, with its last address.
table
gone n1
----
no shard changed

map json
----
{
  "format": 1,
  "workloads": {
    "t1": {
      "shards": 3,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 4, "change": 0, "leader": "n1"},
        {"shard": 1, "epoch": 1, "change": 1, "leader": "n8", "others": {"n9": "follower", "n7": "follower", "n6": "follower"}},
        {"shard": 2, "epoch": 4, "change": 1, "leader": "n9", "others": {"n1": "follower"}}
      ]
    }
  },
  "nodes": {
    "n1": {"address": "10.0.0.1:9090", "zone": "us-east-1a/rows/r7", "live": false},
    "n6": {"address": "10.0.0.6", "zone": "us-east-1a"},
    "n7": {"address": "10.0.0.256:9090", "zone": "us-east-1a"},
    "n8": {"address": "[::1]:9090", "zone": "us-east-1a"},
    "n9": {"address": "db9.example.org:9090", "zone": "us-east-1a"}
  }
}

# Without leaders there are no letters.
table
node c1 10.0.1.1:9090 a
node c2 10.0.1.2:9090 b
workload cache 2 range
shard cache/0 0.1 c1=online c2=online
shard cache/1 0.1 c2=online
----
cache/0 changed
cache/1 changed

# Between two leaders a follower is none that could be written to, whatever its model calls it.
table
workload books 1
shard books/0 0.3 c1=follower
workload films 1
shard films/0 7.3 c1=secondary
workload songs 1
shard songs/0 0.0 next=c2 c1=online c2=online
workload words 1
shard words/0 7.3 c1=online
----
books/0 changed
films/0 changed
songs/0 changed
words/0 changed

map rocksplicator
----
{
  "books": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000:S"]
  },
  "cache": {
    "num_shards": 2,
    "10.0.1.1:9090:a_0": ["00000"],
    "10.0.1.2:9090:b_0": ["00000", "00001"]
  },
  "films": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000:S"]
  },
  "songs": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000:S"],
    "10.0.1.2:9090:b_0": ["00000:S"]
  },
  "t1": {
    "num_shards": 3,
    "10.0.0.1:9090:us-east-1a_r7": ["00000:M", "00002:S"]
  },
  "words": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000"]
  }
}

# Two names at one address are one host, and the leader counts.
table
node d1 10.0.2.1:9090 a
node d2 10.0.2.1:9090 a
workload twins 1
shard twins/0 1.0 leader=d2 d1=follower
----
twins/0 changed

map rocksplicator
----
{
  "books": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000:S"]
  },
  "cache": {
    "num_shards": 2,
    "10.0.1.1:9090:a_0": ["00000"],
    "10.0.1.2:9090:b_0": ["00000", "00001"]
  },
  "films": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000:S"]
  },
  "songs": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000:S"],
    "10.0.1.2:9090:b_0": ["00000:S"]
  },
  "t1": {
    "num_shards": 3,
    "10.0.0.1:9090:us-east-1a_r7": ["00000:M", "00002:S"]
  },
  "twins": {
    "num_shards": 1,
    "10.0.2.1:9090:a_0": ["00000:M"]
  },
  "words": {
    "num_shards": 1,
    "10.0.1.1:9090:a_0": ["00000"]
  }
}

map json
----
{
  "format": 1,
  "workloads": {
    "books": {
      "shards": 1,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 0, "change": 3, "others": {"c1": "follower"}}
      ]
    },
    "cache": {
      "shards": 2,
      "key_map": "range",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 0, "change": 1, "others": {"c1": "online", "c2": "online"}},
        {"shard": 1, "epoch": 0, "change": 1, "others": {"c2": "online"}}
      ]
    },
    "films": {
      "shards": 1,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 7, "change": 3, "others": {"c1": "secondary"}}
      ]
    },
    "songs": {
      "shards": 1,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 0, "change": 0, "next": "c2", "others": {"c1": "online", "c2": "online"}}
      ]
    },
    "t1": {
      "shards": 3,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 4, "change": 0, "leader": "n1"},
        {"shard": 1, "epoch": 1, "change": 1, "leader": "n8", "others": {"n9": "follower", "n7": "follower", "n6": "follower"}},
        {"shard": 2, "epoch": 4, "change": 1, "leader": "n9", "others": {"n1": "follower"}}
      ]
    },
    "twins": {
      "shards": 1,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 1, "change": 0, "leader": "d2", "others": {"d1": "follower"}}
      ]
    },
    "words": {
      "shards": 1,
      "key_map": "hash",
      "hash_version": 1,
      "replicas": [
        {"shard": 0, "epoch": 7, "change": 3, "others": {"c1": "online"}}
      ]
    }
  },
  "nodes": {
    "c1": {"address": "10.0.1.1:9090", "zone": "a"},
    "c2": {"address": "10.0.1.2:9090", "zone": "b"},
    "d1": {"address": "10.0.2.1:9090", "zone": "a"},
    "d2": {"address": "10.0.2.1:9090", "zone": "a"},
    "n1": {"address": "10.0.0.1:9090", "zone": "us-east-1a/rows/r7", "live": false},
    "n6": {"address": "10.0.0.6", "zone": "us-east-1a"},
    "n7": {"address": "10.0.0.256:9090", "zone": "us-east-1a"},
    "n8": {"address": "[::1]:9090", "zone": "us-east-1a"},
    "n9": {"address": "db9.example.org:9090", "zone": "us-east-1a"}
  }
}
