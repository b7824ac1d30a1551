# The daemon's options. What it does as a process is in serve_live.py.
run serve --help
----
----
Run the daemon: a cluster's controller, its store, and HTTP
Usage: evenkeel serve [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --cluster NAME              Which cluster; default
  --data DIR                  The folder of its store; else ~/.local/state/evenkeel/CLUSTER
  --store-listen HOST:PORT    Where its store is reached; else 127.0.0.1:2379
  --http HOST:PORT            Where its HTTP is reached; else 127.0.0.1:7070
  --pulse HOST:PORT           Where nodes pulse to; else any free port of this host
  --name NAME                 Its name among the cluster's controllers; else this host's, and the port of --http
  --context NAME              Which context; the one in use does not count here
  --store URL                 A store that is there: etcd://…, etcds://…, zk://…; else its own, in --data
  --user NAME                 Who asks; else EVENKEEL_STORE_USER. The password is in EVENKEEL_STORE_PASSWORD
  --password-file FILE        Where the password is, if not in the environment
  --tls-authority FILE        Authorities to trust, PEM; else the system's
  --tls-certificate FILE      Our own certificate, PEM, if the server wants one
  --tls-key FILE              The key of our certificate, PEM
  --tls-server-name NAME      The name in the server's certificate, if not its host's
  --timeout DURATION          How long to wait for an answer; 5s

Once it is ready, one JSON object on standard output says where: {"cluster":…,"name":…,"http":…,"pulse":…,"store":…,"pid":…}.
An interrupt stops it: it leaves its office first. A store that does not answer is waited for.
Without --store it keeps the store itself, in a folder, and serves it over etcd's v3 API; then it is the only one. With --store several
may run for one cluster: one is active, and the others take over when it goes.
It listens only on this host, since there is no encryption or authentication yet.

Examples:
  evenkeel serve
  evenkeel serve --cluster pages --data /var/lib/evenkeel/pages
  evenkeel serve --cluster pages --store etcd://10.0.0.9:2379 --name host-1
----
----

run serve --cluster a/b
----
! evenkeel: --cluster: the name "a/b" contains "/"; allowed are letters, digits and _ . - : @ +
!   see: evenkeel serve --help
exit 2

# One store, not two.
run serve --store etcd://127.0.0.1:2379 --data folder
----
! evenkeel: --data: is a store of its own, and --store is another one: give one of them
!   see: evenkeel serve --help
exit 2

run serve --store etcd://127.0.0.1:2379 --store-listen 127.0.0.1:2380
----
! evenkeel: --store-listen: is where its own store is reached, and with --store it has none: leave it out
!   see: evenkeel serve --help
exit 2

run serve --user root
----
! evenkeel: --user: is for a store of others, as are --password-file, --tls-… and --timeout: give --store as well
!   see: evenkeel serve --help
exit 2

run serve --http
----
! evenkeel: --http: 1 required HOST:PORT missing
!   see: evenkeel serve --help
exit 2

run __complete serve --c
----
--cluster	Which cluster; default
--context	Which context; the one in use does not count here
:words
