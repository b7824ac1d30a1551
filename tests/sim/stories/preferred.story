# Leadership goes back to the preferred node, once, and only when that has come and has caught up.
cluster: pages
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, pinned: {0: [n1, n2, n3]}}]
---
at 0s     expect t/0 is led by n1 within 30s
          expect not an event says "leads at epoch 2" for 1m
at 1m     kill n1
          expect t/0 is led by n2 within 15s
at 2m     slow n1 100 times             # ten seconds to open what it has, two to lead
          start n1
          expect t/0 is led by n2 for 3s
          expect t/0 is led by n1 within 40s
at 4m     expect an event says "n1 leads at epoch 3 (balance)"
          expect not an event says "leads at epoch 4" for 3m
at 7m     expect settled
          end
