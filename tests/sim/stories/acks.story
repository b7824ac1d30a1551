# With two copies of every write, one of three that is left does not lead: it waits for the others, and says for whom. An operator may accept
# the loss.
cluster: pages
settings: {max_offline: 3}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, pinned: {0: [n1, n2, n3]}}]
---
at 0s    expect t/0 is led by n1 within 30s
at 30s   kill n1
         kill n2
         expect t/0 says "1 of 2 sealed, waits for n1, n2" within 20s
         expect nobody leads t/0 within 20s
at 1m    expect nobody leads t/0 for 1m
at 2m    start n2
         expect every shard has a leader within 5s
at 4m    start n1
         expect t/0 is led by n1 within 90s
at 6m    kill n1
         kill n3
         expect t/0 says "waits for n1, n3" within 20s
at 6m30s lead t/0 accepting loss
         expect t/0 is led by n2 within 5s
at 7m    start n1
         start n3
         expect settled within 30s
at 8m    end
