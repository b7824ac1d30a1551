# A leader is lost, and of the two that follow it the preferred one has missed the last writes: the other one leads.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2}]
---
at 0s    expect settled within 20s
         expect t/0 is led by n1 within 20s
at 25s   cut n1 from n2 for 10s
at 30s   kill n1
         expect every shard has a leader within 20s
at 1m    end
