# Nothing comes to a node that is cordoned, and what is there stays; a node without leaders keeps its replicas.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 2}]
---
at 0s   expect settled within 30s
        expect n1 holds 4 shards within 30s
at 1m   cordon n1
        create {name: u, shards: 6, replicas: 2}
        expect settled within 30s
at 2m   expect n1 holds 4 shards
        expect n2 holds 10 shards
        expect at most 0 moves
        no leaders on n2
        expect n2 leads 0 shards within 30s
at 3m   expect n2 holds 10 shards
        expect at most 0 moves
        expect settled
        end
