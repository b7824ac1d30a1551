# Controllers that do not hear of anybody any more doubt themselves, not the nodes: whoever leads goes on.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 3, replicas: 3, acks: 2, fencing: epoch}]
---
at 0s    expect settled within 20s
at 30s   cut controller 1 from the nodes for 18s
         cut controller 2 from the nodes for 18s
at 41s   expect every shard has a leader for 8s
         expect an event says "only sessions count"
at 1m    end
