# A workload that is deleted is dropped everywhere; one of the same name made later begins anew.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 2}, {name: u, shards: 4, replicas: 3}]
---
at 0s   expect settled within 30s
at 1m   delete t
        expect settled within 30s
at 2m   expect n1 holds 4 shards
        expect n2 holds 4 shards
        expect 0 orphans
        create {name: t, shards: 3, replicas: 3}
        expect settled within 30s
        expect every shard has a leader within 30s
at 3m   expect n1 holds 7 shards
        end
