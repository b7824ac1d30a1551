# The store loses less than nodes write to it by themselves: a controller has noticed, and the nodes are told, so that everything is believed again.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3, acks: 2}]
---
at 0s   expect settled within 30s
at 2m   the store loses 1s
        expect every shard has a leader within 1m
        expect settled within 2m
at 5m   the store loses 2s
        expect settled within 2m
        expect at most 0 moves for 2m
at 8m   the store loses everything
at 9m   apply
at 10m  adopt
        expect settled within 2m
        expect every shard has a leader within 1m
at 13m  end
