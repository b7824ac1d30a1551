# How long a node was waited for is known to the next controller, whose clock is another one: it goes on from there.
cluster: pages
settings: {rebalance_delay: 3m}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 5, replicas: 3}]
---
at 0s    expect settled within 30s
at 30s   kill n3
at 2m30s kill controller 1
         kill controller 2
at 2m50s start controller 2
         expect controller 2 is active within 10s
at 3m    expect at most 0 moves
         expect n3 holds nothing within 90s
at 5m    end
