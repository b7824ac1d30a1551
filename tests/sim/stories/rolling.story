# A rolling restart, properly: each node asks, gives its leaders away, stops, and comes back. No shard is without a leader but for the
# moment of the hand-over, and nothing is copied.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3}]
---
at 0s   expect settled within 30s
at 1m   leave n1
        expect n1 has stopped within 30s
at 2m   expect every shard has a leader
        start n1
        expect settled within 30s
at 3m   leave n2
        expect n2 has stopped within 30s
at 4m   expect every shard has a leader
        start n2
        expect settled within 30s
at 5m   leave n3
        expect n3 has stopped within 30s
at 6m   expect every shard has a leader
        start n3
        expect settled within 30s
at 7m   expect at most 0 moves
        end
