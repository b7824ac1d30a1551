# A new replica walks to its state one transition at a time. What it was told is reported at once, leading begins with its transition.
node
----
ok

joined 7
----

target t1/0 1.1 deadline=10m metadata=ssd
0 leader v=1.0 peers=n2:follower
----
start #1 t1/0 offline -> follower -> leader v=1.0 first peers=n2:follower metadata=ssd within 10m soon
report t1/0 of 7 obeyed=1.1
  0 offline v=1.0
wake +10m

done t1/0
----
lead t1/0 at 1
start #2 t1/0 follower -> leader v=1.0 first peers=n2:follower metadata=ssd within 10m urgent
report t1/0 of 7 obeyed=1.1
  0 follower v=1.0
wake +10m

done t1/0 progress=5
----
report t1/0 of 7 obeyed=1.1
  0 leader v=1.0 progress=5

show
----
t1/0 leader -> leader v=1.0
settled

# The same document again, an older one, one of another incarnation and one of another node change nothing.
target t1/0 1.1 deadline=10m metadata=ssd
0 leader v=1.0 peers=n2:follower
----

target t1/0 0.9
0 dropped v=2.0
----

target t1/0 1.2 of=6
0 dropped v=2.0
----

target t1/0 1.3 node=n2
0 dropped v=2.0
----

# An entry of a lower version is overlooked in a newer document, and an entry that is missing means nothing.
target t1/0 1.4 deadline=10m metadata=ssd
0 follower v=0.9
----
report t1/0 of 7 obeyed=1.4
  0 leader v=1.0 progress=5

target t1/0 1.5
----
report t1/0 of 7 obeyed=1.5
  0 leader v=1.0 progress=5

show
----
t1/0 leader -> leader v=1.0
settled

# New peers: a leader is told so by a transition from leader to leader, goes on leading, and reports the version when that is done.
target t1/0 1.6 metadata=ssd
0 leader v=1.1 peers=n2:follower,n3:follower
----
start #3 t1/0 leader -> leader v=1.1 first peers=n2:follower,n3:follower metadata=ssd urgent
report t1/0 of 7 obeyed=1.6
  0 leader v=1.0 progress=5

done t1/0 progress=8
----
report t1/0 of 7 obeyed=1.6
  0 leader v=1.1 progress=8

# Only the version is new: nothing to do, so it is carried out.
target t1/0 1.7 metadata=ssd
0 leader v=1.2 peers=n2:follower,n3:follower
----
report t1/0 of 7 obeyed=1.7
  0 leader v=1.2 progress=8

# Another answer for a run that is over, or for a shard that is not here, changes nothing.
done t1/0 run=2
----

done t1/9 run=1
----

# Stepping down: no more leading, then the transition, then the version.
target t1/0 1.8 metadata=ssd
0 follower v=1.3 peers=n2:follower reason=balance
----
lead t1/0 no more
start #4 t1/0 leader -> follower v=1.3 balance peers=n2:follower metadata=ssd within 5s urgent
report t1/0 of 7 obeyed=1.8
  0 leader v=1.2 progress=8
wake +5s

done t1/0 progress=10
----
report t1/0 of 7 obeyed=1.8
  0 follower v=1.3 progress=10

# A follower's new leader: reported at once, under way.
target t1/0 1.9 metadata=ssd
0 follower v=2.0 peers=n2:leader copy=n2 reason=balance
----
start #5 t1/0 follower -> follower v=2.0 balance peers=n2:leader copy=n2 metadata=ssd soon
report t1/0 of 7 obeyed=1.9
  0 follower v=2.0 progress=10

done t1/0 progress=11
----
report t1/0 of 7 obeyed=1.9
  0 follower v=2.0 progress=11

show
----
t1/0 follower -> follower v=2.0
settled

# A model that is not sound, or a state that it does not have, is an error that is not tried again.
target t1/0 2.1 model=none
0 follower v=2.1
1 follower v=2.1
----
report t1/0 of 7 obeyed=2.1
  0 follower v=2.0 progress=11 error="the state model cannot be used: a name must not be empty; it has no states; the "…
  1 offline v=2.1 error="the state model cannot be used: a name must not be empty; it has no states; the "… gave up

target t1/0 2.2 model=online-offline
1 bootstrap v=2.2
----
report t1/0 of 7 obeyed=2.2
  0 follower v=2.0 progress=11 error="the state model cannot be used: a name must not be empty; it has no states; the "…
  1 offline v=2.2 error="there is no way from offline to bootstrap" gave up

show
----
t1/0 follower -> follower v=2.0 error
t1/1 offline -> bootstrap v=2.2 error
not settled
