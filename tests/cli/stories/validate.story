file c.yaml
cluster: pages
nodes:
  - {name: "n[1-3]", zone: "dc[1-3]/r1", cores: 4, capacity: {cpu: 4, memory: 8Gi}}
  - {name: n4, zone: dc1/r2, capacity: {cpu: 2}, status: down}
  - {name: n5}
workloads:
  - {name: t1, shards: 2, replicas: 2, load: {cpu: 100m}, leader_load: {cpu: 1}, require: {disk: ssd}}
  - {name: jobs, shards: 1, state_model: online-offline, spread: {level: rack, hard: true}}
placement:
  t1: [[n1, n2]]
----
kept

run validate -f c.yaml
----
WORKLOAD  SHARDS  REPLICAS  PLACED  LOAD
t1             2         2       1  cpu=0.1
jobs           1         1       0  -
! evenkeel: c.yaml is valid: cluster pages, 5 nodes in 3 zones, 2 workloads, 3 shards, 5 replicas

run validate --file=c.yaml --output wide
----
----
ZONE  NODES  UP  CORES  CPU  MEMORY
-         1   1      -    -       -
dc1       2   1      4    6     8Gi
dc2       1   1      4    4     8Gi
dc3       1   1      4    4     8Gi

WORKLOAD  SHARDS  REPLICAS  PLACED  LOAD     LEADER LOAD  STATE MODEL      SPREAD       REQUIRES
t1             2         2       1  cpu=0.1  cpu=1        leader-follower  zone (soft)  disk=ssd
jobs           1         1       0  -        -            online-offline   rack (hard)  -
! evenkeel: c.yaml is valid: cluster pages, 5 nodes in 3 zones, 2 workloads, 3 shards, 5 replicas
----
----

run validate -f c.yaml -o yaml
----
cluster: pages
nodes:
  - {name: "n[1-3]", zone: "dc[1-3]/r1", cores: 4, capacity: {cpu: 4, memory: 8Gi}}
  - {name: n4, zone: dc1/r2, capacity: {cpu: 2}, status: down}
  - {name: n5}
workloads:
  - name: t1
    shards: 2
    replicas: 2
    load: {cpu: 0.1}
    leader_load: {cpu: 1}
    require: {disk: ssd}
  - name: jobs
    shards: 1
    state_model: online-offline
    spread: {level: rack, hard: true}
placement:
  t1:
    - [n1, n2]
! evenkeel: c.yaml is valid: cluster pages, 5 nodes in 3 zones, 2 workloads, 3 shards, 5 replicas

run validate -f c.yaml -o json
----
{
  "cluster": "pages",
  "nodes": [
    {"name": "n[1-3]", "zone": "dc[1-3]/r1", "cores": 4, "capacity": {"cpu": 4, "memory": "8Gi"}},
    {"name": "n4", "zone": "dc1/r2", "capacity": {"cpu": 2}, "status": "down"},
    {"name": "n5"}
  ],
  "workloads": [
    {
      "name": "t1",
      "shards": 2,
      "replicas": 2,
      "load": {"cpu": 0.1},
      "leader_load": {"cpu": 1},
      "require": {"disk": "ssd"}
    },
    {
      "name": "jobs",
      "shards": 1,
      "state_model": "online-offline",
      "spread": {"level": "rack", "hard": true}
    }
  ],
  "placement": {
    "t1": [
      ["n1", "n2"]
    ]
  }
}
! evenkeel: c.yaml is valid: cluster pages, 5 nodes in 3 zones, 2 workloads, 3 shards, 5 replicas

run validate -f c.yaml -o name
----
cluster/pages
! evenkeel: c.yaml is valid: cluster pages, 5 nodes in 3 zones, 2 workloads, 3 shards, 5 replicas

file bad.yaml
cluster: pages
nodes: [{nmae: n1}]
workloads: [{name: t, shards: -1}]
----
kept

run validate -f bad.yaml -o json
----
! bad.yaml:2:9: error: a node lacks the field "name"
!   add it
! bad.yaml:2:10: error: unknown field "nmae" of a node
!   did you mean "name"?
! bad.yaml:3:31: error: "-1" is negative
!   give zero or more
exit 2

colour validate -f bad.yaml
----
! bad.yaml:2:9: ^[[31merror^[[0m: a node lacks the field "name"
!   add it
! bad.yaml:2:10: ^[[31merror^[[0m: unknown field "nmae" of a node
!   did you mean "name"?
! bad.yaml:3:31: ^[[31merror^[[0m: "-1" is negative
!   give zero or more
exit 2

# Standard input is read by its content.
file -
{"cluster": "from-a-pipe"}
----
kept

run validate -f - -o name
----
cluster/from-a-pipe
! evenkeel: standard input is valid: cluster from-a-pipe, 0 nodes, 0 workloads, 0 shards, 0 replicas

file -
{cluster: flow-yaml, nodes: [{name: n1}]}
----
kept

run validate -f -
----
WORKLOAD  SHARDS  REPLICAS  PLACED  LOAD
! evenkeel: standard input is valid: cluster flow-yaml, 1 node, 0 workloads, 0 shards, 0 replicas

run validate -f nosuch.yaml
----
! evenkeel: cannot read nosuch.yaml: No such file or directory
exit 3

full validate -f c.yaml -o name
----
! evenkeel: c.yaml is valid: cluster pages, 5 nodes in 3 zones, 2 workloads, 3 shards, 5 replicas
! evenkeel: standard output: No space left on device
exit 1

file empty
----
kept

run validate -f empty
----
! empty: error: the file is empty
!   check its name, and that it was saved
exit 2
