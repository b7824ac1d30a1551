# A leader is cut off from the store and the controllers, and is followed before its session is over. Its peers, which it still reaches, are sealed
# against it; one of them loses sight of it. From the seal on no peer takes anything from it, so that the one who leads next has all there is.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, fencing: epoch}]
---
at 0s    expect settled within 20s
         expect t/0 is led by n1 within 20s
at 25s   writes 200 per second
         cut n1 from the controllers for 20s
at 32s   delay the store by up to 1s
         cut n1 from the store for 8s
at 35s   cut n1 from n2 for 20s
at 45s   delay the store by up to 5ms
         expect every shard has a leader within 20s
at 1m10s end
