# A freeze is in the store: the next controller keeps to it.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 6, replicas: 3}]
---
at 0s    expect settled within 30s
at 30s   freeze
at 35s   kill controller 1
         kill controller 2
at 40s   start controller 2
         expect controller 2 is active within 10s
at 50s   kill n1
at 1m10s expect t/0 says "frozen"
         expect not every shard has a leader for 1m
at 2m15s thaw
         expect every shard has a leader within 5s
at 3m    end
