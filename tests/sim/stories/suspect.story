# A suspect node loses its leaders where epochs fence, keeps its replicas, and gets no leaders until it was steady for a minute.
cluster: pages
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 10, replicas: 3, acks: 2, fencing: epoch}]
---
at 0s     expect settled within 30s
at 1m     cut n3 from the controllers for 30s
          expect n3 leads 0 shards within 12s
          expect every shard has a leader within 12s
at 1m35s  expect n3 is up
          expect n3 holds 6 shards
          expect n3 leads 0 shards for 50s
          expect n3 leads 2 shards within 2m
at 4m     expect settled
          expect at most 0 moves
          end
