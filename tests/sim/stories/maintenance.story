# More nodes are gone than a cluster may lose by accident: nothing is moved, leaders change among those who hold the shards, and when the
# nodes are back everything is as before.
cluster: pages
settings: {rebalance_delay: 10s, max_offline: 1}
nodes: [{name: "n[1-6]", zone: "z[1-6]"}]
workloads: [{name: t, shards: 12, replicas: 3, min_active: 1}]
---
at 0s   expect settled within 30s
at 1m   kill n1
        kill n2
        expect the cluster is in maintenance within 20s
        expect at most 0 moves for 5m
at 6m   start n1
        start n2
        expect not the cluster is in maintenance within 30s
        expect settled within 1m
at 8m   expect at most 0 moves
        maintenance
        expect the cluster is in maintenance within 5s
        kill n3
at 10m  expect at most 0 moves
        expect every shard has a leader
        start n3
        end maintenance
        expect not the cluster is in maintenance within 20s
        expect settled within 1m
at 12m  end
