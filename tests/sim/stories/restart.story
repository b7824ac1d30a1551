# A process that is back before its session is over holds what it held: nothing moves.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 8, replicas: 3}]
---
at 0s     expect settled within 30s
at 1m     kill n2
at 1m3s   start n2
          expect n2 is up within 20s
          expect settled within 30s
at 1m40s  expect every shard has a leader for 1m
          expect at most 0 moves
at 3m     end
