# Without the store nobody can be promoted, and nodes step down by themselves; when it is back, so is the service, and nothing has moved.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3}]
---
at 0s   expect settled within 30s
at 1m   stop the store for 5s
        expect every shard has a leader within 20s
        expect settled within 30s
at 2m   stop the store for 1m
at 3m   expect every shard has a leader within 30s
        expect settled within 1m
at 5m   expect at most 0 moves
        end
