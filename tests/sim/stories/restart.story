# A process that is back at once holds what it held: nothing moves. It leads again after it was steady for a minute.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 8, replicas: 3}]
---
at 0s     expect settled within 30s
at 1m     kill n2
at 1m3s   start n2
          expect n2 is up within 20s
          expect settled within 30s
at 2m     expect every shard has a leader
at 3m     expect not n2 leads 0 shards
          expect settled for 1m
          expect at most 0 moves
at 4m     end
