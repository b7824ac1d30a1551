# A controller that hears nobody doubts itself: only sessions count, and leaders stay. The one that it missed first is followed before the others
# are missed.
cluster: pages
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 5, replicas: 3, acks: 2, fencing: epoch}]
---
at 0s    expect settled within 30s
at 1m    cut controller 1 from the nodes for 2m
         cut controller 2 from the nodes for 2m
         expect an event says "only sessions count" within 15s
at 1m15s expect every shard has a leader for 40s
         expect not an event says "at epoch 3"
at 2m    kill n3                        # that one is gone by its session
         expect n3 is gone within 15s
         expect every shard has a leader within 15s
at 4m    start n3
         expect settled within 2m
at 7m    expect at most 0 moves
         end
