# Leaders are fenced by epoch, and then by session, while they lead: one that stands still after that leads no more when it wakes.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3, acks: 2, fencing: epoch}]
---
at 0s   expect settled within 30s
        writes 100 per second
at 1m   change t {fencing: session}
at 2m   stop n1 for 30s
at 4m   expect settled
        end
