# Controllers come and go; whoever is left goes on from what is in the store.
cluster: pages
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 8, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
at 1m    kill controller 1
         expect controller 2 is active within 10s
at 1m20s kill n3
         expect every shard has a leader within 15s
         start controller 1
at 2m    start n3
         expect settled within 30s
at 3m    kill controller 2
         expect controller 1 is active within 10s
         expect settled within 30s
at 4m    kill controller 1
at 4m20s kill n2
         start controller 2
         expect every shard has a leader within 20s
at 5m    start n2
         expect settled within 30s
at 6m    expect at most 0 moves
         end
