# A shard may be kept off a node, and asked to be led elsewhere.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 4, replicas: 3}]
---
at 0s   expect settled within 30s
at 1m   drain n4
        expect t/0 is on n1 n2 n3 within 1m
at 2m   undo n4
        disable t/0 on n1
        expect t/0 is on n2 n3 n4 within 1m
at 4m   enable t/0 on n1
        expect settled within 1m
at 5m   expect settled
        end
