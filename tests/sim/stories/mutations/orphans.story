# The store is empty, and the workload is made again. What nodes hold of it is nobody's: it does not begin anew behind their back.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 2, acks: 2}]
---
at 0s    expect settled within 20s
at 30s   the store loses everything
at 1m    change t {replicas: 3}
at 1m5s  expect nobody leads t/0 for 20s
         expect 2 orphans for 20s
at 1m25s expect t/0 says "hold it, and no record knows"
         adopt
         expect every shard has a leader within 20s
at 2m    end
