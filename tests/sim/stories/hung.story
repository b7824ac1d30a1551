# A leader that cannot step down ends its process before its shard waits for ever.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect t/0 is led by n1 within 30s
at 1m    hang t/0 on n1
         lead t/0 on n2
         expect t/0 says "waits for n1 to step down" within 2s
         expect every shard has a leader within 20s
at 2m    mend n1
         expect settled within 1m
at 3m    end
