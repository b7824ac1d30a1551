# What `evenkeel routes` makes of its words. What it does is tested with real processes (routes_live.py): here there is no outside.

run routes --cluster pages
----
! evenkeel: there is no network here
exit 5

run routes
----
! evenkeel: there is no network here
exit 5

run routes --cluster a/b
----
! evenkeel: --cluster: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
!   see: evenkeel routes --help
exit 2

run routes --cluster pages -o csv
----
! evenkeel: --output: "csv" is not a form of output; known: table, wide, json, yaml, name, rocksplicator
!   see: evenkeel routes --help
exit 2

run routes --cluster pages --out map.txt -o table
----
! evenkeel: --out: a file is json, yaml or rocksplicator; say which with -o
!   see: evenkeel routes --help
exit 2

run routes --cluster pages --out map.json
----
! evenkeel: there is no network here
exit 5

run routes pages
----
! evenkeel: unexpected argument "pages"
!   see: evenkeel routes --help
exit 2

run routes --cluster pages --password secret
----
! evenkeel: unknown option "--password"
!   known: --help, --output, --watch, --out, --cluster, --context, --store, --user, --password-file, --tls-authority, --tls-certificate, --tls-key, --tls-server-name, --timeout
!   see: evenkeel routes --help
exit 2
