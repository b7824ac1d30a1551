# The old form: compaction_genN is for the queue of id N; without such a queue it goes on the last one.
parse
CompactionBroker { Queue { QueueID: 0 Quota: 10 } Queue { QueueID: 1 Quota: 5 } }
----
queues:
  - {name: queue_legacy0, weight: 100, limit: {cpu: 10}}
  - {name: queue_legacy1, weight: 100, limit: {cpu: 5}}
  - {name: queue_default, weight: 30, limit: {cpu: 2}}
tasks:
  - {name: compaction_gen0, queue_name: queue_legacy0, default_duration: 30000000}
  - {name: compaction_gen1, queue_name: queue_legacy1, default_duration: 30000000}
  - {name: compaction_gen2, queue_name: queue_legacy1, default_duration: 30000000}
  - {name: compaction_gen3, queue_name: queue_legacy1, default_duration: 30000000}
  - {name: unknown, queue_name: queue_default, default_duration: 30000000}
resource_limit: {cpu: 17}

parse
compaction_broker: {queue: [{queue_id: 2, quota: 4}, {queue_id: 17, quota: 1}]}
----
queues:
  - {name: queue_legacy2, weight: 100, limit: {cpu: 4}}
  - {name: queue_legacy17, weight: 100, limit: {cpu: 1}}
  - {name: queue_default, weight: 30, limit: {cpu: 2}}
tasks:
  - {name: compaction_gen0, queue_name: queue_legacy17, default_duration: 30000000}
  - {name: compaction_gen1, queue_name: queue_legacy17, default_duration: 30000000}
  - {name: compaction_gen2, queue_name: queue_legacy2, default_duration: 30000000}
  - {name: compaction_gen3, queue_name: queue_legacy17, default_duration: 30000000}
  - {name: unknown, queue_name: queue_default, default_duration: 30000000}
resource_limit: {cpu: 7}

to compaction
compaction_broker: {queue: [{queue_id: 2, quota: 4}, {queue_id: 17, quota: 1}]}
----
CompactionBroker {
  Queue { QueueID: 2 Quota: 4 }
  Queue { QueueID: 17 Quota: 1 }
}

to protobuf
CompactionBroker { Queue { QueueID: 3 Quota: 0 } }
----
Queues {
  Name: "queue_legacy3"
  Weight: 100
  Limit { Cpu: 0 }
}
Queues {
  Name: "queue_default"
  Weight: 30
  Limit { Cpu: 2 }
}
Tasks {
  Name: "compaction_gen0"
  QueueName: "queue_legacy3"
  DefaultDuration: 30000000
}
Tasks {
  Name: "compaction_gen1"
  QueueName: "queue_legacy3"
  DefaultDuration: 30000000
}
Tasks {
  Name: "compaction_gen2"
  QueueName: "queue_legacy3"
  DefaultDuration: 30000000
}
Tasks {
  Name: "compaction_gen3"
  QueueName: "queue_legacy3"
  DefaultDuration: 30000000
}
Tasks {
  Name: "unknown"
  QueueName: "queue_default"
  DefaultDuration: 30000000
}
ResourceLimit { Cpu: 2 }

# Wrong ones.
parse
CompactionBroker { }
----
c.txt:1:18: error: a compaction broker without queues
  add one at least

parse
CompactionBroker { Queue { QueueID: 0 Quota: 10 } Queue { QueueID: 0 Quota: 5 } }
----
c.txt:1:68: error: QueueID 0 is given twice
  keep one

parse
compaction_broker: {queue: [{queue_id: 1, quota: 2}, {queue_id: 1, quota: 2}]}
----
c.txt:1:65: error: queue_id 1 is given twice
  keep one

parse
CompactionBroker { Queue { QueueID: 0 Quota: 18446744073709551614 } }
----
c.txt:1:18: error: the quotas and 2 for queue_default sum up to more than 18446744073709551615
  make the quotas smaller

parse
CompactionBroker { Queue { QueueID: 0 Quota: 18446744073709551615 } Queue { QueueID: 1 Quota: 1 } }
----
c.txt:1:18: error: the quotas and 2 for queue_default sum up to more than 18446744073709551615
  make the quotas smaller

parse
CompactionBroker { Queue { QueueId: 0 } Queues { } }
----
c.txt:1:26: error: a compaction queue lacks the field "QueueID"
  add it
c.txt:1:26: error: a compaction queue lacks the field "Quota"
  add it
c.txt:1:28: error: unknown field "QueueId" of a compaction queue
  did you mean "QueueID"?
c.txt:1:41: error: unknown field "Queues" of a compaction broker
  did you mean "Queue"?

parse
CompactionBroker { Queue { QueueID: 0 Quota: 1 } }
Queues { Name: "q" }
----
c.txt:2:1: error: "Queues" stands beside "CompactionBroker"
  keep only one of them in this file

parse
compaction_broker:
----
c.txt:1:19: error: "compaction_broker" of a config has no value
  give one, or remove the field

parse
CompactionBroker { Queue { QueueID: 0 Quota: 1 } }
ResourceBrokerConfig { }
----
c.txt:1:1: error: "CompactionBroker" stands beside "ResourceBrokerConfig"
  keep only one of them in this file

# What the old form cannot say.
to compaction
queues: [{name: queue_default, weight: 30}]
tasks: [{name: unknown, queue_name: queue_default}]
----
the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: there is no queue_legacyN; write it as protobuf or yaml

to compaction
queues: [{name: queue_legacy0, weight: 100, limit: {cpu: 1}}, {name: queue_default, weight: 31, limit: {cpu: 2}}]
----
the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: queue "queue_default" is not as that form has it; write it as protobuf or yaml

to compaction
queues: [{name: queue_legacy0, weight: 100, limit: {cpu: 1}}, {name: queue_default, weight: 30, limit: {cpu: 2}}]
----
the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: task "compaction_gen0" is missing; write it as protobuf or yaml

to compaction
queues: [{name: queue_legacy00, weight: 100, limit: {cpu: 1}}]
----
the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: queue "queue_legacy00" is not as that form has it; write it as protobuf or yaml

to compaction
queues: [{name: queue_legacy0, weight: 100, limit: {cpu: 18446744073709551615}}]
----
the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: the quotas and 2 for queue_default sum up to more than 18446744073709551615

to compaction
queues: [{name: queue_legacy0, weight: 100, limit: {cpu: 1}}, {name: queue_default, weight: 30, limit: {cpu: 2}}]
tasks:
  - {name: compaction_gen0, queue_name: queue_legacy0, default_duration: 30s}
  - {name: compaction_gen1, queue_name: queue_legacy0, default_duration: 30s}
  - {name: compaction_gen2, queue_name: queue_legacy0, default_duration: 30s}
  - {name: compaction_gen3, queue_name: queue_legacy0, default_duration: 30s}
  - {name: unknown, queue_name: queue_default, default_duration: 30s}
resource_limit: {cpu: 4}
----
the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: the total limit is not the sum of the cpu limits; write it as protobuf or yaml
