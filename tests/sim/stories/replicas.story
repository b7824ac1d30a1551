# More replicas are added, fewer are dropped, and the shards are served all the time.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 2}]
---
at 0s   expect settled within 30s
at 1m   change t {replicas: 3}
        expect 2 serve t/3 for 4m
        expect 3 serve t/3 within 1m
        expect settled within 1m
at 3m   expect at most 10 moves
        expect not at most 7 moves
        change t {replicas: 2}
        expect settled within 1m
at 5m   expect at most 10 moves
        end
