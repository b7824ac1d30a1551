# Each shard becomes two while clients write; then each of these again. Nothing that was acknowledged is lost, by then or when a node dies afterwards.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 4, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
         writes 200 per second
at 1m    split t
         expect an event says "t/0 is split: half of its keys are t/4's" within 30s
         expect an event says "t is split: it has 8 shards" within 1m
         expect settled within 2m
at 4m    expect every shard has a leader
         split t
         expect an event says "t is split: it has 16 shards" within 2m
         expect settled within 3m
at 8m    kill n1
         expect every shard has a leader within 20s
at 9m    start n1
         expect settled within 1m
at 11m   end
