# A leader is lost before it has begun. The other one has no data, and does not know that there is none: it waits.
cluster: pages
nodes: [{name: "n[1-2]", zone: "z[1-2]"}]
workloads: [{name: t, shards: 1, replicas: 2}]
---
at 0s    slow n1 100 times
at 4s    kill n1
         expect nobody leads t/0 for 30s
at 20s   expect t/0 says "nobody that is there has held its data"
at 40s   mend n1
         start n1
         expect every shard has a leader within 20s
at 1m10s end
