#!/usr/bin/env python3
"""`evenkeel rollout` restarts all nodes of a cluster that takes writes: no shard is ever served by fewer than min_active, no data moves, and whoever is stopped has handed over what it
led. The witness looks on, and an observer that has each revision of the view.

Usage: rollout.py PROGRAM [--store embedded|etcd|zookeeper] [--order names|zones|random…] [--shards 600] [--seed 1] [--fencing session|epoch] [--keep]
"""
import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import witness
import world
from world import CLUSTER, PATIENCE, WORKLOAD, Failed, Process, World, expect, held

MIN_ACTIVE = 2
REPLICAS = 3
TTL = 4  # seconds: a busy machine must not end the session of one who is not restarted
# What rollout runs: tells the test whom to restart, and ends well if the test says so.
COMMAND = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode()); s.shutdown(1); sys.exit(s.recv(10) != b'done')"
ORDERS = {"names": (), "zones": ("--zone-by-zone", "--max-at-once", "4"), "random": ("--random-order", "--max-at-once", "2")}


class Door:
    """Where commands of the rollout come to; each has a node ended and started again."""

    def __init__(self, town, how):
        self.town, self.how = town, how
        self.restarted = []
        self.stopped = []  # who, as the witness calls it, and when
        self.wrong = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.path = town.path("door")
        if os.path.exists(self.path):
            os.remove(self.path)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.open, daemon=True).start()

    def open(self):
        while True:
            try:
                visitor, _ = self.listener.accept()
            except OSError:
                return
            with visitor:
                try:
                    self.restart(visitor.recv(100).decode())
                    visitor.sendall(b"done")
                except Exception as error:  # for the test to show
                    self.wrong.append(f"{type(error).__name__}: {error}")

    def restart(self, name):
        self.restarted.append(name)
        node = self.town.nodes[name]
        self.stopped.append((f"{name}:{node.process.pid}", witness.now()))
        node.signal(self.how)
        node.process.wait(PATIENCE)
        node.start()

    def check(self):
        """When a node was stopped, others had been given whatever it had led: by the times of the one clock, so that it does not matter who was heard when."""
        for who, when in self.stopped:
            last = [max((at, given) for given, at, _ in list(shard.granted.values()) if at < when)[1] for shard in self.town.witness.shards]
            led = [number for number, given in enumerate(last) if given == who]
            expect(not led, f"{who} was told that it may stop, and led {led}")


class Observer(Process):
    """By how many each shard is served, in every revision of the view."""

    def __init__(self, town):
        words = ("--store", town.store.url(), "--cluster", CLUSTER, "--min-active", MIN_ACTIVE)
        super().__init__(town, "observer", os.path.join(os.path.dirname(town.ledger), "observer"), *words)
        self.revision, self.served, self.revisions, self.listed = 0, (0, 0), 0, 0
        self.begin_anew()

    def begin_anew(self):
        self.fewest, self.below, self.revisions = REPLICAS, [], 0

    def look(self):
        """What it has said since the last look."""
        for words in self.news():
            self.hear(words)
        return self

    def hear(self, words):
        if words[0] == "f":
            self.listed += 1
        elif words[0] == "b":
            self.below.append(f"shard {words[3]} by {words[4]} at revision {words[2]}")
        elif words[0] == "v":
            self.revision, self.served = int(words[2]), (int(words[3]), int(words[4]))
            self.fewest = min(self.fewest, self.served[0])
            self.revisions += 1

    def until_caught_up(self):
        """It has heard of whatever is there now."""
        listed = json.loads(self.world.run("store", "list", f"/evenkeel/{CLUSTER}/view/", "-o", "json"))["entries"]
        latest = max(int(entry["revision"]) for entry in listed)
        self.world.until("the observer has seen it all", lambda: self.look().revision >= latest, why=lambda: f"{self.revision} of {latest}: {self.log()}")

    def until_all_serve(self):
        everybody = (REPLICAS, self.world.shards)
        self.world.until("the observer sees all replicas serve", lambda: self.look().served == everybody, why=lambda: f"{self.served}: {self.log()}")


def ask(town, path):
    """Of the daemon that acts. One of them always does here, but it may be slow to say so."""
    found = []

    def asked():
        found[:] = [answer for daemon in town.daemons if (answer := daemon.ask(path)) and answer["active"]]
        return found

    town.until(f"a daemon that acts answers {path}", asked)
    return found[0]


def placement(town):
    return [shard["placement"] for shard in ask(town, f"/api/v1/shards/{WORKLOAD}?limit=1000")["shards"]]


class Look:
    """What happens while nodes are restarted. Daemons remember only the latest events, and count all of them: counts are the proof, events say what it was."""

    PAGE = 1000
    LOSSES = ("seal", "replica")  # a leader was lost, a replica moved

    def __init__(self, town):
        self.town = town
        self.last = ask(town, "/api/v1/events")["last"]
        self.before = self.losses()
        self.events, self.missed = [], 0

    def losses(self):
        """As all daemons have counted them, each since it was started."""
        found = {}

        def counted(daemon):
            found[daemon.name] = daemon.labelled("evenkeel_control_events_total")
            return found[daemon.name] is not None

        for daemon in self.town.daemons:
            self.town.until(f"{daemon.name} counts", lambda daemon=daemon: counted(daemon))
        expect(any(found.values()), f"a cluster that was begun has had events: {found}")
        return {name: {kind: count for kind, count in counts.items() if kind in self.LOSSES} for name, counts in found.items()}

    def again(self):
        """Page after page."""
        while True:
            news = ask(self.town, f"/api/v1/events?after={self.last}&limit={self.PAGE}")["events"]
            if not news:
                return
            self.missed += news[0]["number"] - self.last - 1
            self.events += news
            self.last = news[-1]["number"]
            if len(news) < self.PAGE:
                return

    def check(self):
        lost = [i for i, event in enumerate(self.events) if event["kind"] in self.LOSSES or "failover" in event["text"]]
        around = [" ".join(str(event[key]) for key in ("time", "kind", "shard", "node", "text")) for event in self.events[max(0, lost[0] - 20) : lost[0] + 5]] if lost else []
        self.town.until_past(witness.now() + 3 * witness.SECOND // 2)  # what daemons count they tell as it was up to a second ago
        counted = self.losses()
        expect(not lost and counted == self.before, f"no leader was lost, and no replica moved: {self.before}, then {counted}\n" + "\n".join(around))


def roll(town, order, how, seed, observer):
    """Everybody is restarted, and nobody notices."""
    town.until_well(witness.now())
    observer.until_all_serve()
    observer.begin_anew()
    before = placement(town), held(town)
    door, look = Door(town, how), Look(town)
    words = [town.program, "rollout", "--yes", *ORDERS[order], *(["--seed", str(seed)] if order == "random" else []), "-o", "json", "--", sys.executable, "-c", COMMAND, door.path, "{node}"]
    environment = {**town.environment, "EVENKEEL_STORE": town.store.url(), "EVENKEEL_CLUSTER": CLUSTER}
    with open(town.path("rollout.out"), "w+", encoding="utf-8") as out, open(town.path("rollout.log"), "w+", encoding="utf-8") as log:
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *words], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=log)

        def over():
            look.again()
            observer.look()
            return process.poll() is not None

        try:
            town.until("the rollout ends", over, patience=3 * PATIENCE, why=lambda: f"{door.restarted} {door.wrong}")
        finally:
            process.kill()
            process.wait()
            door.listener.close()
        out.seek(0)
        log.seek(0)
        said = log.read()
        expect(process.returncode == 0 and not door.wrong, f"{door.wrong} {said}")
        expect([(one["node"], one["state"]) for one in json.load(out)] == [(name, "done") for name in door.restarted], said)
    expect(sorted(door.restarted) == sorted(town.nodes), f"{door.restarted}")
    zones = [town.nodes[name].zone for name in door.restarted]
    expect(order != "names" or door.restarted == sorted(door.restarted), f"by name: {door.restarted}")
    expect(order != "zones" or zones == sorted(zones), f"zone by zone: {door.restarted}")
    expect(order != "random" or zones != sorted(zones), f"in random order: {door.restarted}")
    town.until_well(witness.now())
    observer.until_caught_up()
    expect(not observer.below, f"no shard was served by fewer than {MIN_ACTIVE}: {'; '.join(observer.below[:10])}")
    expect(observer.fewest == MIN_ACTIVE, f"the observer saw that nodes were away, in {observer.revisions} revisions")
    look.again()
    look.check()
    door.check()
    expect((placement(town), held(town)) == before, "everything is where it was")
    return f"{door.restarted}, {observer.revisions} revisions of the view, {len(look.events)} events and {look.missed} not seen"


def is_noticed(town, observer):
    """Of the observer itself: of two zones one node each dies, and it says that too few serve."""
    observer.begin_anew()
    nodes = (town.nodes["n1"], town.nodes["n2"])
    for node in nodes:
        node.kill()
    town.until("the observer sees that too few serve", lambda: observer.look().below)
    for node in nodes:
        node.start()
    town.until_well(witness.now())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--store", choices=sorted(world.STORES), default="embedded")
    parser.add_argument("--order", nargs="*", choices=sorted(ORDERS), default=["names", "zones", "random"])
    parser.add_argument("--shards", type=int, default=600)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--fencing", choices=("session", "epoch"), default="session")
    parser.add_argument("--keep", action="store_true", help="the folder stays")
    given = parser.parse_args()
    with World(given.program, given.store, given.shards, keep=given.keep, ttl=TTL, controller_ttl=TTL, fencing=given.fencing, steady=True) as town:
        try:
            town.begin()
            observer = Observer(town)
            town.others.append(observer)
            observer.start()
            for order in given.order:
                begun = time.monotonic()
                # Some end their nodes properly, one does by force: they have nothing left to hand over.
                went = roll(town, order, signal.SIGKILL if order == "random" else signal.SIGTERM, given.seed, observer)
                print(f"{order}: {time.monotonic() - begun:.1f} s; {went}", flush=True)
            is_noticed(town, observer)
            print("ok:", town.witness.tally(), flush=True)
        except (Failed, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            town.keep = True
            print(f"FAILED: --store {given.store} --fencing {given.fencing} --seed {given.seed}: {type(error).__name__}: {error}\nwhat everybody said is in {town.folder}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
