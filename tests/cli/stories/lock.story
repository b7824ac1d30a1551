# What the verbs of `evenkeel lock` make of their words. What they do is tested with real processes (lock_live.py): here there is no outside.

run lock run /a -- true
----
! evenkeel: there is no network here
exit 5

run lock run /a
----
! evenkeel: COMMAND is required
!   see: evenkeel lock run --help
exit 2

run lock run -- true
----
! evenkeel: COMMAND is required
!   see: evenkeel lock run --help
exit 2

run lock run /a --ttl 0s -- true
----
! evenkeel: --ttl: must be longer than nothing, for example 5s
!   see: evenkeel lock run --help
exit 2

run lock run /a --wait -1s -- true
----
! evenkeel: --wait: must not be negative; 0s tries once
!   see: evenkeel lock run --help
exit 2

run lock run /a --ttl 10s --grace 6s -- true
----
! evenkeel: --grace: must be at most half of --ttl
!   see: evenkeel lock run --help
exit 2

run lock run /a --fare -- true
----
! evenkeel: unknown option "--fare"
!   did you mean "--fair"?
!   see: evenkeel lock run --help
exit 2

run lock show
----
! evenkeel: PATH is required
!   see: evenkeel lock show --help
exit 2

run lock break
----
! evenkeel: PATH is required
!   see: evenkeel lock break --help
exit 2

run lock list
----
! evenkeel: there is no network here
exit 5

run lock shw /a
----
! evenkeel: unknown command "shw"
!   did you mean "show"?
!   see: evenkeel lock --help
exit 2
