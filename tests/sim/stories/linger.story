# A replica that has left the view goes on answering for a while before it is dropped, so that those who route by an old view are served.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 2, linger: 30s}]
---
at 0s    disable t/0 on n3
         expect t/0 is on n1 n2 within 30s
at 1m    enable t/0 on n3
         disable t/0 on n2
         expect t/0 is on n1 n2 n3 within 10s
         expect 2 serve t/0 for 1m
at 1m25s expect t/0 is on n1 n2 n3
         expect not 3 serve t/0
         expect t/0 is on n1 n3 within 20s
at 2m    expect settled
         end
