# A small config in every form.
to protobuf
queues: [{name: queue_default, weight: 30, limit: {cpu: 2, disk: 7}}]
tasks: [{name: unknown, queue_name: queue_default, default_duration: 1s500ms}]
resource_limit: {cpu: 10, memory: 1Gi, "disk speed": 5}
----
Queues {
  Name: "queue_default"
  Weight: 30
  Limit { Cpu: 2 disk: 7 }
}
Tasks {
  Name: "unknown"
  QueueName: "queue_default"
  DefaultDuration: 1500000
}
ResourceLimit { Cpu: 10 Memory: 1073741824 "disk speed": 5 }

to json
Queues { Name: "queue_default" Weight: 30 Limit { Cpu: 2 disk: 7 } }
Tasks { Name: "unknown" QueueName: "queue_default" DefaultDuration: 1500000 }
ResourceLimit { Cpu: 10 Memory: 1073741824 "disk speed": 5 }
----
{
  "queues": [
    {"name": "queue_default", "weight": 30, "limit": {"cpu": 2, "disk": 7}}
  ],
  "tasks": [
    {"name": "unknown", "queue_name": "queue_default", "default_duration": 1500000}
  ],
  "resource_limit": {"cpu": 10, "memory": 1073741824, "disk speed": 5}
}

# JSON, with 64-bit numbers in quotes as protobuf's own JSON has them.
parse
{"queues": [{"name": "q", "weight": "18446744073709551615", "limit": {"memory": "4Ki", "cpu": 1}}],
 "tasks": [{"name": "t", "queue_name": "q", "default_duration": "250ms"}]}
----
queues:
  - {name: q, weight: 18446744073709551615, limit: {memory: 4096, cpu: 1}}
tasks:
  - {name: t, queue_name: q, default_duration: 250000}
resource_limit: {}

# Protobuf text takes colons or none before braces, angle brackets, commas, semicolons, lists, and numbers in three bases.
parse
# a comment # and more
Queues: { Name: 'single "quoted"', Weight: 0x1F; Limit: < Resource: [2, 010] > } # at the end
Queues <
  Name: "joined " 'over '
        "lines"  # with a comment
  Limit { Memory: 0 }
>;
Queues { Name: "\x41\102\u00e9\U0001F600\t\"\'\\\?\a" }
Tasks [ { Name: "t" QueueName: "q" } ]
----
queues:
  - {name: "single \"quoted\"", weight: 31, limit: {cpu: 2, memory: 8}}
  - {name: "joined over lines", weight: 0, limit: {memory: 0}}
  - {name: "ABé😀\t\"'\\?\u0007", weight: 0}
tasks:
  - {name: t, queue_name: q, default_duration: 0}
resource_limit: {}

parse
Queues { Name: "\x41\102\u00e9\U0001F600\t\"\'\\\?\a" Limit { } }
Tasks: [ { Name: "t" QueueName: "q" }, < Name: "u" QueueName: "" DefaultDuration: 18446744073709551615 > ]
ResourceLimit: {}
----
queues:
  - {name: "ABé😀\t\"'\\?\u0007", weight: 0}
tasks:
  - {name: t, queue_name: q, default_duration: 0}
  - {name: u, queue_name: "", default_duration: 18446744073709551615}
resource_limit: {}

# Either wrapper, either case of names in YAML.
parse
ResourceBrokerConfig { Queues { Name: "q" } }
----
queues:
  - {name: q, weight: 0}
tasks: []
resource_limit: {}

parse
ResourceBrokerConfig:
  Queues:
    - Name: q
      Weight: 4
      Limit: {Cpu: 1, Memory: 2Mi, Resource_2: 5}
  Tasks: [{Name: t, QueueName: q, DefaultDuration: 5us}]
  ResourceLimit: {Resource: [4, 1Gi]}
----
queues:
  - {name: q, weight: 4, limit: {cpu: 1, memory: 2097152, Resource_2: 5}}
tasks:
  - {name: t, queue_name: q, default_duration: 5}
resource_limit: {cpu: 4, memory: 1073741824}

parse
{}
----
queues: []
tasks: []
resource_limit: {}

to protobuf
{}
----
ResourceLimit { }

# What comes first tells the form: a name and a bracket are protobuf text.
form
Queues { Name: "q" }
----
protobuf

form
# queues:
Queues
  # the first
  <
----
protobuf

form
Queues [
----
protobuf

form
Queues: <Name: "q">
----
protobuf

form
resource_limit: {cpu: 1}
----
yaml

form
queues: [{name: q}]
----
yaml

form
{"queues": []}
----
yaml

form

----
yaml

# With a colon before the bracket it may be either. It is protobuf text if that can read it, else YAML if that can.
form
Queues: [{Name: "q", Weight: 3}]
----
protobuf

form
Queues: [{Name: q, Weight: 3}]
----
yaml

form
ResourceBrokerConfig: { Queues { Name: "q" } Queues { Name: "r" } }
----
protobuf

form
ResourceBrokerConfig: {Queues: [{Name: q}]}
----
yaml

parse
ResourceBrokerConfig: {Queues: [{Name: q, Limit: {Memory: 16Gi}}]}
----
queues:
  - {name: q, weight: 0, limit: {memory: 17179869184}}
tasks: []
resource_limit: {}

parse
Queues: { Name: "q" }
Queues: { Name: "r" }
----
queues:
  - {name: q, weight: 0}
  - {name: r, weight: 0}
tasks: []
resource_limit: {}

# Wrong in both ways: said as of YDB's form.
parse
ResourceBrokerConfig: { Queues { Name: q } }
----
c.txt:1:40: error: expected a number or a text, found "q"
  text stands in quotes; numbers are whole and have no unit
