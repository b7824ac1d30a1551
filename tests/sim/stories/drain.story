# A drained node is empty after a while, its shards never are without enough replicas, and it gets its share back.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 2}]
---
at 0s   expect settled within 30s
at 1m   drain n1
        expect n1 holds nothing within 2m
        expect 2 serve t/0 for 3m
        expect every shard has a leader within 5s
at 4m   expect settled
        expect n1 is up
        undo n1
        expect settled within 3m
at 8m   end
