run
----
! Evenkeel keeps a cluster's work on an even keel.
! Usage: evenkeel [OPTIONS] [SUBCOMMAND]
! 
! Options:
!   -h,--help                   Print this help message and exit
!   --version                   Print the version and exit
! 
! Subcommands:
!   validate                    Check a cluster file, and print what it says
!   plan                        Plan where everything should be, what moves for it, and why
!   serve                       Run the daemon: a cluster's controller, its store, and HTTP
!   agent                       Make a node of a program in any language
!   apply                       Make a cluster what a file says: settings, state models, workloads, nodes
!   top                         Watch a cluster: its health, nodes, workloads and events
!   cluster                     See how a cluster stands, freeze it, change its settings
!   node                        See a cluster's nodes, and drain, swap or remove them
!   rollout                     Restart nodes one after another, without an outage
!   workload                    See, create, split and delete a cluster's workloads
!   shard                       See single shards, and give orders about them
!   routes                      Show who serves each shard, or keep a shard map file
!   broker                      Work with a node's resource broker
!   store                       Serve a coordination store, and look into any
!   lock                        Run commands under a lock, and see who holds which
!   context                     Name stores and clusters, and say which one commands use
!   sim                         Play a cluster's life on virtual time, with faults, and check every promise
!   version                     Print the version
!   completion                  Print a script that completes commands in your shell
!   man                         Print the manual page, for man -l -
! 
! Exit status: 0 done, 1 failed or refused, 2 wrong usage or input, 3 not found,
!              4 conflict, 5 unreachable or timed out, 6 denied.
! `evenkeel COMMAND --help` says more about a command.
exit 2

run --help
----
----
Evenkeel keeps a cluster's work on an even keel.
Usage: evenkeel [OPTIONS] [SUBCOMMAND]

Options:
  -h,--help                   Print this help message and exit
  --version                   Print the version and exit

Subcommands:
  validate                    Check a cluster file, and print what it says
  plan                        Plan where everything should be, what moves for it, and why
  serve                       Run the daemon: a cluster's controller, its store, and HTTP
  agent                       Make a node of a program in any language
  apply                       Make a cluster what a file says: settings, state models, workloads, nodes
  top                         Watch a cluster: its health, nodes, workloads and events
  cluster                     See how a cluster stands, freeze it, change its settings
  node                        See a cluster's nodes, and drain, swap or remove them
  rollout                     Restart nodes one after another, without an outage
  workload                    See, create, split and delete a cluster's workloads
  shard                       See single shards, and give orders about them
  routes                      Show who serves each shard, or keep a shard map file
  broker                      Work with a node's resource broker
  store                       Serve a coordination store, and look into any
  lock                        Run commands under a lock, and see who holds which
  context                     Name stores and clusters, and say which one commands use
  sim                         Play a cluster's life on virtual time, with faults, and check every promise
  version                     Print the version
  completion                  Print a script that completes commands in your shell
  man                         Print the manual page, for man -l -

Exit status: 0 done, 1 failed or refused, 2 wrong usage or input, 3 not found,
             4 conflict, 5 unreachable or timed out, 6 denied.
`evenkeel COMMAND --help` says more about a command.
----
----

run validate --help
----
----
Check a cluster file, and print what it says
Usage: evenkeel validate [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  -f,--file FILE REQUIRED     The file to read; - is standard input
  -o,--output FORM            Form of the output: table, wide, json, yaml or name

Every error is printed with its line and column, all of them at once.
-o yaml and -o json print the whole file in its one canonical form, so they also convert.

Examples:
  evenkeel validate -f pages.yaml
  evenkeel validate -f pages.yaml -o json > pages.json
----
----

run validat -f x
----
! evenkeel: unknown command "validat"
!   did you mean "validate"?
!   see: evenkeel --help
exit 2

run validate
----
! evenkeel: --file is required
!   see: evenkeel validate --help
exit 2

run validate -f
----
! evenkeel: --file: 1 required FILE missing
!   see: evenkeel validate --help
exit 2

run validate -f x --outpt json
----
! evenkeel: unknown option "--outpt"
!   did you mean "--output"?
!   see: evenkeel validate --help
exit 2

run validate -f x -o jsn
----
! evenkeel: --output: "jsn" is not a form of output; did you mean "json"?
!   see: evenkeel validate --help
exit 2

run validate -f x -o tableau-vivant
----
! evenkeel: --output: "tableau-vivant" is not a form of output; known: table, wide, json, yaml, name
!   see: evenkeel validate --help
exit 2

run validate extra -f x
----
! evenkeel: unexpected argument "extra"
!   see: evenkeel validate --help
exit 2

run completion
----
! Print a script that completes commands in your shell
! Usage: evenkeel completion [OPTIONS] SUBCOMMAND
! 
! Options:
!   -h,--help                   Print this help message and exit
! 
! Subcommands:
!   bash                        Print the script for bash
!   zsh                         Print the script for zsh
!   fish                        Print the script for fish
! 
! Examples:
!   source <(evenkeel completion bash)
!   source <(evenkeel completion zsh)
!   evenkeel completion fish | source
exit 2

run completion tcsh
----
! evenkeel: unknown command "tcsh"
!   known: bash, zsh, fish
!   see: evenkeel completion --help
exit 2

run -x
----
! evenkeel: unknown option "-x"
!   see: evenkeel --help
exit 2

run --version
----
evenkeel 0.1.0

run version
----
evenkeel 0.1.0

run --version validate
----
evenkeel 0.1.0

run validate --version
----
! evenkeel: unknown option "--version"
!   known: --help, --file, --output
!   see: evenkeel validate --help
exit 2

# The commonest slip: the file without its option.
run validate pages.yaml
----
! evenkeel: unexpected argument "pages.yaml"
!   did you mean -f "pages.yaml"?
!   see: evenkeel validate --help
exit 2

run validate -f a.yaml b.yaml c.yaml
----
! evenkeel: unexpected argument "b.yaml"
!   see: evenkeel validate --help
exit 2

run validate -f a.yaml -f b.yaml
----
! evenkeel: --file is given 2 times
!   give it once
!   see: evenkeel validate --help
exit 2

run validate -f a.yaml -o json -o yaml
----
! evenkeel: --output is given 2 times
!   give it once
!   see: evenkeel validate --help
exit 2

run validate pages.yaml -f
----
! evenkeel: --file: 1 required FILE missing
!   see: evenkeel validate --help
exit 2

# Help for what is not there is no help.
run fly --help
----
! evenkeel: unknown command "fly"
!   known: validate, plan, serve, agent, apply, top, cluster, node, rollout, workload, shard, routes, broker, store, lock, context, sim, version, completion, man
!   see: evenkeel --help
exit 2

run completion tcsh --help
----
! evenkeel: unknown command "tcsh"
!   known: bash, zsh, fish
!   see: evenkeel completion --help
exit 2
