# The store is put back to how it was a minute ago, and then loses everything: what nodes hold is known again, by itself or once it is
# adopted, and the service goes on.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3, acks: 2}]
---
at 0s   expect settled within 30s
at 3m   the store loses 1m
        expect every shard has a leader within 1m
        expect settled within 2m
at 6m   expect at most 0 moves
        end
