# What shells ask: words before the cursor, then the one at it, which may be empty.
run __complete v
----
validate	Check a cluster file, and print what it says
version	Print the version
:words

run __complete comp
----
completion	Print a script that completes commands in your shell
:words

run __complete completion z
----
zsh	Print the script for zsh
:words

run __complete validate -
----
--help	Print this help message and exit
-h	Print this help message and exit
--file	The file to read; - is standard input
-f	The file to read; - is standard input
--output	Form of the output: table, wide, json, yaml or name
-o	Form of the output: table, wide, json, yaml or name
:words

run __complete validate -o j
----
json	
:words

run __complete validate --output ya
----
yaml	
:words

run __complete validate -f x
----
:files

run __complete nonsense x
----
:words

run __complete
----
validate	Check a cluster file, and print what it says
plan	Plan where everything should be, what moves for it, and why
serve	Run the daemon: a cluster's controller, its store, and HTTP
agent	Make a node of a program in any language
apply	Make a cluster what a file says: settings, state models, workloads, nodes
top	Watch a cluster: its health, nodes, workloads and events
cluster	See how a cluster stands, freeze it, change its settings
node	See a cluster's nodes, and drain, swap or remove them
rollout	Restart nodes one after another, without an outage
workload	See, create, split and delete a cluster's workloads
shard	See single shards, and give orders about them
routes	Show who serves each shard, or keep a shard map file
broker	Work with a node's resource broker
store	Serve a coordination store, and look into any
lock	Run commands under a lock, and see who holds which
context	Name stores and clusters, and say which one commands use
sim	Play a cluster's life on virtual time, with faults, and check every promise
version	Print the version
completion	Print a script that completes commands in your shell
man	Print the manual page, for man -l -
:words

# A value may follow its option's "=".
run __complete validate --output=j
----
--output=json	
:words

run __complete validate --file=x
----
:files

run __complete validate --nonsense=
----
:words
