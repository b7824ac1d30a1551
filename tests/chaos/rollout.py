#!/usr/bin/env python3
"""`evenkeel rollout` restarts all nodes of a cluster that takes writes: no shard is ever served by fewer than min_active, no data moves, and whoever is stopped has handed over what it
led. The witness looks on.

Usage: rollout.py PROGRAM [--store embedded|etcd|zookeeper] [--order zones|random…] [--shards 600] [--seed 1] [--keep]
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
from world import CLUSTER, PATIENCE, WORKLOAD, Failed, World, expect, held

MIN_ACTIVE = 2
# What rollout runs: tells the test whom to restart, and ends well if the test says so.
COMMAND = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode()); s.shutdown(1); sys.exit(s.recv(10) != b'done')"
ORDERS = {"zones": ("--zone-by-zone", "--max-at-once", "4"), "random": ("--random-order", "--max-at-once", "2")}


class Door:
    """Where commands of the rollout come to; each has a node ended and started again."""

    def __init__(self, town, how):
        self.town, self.how = town, how
        self.restarted = []
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
        led = [shard["shard"] for shard in view(self.town) if shard["leader"] == name]
        expect(not led, f"{name} may stop, and leads {led}")
        self.restarted.append(name)
        node = self.town.nodes[name]
        node.signal(self.how)
        node.process.wait(PATIENCE)
        node.start()


def ask(town, path):
    """Of the daemon that acts: one of them always does here."""
    for daemon in town.daemons:
        found = daemon.ask(path)
        if found and found["active"]:
            return found
    raise Failed(f"no daemon that acts answers {path}")


def view(town):
    return ask(town, f"/api/v1/view/{WORKLOAD}?limit=10000")["shards"]


def placement(town):
    return [shard["placement"] for shard in ask(town, f"/api/v1/shards/{WORKLOAD}?limit=1000")["shards"]]


class Look:
    """What clients see, and what happens, again and again while nodes are restarted."""

    def __init__(self, town):
        self.town = town
        self.looks, self.fewest, self.below = 0, MIN_ACTIVE + 1, 0
        self.last = ask(town, "/api/v1/events")["last"]
        self.events = []

    def again(self):
        self.looks += 1
        self.fewest = min(self.fewest, *(len(shard["others"]) + (shard["leader"] is not None) for shard in view(self.town)))
        self.below = max(self.below, ask(self.town, "/api/v1/cluster")["below_min_active"])
        news = ask(self.town, f"/api/v1/events?after={self.last}")
        expect(not news["events"] or news["events"][0]["number"] == self.last + 1, "no event is missed")
        self.events += news["events"]
        self.last = self.events[-1]["number"] if self.events else self.last

    def check(self):
        expect(self.fewest >= MIN_ACTIVE and self.below == 0, f"in {self.looks} looks a shard was served by {self.fewest}, and {self.below} were below min_active")
        lost = [i for i, event in enumerate(self.events) if event["kind"] in ("seal", "replica") or "failover" in event["text"]]
        around = [" ".join(str(event[key]) for key in ("time", "kind", "shard", "node", "text")) for event in self.events[max(0, lost[0] - 20) : lost[0] + 5]] if lost else []
        expect(not lost, "no leader was lost, and no replica moved:\n" + "\n".join(around))


def roll(town, order, how, seed):
    """Everybody is restarted, and nobody notices."""
    town.until_well(witness.now())
    before = placement(town), held(town)
    door, look = Door(town, how), Look(town)
    words = [town.program, "rollout", "--yes", *ORDERS[order], *(["--seed", str(seed)] if order == "random" else []), "-o", "json", "--", sys.executable, "-c", COMMAND, door.path, "{node}"]
    environment = {**town.environment, "EVENKEEL_STORE": town.store.url(), "EVENKEEL_CLUSTER": CLUSTER}
    with open(town.path("rollout.out"), "w+", encoding="utf-8") as out, open(town.path("rollout.log"), "w+", encoding="utf-8") as log:
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *words], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=log)

        def over():
            look.again()
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
    expect(order != "zones" or zones == sorted(zones), f"zone by zone: {door.restarted}")
    expect(order != "random" or zones != sorted(zones), f"in random order: {door.restarted}")
    look.check()
    expect((placement(town), held(town)) == before, "everything is where it was")
    town.until_well(witness.now())
    return f"{door.restarted}, {look.looks} looks"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--store", choices=sorted(world.STORES), default="embedded")
    parser.add_argument("--order", nargs="*", choices=sorted(ORDERS), default=["zones", "random"])
    parser.add_argument("--shards", type=int, default=600)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="the folder stays")
    given = parser.parse_args()
    with World(given.program, given.store, given.shards, keep=given.keep) as town:
        try:
            town.begin()
            for order in given.order:
                begun = time.monotonic()
                # One of them ends its nodes properly, the other by force: they have nothing left to hand over.
                went = roll(town, order, signal.SIGTERM if order == "zones" else signal.SIGKILL, given.seed)
                print(f"{order}: {time.monotonic() - begun:.1f} s; {went}", flush=True)
            print("ok:", town.witness.tally(), flush=True)
        except (Failed, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            town.keep = True
            print(f"FAILED: --store {given.store} --seed {given.seed}: {type(error).__name__}: {error}\nwhat everybody said is in {town.folder}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
