# What the verbs that talk to a live broker make of their words. What they do is tested with real processes (broker_live.py): here there is
# no outside, so they are refused before they do anything.

run broker status
----
! evenkeel: there is no network here
exit 5

run broker serve --listen 127.0.0.1:0
----
! evenkeel: there is no network here
exit 5

run broker status --timeout never
----
! evenkeel: --timeout: "never" is not a duration: write a number and a unit, for example 15s or 1h30m
!   see: evenkeel broker status --help
exit 2

run broker status --timeout 0s
----
! evenkeel: --timeout: must be longer than nothing, for example 5s
!   see: evenkeel broker status --help
exit 2

run broker status -o tabel
----
! evenkeel: --output: "tabel" is not a form of output; did you mean "table"?
!   see: evenkeel broker status --help
exit 2

run broker submit
----
! evenkeel: --type is required
!   see: evenkeel broker submit --help
exit 2

run broker submit --type x --need gpu
----
! evenkeel: --need: "gpu" is not NAME=AMOUNT
!   see: evenkeel broker submit --help
exit 2

run broker submit --type x --need memory=1
----
! evenkeel: --need: memory has an option of its own: --memory
!   see: evenkeel broker submit --help
exit 2

run broker submit --type x --need gpu=1 --need gpu=2
----
! evenkeel: --need: "gpu" is given twice
!   see: evenkeel broker submit --help
exit 2

run broker submit --type x --cpu -1
----
! evenkeel: --cpu: "-1" is negative: write 0 or more
!   see: evenkeel broker submit --help
exit 2

run broker submit --type x --memory 1.5Gb
----
! evenkeel: --memory: "1.5Gb" has the unknown suffix "Gb": did you mean 1.5G?
!   see: evenkeel broker submit --help
exit 2

run broker submit --typ x
----
! evenkeel: unknown option "--typ"
!   did you mean "--type"?
!   see: evenkeel broker submit --help
exit 2

# What stands after -- is the command's own.
run broker submit -- make --jobs 2
----
! evenkeel: --type is required
!   see: evenkeel broker submit --help
exit 2

run broker submit --type x --priority high
----
! evenkeel: --priority: "high" is not a whole number: write digits only, for example 12
!   see: evenkeel broker submit --help
exit 2

run broker submit --type x --need gpu=1 --need tpu=2 -- run --type y
----
! evenkeel: there is no network here
exit 5

run broker configure
----
! evenkeel: --file is required
!   see: evenkeel broker configure --help
exit 2

run broker configure broker.yaml
----
! evenkeel: unexpected argument "broker.yaml"
!   did you mean -f "broker.yaml"?
!   see: evenkeel broker configure --help
exit 2

run broker top --count many
----
! evenkeel: --count: "many" is not a whole number: write digits only, for example 12
!   see: evenkeel broker top --help
exit 2

run broker record --for 5
----
! evenkeel: --for: "5" has no unit: add a unit, for example 5s
!   see: evenkeel broker record --help
exit 2

run broker serve --waiting-max -3
----
! evenkeel: --waiting-max: "-3" is negative: write 0 or more
!   see: evenkeel broker serve --help
exit 2

run broker serv
----
! evenkeel: unknown command "serv"
!   did you mean "serve"?
!   see: evenkeel broker --help
exit 2
