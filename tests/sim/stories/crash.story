# A node is lost: its leaders go elsewhere as soon as its session is over, and its replicas wait for it.
cluster: pages
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 12, replicas: 3}]
---
at 0s   expect settled within 30s
at 1m   kill n3
        expect n3 is gone within 15s
        expect every shard has a leader within 15s
at 3m   expect at most 0 moves
        expect not n3 holds nothing
        start n3
        expect n3 is up within 15s
        expect settled within 30s
at 5m   expect at most 0 moves
        end
