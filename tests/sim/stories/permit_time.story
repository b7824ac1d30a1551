# Who has leave to be gone is not missed while that lasts; then it counts as lost, from that moment on.
cluster: pages
settings: {rebalance_delay: 1m}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 10, replicas: 3}]
---
at 0s    expect settled within 30s
at 1m    leave n3
         expect n3 has stopped within 20s
at 9m    expect t/0 says "n3 has leave to be gone"
         expect at most 0 moves
at 10m   expect an event says "its time is over" within 2m
at 11m40s expect at most 0 moves
         expect n3 holds nothing within 1m
at 14m   end
