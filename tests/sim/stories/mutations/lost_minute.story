# The store loses the half minute in which a third replica of each shard was made. Nobody knows of them any more: they are shown, and stay.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 2}]
---
at 0s    expect settled within 20s
at 30s   change t {replicas: 3}
         expect settled within 20s
at 55s   the store loses 30s
         expect 4 orphans within 20s
at 1m20s expect 4 orphans for 20s
at 1m45s end
