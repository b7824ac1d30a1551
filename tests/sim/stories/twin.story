# A second process under a live name waits until the first one's session is over, and what it has not on its own disk is copied to it.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3, acks: 2}]
---
at 0s   expect settled within 30s
at 1m   start a twin of n2
at 2m   expect settled
        kill n2
        expect settled within 3m
at 6m   end
