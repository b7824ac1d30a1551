# The one that is to lead is silent when the old one has stepped down: the old one leads on, at a new epoch.
cluster: pages
settings: {session_ttl: 1m}
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 3, acks: 2, lag_max: 1000, pinned: {0: [n1, n2, n3]}}]
---
at 0s     expect t/0 is led by n1 within 30s
at 1m     stop n2 for 50s
at 1m1s   lead t/0 on n2
          expect t/0 says "n2 is to lead, and waits for what n1 had" within 5s
          expect an event says "n1 leads at epoch 2" within 20s
          expect t/0 is led by n1 within 20s
at 1m30s  expect t/0 is led by n1
at 2m     expect settled within 3m
          end
