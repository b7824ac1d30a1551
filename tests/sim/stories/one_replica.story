# The only replica is gone with its node, and back with it. A node that wants to stop has its shards copied elsewhere first.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 1}]
---
at 0s   expect settled within 30s
at 1m   kill n2
at 2m   expect not every shard has a leader
        start n2
        expect every shard has a leader within 30s
        expect settled within 30s
at 3m   leave n1
        expect n1 has stopped within 1m
at 5m   end
