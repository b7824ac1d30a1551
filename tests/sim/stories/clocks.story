# Clocks an hour apart change nothing, and neither does 1 % more or less of speed: nobody compares clocks.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 3, acks: 2}]
---
at 0s    set the clock of n1 ahead by 1h
         set the clock of n2 ahead by 30m
         let the clock of n3 run 10000 ppm slow
         let the clock of n4 run 10000 ppm fast
         kill n1
         kill n2
         kill n3
         kill n4
at 1s    start n1
         start n2
         start n3
         start n4
         expect settled within 30s
at 1m    cut n3 from the store for 30s
         expect n3 leads 0 shards within 15s
         expect every shard has a leader within 15s
at 2m    cut n4 from the store for 30s
         expect n4 leads 0 shards within 15s
         expect every shard has a leader within 15s
at 3m    cut n1 from the store for 30s
         expect every shard has a leader within 15s
at 6m    expect settled
         expect at most 0 moves
         end
