"""Hosts: every process has a network of its own, and what is cut is packets. Nothing is closed and nothing is acknowledged by somebody in between, so that
TCP itself has to notice: it sends again, less and less often, connections are open on one side alone, and nobody is told.

A host is a network namespace of the kernel. Each has one card, `eth0`; the other end of its cable is a port of the bridge `town`, the switch:

    this process, the witness, commands    127.1.0.254 ── town ─┬─ p1 ── eth0  127.1.0.1  s0
                                                                ├─ p2 ── eth0  127.1.0.2  s1
                                                                └─ …

Addresses are of 127.0.0.0/8, since whoever has no TLS listens on no others; the kernel is told to let them out of a host (`route_localnet`), and lo of each host
is kept to 127.0.0.0/16. A wire is what the switch does with packets between a host and some ends. It is `whole`, or

    hold     packets are lost, both ways
    mute     those that the host sends are lost. It hears the others, until they have waited too long for its acknowledgements
    deaf     those that are sent to it. What it says is heard until it has waited for acknowledgements itself: then TCP sends nothing new
    refuse   they are answered by a reset, as by a host without the server

which are rules of nftables at the ports, where a packet comes from a host's cable: all of them are replaced in one step, so that many wires are cut at one moment. What
goes to and from this process is in no rule: it sees and asks everybody, whatever is cut. Addresses of cards (ARP) still find each other: a router
behind which packets are lost would not tell either. Files are not of the network: nodes reach the witness and each other by sockets in a folder, as ever.

    hosts.enter()                                   # begins this program again, within namespaces: whatever follows is there
    network = Hosts(witness, "/tmp/x/witness")
    n1 = network.host("n1")
    subprocess.Popen(n1.words(["server", "--listen", n1.address + ":80"]))
    wire = network.lay(n1, [("127.1.0.2", 2379)])   # what n1 has to do with that port
    network.set(wire, "hold")
    gap = network.between([n1], [n2, n3])           # whatever they have to do with each other

No root is needed, only that users may have namespaces of their own. Nothing is to be tidied up: namespaces, bridge and rules are gone with the last process in them, and the kernel
ends all processes with the one that started them.
"""
import os
import shutil
import subprocess
import sys
import threading

import wires

INSIDE = "EVENKEEL_CHAOS_INSIDE"  # in the environment: the process that is there
TOOLS = ("unshare", "nsenter", "mount", "ip", "nft")
PATH = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"  # where nft is, and not everybody looks
PATIENCE = 60  # seconds, with a command that takes some thousandths of one
HOSTS_MAX = 253
MADE = "/run/chaos"  # a folder there: the switch is made

SWITCH = f"""
mount -t tmpfs none /run
echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet
ip address add 127.0.0.1/16 dev lo
ip link set lo up
ip link add town type bridge
ip address add 127.1.0.254/24 dev town
ip link set town up
mkdir {MADE}
"""

HOST = """
ip netns add {name}
ip link add {port} type veth peer name eth0 netns {name}
ip link set {port} master town up
nsenter --net=/run/netns/{name} sh -e <<'THERE'
echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet
ip address add 127.0.0.1/16 dev lo
ip link set lo up
ip address add {address}/24 dev eth0
ip link set eth0 up
THERE
"""


def stop(why):
    """In one sentence, with what to do about it."""
    sys.exit(f"networks cannot be cut by namespaces here ({why.strip()}): run it as root or where users may have namespaces (sysctl user.max_user_namespaces, "
             "kernel.unprivileged_userns_clone; a container needs --privileged), with iproute2 and nftables (scripts/setup test), or give --network wires")


def enter():
    """Begins this program again in namespaces of its own, with the same process id. There it makes the switch."""
    if os.environ.get(INSIDE) == str(os.getpid()):
        if not os.path.exists(MADE):
            run(["sh", "-e"], SWITCH)
        return
    missing = [tool for tool in TOOLS if shutil.which(tool, path=PATH) is None]
    if missing:
        stop(f"there is no {' and no '.join(missing)}")
    # There is no way out of there, so that nothing is to be asked of a proxy.
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment.update({INSIDE: str(os.getpid()), "PATH": PATH})
    ways = [["unshare", "--user", "--map-root-user", "--net", "--mount"]]
    if os.geteuid() == 0:
        ways.insert(0, ["unshare", "--net", "--mount"])  # files of other users are still root's
    for way in ways:
        tried = subprocess.run([*way, "true"], env=environment, capture_output=True, text=True, timeout=PATIENCE)
        if tried.returncode == 0:
            sys.stdout.flush()
            os.execvpe(way[0], [*way, sys.executable, *sys.orig_argv[1:]], environment)
    stop(tried.stderr)


def run(words, text):
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        stop(f"{words[0]}: {done.stderr}")


class Host:
    def __init__(self, name, number):
        self.name, self.address, self.port = name, f"127.1.0.{number}", f"p{number}"
        self.pid = None  # of the process that was started there last
        run(["sh", "-e"], HOST.format(name=name, port=self.port, address=self.address))

    def words(self, words):
        return ["nsenter", f"--net=/run/netns/{self.name}", *words]

    def connections(self):
        """From where to where, of all that are established as this host sees it."""
        found = set()
        for family in ("tcp", "tcp6"):
            try:
                with open(f"/proc/{self.pid}/net/{family}", encoding="utf-8") as file:
                    lines = [line.split() for line in file.readlines()[1:]]
            except OSError:
                continue  # nobody is there
            found |= {(end(words[1]), end(words[2])) for words in lines if words[3] == "01"}
        return found


def end(text):
    """`0100017F:1F90`, or the same at the end of an address of IPv6, as an address and a port."""
    address, port = text.split(":")
    return ".".join(str(byte) for byte in reversed(bytes.fromhex(address[-8:]))), int(port, 16)


class Wire:
    """Between some hosts and some ends: an address and a port, or an address and None for everything there."""

    says = {}  # as in wires.py; nothing is changed here

    def __init__(self, network, hosts, ends):
        self.network, self.hosts, self.ends = network, hosts, ends
        self.state = "whole"

    def rules(self):
        """What the switch does to make it so."""
        ones = listed(host.address for host in self.hosts)
        if None in (port for _, port in self.ends):
            to, back = (f"ip {word} {listed(address for address, _ in self.ends)}" for word in ("daddr", "saddr"))
        else:
            ends = listed(f"{address} . {port}" for address, port in self.ends)
            to, back = f"ip daddr . tcp dport {ends}", f"ip saddr . tcp sport {ends}"
        does = "reject with tcp reset" if self.state == "refuse" else "drop"
        sent, heard = f"ip saddr {ones} {to} {does}", f"ip daddr {ones} {back} {does}"
        return {"mute": [sent], "deaf": [heard]}.get(self.state, [sent, heard])

    def connections(self):
        """That both sides know of."""
        far = {there.address: there for there in self.network.hosts.values()}
        return sum(1 for host in self.hosts for own, other in host.connections() if other in self.ends and (other, own) in far[other[0]].connections())


def listed(words):
    return "{ " + ", ".join(sorted(set(words))) + " }"


class Hosts(wires.Network):
    def __init__(self, heard, socket):
        super().__init__(heard, socket)
        self.hosts = {}
        self.cut = []  # wires that are not whole
        self.lock = threading.Lock()

    def host(self, name):
        """That of this name; it is made when somebody asks for it first."""
        if name not in self.hosts:
            assert len(self.hosts) < HOSTS_MAX, name
            self.hosts[name] = Host(name, len(self.hosts) + 1)
        return self.hosts[name]

    def lay(self, host, ends):
        return Wire(self, [host], ends)

    def between(self, ones, others):
        return Wire(self, ones, [(host.address, None) for host in others])

    def set_all(self, changed, state):
        """At one moment."""
        assert state in wires.STATES, state
        with self.lock:
            for wire in changed:
                wire.state = state
            self.cut = [wire for wire in self.cut if wire not in changed] + (changed if state != "whole" else [])
            ports = ", ".join(host.port for host in self.hosts.values())
            rules = "\n".join(rule for wire in self.cut for rule in wire.rules())
            run(["nft", "-f", "-"], f"""
table netdev town
delete table netdev town
table netdev town {{
chain from_hosts {{
type filter hook ingress devices = {{ {ports} }} priority 0
{rules}
}}
}}
""")

    def close(self):
        """For another network in the same process; otherwise the kernel would do it."""
        super().close()
        words = "".join(f"ip link delete {host.port}\nip netns delete {host.name}\n" for host in self.hosts.values())
        subprocess.run(["sh"], input=words, capture_output=True, text=True, timeout=PATIENCE, check=False)
