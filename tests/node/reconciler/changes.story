# Something newer comes while a transition runs. A copy that is still on the way is finished, and then brought up to date.
node
----
ok

joined 7
----

target t1/0 1.1
0 follower v=1.0 peers=n2:leader copy=n2
----
start #1 t1/0 offline -> follower v=1.0 first peers=n2:leader copy=n2
report t1/0 of 7 obeyed=1.1
  0 offline v=1.0

target t1/0 1.2
0 follower v=1.1 peers=n2:leader,n3:follower copy=n2
----
report t1/0 of 7 obeyed=1.2
  0 offline v=1.1

done t1/0
----
start #2 t1/0 follower -> follower v=1.1 first peers=n2:leader,n3:follower copy=n2 soon
report t1/0 of 7 obeyed=1.2
  0 follower v=1.1

done t1/0
----

# Another leader is no reason to begin a copy anew, as long as the one that it copies from holds the shard.
target t1/0 1.3
0 follower v=1.1 peers=n2:leader,n3:follower copy=n2
1 follower v=1.0 peers=n2:leader,n3:follower copy=n2
----
start #3 t1/1 offline -> follower v=1.0 first peers=n2:leader,n3:follower copy=n2
report t1/0 of 7 obeyed=1.3
  0 follower v=1.1
  1 offline v=1.0

target t1/0 1.4
0 follower v=1.1 peers=n2:leader,n3:follower copy=n2
1 follower v=2.0 peers=n2:follower,n3:leader copy=n3
----
report t1/0 of 7 obeyed=1.4
  0 follower v=1.1
  1 offline v=2.0

# But if that one is gone, it is asked to stop, and begins again. That is no failure.
target t1/0 1.5
0 follower v=1.1 peers=n2:leader,n3:follower copy=n2
1 follower v=3.0 peers=n3:leader copy=n3
----
stop #3 t1/1
report t1/0 of 7 obeyed=1.5
  0 follower v=1.1
  1 offline v=3.0

fail t1/1 stopped
----
start #4 t1/1 offline -> follower v=3.0 first peers=n3:leader copy=n3

# Not wanted any more: stopped, and dropped from where it is. It is done nevertheless: then it goes back through the initial state.
target t1/0 1.6
0 follower v=1.1 peers=n2:leader,n3:follower copy=n2
1 dropped v=3.1 reason=move
----
stop #4 t1/1
report t1/0 of 7 obeyed=1.6
  0 follower v=1.1
  1 offline v=3.1

done t1/1
----
start #5 t1/1 follower -> offline -> dropped v=3.1 move
report t1/0 of 7 obeyed=1.6
  0 follower v=1.1
  1 follower v=3.1

done t1/1
----
start #6 t1/1 offline -> dropped v=3.1 move
report t1/0 of 7 obeyed=1.6
  0 follower v=1.1
  1 offline v=3.1

done t1/1
----
report t1/0 of 7 obeyed=1.6
  0 follower v=1.1
  1 dropped v=3.1

# What is dropped is reported as long as a document names it.
target t1/0 1.7
0 follower v=1.1 peers=n2:leader,n3:follower copy=n2
1 dropped v=3.1 reason=move
----
report t1/0 of 7 obeyed=1.7
  0 follower v=1.1
  1 dropped v=3.1

target t1/0 1.8
0 follower v=1.1 peers=n2:leader,n3:follower copy=n2
----
report t1/0 of 7 obeyed=1.8
  0 follower v=1.1

show
----
t1/0 follower -> follower v=1.1
settled

# Told to lead, and told otherwise while that runs: it may not lead at once, and the version is reported when it is known where it is.
target t1/0 1.9
0 leader v=4.0 peers=n3:follower
----
lead t1/0 at 4
start #7 t1/0 follower -> leader v=4.0 first peers=n3:follower urgent
report t1/0 of 7 obeyed=1.9
  0 follower v=4.0

target t1/0 1.10
0 follower v=5.0 peers=n3:leader copy=n3
----
lead t1/0 no more
stop #7 t1/0
report t1/0 of 7 obeyed=1.10
  0 follower v=4.0
wake +5s

done t1/0
----
start #8 t1/0 leader -> follower v=5.0 first peers=n3:leader copy=n3 within 5s urgent
report t1/0 of 7 obeyed=1.10
  0 leader v=4.0
wake +5s

done t1/0 last=4 progress=3
----
report t1/0 of 7 obeyed=1.10
  0 follower v=5.0 last=4 progress=3

# Told to lead again while it steps down: the step is finished, since only that says where it is.
target t1/0 1.11
0 leader v=6.0 peers=n3:follower
----
lead t1/0 at 6
start #9 t1/0 follower -> leader v=6.0 first peers=n3:follower urgent
report t1/0 of 7 obeyed=1.11
  0 follower v=6.0 last=4 progress=3

done t1/0
----
report t1/0 of 7 obeyed=1.11
  0 leader v=6.0

target t1/0 1.12
0 follower v=6.1 peers=n3:follower
----
lead t1/0 no more
start #10 t1/0 leader -> follower v=6.1 first peers=n3:follower within 5s urgent
report t1/0 of 7 obeyed=1.12
  0 leader v=6.0
wake +5s

target t1/0 1.13
0 leader v=7.0 peers=n3:follower
----
report t1/0 of 7 obeyed=1.13
  0 leader v=6.0
wake +5s

done t1/0
----
lead t1/0 at 7
start #11 t1/0 follower -> leader v=7.0 first peers=n3:follower urgent
report t1/0 of 7 obeyed=1.13
  0 follower v=7.0

done t1/0
----
report t1/0 of 7 obeyed=1.13
  0 leader v=7.0

# Leadership given anew, at a higher epoch: the old one ends at once, and the new one begins with a transition from leader to leader.
target t1/0 1.14
0 leader v=8.0 peers=n3:follower reason=failover
----
lead t1/0 no more
lead t1/0 at 8
start #12 t1/0 leader -> leader v=8.0 failover peers=n3:follower urgent
report t1/0 of 7 obeyed=1.14
  0 leader v=7.0

# Another one while that runs.
target t1/0 1.15
0 leader v=9.0 peers=n3:follower reason=failover
----
lead t1/0 no more
stop #12 t1/0
report t1/0 of 7 obeyed=1.15
  0 leader v=7.0

fail t1/0 stopped
----
lead t1/0 at 9
start #13 t1/0 leader -> leader v=9.0 failover peers=n3:follower urgent

done t1/0
----
report t1/0 of 7 obeyed=1.15
  0 leader v=9.0

# Dropped from the top: down the whole way. Comes again before it is done, as new.
target t1/0 1.16
0 dropped v=9.1 reason=move
----
lead t1/0 no more
start #14 t1/0 leader -> follower -> dropped v=9.1 move within 5s urgent
report t1/0 of 7 obeyed=1.16
  0 leader v=9.0
wake +5s

done t1/0
----
start #15 t1/0 follower -> offline -> dropped v=9.1 move
report t1/0 of 7 obeyed=1.16
  0 follower v=9.1

done t1/0
----
start #16 t1/0 offline -> dropped v=9.1 move
report t1/0 of 7 obeyed=1.16
  0 offline v=9.1

done t1/0
----
report t1/0 of 7 obeyed=1.16
  0 dropped v=9.1

target t1/0 1.17
0 follower v=9.2 reason=balance
----
start #17 t1/0 offline -> follower v=9.2 balance
report t1/0 of 7 obeyed=1.17
  0 offline v=9.2

done t1/0
----
report t1/0 of 7 obeyed=1.17
  0 follower v=9.2

# Its document goes: nothing follows from that.
gone t1/0
----

show
----
t1/0 follower -> follower v=9.2
settled

# Dropped, and then its document goes: so does the report.
target t1/0 1.18
0 dropped v=9.3
----
start #18 t1/0 follower -> offline -> dropped v=9.3 first
report t1/0 of 7 obeyed=1.18
  0 follower v=9.3

done t1/0
----
start #19 t1/0 offline -> dropped v=9.3 first
report t1/0 of 7 obeyed=1.18
  0 offline v=9.3

done t1/0
----
report t1/0 of 7 obeyed=1.18
  0 dropped v=9.3

gone t1/0
----
report t1/0 of 7 obeyed=1.18 empty

show
----
settled

# Told to drop what is not here: the handler is asked all the same. The document is gone before that is done.
target t1/0 1.19
3 dropped v=1.0
----
start #20 t1/3 offline -> dropped v=1.0 first
report t1/0 of 7 obeyed=1.19
  3 offline v=1.0

gone t1/0
----

done t1/3
----
report t1/0 of 7 obeyed=1.19 empty
