# A leader begins again while no controller is there. What the process before it was told is not for this one: it does not lead by that.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3}]
---
at 0s    expect settled within 20s
         expect t/0 is led by n1 within 20s
at 25s   kill controller 1
         kill controller 2
at 26s   kill n1
at 27s   start n1
         expect nobody leads t/0 for 15s
at 45s   start controller 1
         expect every shard has a leader within 20s
at 1m10s end
