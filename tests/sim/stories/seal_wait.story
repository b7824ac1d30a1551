# Where nobody says how many copies a write has, one that is left of three waits a while for the others before it leads, but not longer than
# seal_wait; and no longer than it has to.
cluster: pages
settings: {max_offline: 3}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, seal_wait: 20s, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect t/0 is led by n1 within 30s
at 1m    kill n1
         kill n2
         expect t/0 says "waits for n1, n2" within 15s
at 1m15s expect nobody leads t/0 for 10s
at 1m25s expect t/0 is led by n3 within 10s
at 2m    start n1
         start n2
         expect t/0 is led by n1 within 90s
at 4m    kill n1
         kill n2
at 4m13s expect nobody leads t/0
         start n1                       # in time
         expect every shard has a leader within 4s
at 4m30s start n2
         expect settled within 2m
at 6m    kill n1                        # for one alone nobody waits
         expect every shard has a leader within 12s
at 7m    end
