# A seal is asked for while a copy runs, and reported as of then.
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
0 follower v=1.1 peers=n2:leader copy=n2 seal=2
----
seal t1/0 at 2
report t1/0 of 7 obeyed=1.2
  0 offline v=1.1

done t1/0
----
report t1/0 of 7 obeyed=1.2
  0 follower v=1.1

# Nothing of the shard begins before it is answered.
sealed t1/0 2 last=1 progress=40
----
report t1/0 of 7 obeyed=1.2
  0 follower v=1.1 sealed=2 last=1 at 40

# An answer to another seal is not taken.
sealed t1/0 1 last=1 progress=50
----

# The new leader has come: the seal has served its purpose.
target t1/0 1.3
0 follower v=2.0 peers=n3:leader copy=n3
----
start #2 t1/0 follower -> follower v=2.0 first peers=n3:leader copy=n3 soon
report t1/0 of 7 obeyed=1.3
  0 follower v=2.0

done t1/0
----

# A leader is sealed: it leads no more, whatever its state is said to be.
target t1/0 1.4
0 leader v=3.0 peers=n3:follower
----
lead t1/0 at 3
start #3 t1/0 follower -> leader v=3.0 first peers=n3:follower urgent
report t1/0 of 7 obeyed=1.4
  0 follower v=3.0

# Not beside a transition that changes who leads.
target t1/0 1.5
0 leader v=3.1 peers=n3:follower seal=4
----
lead t1/0 no more
report t1/0 of 7 obeyed=1.5
  0 follower v=3.0

done t1/0
----
seal t1/0 at 4
report t1/0 of 7 obeyed=1.5
  0 leader v=3.1

sealed t1/0 4 last=3 progress=60
----
report t1/0 of 7 obeyed=1.5
  0 leader v=3.1 sealed=4 last=3 at 60

done t1/0
----

# Sealed itself, it is given the epoch of the seal.
target t1/0 1.6
0 leader v=4.0 peers=n3:follower reason=failover
----
lead t1/0 at 4
start #4 t1/0 leader -> leader v=4.0 failover peers=n3:follower urgent
report t1/0 of 7 obeyed=1.6
  0 leader v=3.1

done t1/0
----
report t1/0 of 7 obeyed=1.6
  0 leader v=4.0

# A handler that cannot seal is asked again; what it says is reported. A higher seal is asked for at once, and when one is under way, after it.
target t1/0 1.7
0 leader v=4.1 peers=n3:follower seal=5
----
lead t1/0 no more
seal t1/0 at 5
report t1/0 of 7 obeyed=1.7
  0 leader v=4.1

unsealed t1/0 5 locked
----
report t1/0 of 7 obeyed=1.7
  0 leader v=4.1 error="locked"
wake +1s

tick +1s
----
seal t1/0 at 5

target t1/0 1.8
0 leader v=4.2 peers=n3:follower seal=6
----
report t1/0 of 7 obeyed=1.8
  0 leader v=4.2

sealed t1/0 5 last=4 progress=61
----
seal t1/0 at 6
report t1/0 of 7 obeyed=1.8
  0 leader v=4.2 sealed=5 last=4 at 61

sealed t1/0 6 last=4 progress=61
----
report t1/0 of 7 obeyed=1.8
  0 leader v=4.2 sealed=6 last=4 at 61

# A seal of a shard that is not here is asked for too.
target t1/0 1.9
1 follower v=4.0 peers=n3:follower seal=5
----
seal t1/1 at 5
report t1/0 of 7 obeyed=1.9
  0 leader v=4.2 sealed=6 last=4 at 61
  1 offline v=4.0

sealed t1/1 5 last=0 progress=0
----
start #5 t1/1 offline -> follower v=4.0 first peers=n3:follower
report t1/0 of 7 obeyed=1.9
  0 leader v=4.2 sealed=6 last=4 at 61
  1 offline v=4.0 sealed=5 last=0 at 0

# What was sealed before a restart is reported with the inventory, so that no epoch below it is chosen again.
node held=t1/0@3.1:40/5 held=t1/1@3.1:40/3
----
ok

joined 8 t1=1
----
report t1/0 of 8 obeyed=0.0
  0 offline v=3.1 last=3 progress=40 sealed=5 last=3 at 40
  1 offline v=3.1 last=3 progress=40

# And nobody leads here below it.
target t1/0 2.1 of=8
0 leader v=4.0
----
start #1 t1/0 offline -> follower -> leader v=4.0 first soon
report t1/0 of 8 obeyed=2.1
  0 offline v=4.0 last=3 progress=40 sealed=5 last=3 at 40
  1 offline v=3.1 last=3 progress=40

# A peer refuses a leader that is fenced by its epoch, and has no session: it leads no more, and steps down. An older refusal means nothing.
node
----
ok

joined 1
----

target t1/0 1.1 fencing=epoch
0 leader v=2.0
----
start #1 t1/0 offline -> follower -> leader v=2.0 first soon
report t1/0 of 1 obeyed=1.1
  0 offline v=2.0

done t1/0
----
lead t1/0 at 2 fenced by epoch
start #2 t1/0 follower -> leader v=2.0 first urgent
report t1/0 of 1 obeyed=1.1
  0 follower v=2.0

done t1/0
----
report t1/0 of 1 obeyed=1.1
  0 leader v=2.0

lost
----

refused t1/0 2
----

refused t1/0 3
----
lead t1/0 no more
start #3 t1/0 leader -> follower v=2.0 failover within 5s urgent
wake +5s

done t1/0
----

show
----
t1/0 follower -> follower v=2.0
settled

# With a session it leads no more either, and waits to be told what to do.
node
----
ok

joined 1
----

target t1/0 1.1 fencing=epoch
0 leader v=2.0
----
start #1 t1/0 offline -> follower -> leader v=2.0 first soon
report t1/0 of 1 obeyed=1.1
  0 offline v=2.0

done t1/0
----
lead t1/0 at 2 fenced by epoch
start #2 t1/0 follower -> leader v=2.0 first urgent
report t1/0 of 1 obeyed=1.1
  0 follower v=2.0

done t1/0
----
report t1/0 of 1 obeyed=1.1
  0 leader v=2.0

refused t1/0 3
----
lead t1/0 no more

target t1/0 1.2 fencing=epoch
0 leader v=3.0
----
lead t1/0 at 3 fenced by epoch
start #3 t1/0 leader -> leader v=3.0 first urgent
report t1/0 of 1 obeyed=1.2
  0 leader v=2.0
