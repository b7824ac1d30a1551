# Contexts: what is kept in the user's file, and what is refused. That commands work through one is tested with real processes (context_live.py).

run context list
----
! evenkeel: there is no network here
exit 5

variable HOME /home/ann
----

run context list
----
CURRENT  NAME  STORE  CLUSTER  USER

run context show
----
! evenkeel: no context is in use; `evenkeel context list` shows what there is, `evenkeel context use` takes one
exit 3

run context set prod --store etcds://store.example.org:2379 --cluster pages --user ann --password-file /home/ann/.pages
----
context/prod written
! evenkeel: `evenkeel context use prod` makes it the one in use

show /home/ann/.config/evenkeel/config.yaml
----
# Written by `evenkeel context`. Comments are not kept.
format: 1
contexts:
  prod:
    store: "etcds://store.example.org:2379"
    cluster: pages
    user: ann
    password_file: "/home/ann/.pages"

run context set demo --store etcd://127.0.0.1:2379 --http http://127.0.0.1:7070
----
context/demo written
! evenkeel: `evenkeel context use demo` makes it the one in use

run context use prod
----
context/prod in use

run context use prod
----
! evenkeel: context "prod" is in use already

run context list
----
CURRENT  NAME  STORE                           CLUSTER  USER
-        demo  etcd://127.0.0.1:2379           -        -
*        prod  etcds://store.example.org:2379  pages    ann

run context list -o wide
----
CURRENT  NAME  STORE                           CLUSTER  USER  PASSWORD FILE     TLS  HTTP
-        demo  etcd://127.0.0.1:2379           -        -     -                 -    http://127.0.0.1:7070
*        prod  etcds://store.example.org:2379  pages    ann   /home/ann/.pages  -    -

run context list -o name
----
context/demo
context/prod

run context list -o json
----
[
  {
    "name": "demo",
    "current": false,
    "store": "etcd://127.0.0.1:2379",
    "http": "http://127.0.0.1:7070"
  },
  {
    "name": "prod",
    "current": true,
    "store": "etcds://store.example.org:2379",
    "cluster": "pages",
    "user": "ann",
    "password_file": "/home/ann/.pages"
  }
]

run context list -o yaml
----
- name: demo
  current: false
  store: "etcd://127.0.0.1:2379"
  http: "http://127.0.0.1:7070"
- name: prod
  current: true
  store: "etcds://store.example.org:2379"
  cluster: pages
  user: ann
  password_file: "/home/ann/.pages"

run context show
----
CONTEXT        prod
current        yes
store          etcds://store.example.org:2379
cluster        pages
user           ann
password_file  /home/ann/.pages
file           /home/ann/.config/evenkeel/config.yaml

run context show demo
----
CONTEXT  demo
current  no
store    etcd://127.0.0.1:2379
http     http://127.0.0.1:7070
file     /home/ann/.config/evenkeel/config.yaml

run context show demo -o json
----
[
  {
    "name": "demo",
    "current": false,
    "store": "etcd://127.0.0.1:2379",
    "http": "http://127.0.0.1:7070"
  }
]

# Only what is given changes.
run context set prod --cluster books --tls-authority /etc/ours.pem --dry-run
----
-     cluster: pages
+     cluster: books
+     tls:
+       authority: "/etc/ours.pem"

run context set prod --cluster books --tls-authority /etc/ours.pem
----
context/prod written

run context set prod --cluster books
----
! evenkeel: context "prod" says so already

run context set demo --cluster c -o json
----
{
  "written": true,
  "documents": [
    {
      "name": "context/demo",
      "before": "# Written by `evenkeel context`. Comments are not kept.\nformat: 1\ncurrent: prod\ncontexts:\n  demo:\n    store: \"etcd://127.0.0.1:2379\"\n    http: \"http://127.0.0.1:7070\"\n  prod:\n    store: \"etcds://store.example.org:2379\"\n    cluster: books\n    user: ann\n    password_file: \"/home/ann/.pages\"\n    tls:\n      authority: \"/etc/ours.pem\"\n",
      "after": "# Written by `evenkeel context`. Comments are not kept.\nformat: 1\ncurrent: prod\ncontexts:\n  demo:\n    store: \"etcd://127.0.0.1:2379\"\n    cluster: c\n    http: \"http://127.0.0.1:7070\"\n  prod:\n    store: \"etcds://store.example.org:2379\"\n    cluster: books\n    user: ann\n    password_file: \"/home/ann/.pages\"\n    tls:\n      authority: \"/etc/ours.pem\"\n"
    }
  ]
}

show /home/ann/.config/evenkeel/config.yaml
----
# Written by `evenkeel context`. Comments are not kept.
format: 1
current: prod
contexts:
  demo:
    store: "etcd://127.0.0.1:2379"
    cluster: c
    http: "http://127.0.0.1:7070"
  prod:
    store: "etcds://store.example.org:2379"
    cluster: books
    user: ann
    password_file: "/home/ann/.pages"
    tls:
      authority: "/etc/ours.pem"

# What makes no sense is not written.
run context set a/b --store memory:
----
! evenkeel: NAME: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
!   see: evenkeel context set --help
exit 2

run context set prod
----
! evenkeel: --store: give it, or another of these options: what shall the context say?
!   see: evenkeel context set --help
exit 2

run context set prod --store http://here
----
! evenkeel: --store: "http://here" is no store: it is memory:, embedded:DIR, etcd://HOST:PORT,…/PREFIX, etcds://… for TLS, or zk://HOST:PORT,…/PATH
!   see: evenkeel context set --help
exit 2

run context set prod --cluster a/b
----
! evenkeel: --cluster: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
!   see: evenkeel context set --help
exit 2

run context set prod --http 127.0.0.1:7070
----
! evenkeel: --http: "127.0.0.1:7070" is not where a daemon is: write http://HOST:PORT
!   see: evenkeel context set --help
exit 2

run context set prod --store etcd://127.0.0.1:2379
----
! evenkeel: context "prod": "etcd://127.0.0.1:2379" is not spoken to over TLS, so it takes no tls; write etcds://
exit 2

run context set prod --tls-key /etc/key.pem
----
! evenkeel: context "prod": a certificate of tls needs its key, and the other way round: give both
exit 2

run context set new --user ann
----
! evenkeel: context "new": user, password_file and tls are for one store: say for which with store
exit 2

run context set demo --password-file /home/ann/.pages
----
! evenkeel: context "demo": password_file needs user: whose password is it?
exit 2

run context set prod --password secret
----
! evenkeel: unknown option "--password"
!   known: --help, --store, --cluster, --user, --password-file, --tls-authority, --tls-certificate, --tls-key, --tls-server-name, --http, --dry-run, --output
!   see: evenkeel context set --help
exit 2

# Which there are is said.
run context use prd
----
! evenkeel: there is no context "prd" in /home/ann/.config/evenkeel/config.yaml; there are: demo, prod
exit 3

run context show prd
----
! evenkeel: there is no context "prd" in /home/ann/.config/evenkeel/config.yaml; there are: demo, prod
exit 3

run context delete prd --yes
----
! evenkeel: there is no context "prd" in /home/ann/.config/evenkeel/config.yaml; there are: demo, prod
exit 3

run node list --context prd
----
! evenkeel: there is no context "prd" in /home/ann/.config/evenkeel/config.yaml; there are: demo, prod
exit 3

run node list --context a/b
----
! evenkeel: --context: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
!   see: evenkeel node list --help
exit 2

run serve --context prd
----
! evenkeel: there is no context "prd" in /home/ann/.config/evenkeel/config.yaml; there are: demo, prod
exit 3

run context use a/b
----
! evenkeel: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
exit 2

run context use
----
! evenkeel: NAME is required
!   see: evenkeel context use --help
exit 2

# One that is deleted is asked about.
run context delete prod
----
! - current: prod
! -   prod:
! -     store: "etcds://store.example.org:2379"
! -     cluster: books
! -     user: ann
! -     password_file: "/home/ann/.pages"
! -     tls:
! -       authority: "/etc/ours.pem"
! evenkeel: Delete context prod? Nobody can be asked here: say --yes, or look first with --dry-run
exit 1

answer no
----

run context delete prod
----
! - current: prod
! -   prod:
! -     store: "etcds://store.example.org:2379"
! -     cluster: books
! -     user: ann
! -     password_file: "/home/ann/.pages"
! -     tls:
! -       authority: "/etc/ours.pem"
! evenkeel: nothing is written
exit 1

answer y
----

run context delete prod
----
context/prod removed
! - current: prod
! -   prod:
! -     store: "etcds://store.example.org:2379"
! -     cluster: books
! -     user: ann
! -     password_file: "/home/ann/.pages"
! -     tls:
! -       authority: "/etc/ours.pem"
! evenkeel: it was the one in use: `evenkeel context use` takes another

run context show
----
! evenkeel: no context is in use; `evenkeel context list` shows what there is, `evenkeel context use` takes one
exit 3

run context delete demo --dry-run
----
- contexts:
-   demo:
-     store: "etcd://127.0.0.1:2379"
-     cluster: c
-     http: "http://127.0.0.1:7070"
+ contexts: {}

run context delete demo --yes
----
context/demo removed

run context list
----
CURRENT  NAME  STORE  CLUSTER  USER

run context use demo
----
! evenkeel: there is no context "demo", nor any other in /home/ann/.config/evenkeel/config.yaml; `evenkeel context set demo --store URL` makes it
exit 3

# Where the file is.
variable XDG_CONFIG_HOME /config
----

run context set one --cluster c
----
context/one written
! evenkeel: `evenkeel context use one` makes it the one in use

show /config/evenkeel/config.yaml
----
# Written by `evenkeel context`. Comments are not kept.
format: 1
contexts:
  one:
    cluster: c

variable EVENKEEL_CONFIG mine.yaml
----

run context set two --cluster c
----
context/two written
! evenkeel: `evenkeel context use two` makes it the one in use

show mine.yaml
----
# Written by `evenkeel context`. Comments are not kept.
format: 1
contexts:
  two:
    cluster: c

variable EVENKEEL_CONFIG /locked/mine.yaml
----

run context list
----
! evenkeel: contexts: cannot read /locked/mine.yaml: Permission denied
!   EVENKEEL_CONFIG names another file of contexts; /dev/null has none
exit 6

run node list
----
! evenkeel: contexts: cannot read /locked/mine.yaml: Permission denied
!   EVENKEEL_CONFIG names another file of contexts; /dev/null has none
exit 6

# Who names the store does not need the file.
run store get /a --store memory:
----
! evenkeel: there is no key "/a"
exit 3

variable EVENKEEL_CONFIG -
----

run context list
----
! evenkeel: EVENKEEL_CONFIG is "-": contexts are kept in a file, name one
exit 2

# What people write by hand is read as strictly as all that they write.
variable EVENKEEL_CONFIG mine.yaml
----

file mine.yaml
----
kept

run context list
----
CURRENT  NAME  STORE  CLUSTER  USER

file mine.yaml
contexts: {one: {store: etcd://127.0.0.1:2379
----
kept

run context list
----
! mine.yaml:2:1: error: not valid YAML: did not find expected ',' or '}' (while parsing a flow mapping)
!   EVENKEEL_CONFIG names another file of contexts; /dev/null has none
exit 2

file mine.yaml
curent: one
contexts:
  one:
    store: etcd:/127.0.0.1
    password: secret
    tls: {authorty: /etc/ours.pem}
  a/b: {cluster: a b}
  two: {user: ann}
  three:
  four: {store: etcds://127.0.0.1:2379, tls: {key: k}}
  five: {http: here}
----
kept

run context list
----
! mine.yaml:1:1: error: unknown field "curent" of a file of contexts
!   did you mean "current"?
! mine.yaml:4:12: error: "etcd:/127.0.0.1" is no store: it is memory:, embedded:DIR, etcd://HOST:PORT,…/PREFIX, etcds://… for TLS, or zk://HOST:PORT,…/PATH
! mine.yaml:5:5: error: unknown field "password" of a context
!   known: store, cluster, user, password_file, tls, http
! mine.yaml:6:11: error: unknown field "authorty" of a context's tls
!   did you mean "authority"?
! mine.yaml:7:3: error: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
! mine.yaml:7:18: error: the name "a b" contains " "; allowed are letters, digits and _ . - : @ +
! mine.yaml:8:8: error: user, password_file and tls are for one store: say for which with store
! mine.yaml:9:9: error: expected a context with its fields, found nothing
! mine.yaml:10:9: error: a certificate of tls needs its key, and the other way round: give both
! mine.yaml:11:16: error: "here" is not where a daemon is: write http://HOST:PORT
!   EVENKEEL_CONFIG names another file of contexts; /dev/null has none
exit 2

run routes
----
! mine.yaml:1:1: error: unknown field "curent" of a file of contexts
!   did you mean "current"?
! mine.yaml:4:12: error: "etcd:/127.0.0.1" is no store: it is memory:, embedded:DIR, etcd://HOST:PORT,…/PREFIX, etcds://… for TLS, or zk://HOST:PORT,…/PATH
! mine.yaml:5:5: error: unknown field "password" of a context
!   known: store, cluster, user, password_file, tls, http
! mine.yaml:6:11: error: unknown field "authorty" of a context's tls
!   did you mean "authority"?
! mine.yaml:7:3: error: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
! mine.yaml:7:18: error: the name "a b" contains " "; allowed are letters, digits and _ . - : @ +
! mine.yaml:8:8: error: user, password_file and tls are for one store: say for which with store
! mine.yaml:9:9: error: expected a context with its fields, found nothing
! mine.yaml:10:9: error: a certificate of tls needs its key, and the other way round: give both
! mine.yaml:11:16: error: "here" is not where a daemon is: write http://HOST:PORT
!   EVENKEEL_CONFIG names another file of contexts; /dev/null has none
exit 2

file mine.yaml
[one, two]
----
kept

run context list
----
! mine.yaml:1:1: error: expected a file of contexts with its fields, found a list
!   EVENKEEL_CONFIG names another file of contexts; /dev/null has none
exit 2

# A name in use that is not there.
file mine.yaml
current: gone
contexts: {one: {cluster: c}}
----
kept

run context list
----
CURRENT  NAME  STORE  CLUSTER  USER
-        one   -      c        -
! evenkeel: context "gone" is in use, and there is none of this name: `evenkeel context use` takes another

run context show
----
! evenkeel: there is no context "gone" in mine.yaml; there are: one
exit 3

run node list
----
! evenkeel: there is no context "gone" in mine.yaml; there are: one
!   it is the one in use: `evenkeel context use` takes another
exit 3

run context use one
----
context/one in use

# A later version's file is read as far as this one knows it, and never written.
file mine.yaml
format: 2
current: one
colour: blue
contexts:
  one: {cluster: c, proxy: 10.0.0.1}
----
kept

run context list
----
CURRENT  NAME  STORE  CLUSTER  USER
*        one   -      c        -
! evenkeel: mine.yaml is of a later version: what this one does not know is not shown

run context set one --cluster d
----
! evenkeel: nothing is written: mine.yaml is of a later version, with more in it than this one knows; use that version
exit 1

run context delete one
----
! evenkeel: nothing is written: mine.yaml is of a later version, with more in it than this one knows; use that version
exit 1

show mine.yaml
----
format: 2
current: one
colour: blue
contexts:
  one: {cluster: c, proxy: 10.0.0.1}

# Names are completed.
run __complete context use o
----
one	
:words

run __complete node list --context o
----
one	
:words

run __complete context s
----
show	Show a context; without a name the one in use
set	Make a context, or change what it says
:words

variable EVENKEEL_CONFIG
----

variable XDG_CONFIG_HOME
----

variable HOME
----

run context list
----
CURRENT  NAME  STORE  CLUSTER  USER

run context set one --cluster c
----
! evenkeel: there is no home folder to keep contexts in; set EVENKEEL_CONFIG to the path of a file
exit 2

run context set --help
----
----
Make a context, or change what it says
Usage: evenkeel context set [OPTIONS] NAME

Positionals:
  NAME REQUIRED               Which one

Options:
  -h,--help                   Print this help message and exit
  --store URL                 Which store
  --cluster NAME              Which cluster
  --user NAME                 Who asks the store
  --password-file FILE        Where the password is; it is never kept here itself
  --tls-authority FILE        Authorities to trust, PEM
  --tls-certificate FILE      Our own certificate, PEM
  --tls-key FILE              The key of our certificate, PEM
  --tls-server-name NAME      The name in the server's certificate, if not its host's
  --http URL                  Where the daemon's HTTP is, for scripts; commands find the active one by themselves
  --dry-run                   Write nothing; print what would be written
  -o,--output FORM            Form of the output: table, wide, json, yaml or name

What is not given stays as it is; an empty word takes a field back. User, password and TLS files are for this store alone.

Examples:
  evenkeel context set demo --store etcd://127.0.0.1:2379
  evenkeel context set prod --store etcds://store.example.org:2379 --cluster pages --user ann --password-file ~/.pages
  evenkeel context set prod --cluster ''
----
----

run context --help
----
----
Name stores and clusters, and say which one commands use
Usage: evenkeel context [OPTIONS] SUBCOMMAND

Options:
  -h,--help                   Print this help message and exit

Subcommands:
  list                        Show all contexts, and which is in use
  show                        Show a context; without a name the one in use
  set                         Make a context, or change what it says
  use                         Let commands use a context, where nobody says otherwise
  delete                      Forget a context

What counts is the first that says something: a flag, the context that --context names, the environment (EVENKEEL_STORE, …), the
context in use. Who names a store by a flag or in the environment has left the context in use: nothing of it counts then.
They are kept in $EVENKEEL_CONFIG, else in evenkeel/config.yaml below $XDG_CONFIG_HOME or ~/.config.
----
----
