# The one form: times in a column, said once; comments are not kept.
story
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 8, replicas: 3}]
---
# A node is lost, and comes back with nothing.
at 10s   kill n3            # without a goodbye
         expect every shard has a leader within 15s
         expect n3 holds 8 shards

at 6m    start n3 on a new disk
         expect settled within 1m
at 10m   end
----
cluster: pages
nodes:
  - {name: "n[1-3]", zone: "z[1-3]"}
workloads:
  - name: t
    shards: 8
    replicas: 3
---
at 10s  kill n3
        expect every shard has a leader within 15s
        expect n3 holds 8 shards
at 6m   start n3 on a new disk
        expect settled within 1m
at 10m  end

# Before the first `at` it is 0.
lines
expect not settled
at 1m30s expect t/3 is on n1 n2 n3 for 90s
at 90.5s end
----
at 0s          expect not settled
at 1m30s       expect t/3 is on n1 n2 n3 for 1m30s
at 1m30s500ms  end

# Texts are quoted; fields are in braces, and end with them.
lines
expect t/3 says "waits for \"n1\" # and n2" within 5s  # quoted
settings {rebalance_delay: 10s, spread: {level: zone, hard: true}}   # over what they were
create {name: u, shards: 4, replicas: 2, metadata: it's}
create {name: v, shards: 4, replicas: 2, metadata: 'a } and ''b'''}
change u {replicas: 1}
load t/3 {cpu: 1.5, disk: 2Gi}
load t {cpu: 1}
add {name: "n[4-5]", zone: z1}
swap n4 with n5
expect u/3 is led by n5
----
at 0s  expect t/3 says "waits for \"n1\" # and n2" within 5s
       settings {rebalance_delay: 10s, spread: {level: zone, hard: true}}
       create {name: u, shards: 4, replicas: 2, metadata: it's}
       create {name: v, shards: 4, replicas: 2, metadata: 'a } and ''b'''}
       change u {replicas: 1}
       load t/3 {cpu: 1.5, disk: 2Gi}
       load t {cpu: 1}
       add {name: "n[4-5]", zone: z1}
       swap n4 with n5
       expect u/3 is led by n5

# A name that is a word of the language is quoted.
story
nodes: [{name: for}, {name: not}, {name: within}, {name: 5s}]
workloads: [{name: t, shards: 1, replicas: 2}]
---
expect t/0 is on "for" 5s
expect "not" holds nothing
expect not "not" is up within 5s
kill "within"
----
cluster: default
nodes:
  - {name: for}
  - {name: not}
  - {name: within}
  - {name: "5s"}
workloads:
  - name: t
    shards: 1
    replicas: 2
---
at 0s  expect t/0 is on "for" 5s
       expect "not" holds nothing
       expect not "not" is up within 5s
       kill "within"
