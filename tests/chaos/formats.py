#!/usr/bin/env python3
"""A document of a higher format than this version reads: it is refused, and that is said; nothing else stands still; and once it is replaced it is followed again.

Usage: formats.py PROGRAM [PART OF A TEST'S NAME] [--store embedded|etcd|zookeeper] [--fencing session|epoch] [--long]
"""
import json
import sys

import witness
from world import CLUSTER, FORM, WORKLOAD, World, expect, run_on_store

SECOND = witness.SECOND
STEADY_TTL = 4  # seconds: no node is stopped here, and so none may end by itself
HIGHER = 99
ROOT = f"/evenkeel/{CLUSTER}/"


def world(program, store):
    return World(program, store, **FORM, ttl=STEADY_TTL, steady=True)


def raise_format(town, key):
    """Puts the document there again, in a higher format. What it was is returned."""
    old = town.run("store", "get", ROOT + key)
    document = json.loads(old)
    document["format"] = HIGHER
    town.run("store", "put", ROOT + key, json.dumps(document))
    return old


def is_raised(town, key):
    return json.loads(town.run("store", "get", ROOT + key))["format"] == HIGHER


def refusal(key):
    return f"{ROOT}{key} has format {HIGHER}, and this version reads up to"


def until_refused(town, key, process):
    town.until(f"{process.name} says that it does not read {key}", lambda: refusal(key) in process.log())


def told(daemon):
    """What happened, as that daemon says; nothing, if it does not answer."""
    return [event["text"] for event in (daemon.ask("/api/v1/events") or {"events": []})["events"]]


def fail_over(town, name, spare=()):
    """That node dies, and others lead what it led, but for these shards."""
    town.nodes[name].kill()
    town.until(f"{name} is gone", lambda: town.gone([name]))
    since = witness.now()
    town.until("every other shard takes writes", lambda: set(town.witness.led_since(since)) <= set(spare), why=lambda: town.why_not_led(since))


def leader_of_one(town, target):
    """Who leads one of the shards that this target tells a node to follow: if it dies the node has to be told something else."""
    followed = [replica["shard"] for replica in target["replicas"] if replica["state"] == "follower"]
    leaders = []

    def asked():
        active = town.active()
        found = active and active.ask(f"/api/v1/shards/{WORKLOAD}/{followed[0]}")
        leaders[:] = [found["leader"]] if found and found["leader"] else []
        return leaders

    town.until(f"somebody leads shard {followed[0]}", asked)
    return leaders[0]


def take_over(town):
    """The active daemon dies, and another one acts, or the same as another process: it knows only what it reads."""
    active = town.active() or town.daemons[0]
    active.kill()
    active.start()
    town.until("a daemon acts", town.active)


def test_a_workload(program, store):
    """What was known of it holds, also for a fail-over. A new controller knows nothing, and leaves everything as it is."""
    key = f"workloads/{WORKLOAD}"
    with world(program, store) as town:
        town.begin()
        old = raise_format(town, key)
        for daemon in town.daemons:
            until_refused(town, key, daemon)
        town.until("the daemon that acts tells whoever asks", lambda: (active := town.active()) and any(refusal(key) in text for text in told(active)))
        fail_over(town, "n1")
        town.nodes["n1"].start()
        take_over(town)
        town.until_past(witness.now() + STEADY_TTL * SECOND * 3 // 2)
        expect(is_raised(town, key), "nobody wrote over it")
        town.check()
        town.run("store", "put", ROOT + key, old)
        town.until_well(witness.now())
        fail_over(town, "n2")
        town.nodes["n2"].start()
        town.until_well(witness.now())


def test_a_target(program, store):
    """The node goes on with what it was told before, and the others are not concerned. The next one that it can read it follows."""
    with world(program, store) as town:
        town.begin()
        key = f"targets/n1/{WORKLOAD}/0"
        node = town.nodes["n1"]
        old = raise_format(town, key)
        until_refused(town, key, node)
        town.until_past(witness.now() + STEADY_TTL * SECOND)
        town.until_led(witness.now())
        expect(is_raised(town, key), "nobody wrote over it for no reason")
        town.run("store", "put", ROOT + key, old)
        town.until_led(witness.now())
        other = leader_of_one(town, json.loads(old))
        raise_format(town, key)
        fail_over(town, other)
        town.until("the controller has replaced it", lambda: not is_raised(town, key))
        town.nodes[other].start()
        town.until_well(witness.now())


def test_records(program, store):
    """The truth about some shards: they rest, and the others do not."""
    with world(program, store) as town:
        town.begin()
        key = f"shards/{WORKLOAD}/0"
        spare = [record["shard"] for record in json.loads(town.run("store", "get", ROOT + key))["shards"]]
        expect(0 < len(spare) < town.shards, "there are others")
        old = raise_format(town, key)
        for daemon in town.daemons:
            until_refused(town, key, daemon)
        fail_over(town, "n1", spare)
        take_over(town)
        town.nodes["n1"].start()
        since = witness.now()
        town.until("every other shard takes writes", lambda: set(town.witness.led_since(since)) <= set(spare), why=lambda: town.why_not_led(since))
        expect(is_raised(town, key), "nobody wrote over it")
        town.run("store", "put", ROOT + key, old)
        town.until_well(witness.now())


def test_an_operators_word_about_a_node(program, store):
    """What was known of that node holds, and no command writes over it."""
    with world(program, store) as town:
        town.begin()
        key = "nodes/n1"
        town.run("node", "set", "n1", "labels.disk=ssd")
        old = raise_format(town, key)
        for daemon in town.daemons:
            until_refused(town, key, daemon)
        fail_over(town, "n2")
        town.nodes["n2"].start()
        expect(is_raised(town, key), "nobody wrote over it")
        refused = town.run("node", "set", "n1", "labels.disk=hdd", status=None)
        expect(is_raised(town, key), f"nor does a command: {refused}")
        town.run("store", "put", ROOT + key, old)
        town.run("node", "set", "n1", "labels.disk=hdd")
        town.until_well(witness.now())


def until_unfit(town, key):
    """No daemon acts, or keeps another from it, and each says why, also one that has just been started."""
    for daemon in town.daemons:
        town.until(f"{daemon.name} is not ready", lambda: daemon.status("/readyz") == 503)
        town.until(f"{daemon.name} tells of it", lambda: any(f"format {HIGHER}" in text for text in told(daemon)))
        expect(key in daemon.log(), f"{daemon.name} has {key} in its log")
    town.until("nobody acts", lambda: town.active() is None)


def test_the_controllers_epoch(program, store):
    """Nobody who cannot read it raises it. The office is free for one who can; services go on meanwhile."""
    key = "controller_epoch"
    with world(program, store) as town:
        town.begin()
        old = raise_format(town, key)
        until_unfit(town, key)
        town.until("the office is free", lambda: json.loads(town.run("store", "get", ROOT + "office/controller"))["owner"] == "")
        expect(is_raised(town, key), "nobody wrote over it")
        town.until_led(witness.now())
        town.run("store", "put", ROOT + key, old)
        town.until("a daemon acts", town.active)
        fail_over(town, "n1")
        town.nodes["n1"].start()
        town.until_well(witness.now())


def test_the_office(program, store):
    """Who has it cannot be read: it may be somebody, so nobody takes it."""
    key = "office/controller"
    with world(program, store) as town:
        town.begin()
        raise_format(town, key)
        until_unfit(town, key)
        expect(is_raised(town, key), "nobody wrote over it")
        town.run("store", "put", ROOT + key, '{"format":1,"owner":"","token":1}')
        town.until("a daemon acts", town.active)
        fail_over(town, "n1")
        town.nodes["n1"].start()
        town.until_well(witness.now())


if __name__ == "__main__":
    sys.exit(run_on_store(globals()))
