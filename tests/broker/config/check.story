# What configure refuses, the first hit first.
check
queues: [{name: queue_default}, {name: a}, {name: a}, {name: total}]
tasks: [{name: unknown, queue_name: queue_default}, {name: x, queue_name: nowhere}, {name: y, queue_name: ""}]
----
task 'x' uses unknown queue 'nowhere'

check
queues: [{name: a}]
tasks: [{name: x, queue_name: a}]
----
queue 'queue_default' is required

check
queues: [{name: queue_default}, {name: queue_default}]
tasks: [{name: x, queue_name: queue_default}, {name: x, queue_name: queue_default}]
----
task 'unknown' is required

check
queues: [{name: queue_default}, {name: a}, {name: a}]
tasks: [{name: unknown, queue_name: queue_default}, {name: unknown, queue_name: a}]
----
queue 'a' is given twice; keep one, or rename one

check
queues: [{name: queue_default}, {name: a}]
tasks: [{name: unknown, queue_name: queue_default}, {name: unknown, queue_name: a}]
----
task 'unknown' is given twice; keep one, or rename one

check
queues: [{name: queue_default}, {name: ""}]
tasks: [{name: unknown, queue_name: queue_default}, {name: "", queue_name: ""}]
----
a queue has an empty name; give it one

check
queues: [{name: queue_default}]
tasks: [{name: unknown, queue_name: queue_default}, {name: "", queue_name: queue_default}]
----
a task has an empty name; give it one

check
queues: [{name: queue_default}, {name: total}]
tasks: [{name: unknown, queue_name: queue_default}]
----
a queue may not be named 'total', which stands for all queues together; rename it

check
queues: [{name: queue_default, limit: {priority: 5}}]
tasks: [{name: unknown, queue_name: queue_default}]
----
a resource may not be named 'priority', which is a field beside it in traces; rename it

check
queues: [{name: queue_default}]
tasks: [{name: unknown, queue_name: queue_default}]
resource_limit: {cpu: 1, "": 5}
----
a resource has an empty name; give it one

check
queues: [{name: queue_default}]
tasks: [{name: unknown, queue_name: queue_default}]
resource_limit: {finished: 5}
----
a resource may not be named 'finished', which is a field beside it in traces; rename it

# Fields of commands and events that have no amounts are names like others.
check
queues: [{name: queue_default, limit: {donor: 1, reply: 2, cancel: 3, text: 4}}]
tasks: [{name: unknown, queue_name: queue_default}]
resource_limit: {t: 5, us: 6, ev: 7, config: 8}
----
right

# Names are shown as they are, unless they would break the line.
check
tasks: [{name: "it's", queue_name: "a\nb"}]
----
task 'it's' uses unknown queue "a\nb"

check
queues: [{name: queue_default}]
tasks: [{name: unknown, queue_name: queue_default}]
----
right

# Resources: cpu and memory, then those of the queues, then those of the total limit.
resources
queues: [{name: a, limit: {disk: 1, cpu: 1}}, {name: b, limit: {net: 1, disk: 2}}]
resource_limit: {gpu: 1, memory: 1, net: 1}
----
cpu memory disk net gpu

resources
{}
----
cpu memory

# A merge changes only what it names.
keep
queues: [{name: queue_default, weight: 30, limit: {cpu: 2, disk: 7}}, {name: a, weight: 5}]
tasks: [{name: unknown, queue_name: queue_default, default_duration: 60s}]
resource_limit: {cpu: 10}
----
kept

merge
{}
----
queues:
  - {name: queue_default, weight: 30, limit: {cpu: 2, disk: 7}}
  - {name: a, weight: 5}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 60000000}
resource_limit: {cpu: 10}

merge
queues: [{name: queue_default, limit: {memory: 1Gi, cpu: 3}}, {name: new}]
tasks: [{name: unknown, default_duration: 1s}, {name: other, queue_name: new}]
resource_limit: {memory: 16Gi}
----
queues:
  - {name: queue_default, weight: 30, limit: {cpu: 3, disk: 7, memory: 1073741824}}
  - {name: a, weight: 5}
  - {name: new, weight: 0}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 1000000}
  - {name: other, queue_name: new, default_duration: 0}
resource_limit: {cpu: 10, memory: 17179869184}

merge
Queues { Name: "a" Weight: 6 }
Tasks { Name: "unknown" QueueName: "a" }
----
queues:
  - {name: queue_default, weight: 30, limit: {cpu: 2, disk: 7}}
  - {name: a, weight: 6}
tasks:
  - {name: unknown, queue_name: a, default_duration: 60000000}
resource_limit: {cpu: 10}

# Even a patch names what it changes.
merge
queues: [{weight: 6}]
----
patch.txt:1:10: error: a queue lacks the field "name"
  add it
