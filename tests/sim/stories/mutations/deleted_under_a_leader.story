# A node is told to lead, takes long to begin, and is told to stop before it has said anything of it: it leads until it says that it does not.
cluster: pages
settings: {max_offline: 3}
nodes: [{name: "n[1-2]", zone: "z[1-2]"}]
workloads: [{name: t, shards: 1, replicas: 2}]
---
at 0s    expect settled within 20s
at 25s   expect t/0 is led by n1
at 30s   slow n2 5000 times
         kill n1
at 45s   delete t
at 1m    mend n2
         expect n2 holds nothing within 30s
at 1m40s end
