# Empty, or no config at all.
parse

----
c.txt: error: the file is empty
  check its name, and that it was saved

parse
# only a comment
----
c.txt: error: the file is empty
  check its name, and that it was saved

parse
just words
----
c.txt:1:1: error: expected a config with its fields, found "just words"

parse
- a list
----
c.txt:1:1: error: expected a config with its fields, found a list

# Syntax of protobuf text: the first thing that is wrong.
parse
Queues { Name: "q"
----
c.txt:1:8: error: this is opened and never closed
  close it at the end of its fields

parse
Queues { Name: "q" } }
----
c.txt:1:22: error: expected a field's name, found "}"
  write name: value, or name { … }

parse
Queues { Name: "q }
----
c.txt:1:16: error: a text without its closing quote
  close it on the same line; write a line break as \n

parse
Queues { Name "q" }
----
c.txt:1:15: error: expected : or { after "Name", found "\""
  write name: value, or name { … }

parse
Queues { Name: q }
----
c.txt:1:16: error: expected a number or a text, found "q"
  text stands in quotes; numbers are whole and have no unit

parse
Queues { Weight: 30s }
----
c.txt:1:18: error: expected a number or a text, found "30s"
  text stands in quotes; numbers are whole and have no unit

parse
Queues { Weight: }
----
c.txt:1:18: error: expected a value, found "}"

parse
Queues { Weight: é }
----
c.txt:1:18: error: expected a value, found "é"

parse
Queues { Weight: - }
----
c.txt:1:18: error: expected a number or a text, found "-"
  text stands in quotes; numbers are whole and have no unit

parse
Queues { Limit: [1 2] }
----
c.txt:1:20: error: expected , or ] in a list, found "2"

parse
Queues: [1,
----
c.txt:2:1: error: expected a value, found the end of the text

parse
Queues: < [
----
c.txt:1:11: error: expected a field's name, found "["
  write name: value, or name { … }

parse
Queues { Name: "\q" }
----
c.txt:1:17: error: not an escape that protobuf text knows
  write \\ for a backslash, \n, \t, \xNN, \uNNNN or \UNNNNNNNN

parse
Queues { Name: "\ud800" }
----
c.txt:1:17: error: not an escape that protobuf text knows
  write \\ for a backslash, \n, \t, \xNN, \uNNNN or \UNNNNNNNN

parse
Queues { Name: "\777" }
----
c.txt:1:17: error: not an escape that protobuf text knows
  write \\ for a backslash, \n, \t, \xNN, \uNNNN or \UNNNNNNNN

parse
Queues { Name: "\x" }
----
c.txt:1:17: error: not an escape that protobuf text knows
  write \\ for a backslash, \n, \t, \xNN, \uNNNN or \UNNNNNNNN

parse
Queues { Name: "\xff" }
----
c.txt:1:16: error: "\xff" is not valid UTF-8
  check its escapes

parse
Queues { Name: "x\
----
c.txt:1:18: error: not an escape that protobuf text knows
  write \\ for a backslash, \n, \t, \xNN, \uNNNN or \UNNNNNNNN

# Fields: unknown, twice, missing, of the wrong kind. All of them are said at once.
parse
Queues { Name: "q" Wieght: 3 Name: "r" name: "s" }
Tasks { Name: "t" }
Tasks { QueueName: 7 DefaultDuration: "5" }
Quues { }
ResourceLimit: 3
ResourceLimit { Cpu: 1 }
----
c.txt:1:20: error: unknown field "Wieght" of a queue
  did you mean "Weight"?
c.txt:1:30: error: "Name" of a queue is given twice
  the first is at line 1, column 10: keep one
c.txt:1:40: error: unknown field "name" of a queue
  did you mean "Name"?
c.txt:2:7: error: a task lacks the field "QueueName"
  add it
c.txt:3:7: error: a task lacks the field "Name"
  add it
c.txt:3:20: error: expected text, found "7"
  put it in quotes
c.txt:3:39: error: expected a whole number, found the text "5"
  remove the quotes
c.txt:4:1: error: unknown field "Quues" of a broker's config
  did you mean "Queues"?
c.txt:5:16: error: expected a limit with its fields, found "3"
c.txt:6:1: error: "ResourceLimit" of a broker's config is given twice
  the first is at line 5, column 1: keep one

parse
queues:
  - {nane: q, weight: [1], limit: 5}
  - {name: {}, Name: x}
  - q
  -
  - name:
    weight:
tasks: {name: t}
resource_limits: {}
----
c.txt:2:5: error: a queue lacks the field "name"
  add it
c.txt:2:6: error: unknown field "nane" of a queue
  did you mean "name"?
c.txt:2:23: error: expected a whole number, found a list
c.txt:2:35: error: expected a limit with its fields, found "5"
c.txt:3:12: error: expected text, found fields in braces
c.txt:3:16: error: "Name" of a queue is given twice
  the first is at line 3, column 6: keep one
c.txt:4:5: error: expected a queue with its fields, found "q"
c.txt:5:4: error: expected a queue with its fields, found nothing
c.txt:6:10: error: "name" of a queue has no value
  give one, or remove the field
c.txt:7:12: error: "weight" of a queue has no value
  give one, or remove the field
c.txt:8:8: error: expected a list of tasks, found fields in braces
  put it in brackets, or behind a dash
c.txt:9:1: error: unknown field "resource_limits" of a broker's config
  did you mean "resource_limit"?

parse
queues: [{name: q, name: r}]
----
c.txt:1:20: error: "name" is given twice in one map
  the first is at line 1, column 11: keep one

# Numbers.
parse
Queues { Name: "a" Weight: -1 }
Queues { Name: "b" Weight: 1.5 }
Queues { Name: "c" Weight: 18446744073709551616 }
Queues { Name: "d" Weight: 0x10000000000000000 }
Queues { Name: "e" Weight: 08 }
Queues { Name: "f" Weight: 1e3 }
Queues { Name: "g" Weight: - 5 }
Queues { Name: "h" Weight: { } }
Queues { Name: "i" Weight: "many" }
Queues { Name: "j" Weight: -0x5 }
Queues { Name: "k" Weight: 2e-1f }
----
c.txt:1:28: error: "-1" is negative: write 0 or more
c.txt:2:28: error: "1.5" is not a whole number: write digits only, for example 12
c.txt:3:28: error: "18446744073709551616" is too large: at most 18446744073709551615
c.txt:4:28: error: "0x10000000000000000" is too large: at most 18446744073709551615
c.txt:5:28: error: "08" is no octal number: after a leading 0 there are only the digits 0 to 7
c.txt:6:28: error: "1e3" is not a whole number: write digits only, for example 12
c.txt:7:28: error: "-5" is negative: write 0 or more
c.txt:8:28: error: expected a whole number, found fields in braces
c.txt:9:28: error: expected a whole number, found the text "many"
c.txt:10:28: error: "-0x5" is not a whole number: write digits only, for example 12
c.txt:11:28: error: "2e-1f" is not a whole number: write digits only, for example 12

parse
queues:
  - {name: a, weight: -1}
  - {name: b, weight: 1.5}
  - {name: c, weight: 18446744073709551616}
  - {name: d, weight: 007}
  - {name: e, weight: 3k}
  - {name: f, weight: many}
  - {name: g, limit: {cpu: 2Gi}}
  - {name: h, limit: {memory: 2.5}}
  - {name: i, limit: {memory: 2XB}}
  - {name: j, limit: {memory: 99Ei}}
  - {name: k, limit: {memory: }}
  - {name: l, limit: {memory: ""}}
tasks:
  - {name: a, queue_name: q, default_duration: 3}
  - {name: b, queue_name: q, default_duration: 5ns}
  - {name: c, queue_name: q, default_duration: -5s}
  - {name: d, queue_name: q, default_duration: 5 minutes}
----
c.txt:2:23: error: "-1" is negative: write 0 or more
c.txt:3:23: error: "1.5" is not a whole number: write digits only, for example 12
c.txt:4:23: error: "18446744073709551616" is too large: at most 18446744073709551615
c.txt:5:23: error: "007" starts with a zero: some read that as octal, leave it out
c.txt:6:23: error: "3k" is not a whole number: write digits only, for example 12
c.txt:7:23: error: "many" is not a whole number: write digits only, for example 12
c.txt:8:28: error: "2Gi" is not a whole number: write digits only, for example 12
c.txt:9:31: error: "2.5" is not a whole number: write digits only, for example 12
c.txt:10:31: error: "2XB" has the unknown suffix "XB": use k M G T P E Ki Mi Gi Ti Pi Ei, or none
c.txt:11:31: error: "99Ei" is too large: at most 18446744073709551615 (2^64 - 1)
c.txt:12:31: error: expected a whole number, found nothing
c.txt:13:31: error: "" is not a whole number: write digits only, for example 12
c.txt:16:48: error: "5ns" is no whole number of microseconds
c.txt:17:48: error: "-5s" is negative: write 0 or more
c.txt:18:48: error: "5 minutes" has a space inside: write it without, for example 1h30m

# Limits.
parse
Queues { Name: "a" Limit { Resource: 1 Cpu: 2 } }
Queues { Name: "b" Limit { Resource: 1 Resource: 2 Resource: 3 } }
Queues { Name: "c" Limit { Cpu: 1 cpu: 2 } }
Queues { Name: "d" Limit { CPU: 1 resource: 3 } }
Queues { Name: "e" Limit { Cpu: 1 } Limit { Memory: 1 } }
Queues { Name: "f" Limit { disk: -1 disk: 2 } }
----
c.txt:1:40: error: a limit is either by position or by name, not both
  give all amounts by name
c.txt:2:62: error: a limit by position has two amounts, cpu and memory
  give others by name: Limit { Cpu: 2 disk: 5 }
c.txt:3:35: error: "cpu" of a limit is given twice
  keep one
c.txt:4:28: error: unknown resource "CPU"
  write Cpu, Memory or Resource, or rename it
c.txt:4:35: error: unknown resource "resource"
  write Cpu, Memory or Resource, or rename it
c.txt:5:37: error: "Limit" of a queue is given twice
  the first is at line 5, column 20: keep one
c.txt:6:34: error: "-1" is negative: write 0 or more
c.txt:6:37: error: "disk" of a limit is given twice
  keep one

parse
queues:
  - {name: a, limit: {resource: [1], memory: 2}}
  - {name: b, limit: {resource: [1, 2, 3]}}
  - {name: c, limit: {Cpu: 1, cpu: 2}}
  - {name: d, limit: {RESOURCE: 1}}
  - {name: e, limit: {resource: 3}}
  - {name: f, limit: [1, 2]}
----
c.txt:2:38: error: a limit is either by position or by name, not both
  give all amounts by name
c.txt:3:40: error: a limit by position has two amounts, cpu and memory
  give others by name: {cpu: 2, disk: 5}
c.txt:4:31: error: "cpu" of a limit is given twice
  keep one
c.txt:5:23: error: unknown resource "RESOURCE"
  write cpu, memory or resource, or rename it
c.txt:6:33: error: expected a list of amounts, found "3"
  put it in brackets, or behind a dash
c.txt:7:22: error: expected a limit with its fields, found a list

# More than twenty problems are counted.
parse
a {} b {} c {} d {} e {} f {} g {} h {} i {} j {} k {} l {} m {} n {} o {} p {} q {} r {} s {} t {} u {}
----
c.txt:1:1: error: unknown field "a" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:6: error: unknown field "b" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:11: error: unknown field "c" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:16: error: unknown field "d" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:21: error: unknown field "e" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:26: error: unknown field "f" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:31: error: unknown field "g" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:36: error: unknown field "h" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:41: error: unknown field "i" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:46: error: unknown field "j" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:51: error: unknown field "k" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:56: error: unknown field "l" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:61: error: unknown field "m" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:66: error: unknown field "n" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:71: error: unknown field "o" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:76: error: unknown field "p" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:81: error: unknown field "q" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:86: error: unknown field "r" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:91: error: unknown field "s" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt:1:96: error: unknown field "t" of a broker's config
  known: Queues, Tasks, ResourceLimit
c.txt: and 1 more
