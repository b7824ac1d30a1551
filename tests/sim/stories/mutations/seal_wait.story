# A leader is lost. One of the two that follow it has missed the last writes, the other one stands still for a moment: that one is waited for, and leads.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, seal_wait: 6s}]
---
at 0s    expect settled within 20s
         expect t/0 is led by n1 within 20s
at 25s   cut n1 from n2 for 10s
at 30s   kill n1
at 35s   stop n3 for 4s
         expect t/0 is led by n3 within 10s
at 1m    end
