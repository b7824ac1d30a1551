# Shards are split one after the other, and some clients still send every key to the old ones: these refuse what is not theirs any more.
cluster: pages
settings: {balance: {copies: 1}}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 8, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
         writes 1000 per second
at 30s   split t
         expect settled within 1m
at 2m    end
