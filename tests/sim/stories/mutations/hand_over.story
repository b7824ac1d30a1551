# A hand-over to one that cannot get the last writes: it does not lead, and after a while the old one leads on.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, lag_max: 1000000, hand_over: 5s}]
---
at 0s    expect settled within 20s
at 25s   expect t/0 is led by n1
at 30s   cut n1 from n2 for 40s
at 40s   lead t/0 on n2
         expect not t/0 is led by n2 for 20s
         expect nobody leads t/0 within 5s
at 45s   expect t/0 is led by n1 within 10s
at 1m    end
