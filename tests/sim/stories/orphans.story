# A store that has lost everything costs no data: nothing begins anew over what nodes hold; adopted, it goes on where it was, at epochs above all
# that anybody has named.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3, acks: 2}]
---
at 0s    expect settled within 30s
at 1m    the store loses everything
at 2m    change t {linger: 6s}          # an operator writes the workload again
at 2m30s expect 12 orphans
         expect t/0 says "n1, n2, n3 hold it, and no record knows"
         expect nobody leads t/0
         adopt
         expect every shard has a leader within 30s
         expect settled within 1m
at 4m    expect 0 orphans
         expect an event says "at epoch 1003"
         end
