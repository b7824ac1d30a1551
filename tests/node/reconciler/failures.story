# A failing transition is tried again, with longer and longer pauses, and then given up.
node tries=3
----
ok

joined 7
----

target t1/0 1.1
0 follower v=1.0
----
start #1 t1/0 offline -> follower v=1.0 first
report t1/0 of 7 obeyed=1.1
  0 offline v=1.0

fail t1/0 no space on disk
----
report t1/0 of 7 obeyed=1.1
  0 offline v=1.0 tries=1 error="no space on disk"
wake +1s

tick +999ms
----
wake +1ms

tick +1ms
----
start #2 t1/0 offline -> follower v=1.0 first

fail t1/0 no space on disk
----
report t1/0 of 7 obeyed=1.1
  0 offline v=1.0 tries=2 error="no space on disk"
wake +2s

tick +2s
----
start #3 t1/0 offline -> follower v=1.0 first

fail t1/0 still no space
----
report t1/0 of 7 obeyed=1.1
  0 offline v=1.0 tries=3 error="still no space" gave up

tick +10m
----

show
----
t1/0 offline -> follower v=1.0 error
not settled

# Until something newer is said.
target t1/0 1.2
0 follower v=1.1
----
start #4 t1/0 offline -> follower v=1.1 first
report t1/0 of 7 obeyed=1.2
  0 offline v=1.1

fail t1/0 again
----
report t1/0 of 7 obeyed=1.2
  0 offline v=1.1 tries=1 error="again"
wake +1s

tick +1s
----
start #5 t1/0 offline -> follower v=1.1 first

done t1/0
----
report t1/0 of 7 obeyed=1.2
  0 follower v=1.1

# Too slow: asked to stop. What it answers then counts as a failure, unless it was done after all.
target t1/0 1.3 deadline=1m
1 follower v=1.0
----
start #6 t1/1 offline -> follower v=1.0 first within 1m
report t1/0 of 7 obeyed=1.3
  0 follower v=1.1
  1 offline v=1.0
wake +1m

tick +1m
----
stop #6 t1/1

fail t1/1 stopped by request
----
report t1/0 of 7 obeyed=1.3
  0 follower v=1.1
  1 offline v=1.0 tries=1 error="not done in time, and stopped: stopped by request"
wake +1s

tick +1s
----
start #7 t1/1 offline -> follower v=1.0 first within 1m
wake +1m

tick +1m
----
stop #7 t1/1

done t1/1
----
report t1/0 of 7 obeyed=1.3
  0 follower v=1.1
  1 follower v=1.0

# A leader that cannot take up its new epoch steps down, and says why.
target t1/0 1.4
0 leader v=2.0
----
lead t1/0 at 2
start #8 t1/0 follower -> leader v=2.0 first urgent
report t1/0 of 7 obeyed=1.4
  0 follower v=2.0
  1 follower v=1.0

done t1/0
----
report t1/0 of 7 obeyed=1.4
  0 leader v=2.0
  1 follower v=1.0

target t1/0 1.5
0 leader v=3.0
----
lead t1/0 no more
lead t1/0 at 3
start #9 t1/0 leader -> leader v=3.0 first urgent
report t1/0 of 7 obeyed=1.5
  0 leader v=2.0
  1 follower v=1.0

fail t1/0 log is damaged
----
lead t1/0 no more
report t1/0 of 7 obeyed=1.5
  0 leader v=2.0 tries=1 error="log is damaged"
  1 follower v=1.0
wake +1s

tick +1s
----
lead t1/0 at 3
start #10 t1/0 leader -> leader v=3.0 first urgent

fail t1/0 log is damaged
----
lead t1/0 no more
report t1/0 of 7 obeyed=1.5
  0 leader v=2.0 tries=2 error="log is damaged"
  1 follower v=1.0
wake +2s

tick +2s
----
lead t1/0 at 3
start #11 t1/0 leader -> leader v=3.0 first urgent

fail t1/0 log is damaged
----
lead t1/0 no more
start #12 t1/0 leader -> follower v=3.0 failover within 5s urgent
report t1/0 of 7 obeyed=1.5
  0 leader v=2.0 tries=3 error="log is damaged" gave up
  1 follower v=1.0
wake +5s

done t1/0
----
report t1/0 of 7 obeyed=1.5
  0 follower v=3.0 tries=3 error="log is damaged" gave up
  1 follower v=1.0

tick +10m
----

# The controller tells it to rest.
target t1/0 1.6
0 follower v=3.1 reason=failover
----
report t1/0 of 7 obeyed=1.6
  0 follower v=3.1
  1 follower v=1.0

done t1/0
----

# It cannot take up leadership at all: it does not lead between two tries.
target t1/0 1.7
0 leader v=4.0
----
lead t1/0 at 4
start #13 t1/0 follower -> leader v=4.0 first urgent
report t1/0 of 7 obeyed=1.7
  0 follower v=4.0
  1 follower v=1.0

fail t1/0 not yet
----
lead t1/0 no more
report t1/0 of 7 obeyed=1.7
  0 follower v=4.0 tries=1 error="not yet"
  1 follower v=1.0
wake +1s

tick +1s
----
lead t1/0 at 4
start #14 t1/0 follower -> leader v=4.0 first urgent

done t1/0
----
report t1/0 of 7 obeyed=1.7
  0 leader v=4.0
  1 follower v=1.0

# Stepping down is never given up. Half a ttl after it was told, it is stuck, and that is said once.
target t1/0 1.8
0 follower v=4.1
----
lead t1/0 no more
start #15 t1/0 leader -> follower v=4.1 first within 5s urgent
report t1/0 of 7 obeyed=1.8
  0 leader v=4.0
  1 follower v=1.0
wake +5s

fail t1/0 busy
----
report t1/0 of 7 obeyed=1.8
  0 leader v=4.0 tries=1 error="busy"
  1 follower v=1.0
wake +1s

tick +1s
----
start #16 t1/0 leader -> follower v=4.1 first within 4s urgent
wake +4s

fail t1/0 busy
----
report t1/0 of 7 obeyed=1.8
  0 leader v=4.0 tries=2 error="busy"
  1 follower v=1.0
wake +1s

tick +1s
----
start #17 t1/0 leader -> follower v=4.1 first within 3s urgent
wake +3s

fail t1/0 busy
----
report t1/0 of 7 obeyed=1.8
  0 leader v=4.0 tries=3 error="busy"
  1 follower v=1.0
wake +1s

tick +1s
----
start #18 t1/0 leader -> follower v=4.1 first within 2s urgent
wake +2s

tick +2s
----
stuck t1/0 did not leave the state leader within 5s

tick +1m
----

fail t1/0 busy
----
report t1/0 of 7 obeyed=1.8
  0 leader v=4.0 tries=4 error="busy"
  1 follower v=1.0
wake +1s

tick +1s
----
start #19 t1/0 leader -> follower v=4.1 first urgent

done t1/0
----
report t1/0 of 7 obeyed=1.8
  0 follower v=4.1
  1 follower v=1.0

show
----
t1/0 follower -> follower v=4.1
t1/1 follower -> follower v=1.0
settled

# Stuck on the way into leadership, and told otherwise.
target t1/0 1.9
0 leader v=5.0
----
lead t1/0 at 5
start #20 t1/0 follower -> leader v=5.0 first urgent
report t1/0 of 7 obeyed=1.9
  0 follower v=5.0
  1 follower v=1.0

target t1/0 1.10
0 follower v=5.1
----
lead t1/0 no more
stop #20 t1/0
report t1/0 of 7 obeyed=1.10
  0 follower v=5.0
  1 follower v=1.0
wake +5s

tick +5s
----
stuck t1/0 did not leave the state leader within 5s

fail t1/0 gave in
----
start #21 t1/0 follower -> follower v=5.1 first soon
report t1/0 of 7 obeyed=1.10
  0 follower v=5.1
  1 follower v=1.0
