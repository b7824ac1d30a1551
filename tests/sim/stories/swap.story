# A new machine takes exactly the place of an old one, which waits for it; nothing else moves.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 2}]
---
at 0s   expect settled within 30s
        expect n2 holds 4 shards within 30s
at 1m   add {name: n5, zone: z2}
        kill n5                        # it is not there yet
        swap n2 with n5
at 2m   expect n2 holds 4 shards
        expect at most 0 moves
        start n5
        expect n2 holds nothing within 1m
        expect n5 holds 4 shards within 1m
at 4m   expect settled
        expect at most 4 moves
        end
