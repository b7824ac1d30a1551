# A workload is deleted and made again, with fewer shards. A standby that takes over then knows the new one, and nothing of the old.
cluster: pages
nodes: [{name: "n[1-2]", zone: "z[1-2]"}]
workloads: [{name: t, shards: 100, replicas: 2}]
---
at 0s    kill controller 2
         expect settled within 30s
         expect controller 1 is active within 30s
at 30s   start controller 2
at 40s   delete t
         expect n1 holds nothing within 15s
         expect n2 holds nothing within 15s
at 1m    create {name: t, shards: 8, replicas: 2}
         expect every shard has a leader within 10s
at 1m20s kill controller 1
         expect controller 2 is active within 20s
at 1m50s expect settled within 10s
         expect n1 holds 8 shards within 10s
at 2m30s expect n1 holds 8 shards within 1s
         expect n2 holds 8 shards within 1s
at 3m    end
