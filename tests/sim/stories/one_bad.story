# A workload that cannot be placed, and one whose replicas all fail, say why, and do not hold up the others.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 3, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
at 30s   create {name: wide, shards: 2, replicas: 5}
         expect wide/1 says "needs 5 nodes; 3 are up" within 10s
at 40s   fail 100 percent on n1
         fail 100 percent on n2
         fail 100 percent on n3
         create {name: bad, shards: 1, replicas: 3}
         expect bad/0 says "n1: " within 10s
at 45s   expect 3 serve t/0
         mend n1
         mend n2
         mend n3
         create {name: u, shards: 3, replicas: 3}
         expect 3 serve u/0 within 10s
         expect 3 serve bad/0 within 1m
         change t {replicas: 4}         # and more than there are nodes
         expect t/0 says "no place" within 10s
at 3m    expect 3 serve t/0
         expect t/0 is on n1 n2 n3
         end
