# Two want to stop. The first takes long to give its leadership away, and goes only then; the second waits until the first is back.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3}]
---
at 0s    expect settled within 20s
         expect t/0 is led by n1 within 20s
at 30s   slow n1 100 times
         leave n1
at 31s   leave n2
         expect n1 has stopped within 20s
at 50s   expect not n2 has stopped
         mend n1
         start n1
         expect n2 has stopped within 20s
at 1m20s end
