# What the operators' commands make of their words. What they do is tested with real processes (operate_live.py): here there is no outside.

run node list
----
! evenkeel: there is no network here
exit 5

run node
----
! See a cluster's nodes, and drain, swap or remove them
! Usage: evenkeel node [OPTIONS] SUBCOMMAND
! 
! Options:
!   -h,--help                   Print this help message and exit
! 
! Subcommands:
!   list                        Show the nodes of a cluster
!   show                        Show a node: what it is, what is asked of it, what failed there
!   drain                       Move everything away from a node
!   cordon                      Let nothing new come to a node
!   uncordon                    Let replicas come to a node again
!   undrain                     End the draining, or the swap, of a node
!   no-leaders                  Let a node lead nothing
!   leaders                     Let a node lead again
!   forget                      Wait no longer for a node that is gone
!   undo                        End whatever operation a node is under
!   swap                        Let one node take exactly the place of another
!   remove                      Take a node that is gone out of the cluster for good
!   disable                     Forbid a shard on a node
!   enable                      Allow a shard on a node again
!   set                         Set capacity, power, labels, taints or patience of a node
!   stoppable                   Say whether nodes could stop now, all of them together
!   permit                      Ask for leave to stop a node, or take it back
! 
! Exit status: 0 done, 1 failed or refused, 2 wrong usage or input, 3 not found,
!              4 conflict, 5 unreachable or timed out, 6 denied.
! `evenkeel COMMAND --help` says more about a command.
exit 2

run node show
----
! evenkeel: NODE is required
!   see: evenkeel node show --help
exit 2

run node drain
----
! evenkeel: NODE is required
!   see: evenkeel node drain --help
exit 2

run node drain n1 --within 1h
----
! evenkeel: --within: goes with --wait; add that
!   see: evenkeel node drain --help
exit 2

run node drain n1 --wait --within 0s
----
! evenkeel: --within: must be longer than nothing, for example 5s
!   see: evenkeel node drain --help
exit 2

run node drian n1
----
! evenkeel: unknown command "drian"
!   did you mean "drain"?
!   see: evenkeel node --help
exit 2

run node swap n1
----
! evenkeel: NEW is required
!   see: evenkeel node swap --help
exit 2

run node disable t1 n1
----
! evenkeel: SHARD: "t1" names no shard: write WORKLOAD/NUMBER, for example t1/9
!   see: evenkeel node disable --help
exit 2

run node set n1
----
! evenkeel: SETTING is required
!   see: evenkeel node set --help
exit 2

run node list --cluster
----
! evenkeel: --cluster: 1 required NAME missing
!   see: evenkeel node list --help
exit 2

run node list n1
----
! evenkeel: unexpected argument "n1"
!   see: evenkeel node list --help
exit 2

run workload create
----
! evenkeel: --file is required
!   see: evenkeel workload create --help
exit 2

run workload create -f missing.yaml
----
! evenkeel: cannot read missing.yaml: No such file or directory
exit 3

file t1.yaml
workloads:
  - {name: t1, shards: 4, replica: 3}
----
kept

run workload create -f t1.yaml
----
! t1.yaml:2:27: error: unknown field "replica" of a workload
!   did you mean "replicas"?
exit 2

file empty.yaml
cluster: pages
----
kept

run workload create -f empty.yaml
----
! evenkeel: empty.yaml has no workloads: write some, as in docs/cluster-file.md
exit 2

run shard show t1
----
! evenkeel: SHARD: "t1" names no shard: write WORKLOAD/NUMBER, for example t1/9
!   see: evenkeel shard show --help
exit 2

run shard lead t1/9
----
! evenkeel: NODE: say which node shall lead
!   see: evenkeel shard lead --help
exit 2

run shard reset t1/9
----
! evenkeel: NODE is required
!   see: evenkeel shard reset --help
exit 2

run cluster freeze
----
! evenkeel: --reason is required
!   see: evenkeel cluster freeze --help
exit 2

run cluster freeze --reason x --for soon
----
! evenkeel: --for: "soon" is not a duration: write a number and a unit, for example 15s or 1h30m
!   see: evenkeel cluster freeze --help
exit 2

run cluster maintenance
----
! Begin or end maintenance by hand
! Usage: evenkeel cluster maintenance [OPTIONS] SUBCOMMAND
! 
! Options:
!   -h,--help                   Print this help message and exit
! 
! Subcommands:
!   on                          Move nothing; leaders still change
!   off                         End maintenance that was begun by hand
! 
! Exit status: 0 done, 1 failed or refused, 2 wrong usage or input, 3 not found,
!              4 conflict, 5 unreachable or timed out, 6 denied.
! `evenkeel COMMAND --help` says more about a command.
exit 2

run cluster maintenance on
----
! evenkeel: --reason is required
!   see: evenkeel cluster maintenance on --help
exit 2

run cluster set
----
! evenkeel: SETTING is required
!   see: evenkeel cluster set --help
exit 2

run apply
----
! evenkeel: --file is required
!   see: evenkeel apply --help
exit 2

run apply -f -
----
! evenkeel: --yes: is needed with -f -: standard input is the file, so nobody can be asked
!   see: evenkeel apply --help
exit 2

run apply -f t1.yaml
----
! t1.yaml:2:27: error: unknown field "replica" of a workload
!   did you mean "replicas"?
exit 2

run apply t1.yaml
----
! evenkeel: unexpected argument "t1.yaml"
!   did you mean -f "t1.yaml"?
!   see: evenkeel apply --help
exit 2

# Stopping nodes.

run node stoppable
----
! evenkeel: NODE is required
!   see: evenkeel node stoppable --help
exit 2

run node stoppable n1 n2
----
! evenkeel: there is no network here
exit 5

run node permit n1 --revoke --wait
----
! evenkeel: --revoke: takes a permit back, and needs no --wait, --allow-outage or --for: leave those out
!   see: evenkeel node permit --help
exit 2

run node permit n1 --within 1h
----
! evenkeel: --within: goes with --wait; add that
!   see: evenkeel node permit --help
exit 2

run node permit n1 --wait --dry-run
----
! evenkeel: --dry-run: writes nothing to wait for: leave out --wait
!   see: evenkeel node permit --help
exit 2

run rollout
----
! evenkeel: COMMAND: is required: what restarts a node, after --; or look first with --dry-run
!   see: evenkeel rollout --help
exit 2

run rollout --zone-by-zone --random-order -- true
----
! evenkeel: --random-order: and --zone-by-zone are two orders: give one of them
!   see: evenkeel rollout --help
exit 2

run rollout --seed 3 -- true
----
! evenkeel: --seed: goes with --random-order; add that
!   see: evenkeel rollout --help
exit 2

run rollout --max-at-once 0 -- true
----
! evenkeel: --max-at-once: must be at least 1
!   see: evenkeel rollout --help
exit 2

# A name that is empty is nobody's, and not everybody's.
run rollout --node n1,,n2 -- true
----
! evenkeel: --node: "n1,,n2" has a name that is empty: name nodes as n1,n2, or leave it out for all
!   see: evenkeel rollout --help
exit 2

run rollout --node n1,n2 -- true --seed
----
! evenkeel: there is no network here
exit 5

run rollout --dry-run
----
! evenkeel: there is no network here
exit 5
