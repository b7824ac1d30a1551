# Broker 3 came and has nothing yet.
file now.json
{"originating_broker":{"id":1,"name":"k1:9092/1"},"query":{"topic":"*"},"controllerid":1,
 "brokers":[{"id":1,"name":"k1:9092"},{"id":2,"name":"k2:9092"},{"id":3,"name":"k3:9092"}],
 "topics":[
  {"topic":"orders","partitions":[
   {"partition":0,"leader":1,"replicas":[{"id":1},{"id":2}],"isrs":[{"id":1},{"id":2}]},
   {"partition":1,"leader":2,"replicas":[{"id":2},{"id":1}],"isrs":[{"id":1},{"id":2}]},
   {"partition":2,"leader":1,"replicas":[{"id":1},{"id":2}],"isrs":[{"id":1},{"id":2}]}]}]}
----
kept

run plan -f now.json --from kcat
----
----
2 moves (2 balance); 1 leader change
fullest node over its fair share: replicas 1.5 -> 1 (floor 1)

MOVE      FROM  TO  REASON
orders/0     1   3  balance
orders/1     2   3  balance

LEADER OF  FROM  TO
orders/0      1   2
----
----

run plan -f now.json --from kcat -o kafka-reassign
----
{
  "version": 1,
  "partitions": [
    {"topic": "orders", "partition": 0, "replicas": [2, 3]},
    {"topic": "orders", "partition": 1, "replicas": [3, 1]}
  ]
}

run plan -f now.json --from kcat --apply next.yaml -o name
----
shard/orders/0
shard/orders/1

run plan -f next.yaml -o kafka-reassign
----
{
  "version": 1,
  "partitions": []
}
! evenkeel: nothing to reassign

# The assignment alone names two brokers, and they are level.
file assignment.json
{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]},
                           {"topic":"orders","partition":1,"replicas":[2,1]}]}
----
kept

run plan -f assignment.json --from kafka-reassign
----
nothing to move: no node is more than 5% above its fair share
fullest node over its fair share: replicas 1 (floor 1)

# With kcat's listing it says where its partitions will be.
file executed.json
{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[3,2]},{"topic":"orders","partition":1,"replicas":[2,3]}]}
----
kept

run plan -f executed.json --from kafka-reassign --describe now.json -o wide
----
----
1 move (1 balance)
fullest node over its fair share: replicas 1.5 -> 1 (floor 1)

NODE  ZONE  STATUS  REPLICAS  AFTER  LEADERS  AFTER  IN  OUT
   1  -     up             1      2        1      1   1    0
   2  -     up             3      2        1      1   0    1
   3  -     up             2      2        1      1   0    0

MOVE      FROM  TO  REASON   STEP
orders/0     2   1  balance     1
----
----

# Racks, a broker to drain and one to come.
file overlay.yaml
cluster: shop
settings: {spread: {level: zone, hard: true}}
nodes:
  - {name: "[1-2]", zone: "[1-2]"}
  - {name: 3, zone: "1", status: draining}
  - {name: 4, zone: "2"}
----
kept

run plan -f executed.json --from kafka-reassign --describe now.json --overlay overlay.yaml
----
----
3 moves (2 drain, 1 balance); 1 leader change
fullest node over its fair share: replicas 2.25 -> 1.5 (floor 1.5)

MOVE      FROM  TO  REASON
orders/0     3   1  drain
orders/1     3   1  drain
orders/2     2   4  balance

LEADER OF  FROM  TO
orders/2      1   4
! evenkeel: broker 4 is only in the overlay: taken as new and empty
----
----

# Brokers that are not listed are down; partitions of different replication are planned for the largest.
file broken.json
{"brokers":[{"id":1},{"id":2}],"topics":[{"topic":"t","partitions":[
 {"partition":0,"replicas":[{"id":1},{"id":9}]},{"partition":1,"replicas":[{"id":2}]}]}]}
----
kept

run plan -f broken.json --from kcat
----
----
2 moves (1 repair, 1 grow)
fullest node over its fair share: replicas 1 (floor 1)

MOVE  FROM  TO  REASON
t/0      9   2  repair
t/1      -   1  grow
! evenkeel: broker 9 holds replicas and is not among the brokers: taken as down
! evenkeel: topic t has partitions of 1 to 2 replicas: planned for 2 each
----
----

run plan -f broken.json --from kcat -o kafka-reassign
----
{
  "version": 1,
  "partitions": [
    {"topic": "t", "partition": 0, "replicas": [1, 2]},
    {"topic": "t", "partition": 1, "replicas": [2, 1]}
  ]
}
! evenkeel: broker 9 holds replicas and is not among the brokers: taken as down
! evenkeel: topic t has partitions of 1 to 2 replicas: planned for 2 each

# What is wrong is said with its place.
file bad.json
{"version":1,"partitions":[
 {"topic":"t","partition":0,"replicas":[1,1]},
 {"topic":"t","partition":2,"replicas":[1]},
 {"topic":"t","partition":2,"replicas":["2"]},
 {"topic":"t u","partition":0,"replicas":[]}]}
----
kept

run plan -f bad.json --from kafka-reassign
----
! bad.json:2:40: error: two replicas on broker 1
!   name each broker once
! bad.json:4:41: error: expected a whole number, found the text "2"
!   remove the quotes
! bad.json:5:11: error: the topic "t u" has characters other than letters, digits, points, underscores and dashes
! bad.json:5:42: error: a partition without replicas is nowhere
!   name its brokers
exit 2

file gap.json
{"version":1,"partitions":[
 {"topic":"t","partition":0,"replicas":[1]},
 {"topic":"t","partition":2,"replicas":[1]},
 {"topic":"t","partition":2,"replicas":[1]}]}
----
kept

run plan -f gap.json --from kafka-reassign
----
! gap.json:3:2: error: topic "t" has a partition 2 but none 1
!   name all partitions of a topic, or give what kcat prints with --describe
! gap.json:4:2: error: partition 2 of topic "t" is named twice
!   keep one
exit 2

run plan -f gap.json --from kafka-reassign --describe now.json
----
! gap.json:2:2: error: now.json has no topic "t"
! gap.json:3:2: error: now.json has no topic "t"
! gap.json:4:2: error: now.json has no topic "t"
! gap.json:4:2: error: partition 2 of topic "t" is named twice
!   keep one
exit 2

run plan -f assignment.json --from kcat
----
! assignment.json:1:1: error: a listing of kcat -L -J lacks the field "brokers"
!   add it
! assignment.json:1:1: error: a listing of kcat -L -J lacks the field "topics"
!   add it
exit 2

run plan -f now.json --from kcat --overlay bad.json
----
! bad.json:1:2: error: unknown field "version" of a cluster file
!   known: cluster, settings, state_models, nodes, workloads, placement, cores, moving, recent, barred
! bad.json:1:14: error: unknown field "partitions" of a cluster file
!   known: cluster, settings, state_models, nodes, workloads, placement, cores, moving, recent, barred
exit 2

file wrong_overlay.yaml
nodes: [{name: n1}]
----
kept

run plan -f now.json --from kcat --overlay wrong_overlay.yaml
----
! evenkeel: wrong_overlay.yaml: node "n1" is no broker: name it by its id
exit 2

run plan -f now.json --from kafka
----
! evenkeel: --from: "kafka" is not a form of input; known: cluster, kafka-reassign, kcat
!   see: evenkeel plan --help
exit 2

run plan -f now.json --from kcat --describe now.json
----
! evenkeel: --describe goes with --from kafka-reassign; what kcat prints is read alone with --from kcat
exit 2

run plan -f - --from kafka-reassign --describe -
----
! evenkeel: standard input can be read once: name files
exit 2
