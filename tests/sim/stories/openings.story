# Two replicas open at once on a node that comes back, five seconds each. Leaders do not wait for that, also when all nodes are back at once. What is new
# comes in turn too.
cluster: pages
settings: {session_ttl: 5s, openings: {copies: 4}, openings_per_node: {copies: 2}}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 24, replicas: 3, acks: 2}]
---
at 0s    expect settled within 1m
at 2m    slow n3 50 times
         kill n3
         expect every shard has a leader within 10s
at 2m20s start n3
         expect t/23 says "n3 waits for its turn to open" within 10s
at 2m30s expect not settled for 15s
         expect 3 serve t/23 within 1m30s
at 4m    mend n3
         expect settled within 2m
at 6m    kill n1
         kill n2
         kill n3
at 6m10s start n1
         start n2
         start n3
         expect every shard has a leader within 20s
         expect settled within 1m
at 8m    create {name: t2, shards: 16, replicas: 1, state_model: online-offline}
         expect settled within 1m
at 10m   end
