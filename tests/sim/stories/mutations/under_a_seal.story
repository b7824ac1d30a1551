# With one copy acknowledged, all three must be sealed before anybody leads: until the lost one is back, nobody comes in its place.
cluster: pages
settings: {rebalance_delay: 5s}
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 1}]
---
at 0s    drain n4
         expect t/0 is on n1 n2 n3 within 20s
         expect t/0 is led by n1 within 20s
at 30s   undo n4
         kill n1
at 45s   expect nobody leads t/0 for 20s
at 1m5s  expect t/0 is on n1 n2 n3
         start n1
         expect every shard has a leader within 20s
at 1m40s end
