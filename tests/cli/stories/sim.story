# A story, played: what happened, then how calm it was.
file crash.story
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3}]
---
at 0s   expect settled within 30s
at 1m   kill n3
        expect every shard has a leader within 20s
at 2m   end
----
kept

run sim crash.story
----
----
          1m  story         kill n3
          2m  story         end

seed 0  as expected  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …
----
----

run sim crash.story --quiet --seed 7
----
seed 7  as expected  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …

run sim crash.story --runs 3
----
seed 0  as expected  …
seed 1  as expected  …
seed 2  as expected  …

# Expectations that do not hold: the run up to there, the line, and how to see it again.
file wrong.story
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 4, replicas: 3}]
---
at 1m   expect n3 holds nothing
----
kept

run sim wrong.story --quiet --seed 3
----
seed 3  FAILED  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …
! evenkeel: wrong.story:4: expect n3 holds nothing: not at 1m: n3 holds 4 shards
!   to see it again: evenkeel sim wrong.story --seed 3
exit 1

run sim wrong.story --runs 3
----
seed 0  FAILED  …
! evenkeel: wrong.story:4: expect n3 holds nothing: not at 1m: n3 holds 4 shards
!   to see it again: evenkeel sim wrong.story --seed 0
exit 1

run sim wrong.story -o json --quiet
----
{
  "seed": 0,
  "time": "1m",
  "failure": "wrong.story:4: expect n3 holds nothing: not at 1m: n3 holds 4 shards",
  "digest": …
  "calm": …
}
! evenkeel: wrong.story:4: expect n3 holds nothing: not at 1m: n3 holds 4 shards
!   to see it again: evenkeel sim wrong.story --seed 0
exit 1

file it's.story
nodes: [{name: n1}]
workloads: []
---
at 1s expect n1 is gone
----
kept

run sim it's.story --quiet
----
seed 0  FAILED  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …
! evenkeel: it's.story:4: expect n1 is gone: not at 1s: n1 is up
!   to see it again: evenkeel sim 'it'\''s.story' --seed 0
exit 1

# A picture.
run sim crash.story --quiet --plot crash.svg
----
seed 0  as expected  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …

run sim crash.story --quiet --plot /crash.svg
----
seed 0  as expected  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …
! evenkeel: cannot write /crash.svg: Permission denied
exit 6

# A run that fails says so also if there can be no picture of it.
run sim wrong.story --quiet --plot /wrong.svg
----
seed 0  FAILED  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …
! evenkeel: cannot write /wrong.svg: Permission denied
! evenkeel: wrong.story:4: expect n3 holds nothing: not at 1m: n3 holds 4 shards
!   to see it again: evenkeel sim wrong.story --seed 0
exit 1

# Bad stories and options.
file bad.story
nodes: [{name: n1, zon: z1}]
---
at 10s kil n1
----
kept

run sim bad.story
----
! bad.story:1:20: error: unknown field "zon" of a node
!   did you mean "zone"?
! bad.story:3:8: error: "kil" is no action
!   did you mean `kill`?
exit 2

colour sim bad.story
----
! bad.story:1:20: ^[[31merror^[[0m: unknown field "zon" of a node
!   did you mean "zone"?
! bad.story:3:8: ^[[31merror^[[0m: "kil" is no action
!   did you mean `kill`?
exit 2

run sim missing.story
----
! evenkeel: cannot read missing.story: No such file or directory
exit 3

run sim
----
! evenkeel: give a story, or --random for one made up from a seed
exit 2

run sim crash.story --random
----
! evenkeel: give either a story or --random
exit 2

run sim crash.story --hours 2
----
! evenkeel: --hours, --faults, --nodes, --shards and --write-story go with --random
exit 2

run sim --random --hours 0
----
! evenkeel: --hours: from more than 0 to 10000
!   see: evenkeel sim --help
exit 2

run sim --random --faults crash,cuts
----
! evenkeel: --faults: "cuts" is no fault; did you mean "cut"?
!   see: evenkeel sim --help
exit 2

run sim --random --runs 2 --plot a.svg
----
! evenkeel: --plot and --write-story show one run: leave out --runs
exit 2

run sim crash.story -o yaml
----
! evenkeel: --output: "yaml" is not a form of output; known: text, json
!   see: evenkeel sim --help
exit 2

# Made up from a seed; --write-story keeps it, and it is the same run.
run sim --random --seed 7 --hours 0.02 --nodes 3 --shards 2 --faults crash --write-story life.story --quiet
----
seed 7  as expected  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …

run sim life.story --seed 7 --quiet
----
seed 7  as expected  …
moves  …
leader changes  …
without a leader  …
unsettled  …
writes  …
to the store  …

run sim --phrases
----
----
actions:
  kill NODE                                      its process is gone; its session is not yet over
  start NODE                                     again, with what is on its disk
  start NODE on a new disk                       again, with nothing
  start a twin of NODE                           a second process under its name, with a disk of its own
  stop NODE for TIME                             it stands still, and goes on as if nothing had been
  cut NODE for TIME                              nothing passes between it and anybody
  cut NODE from the store for TIME               its pulses and its traffic still pass
  cut NODE from the controllers for TIME         only its pulses are lost
  cut NODE from NODE for TIME                    only what the two say to each other is lost
  leave NODE                                     properly: it asks for a permit, its leaders go, it says goodbye
  expire NODE                                    the store forgets its ephemeral keys
  set the clock of NODE ahead by TIME            from its next start on
  let the clock of NODE run NUMBER ppm fast      from its next start on
  let the clock of NODE run NUMBER ppm slow      from its next start on
  slow NODE NUMBER times                         its transitions take so many times as long
  fail NUMBER percent on NODE                    of its transitions
  fail SHARD on NODE                             its transitions there fail until the node is mended
  hang SHARD on NODE                             its transitions there do not end until the node is mended
  copy nothing on NODE                           what is split off begins empty there, and says that all is well
  mend NODE                                      no more slow, failing or hanging transitions, nor empty copies
  kill controller NUMBER                         controllers count from 1
  start controller NUMBER                        again
  stop controller NUMBER for TIME                it stands still, and goes on
  cut controller NUMBER for TIME                 from the store and from the nodes
  cut controller NUMBER from the nodes for TIME  it hears no pulses; it still has the store
  stop the store for TIME                        nobody gets an answer
  the store loses TIME                           it is as it was so long ago
  the store loses everything                     it is empty
  delay the store by up to TIME                  each answer, from now on
  lose NUMBER of a million answers               of the store: what was asked for may have been done
  drain NODE                                     an operator wants it empty
  cordon NODE                                    nothing more comes to it
  no leaders on NODE                             they go elsewhere
  swap NODE with NODE                            the second takes exactly the place of the first
  forget NODE                                    it is not waited for
  remove NODE                                    for good: its disk does not come back
  undo NODE                                      whatever was asked of it
  disable SHARD on NODE                          the shard may not be there
  enable SHARD on NODE                           it may again
  freeze                                         no targets change, not even leaders
  freeze keeping leaders                         no targets change, but lost leaders are followed
  thaw                                           the end of a freeze
  maintenance                                    by hand: nothing is moved; lost leaders are followed
  end maintenance                                by hand
  settings FIELDS                                {rebalance_delay: 10s}: over what they were
  create FIELDS                                  {name: t2, shards: 4, replicas: 2}: a workload more
  change WORKLOAD FIELDS                         {replicas: 2}: over what it was
  delete WORKLOAD                                with all its replicas
  split WORKLOAD                                 each of its shards becomes two, while it serves
  lead SHARD on NODE                             an operator hands its leadership there
  lead SHARD accepting loss                      whoever of those left has most leads
  reset SHARD on NODE                            its errors there are forgotten
  apply                                          operators write again what they want, as the story has said it so far
  adopt                                          what nodes hold and no record knows becomes known
  drop orphan SHARD on NODE                      what no record knows, by hand
  add FIELDS                                     {name: n4, zone: z1}: a node more, started
  load SHARD FIELDS                              {cpu: 3}: what each of its replicas is measured at from now on, a leader's `leader_load` on top
  load WORKLOAD FIELDS                           {cpu: 3}: the same, of all its shards; what was said of single ones before is over
  writes NUMBER per second                       by clients, over all shards
  end                                            of the story

conditions:
  settled                        every shard is where it should be, served and led, and nothing moves
  every shard has a leader       that its node has reported
  SHARD is led by NODE           as its node has reported
  nobody leads SHARD             as far as reported
  SHARD is on NODES              these hold it by its record, and no others
  NUMBER serve SHARD             at least so many, by the view
  NODE holds nothing             by the records
  NODE holds NUMBER shards       by the records
  NODE leads NUMBER shards       as reported
  NODE is up                     to the active controller
  NODE is gone                   to the active controller
  NODE is suspect                to the active controller: its pulses are missed
  the cluster is in maintenance  by itself or by hand
  SHARD says TEXT                its explanation has these words
  an event says TEXT             one since the story began has these words
  at most NUMBER moves           replicas added since the story began, first ones not counted
  at most NUMBER copies          under way now
  NUMBER orphans                 replicas that no record knows
  controller NUMBER is active    and takes its steps
  NODE has stopped               it left properly, and is gone

expectations:
  expect CONDITION              now
  expect CONDITION within TIME  at some moment until then
  expect CONDITION for TIME     all the time until then
  expect not CONDITION …        the opposite
----
----
