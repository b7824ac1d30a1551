# One of two that are left lacks what was acknowledged with the help of the third, which is gone: it is not copied, so the shard is not split. When the leader
# dies too, nobody leads without these writes.
cluster: pages
settings: {max_offline: 3}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, min_active: 1, lag_max: 1000000, hand_over: 5s, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect settled within 30s
         writes 50 per second
at 30s   expect t/0 is led by n1
         cut n1 from n2 for 10m
at 40s   kill n3
at 55s   split t
at 1m25s kill n1
at 2m30s start n3
at 4m    end
