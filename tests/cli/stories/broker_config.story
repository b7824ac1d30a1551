file ydb.txt
Queues { Name: "queue_default" Weight: 30 Limit { Resource: 2 } }
Tasks { Name: "unknown" QueueName: "queue_default" DefaultDuration: 60000000 }
ResourceLimit { Resource: 10 Resource: 17179869184 }
----
kept

# Without --to: protobuf text becomes YAML, all else protobuf text.
run broker convert ydb.txt
----
queues:
  - {name: queue_default, weight: 30, limit: {cpu: 2}}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 60000000}
resource_limit: {cpu: 10, memory: 17179869184}

file broker.yaml
queues: [{name: queue_default, weight: 30, limit: {cpu: 2, disk: 100Gi}}]
tasks: [{name: unknown, queue_name: queue_default, default_duration: 1m}]
resource_limit: {cpu: 10}
----
kept

run broker convert broker.yaml
----
Queues {
  Name: "queue_default"
  Weight: 30
  Limit { Cpu: 2 disk: 107374182400 }
}
Tasks {
  Name: "unknown"
  QueueName: "queue_default"
  DefaultDuration: 60000000
}
ResourceLimit { Cpu: 10 }

run broker convert --to json broker.yaml
----
{
  "queues": [
    {"name": "queue_default", "weight": 30, "limit": {"cpu": 2, "disk": 107374182400}}
  ],
  "tasks": [
    {"name": "unknown", "queue_name": "queue_default", "default_duration": 60000000}
  ],
  "resource_limit": {"cpu": 10}
}

run broker convert broker.yaml --to=yaml
----
queues:
  - {name: queue_default, weight: 30, limit: {cpu: 2, disk: 107374182400}}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 60000000}
resource_limit: {cpu: 10}

run broker convert broker.yaml --check
----
! evenkeel: broker.yaml is valid: 1 queue, 1 task, resources cpu, memory, disk

run broker convert broker.yaml --check --to compaction
----
! evenkeel: broker.yaml: the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: there is no queue_legacyN; write it as protobuf or yaml
exit 1

file -
CompactionBroker { Queue { QueueID: 0 Quota: 10 } }
----
kept

run broker convert -
----
queues:
  - {name: queue_legacy0, weight: 100, limit: {cpu: 10}}
  - {name: queue_default, weight: 30, limit: {cpu: 2}}
tasks:
  - {name: compaction_gen0, queue_name: queue_legacy0, default_duration: 30000000}
  - {name: compaction_gen1, queue_name: queue_legacy0, default_duration: 30000000}
  - {name: compaction_gen2, queue_name: queue_legacy0, default_duration: 30000000}
  - {name: compaction_gen3, queue_name: queue_legacy0, default_duration: 30000000}
  - {name: unknown, queue_name: queue_default, default_duration: 30000000}
resource_limit: {cpu: 12}

run broker convert - --to compaction
----
CompactionBroker {
  Queue { QueueID: 0 Quota: 10 }
}

# The old form cannot say everything.
run broker convert broker.yaml --to compaction
----
! evenkeel: broker.yaml: the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: there is no queue_legacyN; write it as protobuf or yaml
exit 1

# Wrong input: all of it, with places; and what a broker would refuse.
file wrong.txt
Queues { Nome: "q" }
----
kept

run broker convert wrong.txt
----
! wrong.txt:1:8: error: a queue lacks the field "Name"
!   add it
! wrong.txt:1:10: error: unknown field "Nome" of a queue
!   did you mean "Name"?
exit 2

run broker convert wrong.txt --check
----
! wrong.txt:1:8: error: a queue lacks the field "Name"
!   add it
! wrong.txt:1:10: error: unknown field "Nome" of a queue
!   did you mean "Name"?
exit 2

file refused.yaml
queues: [{name: q}]
tasks: [{name: unknown, queue_name: r}]
----
kept

run broker convert refused.yaml
----
! evenkeel: refused.yaml: task 'unknown' uses unknown queue 'r'
exit 2

run broker convert refused.yaml --check
----
! evenkeel: refused.yaml: task 'unknown' uses unknown queue 'r'
exit 2

file empty.yaml

----
kept

run broker convert empty.yaml
----
! empty.yaml: error: the file is empty
!   check its name, and that it was saved
exit 2

run broker convert nowhere.yaml
----
! evenkeel: cannot read nowhere.yaml: No such file or directory
exit 3

# A resource's name may be anything, and is shown safely.
file odd.yaml
queues: [{name: queue_default, limit: {"a\eb": 1}}]
tasks: [{name: unknown, queue_name: queue_default}]
----
kept

run broker convert odd.yaml --check
----
! evenkeel: odd.yaml is valid: 1 queue, 1 task, resources cpu, memory, "a\u001bb"

# Wrong usage.
run broker
----
! Work with a node's resource broker
! Usage: evenkeel broker [OPTIONS] SUBCOMMAND
! 
! Options:
!   -h,--help                   Print this help message and exit
! 
! Subcommands:
!   serve                       Run a broker for the processes of this host
!   status                      Show a live broker's queues and task types
!   top                         Watch a live broker
!   configure                   Give a live broker another config
!   submit                      Wait for a grant, and run a command under it
!   record                      Write down what a live broker is asked, until interrupted
!   convert                     Check a broker's config, and print it in another form
!   default-config              Print the config that a broker starts with if told nothing
!   replay                      Play a trace of commands, and print what a broker would do
! 
! Exit status: 0 done, 1 failed or refused, 2 wrong usage or input, 3 not found,
!              4 conflict, 5 unreachable or timed out, 6 denied.
! `evenkeel COMMAND --help` says more about a command.
exit 2

run broker convert
----
! evenkeel: FILE is required
!   see: evenkeel broker convert --help
exit 2

run broker convert a b
----
! evenkeel: unexpected argument "b"
!   see: evenkeel broker convert --help
exit 2

run broker convert a --to xml
----
! evenkeel: --to: "xml" is not a form of config; known: yaml, json, protobuf, compaction
!   see: evenkeel broker convert --help
exit 2

run broker convert a --to prototext
----
! evenkeel: --to: "prototext" is not a form of config; known: yaml, json, protobuf, compaction
!   see: evenkeel broker convert --help
exit 2

run broker conver a
----
! evenkeel: unknown command "conver"
!   did you mean "convert"?
!   see: evenkeel broker --help
exit 2

run broker default-config x
----
! evenkeel: unexpected argument "x"
!   see: evenkeel broker default-config --help
exit 2

run broker convert --help
----
----
Check a broker's config, and print it in another form
Usage: evenkeel broker convert [OPTIONS] FILE

Positionals:
  FILE REQUIRED               The config to read; - is standard input

Options:
  -h,--help                   Print this help message and exit
  --to FORM                   Form of the config: yaml, json, protobuf or compaction; without it yaml for protobuf text, and protobuf for others
  --check                     Write nothing; only say whether it could be done, and what is in it

Reads YDB's protobuf text, YAML and JSON of the same shape, and the old CompactionBroker form.
What a broker would refuse is refused here, with the reason.

Examples:
  evenkeel broker convert ydb.txt > broker.yaml
  evenkeel broker convert broker.yaml --to json
  evenkeel broker convert broker.yaml --check
----
----

run broker default-config --help
----
----
Print the config that a broker starts with if told nothing
Usage: evenkeel broker default-config [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --to FORM                   Form of the config: yaml, json, protobuf or compaction; without it yaml

A good start for a config of your own.

Examples:
  evenkeel broker default-config > broker.yaml
  evenkeel broker default-config --to protobuf
----
----

run broker default-config
----
queues:
  - {name: queue_default, weight: 30, limit: {cpu: 2}}
  - {name: queue_compaction_gen0, weight: 100, limit: {cpu: 2}}
  - {name: queue_compaction_gen1, weight: 100, limit: {cpu: 2}}
  - {name: queue_compaction_gen2, weight: 100, limit: {cpu: 1}}
  - {name: queue_compaction_gen3, weight: 100, limit: {cpu: 1}}
  - {name: queue_transaction, weight: 100, limit: {cpu: 4}}
  - {name: queue_background_compaction, weight: 10, limit: {cpu: 1}}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 60000000}
  - {name: compaction_gen0, queue_name: queue_compaction_gen0, default_duration: 10000000}
  - {name: compaction_gen1, queue_name: queue_compaction_gen1, default_duration: 30000000}
  - {name: compaction_gen2, queue_name: queue_compaction_gen2, default_duration: 120000000}
  - {name: compaction_gen3, queue_name: queue_compaction_gen3, default_duration: 600000000}
  - {name: transaction, queue_name: queue_transaction, default_duration: 600000000}
  - {name: background_compaction, queue_name: queue_background_compaction, default_duration: 60000000}
  - {name: background_compaction_gen0, queue_name: queue_background_compaction, default_duration: 10000000}
  - {name: background_compaction_gen1, queue_name: queue_background_compaction, default_duration: 20000000}
  - {name: background_compaction_gen2, queue_name: queue_background_compaction, default_duration: 60000000}
  - {name: background_compaction_gen3, queue_name: queue_background_compaction, default_duration: 300000000}
resource_limit: {cpu: 10, memory: 17179869184}

run broker default-config --to protobuf
----
Queues {
  Name: "queue_default"
  Weight: 30
  Limit { Cpu: 2 }
}
Queues {
  Name: "queue_compaction_gen0"
  Weight: 100
  Limit { Cpu: 2 }
}
Queues {
  Name: "queue_compaction_gen1"
  Weight: 100
  Limit { Cpu: 2 }
}
Queues {
  Name: "queue_compaction_gen2"
  Weight: 100
  Limit { Cpu: 1 }
}
Queues {
  Name: "queue_compaction_gen3"
  Weight: 100
  Limit { Cpu: 1 }
}
Queues {
  Name: "queue_transaction"
  Weight: 100
  Limit { Cpu: 4 }
}
Queues {
  Name: "queue_background_compaction"
  Weight: 10
  Limit { Cpu: 1 }
}
Tasks {
  Name: "unknown"
  QueueName: "queue_default"
  DefaultDuration: 60000000
}
Tasks {
  Name: "compaction_gen0"
  QueueName: "queue_compaction_gen0"
  DefaultDuration: 10000000
}
Tasks {
  Name: "compaction_gen1"
  QueueName: "queue_compaction_gen1"
  DefaultDuration: 30000000
}
Tasks {
  Name: "compaction_gen2"
  QueueName: "queue_compaction_gen2"
  DefaultDuration: 120000000
}
Tasks {
  Name: "compaction_gen3"
  QueueName: "queue_compaction_gen3"
  DefaultDuration: 600000000
}
Tasks {
  Name: "transaction"
  QueueName: "queue_transaction"
  DefaultDuration: 600000000
}
Tasks {
  Name: "background_compaction"
  QueueName: "queue_background_compaction"
  DefaultDuration: 60000000
}
Tasks {
  Name: "background_compaction_gen0"
  QueueName: "queue_background_compaction"
  DefaultDuration: 10000000
}
Tasks {
  Name: "background_compaction_gen1"
  QueueName: "queue_background_compaction"
  DefaultDuration: 20000000
}
Tasks {
  Name: "background_compaction_gen2"
  QueueName: "queue_background_compaction"
  DefaultDuration: 60000000
}
Tasks {
  Name: "background_compaction_gen3"
  QueueName: "queue_background_compaction"
  DefaultDuration: 300000000
}
ResourceLimit { Cpu: 10 Memory: 17179869184 }

run broker default-config --to json
----
{
  "queues": [
    {"name": "queue_default", "weight": 30, "limit": {"cpu": 2}},
    {"name": "queue_compaction_gen0", "weight": 100, "limit": {"cpu": 2}},
    {"name": "queue_compaction_gen1", "weight": 100, "limit": {"cpu": 2}},
    {"name": "queue_compaction_gen2", "weight": 100, "limit": {"cpu": 1}},
    {"name": "queue_compaction_gen3", "weight": 100, "limit": {"cpu": 1}},
    {"name": "queue_transaction", "weight": 100, "limit": {"cpu": 4}},
    {"name": "queue_background_compaction", "weight": 10, "limit": {"cpu": 1}}
  ],
  "tasks": [
    {"name": "unknown", "queue_name": "queue_default", "default_duration": 60000000},
    {"name": "compaction_gen0", "queue_name": "queue_compaction_gen0", "default_duration": 10000000},
    {"name": "compaction_gen1", "queue_name": "queue_compaction_gen1", "default_duration": 30000000},
    {"name": "compaction_gen2", "queue_name": "queue_compaction_gen2", "default_duration": 120000000},
    {"name": "compaction_gen3", "queue_name": "queue_compaction_gen3", "default_duration": 600000000},
    {"name": "transaction", "queue_name": "queue_transaction", "default_duration": 600000000},
    {"name": "background_compaction", "queue_name": "queue_background_compaction", "default_duration": 60000000},
    {"name": "background_compaction_gen0", "queue_name": "queue_background_compaction", "default_duration": 10000000},
    {"name": "background_compaction_gen1", "queue_name": "queue_background_compaction", "default_duration": 20000000},
    {"name": "background_compaction_gen2", "queue_name": "queue_background_compaction", "default_duration": 60000000},
    {"name": "background_compaction_gen3", "queue_name": "queue_background_compaction", "default_duration": 300000000}
  ],
  "resource_limit": {"cpu": 10, "memory": 17179869184}
}

run broker default-config --to compaction
----
! evenkeel: the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks: there is no queue_legacyN; write it as protobuf or yaml
exit 1

full broker default-config
----
! evenkeel: standard output: No space left on device
exit 1

run __complete broker
----
broker	Work with a node's resource broker
:words

run __complete broker d
----
default-config	Print the config that a broker starts with if told nothing
:words

run __complete broker convert x
----
:files

run __complete broker convert -
----
--help	Print this help message and exit
-h	Print this help message and exit
--to	Form of the config: yaml, json, protobuf or compaction; without it yaml for protobuf text, and protobuf for others
--check	Write nothing; only say whether it could be done, and what is in it
:words

run __complete broker convert x --to p
----
protobuf	
:words

run __complete broker default-config x
----
:words
