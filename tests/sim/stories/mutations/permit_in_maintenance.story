# In maintenance nobody else may stop.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 2, replicas: 3}]
---
at 0s    expect settled within 20s
at 25s   maintenance
at 27s   leave n1
         expect not n1 has stopped for 20s
at 48s   end maintenance
         expect n1 has stopped within 10s
at 1m    end
