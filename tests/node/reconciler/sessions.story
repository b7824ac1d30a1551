# What is on disk is reported before anything is told, in the bucket where its workload has it; where nobody knows the workload, in bucket 0.
node held=t1/0@3.1:50 held=t1/1@3.2:60 held=t2/5@1.1:7
----
ok

joined 7 t1=2
----
report t1/1 of 7 obeyed=0.0
  0 offline v=3.1 last=3 progress=50
  1 offline v=3.2 last=3 progress=60
report t2/0 of 7 obeyed=0.0
  5 offline v=1.1 last=1 progress=7

target t1/1 4.1
0 follower v=3.5 reason=restart held=3 peers=n2:leader copy=n2
----
start #1 t1/0 offline -> follower v=3.5 restart held=3 peers=n2:leader copy=n2
report t1/1 of 7 obeyed=4.1
  0 offline v=3.5 last=3 progress=50
  1 offline v=3.2 last=3 progress=60

done t1/0 last=3 progress=55
----
report t1/1 of 7 obeyed=4.1
  0 follower v=3.5 last=3 progress=55
  1 offline v=3.2 last=3 progress=60

target t1/1 4.2
0 leader v=4.0 reason=failover held=3 peers=n2:follower
----
lead t1/0 at 4
start #2 t1/0 follower -> leader v=4.0 failover held=3 peers=n2:follower urgent
report t1/1 of 7 obeyed=4.2
  0 follower v=4.0 last=3 progress=55
  1 offline v=3.2 last=3 progress=60

done t1/0 progress=56
----
report t1/1 of 7 obeyed=4.2
  0 leader v=4.0 progress=56
  1 offline v=3.2 last=3 progress=60

target t1/0 4.1
1 follower v=3.5 reason=restart held=3 peers=n2:leader copy=n2
----
start #3 t1/1 offline -> follower v=3.5 restart held=3 peers=n2:leader copy=n2
report t1/0 of 7 obeyed=4.1
  1 offline v=3.5 last=3 progress=60
report t1/1 of 7 obeyed=4.2
  0 leader v=4.0 progress=56

# The session is lost: who leads steps down by itself. What runs is finished; nothing is written.
lost
----
lead t1/0 no more
start #4 t1/0 leader -> follower v=4.0 failover held=3 peers=n2:follower within 5s urgent
wake +5s

done t1/1 progress=61
----
wake +5s

target t1/0 4.2
1 dropped v=9.0
----
wake +5s

done t1/0 progress=57
----

# A new session: everything is said anew, as it is.
joined 8 t1=2
----
report t1/1 of 8 obeyed=0.0
  0 follower v=4.0 progress=57
  1 follower v=3.5 progress=61
report t2/0 of 8 obeyed=0.0
  5 offline v=1.1 last=1 progress=7

target t1/0 4.3 of=7
1 dropped v=9.0
----

# The first word to the new incarnation counts, whatever its version.
target t1/1 5.1
0 follower v=3.6 reason=restart held=4 peers=n2:leader copy=n2
----
start #5 t1/0 follower -> follower v=3.6 restart held=4 peers=n2:leader copy=n2 soon
report t1/1 of 8 obeyed=5.1
  0 follower v=3.6 progress=57
  1 follower v=3.5 progress=61

done t1/0 progress=57
----

# Lost while it is on the way to lead, and told nothing in the new session.
target t1/1 5.2
0 leader v=6.0 peers=n2:follower
----
lead t1/0 at 6
start #6 t1/0 follower -> leader v=6.0 first peers=n2:follower urgent
report t1/1 of 8 obeyed=5.2
  0 follower v=6.0 progress=57
  1 follower v=3.5 progress=61

lost
----
lead t1/0 no more
stop #6 t1/0
wake +5s

joined 9 t1=2
----
report t1/1 of 9 obeyed=0.0
  0 follower v=6.0 progress=57
  1 follower v=3.5 progress=61
report t2/0 of 9 obeyed=0.0
  5 offline v=1.1 last=1 progress=7
wake +5s

done t1/0
----
start #7 t1/0 leader -> follower v=6.0 failover peers=n2:follower within 5s urgent
report t1/1 of 9 obeyed=0.0
  0 leader v=6.0
  1 follower v=3.5 progress=61
wake +5s

done t1/0
----
report t1/1 of 9 obeyed=0.0
  0 follower v=6.0
  1 follower v=3.5 progress=61

# Lost while it drops: what runs is finished, and forgotten at the next join. What was to be dropped later is not.
target t1/1 6.1
0 dropped v=6.1
2 dropped v=1.0
----
start #8 t1/0 follower -> offline -> dropped v=6.1 first
start #9 t1/2 offline -> dropped v=1.0 first
report t1/1 of 9 obeyed=6.1
  0 follower v=6.1
  1 follower v=3.5 progress=61
  2 offline v=1.0

lost
----

done t1/0
----

done t1/2
----

joined 10 t1=2
----
report t1/1 of 10 obeyed=0.0
  0 offline v=6.1
  1 follower v=3.5 progress=61
report t2/0 of 10 obeyed=0.0
  5 offline v=1.1 last=1 progress=7

show
----
t1/0 offline -> offline v=6.1
t1/1 follower -> follower v=3.5
t2/5 offline -> offline v=1.1
settled

# Fencing by epoch: leaders go on without a session, until they are told otherwise.
node
----
ok

joined 1
----

target t1/0 1.1 fencing=epoch
0 leader v=1.0
1 leader v=1.0
----
start #1 t1/0 offline -> follower -> leader v=1.0 first soon
start #2 t1/1 offline -> follower -> leader v=1.0 first soon
report t1/0 of 1 obeyed=1.1
  0 offline v=1.0
  1 offline v=1.0

done t1/0
----
lead t1/0 at 1 fenced by epoch
start #3 t1/0 follower -> leader v=1.0 first urgent
report t1/0 of 1 obeyed=1.1
  0 follower v=1.0
  1 offline v=1.0

done t1/0
----
report t1/0 of 1 obeyed=1.1
  0 leader v=1.0
  1 offline v=1.0

done t1/1
----
lead t1/1 at 1 fenced by epoch
start #4 t1/1 follower -> leader v=1.0 first urgent
report t1/0 of 1 obeyed=1.1
  0 leader v=1.0
  1 follower v=1.0

lost
----

done t1/1
----

joined 2
----
report t1/0 of 2 obeyed=0.0
  0 leader v=1.0
  1 leader v=1.0

target t1/0 2.1 fencing=epoch
0 follower v=1.1 reason=restart seal=2
----
lead t1/0 no more
seal t1/0 at 2
report t1/0 of 2 obeyed=2.1
  0 leader v=1.0
  1 leader v=1.0
wake +5s

sealed t1/0 2 last=1 progress=9
----
start #5 t1/0 leader -> follower v=1.1 restart within 5s urgent
report t1/0 of 2 obeyed=2.1
  0 leader v=1.0 sealed=2 last=1 at 9
  1 leader v=1.0
wake +5s

done t1/0
----
report t1/0 of 2 obeyed=2.1
  0 follower v=1.1 sealed=2 last=1 at 9
  1 leader v=1.0

# Leaving: everything is closed but leaders, which go when the session ends. Targets are not obeyed.
node
----
ok

joined 1
----

target t1/0 1.1
0 leader v=1.0
1 follower v=1.0
----
start #1 t1/0 offline -> follower -> leader v=1.0 first soon
start #2 t1/1 offline -> follower v=1.0 first
report t1/0 of 1 obeyed=1.1
  0 offline v=1.0
  1 offline v=1.0

done t1/0
----
lead t1/0 at 1
start #3 t1/0 follower -> leader v=1.0 first urgent
report t1/0 of 1 obeyed=1.1
  0 follower v=1.0
  1 offline v=1.0

done t1/0
----
report t1/0 of 1 obeyed=1.1
  0 leader v=1.0
  1 offline v=1.0

done t1/1
----
report t1/0 of 1 obeyed=1.1
  0 leader v=1.0
  1 follower v=1.0

leaving
----
start #4 t1/1 follower -> offline v=1.0 operator

target t1/0 1.2
0 follower v=1.1
----

done t1/1
----
report t1/0 of 1 obeyed=1.1
  0 leader v=1.0
  1 offline v=1.0

lost
----
lead t1/0 no more
start #5 t1/0 leader -> follower -> offline v=1.0 operator within 5s urgent
wake +5s

done t1/0
----
start #6 t1/0 follower -> offline v=1.0 operator

done t1/0
----

show
----
t1/0 offline -> offline v=1.0
t1/1 offline -> offline v=1.0
settled

# How a leader is fenced can change while it leads, at the same epoch. That is said at once.
node
----
ok

joined 1
----

target t1/0 1.1 fencing=epoch
0 leader v=1.0
----
start #1 t1/0 offline -> follower -> leader v=1.0 first soon
report t1/0 of 1 obeyed=1.1
  0 offline v=1.0

done t1/0
----
lead t1/0 at 1 fenced by epoch
start #2 t1/0 follower -> leader v=1.0 first urgent
report t1/0 of 1 obeyed=1.1
  0 follower v=1.0

done t1/0
----
report t1/0 of 1 obeyed=1.1
  0 leader v=1.0

target t1/0 1.2
0 leader v=1.0
----
lead t1/0 at 1
report t1/0 of 1 obeyed=1.2
  0 leader v=1.0

target t1/0 1.3 fencing=epoch
0 leader v=1.0
----
lead t1/0 at 1 fenced by epoch
report t1/0 of 1 obeyed=1.3
  0 leader v=1.0
