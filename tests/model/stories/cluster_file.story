# A whole file, all fields used once: what is written is what was read, with quantities in their one form and defaults left out.
parse
cluster: pages
settings: {replicas_per_core: 7000, hard_limit: 0.97, tolerance: 12.5%, levels: [region, zone, rack], spread: {level: rack, hard: true}}
nodes:
  - {name: n1, zone: dc1/r1, cores: 16, capacity: {cpu: 16, memory: 64Gi, disk: 2Ti}, used: {disk: 10Gi},
     power: 1.0, labels: {disk: ssd}, taints: [{key: dedicated, value: db, effect: refuse}], status: up,
     replicas_max: 0, soft_limit: 80%, hard_limit: 95%, leaders: true}
  - {name: n2, zone: dc2, cores: 2, capacity: {cpu: 500m}, power: 1.50, taints: [{key: slow, effect: avoid}], status: no-leaders,
     replicas_max: 7, leaders: false}
  - {name: n3, status: cordoned}
workloads:
  - name: t1
    shards: 20
    replicas: 3
    load: {disk: 10Mi, cpu: 0.5}
    leader_load: {cpu: 1}
    shard_loads: {17: {cpu: 10}, "3": {disk: 1500, cpu: 0.250}}
    move_cost: 10Mi
    require: {disk: ssd}
    tolerate: [{key: dedicated, value: db}, {key: slow}]
    spread: {level: zone, hard: true}
    apart_from: [t2]
    pinned: {17: [n1, n2]}
    system: false
  - {name: t2, shards: 1, weight: 2, system: true, state_model: OnlineOffline, close_to: [t1]}
placement:
  t1: [[n1, n2, n3], [n2, n1]]
cores:
  t1: [[15, 1, 0], [0, 3]]
moving:
  - {workload: t1, shard: 1, from: n1, to: n3}
recent:
  - {workload: t1, shard: 1, node: n3}
----
cluster: pages
settings:
  hard_limit: 97%
  tolerance: 12.5%
  levels: [region, zone, rack]
  spread: {level: rack, hard: true}
nodes:
  - {name: n1, zone: dc1/r1, cores: 16, capacity: {cpu: 16, disk: 2Ti, memory: 64Gi}, used: {disk: 10Gi}, labels: {disk: ssd}, taints: [{key: dedicated, value: db, effect: refuse}], soft_limit: 80%, hard_limit: 95%}
  - {name: n2, zone: dc2, cores: 2, capacity: {cpu: 0.5}, power: 1.5, taints: [{key: slow, effect: avoid}], status: no-leaders, replicas_max: 7, leaders: false}
  - {name: n3, status: cordoned}
workloads:
  - name: t1
    shards: 20
    replicas: 3
    load: {cpu: 0.5, disk: 10Mi}
    leader_load: {cpu: 1}
    shard_loads:
      3: {cpu: 0.25, disk: 1500}
      17: {cpu: 10}
    move_cost: 10Mi
    require: {disk: ssd}
    tolerate: [{key: dedicated, value: db}, {key: slow}]
    spread: {level: zone, hard: true}
    apart_from: [t2]
    pinned:
      17: [n1, n2]
  - name: t2
    shards: 1
    state_model: online-offline
    load: {weight: 2}
    close_to: [t1]
    system: true
placement:
  t1:
    - [n1, n2, n3]
    - [n2, n1]
cores:
  t1:
    - [15, 1, 0]
    - [0, 3]
moving:
  - {workload: t1, shard: 1, from: n1, to: n3}
recent:
  - {workload: t1, shard: 1, node: n3}

# The smallest file. A cluster without a name is called default.
parse
{}
----
cluster: default

json
nodes: [{name: n1, zone: a}, {name: n2, zone: b}]
workloads: [{name: t, shards: 2, replicas: 2, load: {memory: 64Gi, cpu: 500m}}]
placement: {t: [[n1, n2], []]}
moving: [{workload: t, shard: 1, from: null, to: n1}]
----
{
  "cluster": "default",
  "nodes": [
    {"name": "n1", "zone": "a"},
    {"name": "n2", "zone": "b"}
  ],
  "workloads": [
    {
      "name": "t",
      "shards": 2,
      "replicas": 2,
      "load": {"cpu": 0.5, "memory": "64Gi"}
    }
  ],
  "placement": {
    "t": [
      ["n1", "n2"],
      []
    ]
  },
  "moving": [
    {"workload": "t", "shard": 1, "from": null, "to": "n1"}
  ]
}

# JSON says the same things; numbers keep their digits.
parse c.json
{"cluster": "j", "nodes": [{"name": "n1", "capacity": {"cpu": 0.1, "memory": "64Gi", "disk": 1e3}}],
 "workloads": [{"name": "t", "shards": 20, "shard_loads": {"17": {"cpu": 10}}}]}
----
cluster: j
nodes:
  - {name: n1, capacity: {cpu: 0.1, disk: 1000, memory: 64Gi}}
workloads:
  - name: t
    shards: 20
    shard_loads:
      17: {cpu: 10}

# Text that could be read as something else is quoted.
parse
cluster: "1"
nodes:
  - {name: "true", labels: {a: "no", b: "", c: "two words", d: "say \"hi\" \\ é", "app.io/x": y}}
  - {name: 007}
----
cluster: "1"
nodes:
  - {name: "true", labels: {a: "no", app.io/x: "y", b: "", c: "two words", d: "say \"hi\" \\ é"}}
  - {name: "007"}

# A load of zero and no load are the same for a shard; a capacity of zero and none are not.
parse
nodes: [{name: a, capacity: {cpu: 0}}, {name: b}]
workloads: [{name: t, shards: 3, shard_loads: {1: {cpu: 0}, 0: {cpu: 0, disk: 2}, 2: {}}}]
----
cluster: default
nodes:
  - {name: a, capacity: {cpu: 0}}
  - {name: b}
workloads:
  - name: t
    shards: 3
    shard_loads:
      0: {disk: 2}
      1: {}
      2: {}

# What the controller is told: a limit that names bytes keeps its copies, and what is as it would be is left out.
parse
settings: {session_ttl: 15s, controller_ttl: 3s, rebalance_delay: 10m, max_offline: 3, resume_offline: 0, extra_replicas: 2, permit: 1h,
           steady: 90s, recovery: {bytes_per_second: 50Mi}, balance: {copies: 10}, recovery_per_node: {copies: 8},
           balance_per_zone: {copies: 4, bytes_per_second: 1.5G}, openings: {copies: 500}, openings_per_node: {copies: 20}, errors_max: 2.5%,
           loads_margin: 20%, loads_pause: 5m}
nodes: [{name: n1}, {name: n2}]
workloads:
  - {name: t1, shards: 8, replicas: 3, min_active: 2, rebalance_delay: 0s, acks: 2, fencing: epoch, seal_wait: 2s, lag_max: 1000,
     hand_over: 10s, linger: 0.5s, transition: 1h, key_map: range, metadata: "{\"codec\": \"zstd\"}\n"}
  - {name: t2, shards: 8, state_model: everywhere, min_active: 2, fencing: session, key_map: hash, acks: 0}
barred:
  - {workload: t1, shard: 3, node: n2}
  - {workload: t1, shard: 3, node: n1}
----
cluster: default
settings:
  session_ttl: 15s
  rebalance_delay: 10m
  permit: 1h
  steady: 1m30s
  loads_pause: 5m
  max_offline: 3
  resume_offline: 0
  extra_replicas: 2
  recovery: {bytes_per_second: 50Mi}
  balance: {copies: 10}
  balance_per_zone: {copies: 4, bytes_per_second: 1500000000}
  openings: {copies: 500}
  openings_per_node: {copies: 20}
  errors_max: 2.5%
  loads_margin: 20%
nodes:
  - {name: n1}
  - {name: n2}
workloads:
  - name: t1
    shards: 8
    replicas: 3
    min_active: 2
    rebalance_delay: 0s
    fencing: epoch
    acks: 2
    lag_max: 1000
    seal_wait: 2s
    linger: 500ms
    transition: 1h
    key_map: range
    metadata: "{\"codec\": \"zstd\"}\n"
  - name: t2
    shards: 8
    state_model: everywhere
    min_active: 2
barred:
  - {workload: t1, shard: 3, node: n2}
  - {workload: t1, shard: 3, node: n1}
