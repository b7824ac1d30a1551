# The service does not know of splits: its handlers open empty shards, and say that all is well. No shard is split until they know better.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
         writes 50 per second
at 30s   copy nothing on n1
         copy nothing on n2
         copy nothing on n3
at 31s   split t
         expect an event says "says that it has its copy, and has less than there is" within 10s
at 50s   expect t/0 says "it is tried again later"
at 55s   mend n1
         mend n2
         mend n3
         expect an event says "t is split: it has 2 shards" within 2m
         expect settled within 3m
at 5m    end
