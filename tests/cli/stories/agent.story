# The agent's options. What it does as a process is in agent_live.py.
run agent --help
----
----
Make a node of a program in any language
Usage: evenkeel agent [OPTIONS] [COMMAND...]

Positionals:
  COMMAND ...                 What to run, after --

Options:
  -h,--help                   Print this help message and exit
  --name NAME REQUIRED        The node's name
  --zone PATH                 Where it is, as dc1/r1
  --address TEXT              What clients connect to; routers hand it out
  --data DIR                  The folder of its data; without one each start is a new disk
  --capacity KEY=AMOUNT ...   How much of a resource it has, as disk=2Ti; may be given for each
  --label KEY=VALUE ...       A label, as disk=ssd; may be given for each
  --ttl DURATION              How long a dead node is believed in; 10s
  --hook URL                  Whom to ask by HTTP, instead of a command
  --within DURATION           How long a command or call may take; else as the workload says, and 10s for seals, reports and the inventory
  --grace DURATION            Between SIGTERM and SIGKILL for a command that is over its time; 5s
  --report-every DURATION     How often to ask for progress, load and lag; else never
  --at-once COUNT             How many transitions may run at once, and as many urgent ones; 16
  --leave-within DURATION     How long leaving may take; 30s
  --listen HOST:PORT          Where it says who may lead; else any free port of this host
  --cluster NAME              Which cluster; else EVENKEEL_CLUSTER, the context's, or default
  --context NAME              Which context; the one in use does not count here
  --store URL                 Which store; else EVENKEEL_STORE, the context's, or etcd://127.0.0.1:2379
  --user NAME                 Who asks; else EVENKEEL_STORE_USER. The password is in EVENKEEL_STORE_PASSWORD
  --password-file FILE        Where the password is, if not in the environment
  --tls-authority FILE        Authorities to trust, PEM; else the system's
  --tls-certificate FILE      Our own certificate, PEM, if the server wants one
  --tls-key FILE              The key of our certificate, PEM
  --tls-server-name NAME      The name in the server's certificate, if not its host's
  --timeout DURATION          How long to wait for an answer of the store; 5s

For each transition, seal and report, and for the inventory, COMMAND is run with the question as JSON on its standard input
and in its environment (EVENKEEL_KIND, EVENKEEL_SHARD, EVENKEEL_TO, EVENKEEL_EPOCH, …), or --hook gets it by POST. Exit status 0 or
2xx: it is done. Everything else has failed, and the last lines of standard error, or the first of the body, are what operators read.
Once it has joined, one JSON object on standard output says so: {"node":…,"cluster":…,"agent":…,"store":…,"pid":…}. Under `agent`
GET /may_lead/WORKLOAD/SHARD?epoch=E answers 200 or 403: to be asked before each write, and again before each answer.
An interrupt makes the node leave: its leaders move first. What could not be finished is said.

Examples:
  evenkeel agent --name n1 --zone z1 --data /var/lib/pages -- ./pages.sh
  evenkeel agent --name n1 --data /var/lib/pages --hook http://127.0.0.1:9000/evenkeel --report-every 5s
----
----

run agent --name n1
----
! evenkeel: --hook: give it, or a command after --, and not both: who shall be asked?
!   see: evenkeel agent --help
exit 2

run agent --name n1 --hook http://127.0.0.1:9000 -- ./pages.sh
----
! evenkeel: --hook: give it, or a command after --, and not both: who shall be asked?
!   see: evenkeel agent --help
exit 2

run agent --name n1 --hook https://127.0.0.1:9000
----
! evenkeel: --hook: "https://127.0.0.1:9000" is not http://HOST:PORT/PATH
!   see: evenkeel agent --help
exit 2

run agent --name a/b -- ./pages.sh
----
! evenkeel: --name: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
!   see: evenkeel agent --help
exit 2

run agent -- ./pages.sh
----
! evenkeel: --name is required
!   see: evenkeel agent --help
exit 2

run agent --name n1 --capacity disk -- ./pages.sh
----
! evenkeel: --capacity: "disk" is not KEY=VALUE
!   see: evenkeel agent --help
exit 2

run agent --name n1 --capacity disk=much -- ./pages.sh
----
! evenkeel: --capacity: "much" is not a quantity: write a number, for example 0.5, 500m or 64Gi
!   see: evenkeel agent --help
exit 2

run agent --name n1 --capacity disk=1 --capacity disk=2 -- ./pages.sh
----
! evenkeel: --capacity: "disk" is given twice
!   see: evenkeel agent --help
exit 2

run agent --name n1 --at-once 0 -- ./pages.sh
----
! evenkeel: --at-once: must be from 1 to 1024
!   see: evenkeel agent --help
exit 2

run agent --name n1 --report-every 0s -- ./pages.sh
----
! evenkeel: --report-every: must be longer than nothing, for example 5s
!   see: evenkeel agent --help
exit 2
