# One that is far behind is not handed anything: the old one leads all the while.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, lag_max: 150}]
---
at 0s    expect settled within 20s
at 25s   expect t/0 is led by n1
at 30s   cut n1 from n2 for 25s
at 50s   lead t/0 on n2
         expect t/0 is led by n1 for 5s
at 55s   expect t/0 is led by n2 within 20s
at 1m20s end
