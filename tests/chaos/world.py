"""A whole cluster of real processes on this host: a store, two daemons, twelve nodes in three zones, each with a wire to the store that can be cut, and nodes
with another one to the daemons. Wires are proxies (wires.py), or each process has a network of its own and packets are lost (hosts.py): `network`.

    with World(program, "etcd", shards=600) as world:
        world.begin()
        world.nodes["n1"].kill()
        world.until_well(witness.now())

All is in one folder, on free ports, and ended by process id with the object, whatever happens; the kernel ends it if this process dies. The folder stays if
something went wrong, with what each process said in NAME.log.

Nothing here lets time pass: whoever waits asks again when the witness has heard something, or twenty times a second while it hears nothing.
"""
import functools
import inspect
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import hosts
import wires
import witness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cli"))
from live import Failed, expect, run_tests  # noqa: E402, F401 what all tests of live processes share

PATIENCE = 120  # seconds; whoever waits so long has failed. Far above what is needed on a busy machine
SLOW = 20  # seconds; worth a word
TTL = 2  # seconds, of nodes' sessions
STUCK = 70  # exit status of a node that could not step down
CLUSTER = "chaos"
WORKLOAD = "ledger"
SLOT = struct.Struct("=8Q")  # of ledger.cc: held, epoch, change, refuses, last, position, and two to spare
JARS = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"


given_ports = set()  # by free_port: their servers may not be there yet, and then nothing else shows that they are taken


def free_port():
    """Below those that the kernel gives to outgoing connections, so that it stays free while its server is down. None is given twice."""
    while True:
        port = random.SystemRandom().randrange(10000, 32000)
        if port in given_ports:
            continue
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
                given_ports.add(port)
                return port
            except OSError:
                pass


def ask_end(end, question):
    """All that is answered over TCP, or nothing."""
    try:
        with socket.create_connection(end, timeout=2) as connection:
            connection.sendall(question)
            answer = b""
            while more := connection.recv(1 << 16):
                answer += more
            return answer.decode(errors="replace")
    except OSError:
        return ""


class Process:
    """One that can be killed and started again with the same words."""

    def __init__(self, world, name, *words):
        self.world, self.name, self.words = world, name, [str(word) for word in words]
        self.host = world.host(name)
        self.process = None
        self.out = None  # what it says, as far as it was read
        self.restore_signals = True  # not: it overlooks those that this process overlooks, of pipes and of files that are too large

    def start(self):
        expect(not self.runs(), f"{self.name} runs already")
        with open(self.world.path(self.name + ".log"), "ab") as log, open(self.world.path(self.name + ".out"), "wb") as out:
            words = ["setpriv", "--pdeathsig", "KILL", *self.host.words(self.words)]
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=log, env=self.world.environment, start_new_session=True, restore_signals=self.restore_signals)
        self.host.pid = self.process.pid
        self.out = None  # it says everything anew

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def become(self, version):
        """From its next start on: "this" version or a "later" one."""
        name, places = os.path.basename(self.words[0]).removesuffix("_later"), {"evenkeel": self.world.program, "ledger": self.world.ledger}
        self.words[0] = places[name] if version == "this" else os.path.join(os.path.dirname(self.world.ledger), name + "_later")

    def signal(self, number):
        if self.runs():
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def end(self):
        """As an operator would; what it takes for that is its own affair."""
        self.signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def said(self):
        with open(self.world.path(self.name + ".out"), encoding="utf-8") as file:
            return file.read()

    def news(self):
        """What it has said since the last look: the words of each line that is whole."""
        self.out = self.out or open(self.world.path(self.name + ".out"), encoding="utf-8")
        while True:
            at = self.out.tell()
            line = self.out.readline()
            if not line.endswith("\n"):
                self.out.seek(at)
                return
            yield line.split()

    def log(self):
        with open(self.world.path(self.name + ".log"), encoding="utf-8", errors="replace") as file:
            return file.read()


class Node(Process):
    def __init__(self, world, name, zone, *more, data=None):
        self.zone = zone
        self.data = world.path(data or name + ".data")
        self.wire, self.pulse = world.wire(name), world.pulse_wire(name)
        if self.pulse:
            self.wire.says = {f"pulse={daemon.pulse_end[0]}:{daemon.pulse_end[1]}".encode(): f"pulse={end[0]}:{end[1]}".encode() for daemon, end in zip(world.daemons, self.pulse.ends)}
        words = ("--name", name, "--zone", zone, "--data", self.data, "--world", world.folder, "--cluster", CLUSTER, "--ttl", f"{world.ttl}s")
        super().__init__(world, name, world.ledger, *words, "--store", world.store.url(self.wire and self.wire.ends), *more)

    def cut_off(self, state="hold"):
        """From the store, the daemons and all other nodes."""
        self.world.wires.set_all([self.wire, self.pulse], state)
        self.lose_peers()

    def reach(self):
        """The end of that."""
        self.find_peers()
        self.world.wires.set_all([self.wire, self.pulse], "whole")

    def lose_peers(self):
        """Nodes speak to each other by files of this host, so that no network cuts them: ledger.cc looks for this one."""
        with open(self.world.path(self.name + ".cut"), "w", encoding="utf-8"):
            pass

    def find_peers(self):
        os.remove(self.world.path(self.name + ".cut"))


class Daemon(Process):
    def __init__(self, world, name, *more):
        address = world.host(name).address
        self.pulse_end = (address, free_port())
        words = ("--cluster", CLUSTER, "--http", f"{address}:0", "--pulse", f"{address}:{self.pulse_end[1]}", "--name", name)
        super().__init__(world, name, world.program, "serve", *words, *more)
        self.wire = None

    def address(self):
        line = self.said()
        return json.loads(line)["http"] if line.endswith("\n") else None

    def ask(self, path):
        """An answer, or nothing."""
        if not self.runs() or self.address() is None:
            return None
        try:
            with urllib.request.urlopen(self.address() + path, timeout=5) as answer:
                return json.loads(answer.read())
        except (OSError, ValueError):
            return None

    def metrics(self, name):
        """Its values, one for each of its labels."""
        try:
            with urllib.request.urlopen(self.address() + "/metrics", timeout=5) as answer:
                return [float(line.split()[1]) for line in answer.read().decode().splitlines() if re.match(re.escape(name) + "[ {]", line)]
        except OSError:
            return []

    def labelled(self, name):
        """Its values by the label that each has; it has one label. Nothing, if there is no answer."""
        status, page = self.get("/metrics")
        values = re.findall(rf'^{re.escape(name)}\{{\w+="([^"]*)"\}} (\S+)$', page, re.MULTILINE)
        return {label: float(value) for label, value in values} if status == 200 else None

    def metric(self, name):
        """Its value, or nothing."""
        return next(iter(self.metrics(name)), None)

    def status(self, path):
        return self.get(path)[0]

    def page(self, path):
        return self.get(path)[1]

    def get(self, path):
        """Status and text, of problems too; 0 and nothing if there is no answer."""
        address = self.address()
        if address is None:
            return 0, ""
        try:
            with urllib.request.urlopen(address + path, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""


class Embedded:
    """In the first daemon. The second reaches it there."""

    keeper = "d0"  # the process that it is in

    def __init__(self, world):
        self.world = world
        self.end = (world.host(self.keeper).address, free_port())
        self.members = []

    def ends(self):
        return [self.end]

    def url(self, ends=None):
        address, port = (ends or [self.end])[0]
        return f"etcd://{address}:{port}"

    def folder(self):
        return self.world.path("store")

    def daemons(self):
        first = Daemon(self.world, "d0", "--data", self.folder(), "--store-listen", self.url().removeprefix("etcd://"))
        second = Daemon(self.world, "d1", "--store", self.url())
        self.members = [first]
        return [first, second]

    def begin(self):
        pass

    def leader(self):
        return self.members[0]

    def data(self):
        """Where all is that it has on disk."""
        return [self.folder()]

    def halt(self):
        """The proper end of all members; here with both daemons."""
        for daemon in reversed(self.world.daemons):
            daemon.end()

    def go_on(self):
        for daemon in self.world.daemons:
            daemon.start()

    def requests(self):
        """How many it was asked, also by the daemon that it is in; nothing: a process of its own shows no count."""
        counts = self.members[0].metrics("evenkeel_store_requests_total") if self.members[0] in self.world.daemons else []
        return sum(counts) if counts else None


def wired_daemons(world, store):
    made = []
    for name in ("d0", "d1"):
        wire = world.wire(name)
        made.append(Daemon(world, name, "--store", store.url(wire and wire.ends)))
        made[-1].wire = wire
    return made


class Served(Embedded):
    """The same in a process of its own, so that each daemon has a wire to it."""

    keeper = "s0"

    def __init__(self, world):
        super().__init__(world)
        self.members = [Process(world, "s0", world.program, "store", "serve", "--data", self.folder(), "--listen", self.url().removeprefix("etcd://"))]

    def daemons(self):
        return wired_daemons(self.world, self)

    def begin(self):
        self.members[0].start()
        self.world.until("the store serves", lambda: "serving" in self.members[0].said())


class Servers:
    """Three members of a store that somebody else wrote."""

    scheme = "etcd"

    def __init__(self, world):
        self.world = world
        self.addresses = [world.host(f"s{i}").address for i in range(3)]
        self.client_ends = [(address, free_port()) for address in self.addresses]
        self.peer_ports = [free_port() for _ in range(6)]
        self.members = [Process(world, f"s{i}", *self.words(i)) for i in range(3)]

    def ends(self):
        return self.client_ends

    def url(self, ends=None):
        return f"{self.scheme}://" + ",".join(f"{address}:{port}" for address, port in ends or self.client_ends)

    def daemons(self):
        return wired_daemons(self.world, self)

    def begin(self):
        for member in self.members:
            member.start()
        self.world.until("the store serves", lambda: all(self.ready(i) for i in range(3)))

    def data(self):
        return [self.world.path(f"s{i}") for i in range(3)]

    def halt(self):
        for member in self.members:
            member.end()

    def go_on(self):
        self.begin()

    def leader(self):
        self.world.until("the store has a leader", self.leading)
        return next(iter(self.leading()), self.members[0])

    def leading(self):
        """Those that say so; one that is cut off may still do."""
        return [member for i, member in enumerate(self.members) if member.runs() and self.leads(i)]


class Etcd(Servers):
    def words(self, i):
        peers = [f"http://{address}:{port}" for address, port in zip(self.addresses, self.peer_ports)]
        all_peers = ",".join(f"s{k}={peers[k]}" for k in range(3))
        client, peer = "http://{}:{}".format(*self.client_ends[i]), peers[i]
        return ("etcd", "--name", f"s{i}", "--data-dir", self.world.path(f"s{i}"), "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", all_peers, "--logger=zap", "--log-level=error",
                "--unsafe-no-fsync")  # what a killed process wrote is there; a power cut is not what is tested

    def ready(self, i):
        return '"health":"true"' in ask_end(self.client_ends[i], b"GET /health HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")

    def leads(self, i):
        return "\netcd_server_is_leader 1\n" in self.metrics(i)

    def metrics(self, i):
        return ask_end(self.client_ends[i], b"GET /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")

    def requests(self):
        """Reads, writes, and what comes over streams: new watches, renewals of leases."""
        counted = [re.findall(r"^grpc_server_msg_received_total\{.*\} (\S+)$", self.metrics(i), re.MULTILINE) for i in range(3)]
        return sum(float(count) for counts in counted for count in counts)


class ZooKeeper(Servers):
    scheme = "zk"

    def words(self, i):
        folder = self.world.path(f"s{i}")
        os.makedirs(folder)
        with open(os.path.join(folder, "myid"), "w", encoding="utf-8") as file:
            file.write(f"{i + 1}\n")
        with open(os.path.join(folder, "zoo.cfg"), "w", encoding="utf-8") as file:
            file.write(f"tickTime=500\ninitLimit=20\nsyncLimit=10\nmaxClientCnxns=0\nadmin.enableServer=false\nclientPortAddress={self.addresses[i]}\nclientPort={self.client_ends[i][1]}\ndataDir={folder}\n")
            for k in range(3):
                file.write(f"server.{k + 1}={self.addresses[k]}:{self.peer_ports[k]}:{self.peer_ports[3 + k]}\n")
        return ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", JARS, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-Dzookeeper.extendedTypesEnabled=true", "-Dzookeeper.forceSync=no", "org.apache.zookeeper.server.quorum.QuorumPeerMain", os.path.join(folder, "zoo.cfg"))

    def data(self):
        return [os.path.join(self.world.path(f"s{i}"), "version-2") for i in range(3)]

    def ready(self, i):
        return "\nMode: " in ask_end(self.client_ends[i], b"srvr")

    def leads(self, i):
        return "\nMode: leader" in ask_end(self.client_ends[i], b"srvr")

    def requests(self):
        """Packets of clients: reads, writes, pings."""
        return sum(int(count) for i in range(3) for count in re.findall(r"^Received: (\d+)$", ask_end(self.client_ends[i], b"srvr"), re.MULTILINE))


NETWORKS = {"wires": wires.Wires, "namespaces": hosts.Hosts}
STORES = {"embedded": Embedded, "served": Served, "etcd": Etcd, "zookeeper": ZooKeeper}


FORM = {"shards": 60, "nodes": 6, "fencing": "session"}  # of the worlds of those scripts that are lists of tests, by their command line


def take_option(name, usual):
    """Out of the command line."""
    if name not in sys.argv:
        return usual
    at = sys.argv.index(name)
    value = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return value


def run_on_store(names):
    """As run_tests, with --store NAME in the command line: tests take it as their second word. Those that do not are of the embedded store alone. With --fencing NAME, and with --long
    on a cluster as large as chaos.py's."""
    store = take_option("--store", "embedded")
    FORM["fencing"] = take_option("--fencing", FORM["fencing"])
    if is_long():
        sys.argv.remove("--long")
        FORM.update(shards=600, nodes=12)
    tests = {name: test for name, test in names.items() if name.startswith("test_")}
    takes = {name for name, test in tests.items() if "store" in inspect.signature(test).parameters}
    return run_tests({name: functools.partial(test, store=store) if name in takes else test for name, test in tests.items() if name in takes or store == "embedded"})


def is_long():
    return "--long" in sys.argv


def held(town):
    """Node and shard of everything on the nodes' disks."""
    found = set()
    for node in town.nodes.values():
        with open(os.path.join(node.data, "ledger"), "rb") as file:
            for shard in range(town.shards):
                slot = file.read(SLOT.size)
                if len(slot) == SLOT.size and SLOT.unpack(slot)[0]:
                    found.add((node.name, shard))
    return found


class World:
    def __init__(self, program, store="embedded", shards=600, nodes=12, keep=False, ttl=TTL, controller_ttl=TTL, words=(), wired=True, fencing="session", network="wires", steady=False):
        """`words` are added to each ledger's. Without wires nothing can be cut, and nothing is slowed down by them. Where the network is one of namespaces this process
        begins again from its start, within them. Steady: no node is stopped or cut off for longer than its session, so that none has a reason to end by itself."""
        if network == "namespaces":
            hosts.enter()
        self.program = os.path.abspath(program)
        self.ledger = os.path.join(os.path.dirname(self.program), "tests/ledger")
        self.shards, self.keep, self.ttl, self.controller_ttl, self.wired = shards, keep, ttl, controller_ttl, wired
        self.folder = tempfile.mkdtemp(prefix="chaos.")
        self.environment = {**os.environ, "NO_COLOR": "1", "HOME": self.folder}
        for name in ("EVENKEEL_STORE", "EVENKEEL_CLUSTER", "XDG_STATE_HOME"):
            self.environment.pop(name, None)
        self.fencing = fencing
        self.network = network
        self.wires = NETWORKS[network](witness.Witness(shards, fencing), self.path("witness"))
        self.store = STORES[store](self)
        self.daemons = self.store.daemons()
        self.nodes = {f"n{i}": Node(self, f"n{i}", f"z{(i - 1) % 3 + 1}", *words) for i in range(1, nodes + 1)}
        self.others = []  # more processes, of a test's own
        self.steady = steady
        self.restarts = []  # names of nodes that ended by themselves

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for process in self.processes():
            process.kill()
        self.wires.close()
        if kind is None and not self.keep:
            shutil.rmtree(self.folder)
        elif kind is not None:
            print(f"what everybody said is in {self.folder}", flush=True)

    def processes(self):
        return [*self.others, *self.nodes.values(), *self.daemons, *self.store.members]

    def host(self, name):
        return self.wires.host(name)

    def wire(self, name):
        return self.wires.lay(self.host(name), self.store.ends()) if self.wired else None

    def pulse_wire(self, name):
        return self.wires.lay(self.host(name), [daemon.pulse_end for daemon in self.daemons]) if self.wired else None

    def part(self, ones, others=None):
        """Nothing passes between these processes and others, or all others, until what it returns is called. Only where networks are namespaces."""
        others = [process for process in others or self.processes() if process not in ones]
        gap = self.wires.between([process.host for process in ones], [process.host for process in others])
        self.wires.set(gap, "hold")
        nodes = [process for process in ones if isinstance(process, Node)]
        for node in nodes:
            node.lose_peers()

        def mend():
            for node in nodes:
                node.find_peers()
            self.wires.set(gap, "whole")

        return mend

    @property
    def witness(self):
        return self.wires.witness

    def path(self, name):
        return os.path.join(self.folder, name)

    # Waiting.

    def until(self, what, good, patience=PATIENCE, why=lambda: ""):
        """Until it is so, or for too long. What the witness finds wrong ends the wait."""
        give_up = time.monotonic() + patience
        worth_a_word = time.monotonic() + SLOW
        while not good():
            self.check()
            self.supervise()
            if time.monotonic() > worth_a_word:
                worth_a_word = give_up + 1
                print(f"  slow: {what} {why()}", flush=True)
            if time.monotonic() > give_up:
                raise Failed(f"not so after {patience} s: {what} {why()}")
            with self.wires.changed:
                self.wires.changed.wait(0.05)

    def supervise(self):
        """A node that could not step down in time ends itself. Whoever runs services starts it again."""
        for node in self.nodes.values():
            if node.process is not None and node.process.poll() == STUCK:
                expect(not self.steady, f"{node.name} could not step down in time, and has ended; nobody had stopped it")
                print(f"  {node.name} could not step down in time, and is started again", flush=True)
                self.restarts.append(node.name)
                node.start()

    def until_past(self, when):
        """Until a moment of the witness's clock: what is broken is to stay so for a while."""
        self.until("time passes", lambda: witness.now() > when, PATIENCE + (when - witness.now()) / witness.SECOND)

    def check(self):
        expect(not self.witness.wrong, "the witness says:\n  " + "\n  ".join(self.witness.wrong))

    # The cluster.

    def begin(self):
        """The workload comes when all nodes are there, so that nothing has to move afterwards."""
        self.start()
        self.apply()
        self.until_well(0)

    def start(self):
        self.store.begin()
        self.daemons[0].start()
        self.until("the first daemon serves", lambda: self.daemons[0].address() is not None, why=self.daemons[0].log)
        self.daemons[1].start()
        for node in self.nodes.values():
            node.start()
        self.until("all nodes have joined", lambda: self.why_not_whole() == "", why=self.why_not_whole)

    def apply(self, program=None, delay="5m", linger="1s"):
        with open(self.path("cluster.yaml"), "w", encoding="utf-8") as file:
            file.write(f"""settings: {{session_ttl: {self.ttl}s, controller_ttl: {self.controller_ttl}s, rebalance_delay: {delay}}}
workloads:
  - {{name: {WORKLOAD}, shards: {self.shards}, replicas: 3, acks: 2, min_active: 2, linger: {linger}, spread: {{level: zone, hard: true}}, fencing: {self.fencing}}}
""")
        self.run("apply", "-f", self.path("cluster.yaml"), "--yes", program=program)

    def run(self, *words, status=0, program=None):
        environment = {**self.environment, "EVENKEEL_STORE": self.store.url(), "EVENKEEL_CLUSTER": CLUSTER}
        done = subprocess.run([program or self.program, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE)
        expect(status in (None, done.returncode), f"{words}: exit {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
        return done.stdout

    def active(self):
        """The daemon that acts, if one says so."""
        for daemon in self.daemons:
            found = daemon.ask("/api/v1/cluster")
            if found and found["active"]:
                return daemon
        return None

    def gone(self, names):
        """Whether the active controller knows that these nodes' sessions are over."""
        active = self.active()
        found = active and active.ask("/api/v1/nodes")
        return bool(found) and all(node["gone"] for node in found["nodes"] if node["node"] in names)

    def why_not_whole(self):
        """What the active controller lacks, in words; nothing if everything is in its place."""
        active = self.active()
        if active is None:
            return "no daemon is active"
        nodes, cluster = active.ask("/api/v1/nodes"), active.ask("/api/v1/cluster")
        if not nodes or not cluster:
            return f"{active.name} does not answer"
        away = [node["node"] for node in nodes["nodes"] if not node["joined"] or node["gone"]] if len(nodes["nodes"]) >= len(self.nodes) else ["some"]
        lacking = {key: cluster[key] for key in ("leaderless", "below_min_active", "errors", "copies", "offline", "maintenance") if cluster[key]}
        return f"{active.name}: away {away}, {lacking}" if away or lacking else ""

    def why_not_calm(self):
        """The same, and no replica waits for anything or is on its way. Who is to lead later may wait: a hand-over is put off where nodes pulse late."""
        whole = self.why_not_whole()
        active = self.active()
        if whole or active is None:
            return whole or "no daemon is active"
        waiting = []
        for first in range(0, self.shards, 1000):
            page = active.ask(f"/api/v1/shards/{WORKLOAD}?from={first}&limit=1000")
            if not page:
                return f"{active.name} does not say how shards stand"
            waiting += [f"{shard['shard']}: {shard['why']}" for shard in page["shards"] if any("is to lead" not in why for why in shard["why"])]
        return f"{active.name}: {len(waiting)} shards wait: {'; '.join(waiting[:5])}" if waiting else ""

    def until_led(self, since):
        self.until("every shard takes writes", lambda: not self.witness.led_since(since), why=lambda: self.why_not_led(since))

    def why_not_led(self, since):
        lacking = self.witness.led_since(since)
        active = self.active()
        if not lacking or active is None:
            return "no daemon is active" if active is None else ""
        first = active.ask(f"/api/v1/shards/{WORKLOAD}/{lacking[0]}")
        return f"but {len(lacking)}; {self.why_not_whole()}; one of them: {json.dumps(first)}; {self.witness.describe(lacking[0])}"

    def until_well(self, since, calm=True):
        """Every shard takes writes again, and nobody is missing anything."""
        self.until_led(since)
        lacks = self.why_not_calm if calm else self.why_not_whole
        self.until("everything is in its place", lambda: lacks() == "", why=lacks)
