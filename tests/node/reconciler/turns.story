# Slow transitions take turns; those that have to do with leadership, and those that only bring a replica up to date, do not wait.
node slots=1
----
ok

joined 1
----

target t1/0 1.1
0 follower v=1.0
1 follower v=1.0
2 follower v=1.0
----
start #1 t1/0 offline -> follower v=1.0 first
report t1/0 of 1 obeyed=1.1
  0 offline v=1.0
  1 offline v=1.0
  2 offline v=1.0

show
----
t1/0 offline -> follower v=1.0 running
t1/1 offline -> follower v=1.0
t1/2 offline -> follower v=1.0
not settled

done t1/0
----
start #2 t1/1 offline -> follower v=1.0 first
report t1/0 of 1 obeyed=1.1
  0 follower v=1.0
  1 offline v=1.0
  2 offline v=1.0

target t1/0 1.2
0 leader v=2.0 peers=n2:follower
1 follower v=1.0
2 follower v=1.0
----
lead t1/0 at 2
start #3 t1/0 follower -> leader v=2.0 first peers=n2:follower urgent
report t1/0 of 1 obeyed=1.2
  0 follower v=2.0
  1 offline v=1.0
  2 offline v=1.0

done t1/0
----
report t1/0 of 1 obeyed=1.2
  0 leader v=2.0
  1 offline v=1.0
  2 offline v=1.0

target t1/0 1.3
0 leader v=2.1 peers=n2:follower,n3:follower
1 follower v=1.0
2 dropped v=1.1
----
start #4 t1/0 leader -> leader v=2.1 first peers=n2:follower,n3:follower urgent
report t1/0 of 1 obeyed=1.3
  0 leader v=2.0
  1 offline v=1.0
  2 offline v=1.1

done t1/0
----
report t1/0 of 1 obeyed=1.3
  0 leader v=2.1
  1 offline v=1.0
  2 offline v=1.1

fail t1/1 no
----
start #5 t1/2 offline -> dropped v=1.1 first
report t1/0 of 1 obeyed=1.3
  0 leader v=2.1
  1 offline v=1.0 tries=1 error="no"
  2 offline v=1.1
wake +1s

done t1/2
----
report t1/0 of 1 obeyed=1.3
  0 leader v=2.1
  1 offline v=1.0 tries=1 error="no"
  2 dropped v=1.1
wake +1s

tick +1s
----
start #6 t1/1 offline -> follower v=1.0 first

done t1/1
----
report t1/0 of 1 obeyed=1.3
  0 leader v=2.1
  1 follower v=1.0
  2 dropped v=1.1

show
----
t1/0 leader -> leader v=2.1
t1/1 follower -> follower v=1.0
t1/2 dropped -> dropped v=1.1
settled

# Where transitions wait for a thread, their time counts from when they have one. Leaving a bounded state has its own, from when it was told.
node queues=yes
----
ok

joined 1
----

target t1/0 1.1 deadline=1m
0 leader v=1.0
----
start #1 t1/0 offline -> follower -> leader v=1.0 first soon
report t1/0 of 1 obeyed=1.1
  0 offline v=1.0

tick +10m
----

begun t1/0
----
wake +1m

tick +1m
----
stop #1 t1/0

done t1/0
----
lead t1/0 at 1
start #2 t1/0 follower -> leader v=1.0 first urgent
report t1/0 of 1 obeyed=1.1
  0 follower v=1.0

begun t1/0
----
wake +1m

done t1/0
----
report t1/0 of 1 obeyed=1.1
  0 leader v=1.0

target t1/0 1.2 deadline=1m
0 follower v=1.1
----
lead t1/0 no more
start #3 t1/0 leader -> follower v=1.1 first within 5s urgent
report t1/0 of 1 obeyed=1.2
  0 leader v=1.0
wake +5s

# Who is to lead where there is no data yet does not wait behind copies: the others copy from it.
node slots=1
----
ok

joined 1
----

target t1/0 1.1
0 follower v=1.0 peers=n2:leader copy=n2
1 leader v=1.0
2 follower v=1.0
----
start #1 t1/0 offline -> follower v=1.0 first peers=n2:leader copy=n2
start #2 t1/1 offline -> follower -> leader v=1.0 first soon
report t1/0 of 1 obeyed=1.1
  0 offline v=1.0
  1 offline v=1.0
  2 offline v=1.0
