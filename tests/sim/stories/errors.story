# What fails is tried again, longer and longer, five times; then the replica is given up, with the handler's words, and made elsewhere. Reset,
# the node may have it again.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads:
  - {name: t, shards: 1, replicas: 3, acks: 2}
  - {name: u, shards: 4, replicas: 3}
---
at 0s    disable t/0 on n4
         expect t/0 is on n1 n2 n3 within 30s
at 30s   enable t/0 on n4
         fail t/0 on n3
         kill n3
at 35s   start n3
         expect n3 is up within 10s
         expect every shard has a leader within 10s
at 40s   expect t/0 says "n3: "
         expect t/0 is on n1 n2 n3
         expect t/0 is on n1 n2 n4 within 2m
at 2m40s mend n3
         expect settled within 2m
at 3m    disable t/0 on n1              # n3 may still not have it
         expect not t/0 is on n2 n3 n4 for 30s
at 4m    reset t/0 on n3
         expect t/0 is on n2 n3 n4 within 1m
         expect settled within 1m
at 6m    end
