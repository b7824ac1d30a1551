# A node more gets its fair share, and no more than that moves.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 12, replicas: 2}]
---
at 0s   expect settled within 30s
        expect n1 holds 8 shards within 30s
at 1m   add {name: n4, zone: z4}
        expect n4 holds 6 shards within 3m
        expect settled within 3m
at 5m   expect at most 6 moves
        expect settled for 1m
        end
