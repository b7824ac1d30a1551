# What the verbs of `evenkeel lock` make of their words. What they do is tested with real processes (lock_live.py): here there is no outside.

run lock run /a -- true
----

run lock run /a
----

run lock run -- true
----

run lock run /a --ttl 0s -- true
----

run lock run /a --wait -1s -- true
----

run lock run /a --ttl 10s --grace 6s -- true
----

run lock run /a --fare -- true
----

run lock show
----

run lock break
----

run lock list
----

run lock shw /a
----
