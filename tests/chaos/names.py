#!/usr/bin/env python3
"""Two processes under one name: only one of them acts, whatever becomes of the other. And one that does not ask whether it may.

Usage: names.py PROGRAM [PART OF A TEST'S NAME] [--store embedded|etcd|zookeeper] [--fencing session|epoch] [--long]
"""
import os
import signal
import sys

import witness
from world import FORM, TTL, Failed, Node, World, expect, run_on_store

SECOND = witness.SECOND


def world(program, store):
    return World(program, store, **FORM)


def twin(town, name, data):
    """Another process of that name, with a log of its own."""
    node = Node(town, name, town.nodes[name].zone, data=data)
    node.name = name + ".twin"
    town.others.append(node)
    node.start()
    return node


def known_as(process):
    """To the witness."""
    return f"{process.name.removesuffix('.twin')}:{process.process.pid}"


def acts(town, process):
    """Whether that process leads anything now: a write of it was taken lately, at the highest epoch of the shard. Only to be waited for: one that is slow has not written."""
    who = known_as(process)
    return any((wrote := shard.wrote.get(shard.top)) and wrote[0] == who and wrote[1] > witness.now() - SECOND for shard in town.witness.shards)


def spells(town, process):
    """From when to when it led, shard by shard and epoch by epoch, as far as it is known."""
    who = known_as(process)
    for shard in town.witness.shards:
        for epoch, (given, since, _) in list(shard.granted.items()):
            if given == who:
                yield since, shard.led.get(epoch, (who, since))[1]


def has_led(town, process):
    return any(True for _ in spells(town, process))


def check_apart(town, one, other):
    """At no time did both act, be it for different shards: a name is one process's. With `fencing: epoch` the one that has lost it may not know, and is refused."""
    if town.fencing == "epoch":
        return
    firsts, seconds = list(spells(town, one)), list(spells(town, other))
    both = [(since, upto) for a in firsts for b in seconds if (since := max(a[0], b[0])) < (upto := min(a[1], b[1]))]
    expect(not both, f"{one.name} and {other.name} acted together {len(both)} times, once for {max((upto - since for since, upto in both), default=0) / SECOND:.6f} s")


def a_while(town):
    """Long enough for a session to end and another to begin, if somebody were to let that happen."""
    town.until_past(witness.now() + 2 * TTL * SECOND)


def take_over_and_come_back(town, second):
    """The first is there and acts, so the second waits. When the first stands still the second may act; when it goes on, still one alone does."""
    first = town.nodes["n1"]
    a_while(town)
    town.until("the first acts", lambda: acts(town, first))
    expect(not has_led(town, second) or "the session is lost" in first.log(), "the second waits")
    town.until_well(witness.now())
    first.signal(signal.SIGSTOP)
    a_while(town)
    town.until_led(witness.now())
    first.signal(signal.SIGCONT)
    a_while(town)
    town.until_led(witness.now())
    check_apart(town, first, second)


def test_another_disk(program, store):
    with world(program, store) as town:
        town.begin()
        second = twin(town, "n1", "another.data")
        take_over_and_come_back(town, second)
        town.until("the name is the second's, with its own disk", lambda: acts(town, second))
        town.until_well(witness.now())
        second.kill()
        town.until("the first has its name again", lambda: acts(town, town.nodes["n1"]))
        town.until_well(witness.now())
        check_apart(town, town.nodes["n1"], second)


def test_the_same_disk(program, store):
    with world(program, store) as town:
        town.begin()
        second = twin(town, "n1", "n1.data")
        take_over_and_come_back(town, second)
        first = town.nodes["n1"]
        # It has the folder for as long as it lives, whatever becomes of its session; but one that ended by itself has let go of it.
        ended = lambda: "n1" in town.restarts
        if not ended():
            town.until("the first acts again", lambda: acts(town, first) or ended())
        expect(not has_led(town, second) or ended(), "nobody acts without the folder")
        first.kill()
        town.until("the second follows", lambda: acts(town, second))
        town.until_well(witness.now())
        check_apart(town, first, second)


def test_three_of_one_disk(program, store):
    """The third gets the folder when the first dies, or the second does: never both."""
    with world(program, store) as town:
        town.begin()
        second = twin(town, "n1", "n1.data")
        a_while(town)
        town.nodes["n1"].kill()
        town.until("the second has the name", lambda: acts(town, second))
        town.nodes["n1"].start()
        a_while(town)
        town.until("the second acts", lambda: acts(town, second))
        expect(not has_led(town, town.nodes["n1"]), "the third waits")
        town.until_well(witness.now())
        expect(not has_led(town, town.nodes["n1"]), "the third still waits")


def test_a_waiting_process_knows_what_was_written_meanwhile(program, store):
    """Writes that n1 and zone z2 have, and z3 has not. Then n1 stands still and z2 is gone: whoever begins as n1 must not lead with what it read long ago."""
    with world(program, store) as town:
        town.begin()
        twin(town, "n1", "n1.data")
        z2, z3 = ([node.name for node in town.nodes.values() if node.zone == zone] for zone in ("z2", "z3"))
        for name in z3:
            town.nodes[name].signal(signal.SIGSTOP)
        town.until("z3 is gone", lambda: town.gone(z3))
        town.until_led(witness.now())
        for name in z2:
            town.nodes[name].kill()
        town.nodes["n1"].signal(signal.SIGSTOP)
        for name in z3:
            town.nodes[name].signal(signal.SIGCONT)
        a_while(town)
        town.check()
        town.nodes["n1"].signal(signal.SIGCONT)
        for name in z2:
            town.nodes[name].start()
        town.until_well(witness.now())


def test_a_successor_does_not_wait(program, store):
    with world(program, store) as town:
        town.begin()
        first = town.nodes["n1"]
        second = twin(town, "n1", "n1.data")
        first.kill()
        town.until("the second has the name", lambda: acts(town, second))
        town.until_well(witness.now())
        expect(os.path.exists(os.path.join(first.data, "evenkeel.id")), "on the same disk")


def test_who_does_not_ask_is_found_out(program, store):
    """Of the witness itself: nodes that write without asking whether they may lead are seen to, after they stood still for longer than their sessions."""
    with World(program, store, **{**FORM, "fencing": "session"}, words=("--asks", "no")) as town:
        town.begin()
        for _ in range(10):
            for node in (town.nodes["n1"], town.nodes["n4"]):
                node.signal(signal.SIGSTOP)
            town.until_past(witness.now() + 2 * TTL * SECOND)
            town.until_led(witness.now())
            for node in (town.nodes["n1"], town.nodes["n4"]):
                node.signal(signal.SIGCONT)
            try:
                town.until_past(witness.now() + TTL * SECOND)
                town.until_well(witness.now())
            except Failed as found:
                expect("might lead at epoch" in str(found), str(found))
                return
        raise Failed("nobody noticed")


if __name__ == "__main__":
    sys.exit(run_on_store(globals()))
