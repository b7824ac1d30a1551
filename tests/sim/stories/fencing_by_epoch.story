# Where every write carries its epoch, a lost leader need not be waited for: missed pulses are enough.
cluster: pages
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 10, replicas: 3, acks: 2, fencing: epoch}]
---
at 0s   expect settled within 30s
at 1m   kill n3
        expect n3 leads 0 shards within 2s
        expect every shard has a leader within 2s
at 2m   start n3
        expect settled within 30s
at 3m   stop n1 for 1m
        expect every shard has a leader within 3s
at 5m   expect settled
        expect at most 0 moves
        end
