# A transition that does not end is asked to stop when its time is over, and counts as failed: its replica is made elsewhere.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, transition: 10s}, {name: u, shards: 4, replicas: 3}]
---
at 0s    disable t/0 on n4
         expect t/0 is on n1 n2 n3 within 30s
at 30s   enable t/0 on n4
         hang t/0 on n3
         kill n3
at 35s   start n3
         expect n3 is up within 10s
at 37s   expect every shard has a leader for 2m
at 1m    expect t/0 says "n3: "
         expect t/0 is on n1 n2 n3
         expect t/0 is on n1 n2 n4 within 1m
at 3m    mend n3
         expect settled within 2m
at 5m    end
