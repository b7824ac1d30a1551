# The store is put back to how it was a minute ago, in a cluster in which nothing happens: nodes notice all the same and join anew, what they
# hold is known again by itself, and the service goes on. What is expected is looked at once everybody has had the time to notice.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3, acks: 2}]
---
at 0s     expect settled within 30s
at 3m     the store loses 1m
at 3m30s  expect every shard has a leader within 1m
          expect settled within 2m
at 60m    expect every shard has a leader
          expect settled
          expect at most 0 moves
          end
