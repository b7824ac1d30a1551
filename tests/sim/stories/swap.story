# The new machine takes exactly the place of the old one; nothing else moves.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}, {name: n5, zone: z2, status: cordoned}]
workloads: [{name: t, shards: 8, replicas: 2}]
---
at 0s   expect settled within 30s
        expect n2 holds 4 shards within 30s
        expect n5 holds nothing
at 1m   undo n5
        swap n2 with n5
        expect n2 holds nothing within 2m
        expect n5 holds 4 shards within 2m
at 4m   expect settled
        expect at most 4 moves
        end
