#!/usr/bin/env python3
"""The store under a running cluster is put back to an earlier state, emptied, away or full: nothing is dropped, no epoch is used again, and all comes back.

Usage: store_loss.py PROGRAM [PART OF A TEST'S NAME] [--store embedded|etcd|zookeeper] [--fencing session|epoch] [--long]

--long has a larger cluster, and lets a store be away for ten minutes instead of six seconds.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import witness
from world import CLUSTER, FORM, PATIENCE, Daemon, Process, World, expect, held, is_long, run_on_store

SECOND = witness.SECOND
STEADY_TTL = 4  # seconds
ORPHANS_MAX = 1000  # that a daemon tells of
STARTS = 3  # of a daemon on a full disk
NO_ROOM = re.compile("No space left on device|database space exceeded")
AWAY = (600 if is_long() else 6) * SECOND


def world(program, store="embedded"):
    return World(program, store, **FORM)


def steady_world(program, store="embedded"):
    """Where no node is stopped, and so none may end by itself, however slow the machine is."""
    return World(program, store, **FORM, ttl=STEADY_TTL, steady=True)


def pids(town):
    return {process.name: process.process.pid for process in [*town.nodes.values(), *town.daemons]}


def new_leaders(town):
    """Every shard gets another epoch: each zone stands still once."""
    for zone in ("z1", "z2", "z3"):
        nodes = [node for node in town.nodes.values() if node.zone == zone]
        for node in nodes:
            node.signal(signal.SIGSTOP)
        town.until(f"{zone} is gone", lambda: town.gone([node.name for node in nodes]))
        town.until_led(witness.now())
        for node in nodes:
            node.signal(signal.SIGCONT)
        town.until_well(witness.now())


def go_on(town):
    town.store.go_on()
    town.until("a daemon acts", town.active)


def elected(town):
    """Whether who acts was elected in the store that is there now: a daemon that has not looked since it was emptied tells what was."""
    key = lambda name: town.run("store", "get", f"/evenkeel/{CLUSTER}/{name}", status=None)
    active = town.active()
    return active is not None and key("controller_epoch") != "" and json.loads(key("office/controller") or "{}").get("meta", "").split()[:1] == [active.name]


def adopt(town):
    """As operators do: looks what is there and belongs to nobody, and takes it."""
    town.run("cluster", "adopt")
    town.run("cluster", "adopt", "--all")


def until_joined(town):
    town.until("all nodes have joined again", lambda: "away []" in town.why_not_whole() or town.why_not_whole() == "", why=town.why_not_whole)


def test_put_back(program, store):
    """Where the store is not theirs, the daemons go on, and see it go back."""
    with world(program, store) as town:
        town.begin()
        town.store.halt()
        for folder in town.store.data():
            shutil.copytree(folder, folder + ".earlier")
        go_on(town)
        town.until_well(witness.now())
        new_leaders(town)
        before = held(town)
        town.store.halt()
        for folder in town.store.data():
            shutil.rmtree(folder)
            shutil.copytree(folder + ".earlier", folder)
        go_on(town)
        until_joined(town)
        expect(before <= held(town), "nothing is dropped")
        adopt(town)
        town.until_well(witness.now())
        expect(before <= held(town), "nothing is dropped")


def orphans(town):
    active = town.active()
    found = active and active.ask("/api/v1/cluster")
    return len(found["orphans"]) if found else None


def test_emptied(program, store):
    """Nodes that go on tell what they hold, and above which epoch."""
    empty(program, store, again=False)


def test_emptied_and_all_nodes_began_again(program, store):
    """They know what they hold, and nothing of the workload until it is there again."""
    empty(program, store, again=True)


def empty(program, store, again):
    with world(program, store) as town:
        town.begin()
        new_leaders(town)
        before = held(town)
        town.store.halt()
        for folder in town.store.data():
            shutil.rmtree(folder)
        for node in town.nodes.values() if again else ():
            node.kill()
            node.start()
        go_on(town)
        town.until("a daemon is elected in the new store", lambda: elected(town))
        town.until("all nodes have joined again", lambda: town.why_not_whole() == "", why=town.why_not_whole)
        expect(before <= held(town), "nothing is dropped")
        begun = witness.now()
        town.apply()
        town.until("all that is held belongs to nobody", lambda: orphans(town) == min(len(before), ORPHANS_MAX), why=town.why_not_whole)
        # With `fencing: epoch` those who led before go on: nobody has sealed the others against them.
        anew = [number for number, shard in enumerate(town.witness.shards) if any(at > begun for _, at, _ in shard.granted.values())]
        said = [f"{shard}: {town.witness.describe(shard)}" for shard in anew[:5]]
        expect(not anew, f"nothing begins anew behind the back of those who have data: {(witness.now() - begun) / SECOND:.1f} s, {len(anew)} shards, {said}")
        adopt(town)
        town.until_well(witness.now())
        expect(before <= held(town), "nothing is dropped")


def test_away_at_the_start_and_later(program, store):
    with steady_world(program, "served" if store == "embedded" else store) as town:
        for daemon in town.daemons:
            daemon.start()
        for node in town.nodes.values():
            node.start()
        town.until("they say that they wait", lambda: all("the store does not answer" in daemon.log() for daemon in town.daemons))
        town.store.begin()
        town.until("both daemons serve", lambda: all(daemon.address() for daemon in town.daemons))
        town.until("all nodes have joined", lambda: town.why_not_whole() == "", why=town.why_not_whole)
        town.apply()
        town.until_well(0)
        before = pids(town)
        for member in town.store.members:
            member.kill()
        town.until("daemons say so", lambda: all(daemon.status("/readyz") == 503 for daemon in town.daemons))
        town.until_past(witness.now() + AWAY)
        begun = witness.now()
        for member in town.store.members:
            member.start()
        town.until_well(begun)
        expect(all(node.runs() for node in town.nodes.values()) and all(daemon.runs() for daemon in town.daemons), "nobody has ended")
        expect(pids(town) == before, f"nor has anybody been started again: {before}, then {pids(town)}")


def fill(folder):
    """Until nothing more fits."""
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass


class SmallDisk:
    """In memory, in a mount namespace, under the first daemon's store. It is another process's, so that it outlives the daemon."""

    def __init__(self, town):
        alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
        allowed = subprocess.run([*alone, "true"], capture_output=True, text=True, timeout=PATIENCE)
        expect(allowed.returncode == 0, f"a mount namespace of its own is needed for a small disk; run this as root: {allowed.stderr}")
        mount = 'mkdir -p "$0" && mount -t tmpfs -o size=32m tmpfs "$0" && echo mounted && exec tail -f /dev/null'
        self.holder = Process(town, "disk", *alone, "sh", "-c", mount, town.path("disk"))
        town.others.append(self.holder)
        self.holder.start()
        town.until("there is a small disk", lambda: "mounted" in self.holder.said(), why=self.holder.log)
        pid = self.holder.process.pid
        self.folder = f"/proc/{pid}/root{town.path('disk')}"
        enter = ["nsenter", "--mount", f"--target={pid}"] if os.geteuid() == 0 else ["nsenter", "--user", "--preserve-credentials", "--mount", f"--target={pid}"]
        words = [word if word != town.store.folder() else town.path("disk/store") for word in town.daemons[0].words]
        town.daemons[0].words = [*enter, *words]

    def fill(self):
        fill(self.folder)

    def make_room(self):
        os.remove(os.path.join(self.folder, "filler"))


class Starter:
    """As systemd does by our unit: whoever ends is started again a second later, but not if its exit status says that this would not help."""

    HOPELESS = (2, 6)

    def __init__(self, process):
        self.process, self.statuses, self.started = process, [], witness.now()

    def look(self):
        if self.process.runs() or witness.now() < self.started + SECOND:
            return
        self.statuses.append(self.process.process.returncode)
        expect(self.statuses[-1] > 0 and self.statuses[-1] not in self.HOPELESS, f"{self.process.name} ended with {self.statuses[-1]}: {self.process.log()}")
        self.started = witness.now()
        self.process.start()

    def until(self, what, good, why=lambda: ""):
        def looked():
            self.look()
            return good()

        self.process.world.until(what, looked, why=lambda: f"{self.statuses} {why()} {self.process.log()[-1000:]}")


def refused(town):
    """What a write is answered."""
    put = [town.program, "store", "put", "--store", town.store.url(), "/full", "x" * 10000]
    return subprocess.run(put, capture_output=True, text=True, timeout=PATIENCE, env=town.environment).stderr


def test_full(program):
    """The disk under the embedded store is full, and later has room again."""
    with steady_world(program) as town:
        daemon = town.daemons[0]
        disk = SmallDisk(town)
        town.begin()
        pid = daemon.process.pid
        town.run("store", "put", "/before", "it was full")
        disk.fill()
        town.until("a write is refused, and it says why", lambda: "space" in refused(town), why=lambda: refused(town))
        # The daemons tell who asks, the one that has the store and the one that is told by it; the log says what is in the way.
        for each in town.daemons:
            town.until(f"{each.name} says so", lambda each=each: "database space exceeded" in each.page("/readyz"), why=lambda each=each: each.page("/readyz"))
        town.until("its log and its metrics, too", lambda: "the store refuses writes" in daemon.log() and daemon.metrics("evenkeel_store_full") == [1])
        town.until_past(witness.now() + STEADY_TTL * SECOND * 3 // 2)
        expect(all(each.runs() for each in [*town.daemons, *town.nodes.values()]), "everybody goes on")
        disk.make_room()
        town.until_well(witness.now())
        expect(daemon.process.pid == pid and daemon.runs(), "by itself")
        town.until("the metrics say so", lambda: daemon.metrics("evenkeel_store_full") == [0])
        expect(town.run("store", "get", "/before").rstrip() == "it was full", "what was there is there")
        started_on_a_full_disk(town, disk)


def started_on_a_full_disk(town, disk):
    """The daemon dies meanwhile. It says why it cannot serve, or serves reads; and when there is room nobody has to see to it."""
    daemon, before = town.daemons[0], held(town)
    disk.fill()
    town.until("a write is refused", lambda: "space" in refused(town), why=lambda: refused(town))
    said = len(daemon.log())
    daemon.kill()
    daemon.start()
    starter = Starter(daemon)
    answers = lambda: daemon.status("/readyz") != 0
    explains = lambda: NO_ROOM.search(daemon.log()[said:] + daemon.page("/readyz"))
    starter.until("it says why, however often it is started", lambda: (len(starter.statuses) >= STARTS or answers()) and explains())
    expect(not answers() or town.run("store", "get", "/before").rstrip() == "it was full", "who answers tells what is there")
    disk.make_room()
    starter.until("it serves again", lambda: daemon.status("/readyz") == 200)
    town.until_well(witness.now())
    expect(town.run("store", "get", "/before").rstrip() == "it was full", "what was there is there")
    expect(before <= held(town), "nothing is dropped")


def test_begun_on_a_full_disk(program):
    """A store that is not there yet."""
    with steady_world(program) as town:
        daemon = town.daemons[0]
        disk = SmallDisk(town)
        disk.fill()
        daemon.start()
        starter = Starter(daemon)
        starter.until("it says why, however often it is started", lambda: len(starter.statuses) >= STARTS and NO_ROOM.search(daemon.log()))
        disk.make_room()
        starter.until("it serves", lambda: daemon.address() is not None)
        daemon.end()
        town.begin()


def test_a_disk_that_fails(program):
    """What cannot be mended from within: files may not grow any more, which stands for any disk that fails. The daemon says so, and a restart loses nothing."""
    with steady_world(program) as town:
        daemon = town.daemons[0]
        daemon.restore_signals = False
        town.begin()
        subprocess.run(["prlimit", "--pid", str(daemon.process.pid), "--fsize=1:unlimited"], check=True, timeout=PATIENCE)
        town.until("a write is refused", lambda: "must be opened again" in refused(town), why=lambda: refused(town))
        town.until("the daemon says so", lambda: "must be opened again" in daemon.page("/readyz"), why=lambda: daemon.page("/readyz"))
        expect(daemon.runs(), "it goes on, and answers what it knows")
        daemon.kill()
        daemon.start()
        town.until_well(witness.now())


def test_another_cluster(program, store):
    """A node and a daemon that name another cluster do nothing to this one."""
    with steady_world(program, store) as town:
        town.begin()
        words = [word if word != CLUSTER else "other" for word in town.nodes["n1"].words]
        stranger = Process(town, "stranger", *words)
        data = town.path("stranger.data")
        stranger.words[stranger.words.index("--data") + 1] = data
        town.others.append(stranger)
        of_this = incarnations(town.nodes["n1"])
        stranger.start()
        daemon = Daemon(town, "elsewhere", "--store", town.store.url())
        daemon.words[daemon.words.index(CLUSTER)] = "other"
        town.others.append(daemon)
        daemon.start()
        town.until("the other cluster has a node", lambda: len((daemon.ask("/api/v1/nodes") or {"nodes": []})["nodes"]) == 1)
        town.until("somebody acts there", lambda: "is active cluster=other" in daemon.log())
        town.until("the stranger says that it has joined", lambda: incarnations(stranger), why=stranger.log)
        town.until_past(witness.now() + STEADY_TTL * SECOND * 3 // 2)
        town.until_well(witness.now())
        expect(len(incarnations(stranger)) == 1 and not incarnations(stranger) & of_this, f"it is another n1, and stays so: {stranger.log()}")
        expect(os.path.getsize(os.path.join(data, "ledger")) == 0, "nobody told it to hold anything")
        expect(incarnations(town.nodes["n1"]) == of_this, f"ours is not disturbed: {town.nodes['n1'].log()}")
        twins = [each.name for each in [*town.daemons, daemon] if "another process calls itself so" in each.log()]
        expect(not twins, f"nor is one taken for the other by {twins}")
        known = lambda: [node["node"] for each in town.daemons if (told := each.ask("/api/v1/nodes")) and told["active"] for node in told["nodes"]]
        town.until("nobody has come", lambda: sorted(known()) == sorted(town.nodes), why=lambda: str(known()))
        given = {who for shard in town.witness.shards for who, _, _ in list(shard.granted.values())}
        expect(f"n1:{stranger.process.pid}" not in given, "it has been given nothing")


def incarnations(process):
    """As which it has joined, by its own words."""
    return set(re.findall(r" joined node=n1 what=(\S+)", process.log()))


if __name__ == "__main__":
    sys.exit(run_on_store(globals()))
