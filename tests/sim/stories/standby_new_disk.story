# A shard that has no data is led by its only replica. When that one's disk is lost nothing is lost with it, and it is led again; also if another node is
# to have it by then.
cluster: pages
settings: {rebalance_delay: 20s}
nodes: [{name: "n[1-2]", zone: "z[1-2]"}]
workloads: [{name: t, shards: 4, replicas: 1, state_model: leader-standby}]
---
at 0s    expect settled within 30s
at 1m    kill n1
at 1m1s  start n1 on a new disk
         expect settled within 1m
at 3m    kill n2
at 5m    start n2 on a new disk
         expect settled within 1m
         expect every shard has a leader within 1m
at 7m    end
