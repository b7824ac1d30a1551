# Two want to stop: the second waits until the first is back with all it had. Together, only one of them may.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3}]
---
at 0s    expect settled within 30s
at 1m    leave n1
         expect n1 has stopped within 10s
at 1m5s  leave n2
         expect an event says "n2 may not stop: t/0 would have 1 serving, and needs 2" within 5s
at 2m    expect not n2 has stopped
         expect every shard has a leader
         start n1
         expect an event says "n1 is back" within 10s
         expect n2 has stopped within 30s
at 3m    expect 2 serve t/0
         start n2
         expect settled within 30s
at 4m    leave n2
         leave n3
         expect 2 serve t/0 for 1m
         expect 2 serve t/1 for 1m
         expect every shard has a leader within 5s
at 5m    expect at most 0 moves
         end
