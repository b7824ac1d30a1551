# A replica moves away, and the leader takes long to learn that it does not count any more: until then it stays.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, linger: 100ms}]
---
at 0s    drain n4
         expect t/0 is on n1 n2 n3 within 20s
at 25s   expect t/0 is led by n1
at 30s   slow n1 50 times
         undo n4
         drain n3
         expect n3 holds nothing within 1m
at 1m40s end
