# Two of three replicas move: one after the other, never two more than there should be.
cluster: pages
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 1, replicas: 3}]
---
at 0s    drain n4
         drain n5
         expect t/0 is on n1 n2 n3 within 30s
at 40s   undo n4
         undo n5
         drain n1
         drain n2
         expect t/0 is on n3 n4 n5 within 1m
at 2m    end
