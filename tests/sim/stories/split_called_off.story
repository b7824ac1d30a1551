# A copy does not come to its end: the shard is led again as before, and tried again without the node that has not dropped what it began. When that one is
# mended it gets its replica, like any other.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 2, replicas: 3, acks: 2, hand_over: 5s}]
---
at 0s    expect settled within 30s
         writes 100 per second
at 1m    split t
         hang t/2 on n2
         expect an event says "t/0 is not split: it took too long to copy it" within 10s
         expect an event says "t/1 is split" within 20s
at 1m10s expect every shard has a leader
         expect not nobody leads t/0 for 10s
         expect t/0 says "is tried again later"
         expect an event says "t/0 is split" within 1m
at 2m30s expect every shard has a leader
         mend n2
         expect settled within 10m
at 13m   end
