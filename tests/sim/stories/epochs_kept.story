# The store loses everything, and then its controllers are replaced, too: of a shard that nobody holds anything of, still no epoch comes twice.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 3, replicas: 3, state_model: leader-standby}]
---
at 0s    expect settled within 30s
at 1m    the store loses everything
         kill n1
         kill n2
         kill n3
at 1m30s start n1 on a new disk
         start n2 on a new disk
         start n3 on a new disk
         kill controller 1
         kill controller 2
at 1m40s start controller 1
         start controller 2
at 2m    change t {linger: 6s}          # an operator writes the workload again
         expect settled within 1m
at 3m    expect an event says "at epoch 1002"
         end
