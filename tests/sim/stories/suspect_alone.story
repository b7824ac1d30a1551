# A leader is not heard of, and nobody else has what it has: it is sealed once, and leads on. It does not go round and round.
cluster: pages
settings: {max_offline: 2}
nodes: [{name: "n[1-2]", zone: "z[1-2]"}]
workloads: [{name: t, shards: 1, replicas: 2, acks: 2, fencing: epoch, pinned: {0: [n1, n2]}}]
---
at 0s    expect settled within 30s
at 30s   kill n2
at 1m    cut n1 from the controllers for 40s
         expect n1 is suspect within 20s
at 85s   expect every shard has a leader for 10s
at 2m    expect not an event says "leads at epoch 3"
         start n2
         expect settled within 30s
at 3m    end
