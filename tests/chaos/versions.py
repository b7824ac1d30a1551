#!/usr/bin/env python3
"""Two versions in one cluster, there and back, with kill -9 in between: no field that only one of them knows is in the way of the other.

Usage: versions.py PROGRAM [--store embedded|etcd|zookeeper] [--fencing session|epoch] [--keep]

The later version is this one, but that it writes more (later.cmake). Nodes become later zone by zone under a controller of this version, the daemons then, and the last
zone under a later controller. Back it goes in another order.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

import witness
import world
from world import CLUSTER, WORKLOAD, Failed, World, expect

LATER = "later"
# What a process says that could not read something. That a store does not answer for a moment is something else.
COMPLAINT = re.compile(r"a (?:target|workload) cannot be read|is no (?:session's beat|lock|beat)|has format|lacks the field|expected a|twice in one map|not known")
# Which documents there are when everybody is later, and where the entries are that have such a field as well.
ENTRIES = {"config": ("settings",), "nodes": (), "workloads": (), "live": (), "members": (), "beats": (), "reports": ("replicas",), "shards": ("shards", "holders"),
           "targets": ("replicas",), "view": ("shards",), "office": (), "controllers": (), "controller_epoch": (), "waits": ()}


def zone(town, name):
    return [node for node in town.nodes.values() if node.zone == name]


def active_and_standby(town):
    town.until("a daemon acts", town.active)
    active = town.active() or town.daemons[0]
    return active, next(daemon for daemon in town.daemons if daemon is not active)


def roll(town, processes, version, how="kill"):
    """All of them at once, killed or asked to leave, and started again as the other version."""
    begun = time.monotonic()
    for process in processes:
        process.signal(signal.SIGKILL if how == "kill" else signal.SIGTERM)
    for process in processes:
        process.process.wait(world.PATIENCE)
        process.become(version)
        process.start()
    town.until_well(witness.now(), calm=False)
    town.until("everybody is heard", lambda: is_heard(town), why=lambda: str({node.name: node.pulse.connections() for node in town.nodes.values()}))
    print(f"{' '.join(process.name for process in processes)}: {version}, {how}, {time.monotonic() - begun:.1f} s", flush=True)


def is_heard(town):
    """Whether the active controller takes the pulses of all."""
    active = town.active()
    taken = active and active.metric("evenkeel_control_pulse_connections")
    nodes = active and active.ask("/api/v1/nodes")
    return bool(taken and nodes) and taken >= len(town.nodes) and not any(node["suspect"] for node in nodes["nodes"])


def documents(town):
    """Kind, and what is in the document."""
    listed = json.loads(town.run("store", "list", f"/evenkeel/{CLUSTER}", "-o", "json"))
    for entry in listed["entries"]:
        yield entry["key"].split("/")[3], json.loads(entry["value"])


def parts(document, path):
    """The entries of a document, and those within them."""
    if not path:
        return [document]
    found = document.get(path[0], [])
    inner = [part for item in (found if isinstance(found, list) else [found]) for part in parts(item, path[1:])]
    return [document, *inner]


def not_later(town):
    """Kinds of documents of which none was written by the later version, and of which one was without what is in its entries."""
    good, bad = set(), set()
    for kind, document in documents(town):
        if LATER not in document:
            continue
        whole = all(LATER in part for part in parts(document, ENTRIES.get(kind, ())))
        (good if whole else bad).add(kind)
    return sorted(set(ENTRIES) - good), sorted(bad)


def lives(town):
    return [document for kind, document in documents(town) if kind == "live"]


def there(town):
    active, standby = active_and_standby(town)
    roll(town, zone(town, "z1"), LATER)
    roll(town, zone(town, "z2"), LATER, "leave")
    roll(town, [standby], LATER)
    roll(town, [active], LATER)
    roll(town, zone(town, "z3"), LATER)


def say_more(town):
    """What operators write, by the later program too. The order is obeyed at once, and gone."""
    later = os.path.join(os.path.dirname(town.ledger), "evenkeel_later")
    town.apply(later, delay="6m", linger="2s")
    town.run("node", "set", "n1", "labels.disk=ssd", program=later)
    town.run("shard", "lead", f"{WORKLOAD}/0", town.active().ask(f"/api/v1/shards/{WORKLOAD}/0")["placement"][1], program=later)
    town.until("every kind of document is the later version's", lambda: not_later(town) == ([], []), why=lambda: str(not_later(town)))
    expect(all(live["version"] == LATER and live["reads"] > 2 for live in lives(town)), "nodes say that they are later")


def back(town):
    active, standby = active_and_standby(town)
    roll(town, [active, *zone(town, "z3")], "this")
    roll(town, zone(town, "z1"), "this", "leave")
    roll(town, [standby], "this")
    roll(town, zone(town, "z2"), "this")
    expect(all(live["version"] != LATER and LATER not in live for live in lives(town)), "nodes are of this version again")
    town.until_well(witness.now())


def complaints(town):
    return [f"{process.name}: {line}" for process in [*town.daemons, *town.nodes.values()] for line in process.log().splitlines() if COMPLAINT.search(line)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--store", choices=sorted(world.STORES), default="embedded")
    parser.add_argument("--fencing", choices=("session", "epoch"), default="session")
    parser.add_argument("--keep", action="store_true", help="the folder stays")
    given = parser.parse_args()
    with World(given.program, given.store, keep=given.keep, fencing=given.fencing) as town:
        try:
            town.begin()
            there(town)
            say_more(town)
            back(town)
            expect(not complaints(town), "everybody reads everything:\n  " + "\n  ".join(complaints(town)[:10]))
            print("ok:", town.witness.tally(), flush=True)
        except (Failed, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            town.keep = True
            print(f"FAILED: {type(error).__name__}: {error}\nwhat everybody said is in {town.folder}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
