# A leader is lost, and one of the two others stands still. Nobody leads before the loss is proved, and before that one is sealed too: the third
# alone might lack what was acknowledged.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2}]
---
at 0s    expect settled within 20s
         expect t/0 is led by n1 within 20s
at 30s   kill n1
at 35s   stop n3 for 5s
         expect every shard has a leader within 10s
at 50s   start n1
         expect settled within 20s
at 1m15s end
