# What cannot be opened on one node is tried again, and then goes elsewhere; others are not held up.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 4, replicas: 3}]
---
at 0s   expect settled within 30s
at 1m   fail 100 percent on n4
        create {name: u, shards: 4, replicas: 3}
        expect every shard has a leader within 2m
        expect 3 serve t/0 within 5m
        expect 3 serve u/0 within 5m
        expect 3 serve u/3 within 5m
at 7m   mend n4
        expect settled within 2m
        end
