# A node dies. Its leaders move at once, its replicas wait for it; it does not come back, so they are built anew elsewhere.
cluster: pages
nodes: [{name: "n[1-4]", zone: "dc[1-4]"}]
workloads: [{name: t, shards: 4, replicas: 3}]
settings: {rebalance_delay: 1m}
---
at 0s   expect settled within 30s
at 1m   kill n2
        expect every shard has a leader within 15s
        expect at most 0 moves for 30s
at 2m   expect settled within 1m
at 3m   start n2
        expect settled within 1m
at 5m   end
