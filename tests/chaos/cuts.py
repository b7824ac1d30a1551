#!/usr/bin/env python3
"""Networks that are cut: between a node and the daemons, in both directions or in one; between a daemon and the store, while nodes reach both; between a node and everybody;
and, by namespaces, between the members of a store, or through the middle of everything.

Usage: cuts.py PROGRAM [--fencing session|epoch] [--store served|etcd|zookeeper] [--network wires|namespaces] [--long] [--keep]

A node whose pulses are not heard is suspect. With `fencing: session` that changes nothing, for its session goes on; with `fencing: epoch` others lead at once.
If hardly anybody is heard, nobody is suspect: the controller doubts itself. --long has every kind of cut, and lets it last until connections give up by themselves.
"""
import argparse
import random
import subprocess
import sys
import time

import witness
import world
from world import WORKLOAD, Failed, World, expect

SECOND = witness.SECOND
GIVEN_UP = 20  # seconds; a silent connection is pinged after 10, and given up 5 later
TTL = 4  # seconds, of nodes' sessions and of the daemons': what is cut here is seldom a session, and a busy machine is not to end one
TRIES = 5  # of what holds only if nobody else loses a session meanwhile


def leads(town, node):
    """The shards that this process leads, by their epochs."""
    who = f"{node.name}:{node.process.pid}"
    tops = ((number, shard.top, shard.granted.get(shard.top)) for number, shard in enumerate(town.witness.shards))
    return {(number, top) for number, top, given in tops if given and given[0] == who}


def followed(town, before):
    """The shards among these that others lead since, because their leader was lost. One that was handed over was not."""
    active = town.active()
    found = set()
    for shard, epoch in before:
        if town.witness.shards[shard].top == epoch:
            continue
        now = active and active.ask(f"/api/v1/shards/{WORKLOAD}/{shard}")
        if not now or any(holder["node"] == now["leader"] and holder["reason"] == "failover" for holder in now["holders"]):
            found.add(shard)
    return found


def state(town, node):
    active = town.active()
    found = active and active.ask("/api/v1/nodes")
    return next((each for each in found["nodes"] if each["node"] == node.name), {}) if found else {}


def is_suspect(town, node):
    return state(town, node).get("suspect", False)


def suspects(town):
    return [node.name for node in town.nodes.values() if is_suspect(town, node)]


def until_heard(town):
    town.until("everybody's pulses come through", lambda: all(node.pulse.connections() for node in town.nodes.values()) and not suspects(town), why=lambda: str(suspects(town)))


def sessions_lost(town):
    return sum(node.log().count("the session is lost") for node in town.nodes.values())


def set_pulses(town, nodes, how):
    town.wires.set_all([node.pulse for node in nodes], how)


def last(town, long):
    """So long it is cut."""
    town.until_past(witness.now() + (GIVEN_UP if long else TTL) * SECOND)


def unless_disturbed(town, what):
    """`what` says what is wrong, or nothing. It counts if nobody has lost a session and the same daemon is active; otherwise once more. Who is disturbed each time
    has shown nothing."""
    for number in range(TRIES):
        before, active = sessions_lost(town), town.active()
        wrong = what()
        if not wrong:
            return
        town.until_well(witness.now(), calm=False)
        disturbed = sessions_lost(town) > before or town.active() is not active
        expect(disturbed and number + 1 < TRIES, f"{wrong} (try {number + 1}{', disturbed each time' if disturbed else ''})")
        print(f"  disturbed: {wrong}", flush=True)


def no_pulses(town, node, how, long):
    """Nothing is heard of a node that reaches the store. Over packets one that hears nothing is soon not heard either: nobody acknowledges what it sends."""

    def cut():
        town.until("it leads something", lambda: leads(town, node), why=lambda: str(state(town, node)))
        before = leads(town, node)
        town.wires.set(node.pulse, how)
        town.until(f"{node.name} is suspect", lambda: is_suspect(town, node))
        if town.fencing == "epoch":
            town.until("others lead", lambda: not leads(town, node), why=lambda: str(leads(town, node)))
        last(town, long)
        town.until_led(witness.now())
        lost = followed(town, before)
        known = state(town, node)
        town.wires.set(node.pulse, "whole")
        until_heard(town)
        town.until_well(witness.now(), calm=False)
        if town.fencing == "session" and lost:
            return f"{node.name} goes on leading: {len(before)} shards, and others lead {sorted(lost)}"
        return "its session is not over" if known.get("gone") else ""

    unless_disturbed(town, cut)


def no_answers(town, node, long):
    """It is heard, and hears nothing."""

    def cut():
        before = leads(town, node)
        town.wires.set(node.pulse, "deaf")
        last(town, False)
        town.until_led(witness.now())
        suspect, lost = is_suspect(town, node), followed(town, before)
        if long:
            last(town, True)
        town.wires.set(node.pulse, "whole")
        until_heard(town)
        town.until_well(witness.now(), calm=False)
        return f"{node.name} is heard, so nothing happens: suspect {suspect}, others lead {sorted(lost)}" if suspect or lost else ""

    unless_disturbed(town, cut)


def nobody_heard(town, how, long):
    """Pulses of all nodes are silent at once, sessions go on. Nobody is deposed, but that with `fencing: epoch` the first may be: the others are missed a moment later."""
    nodes = list(town.nodes.values())
    most = 1 if town.fencing == "epoch" else 0

    def cut():
        before = {node.name: leads(town, node) for node in nodes}
        set_pulses(town, nodes, how)
        town.until("none is heard", lambda: len(suspects(town)) == len(nodes), why=lambda: str(suspects(town)))
        last(town, long)
        town.until_led(witness.now())
        deposed = [name for name, shards in before.items() if followed(town, shards)]
        set_pulses(town, nodes, "whole")
        until_heard(town)
        town.until_well(witness.now(), calm=False)
        return f"the controller doubts itself, and yet others lead what these led: {deposed}" if len(deposed) > most else ""

    unless_disturbed(town, cut)


def daemon_without_store(town, how, long):
    """The active one: it lets go by itself, and the other one acts and hears all nodes. The standby: nobody notices."""
    town.until("a daemon acts", town.active)
    active = town.active()
    other = next(daemon for daemon in town.daemons if daemon is not active)
    town.wires.set(active.wire, how)
    town.until(f"{other.name} acts", lambda: (other.ask("/api/v1/cluster") or {}).get("active"))
    town.until(f"{active.name} knows that it does not", lambda: (active.ask("/api/v1/cluster") or {"active": True})["active"] is False)
    expect(active.status("/readyz") == 503, f"{active.name} is not ready")
    until_heard(town)
    last(town, long)
    town.until_led(witness.now())
    town.wires.set(active.wire, "whole")
    town.until(f"{active.name} is ready", lambda: active.status("/readyz") == 200)
    expect(town.active() is not None and not all((daemon.ask("/api/v1/cluster") or {}).get("active") for daemon in town.daemons), "one of them acts")

    def standby():
        acting = town.active()
        resting = next(daemon for daemon in town.daemons if daemon is not acting)
        before = set().union(*(leads(town, node) for node in town.nodes.values()))
        town.wires.set(resting.wire, how)
        town.until(f"{resting.name} notices", lambda: resting.status("/readyz") == 503)
        town.until_led(witness.now())
        lost = followed(town, before)
        town.wires.set(resting.wire, "whole")
        town.until(f"{resting.name} is ready", lambda: resting.status("/readyz") == 200)
        return "" if not lost and town.active() is acting else f"it changes nothing: others lead {sorted(lost)}"

    unless_disturbed(town, standby)
    town.until_well(witness.now(), calm=False)


def until_followed(town, nodes, refused):
    """Nodes that reach nobody are gone, and others lead. With `fencing: epoch` they do not know, and more is refused than was before."""
    town.until("they are gone", lambda: town.gone([node.name for node in nodes]), why=town.why_not_whole)
    town.until_led(witness.now())
    expect(not any(leads(town, node) for node in nodes), "others lead")
    if town.fencing == "epoch":
        town.until("what they write is refused", lambda: town.witness.refused > refused)


def until_back(town):
    town.until_well(witness.now(), calm=False)
    until_heard(town)


def alone(town, nodes, how, long):
    """Cut from the store, the daemons and each other: others lead, and when they are back all is well."""
    expect(all(leads(town, node) for node in nodes), "they lead something")
    refused = town.witness.refused
    for node in nodes:
        node.cut_off(how)
    until_followed(town, nodes, refused)
    last(town, long)
    for node in nodes:
        node.reach()
    until_back(town)


def member_apart(town, member, others, long):
    """A member of the store without these others, its peers alone or its clients too: the members that are left have a leader, every shard takes writes, and it stays so."""
    mend = town.part([member], others)
    town.until("another member leads", lambda: any(leader is not member for leader in town.store.leading()))
    town.until_led(witness.now())
    last(town, long)
    town.until("a daemon acts", town.active)
    town.until_led(witness.now())
    mend()
    until_back(town)


def split(town, member, nodes, long):
    """The daemon that acts, a member of the store and a zone are on one side, most of all on the other: there everything goes on, here nobody acts."""
    town.until("they lead something", lambda: any(leads(town, node) for node in nodes))
    town.until("a daemon acts", town.active)
    active = town.active()
    other = next(daemon for daemon in town.daemons if daemon is not active)
    refused = town.witness.refused
    mend = town.part([active, member, *nodes])
    town.until(f"{other.name} acts", lambda: (other.ask("/api/v1/cluster") or {}).get("active"))
    town.until(f"{active.name} knows that it does not", lambda: (active.ask("/api/v1/cluster") or {"active": True})["active"] is False)
    until_followed(town, nodes, refused)
    last(town, long)
    town.until_led(witness.now())
    mend()
    town.until(f"{active.name} is ready", lambda: active.status("/readyz") == 200)
    until_back(town)


def cuts(town, rng, long):
    """What is done, in turn: its name, and how."""
    leading = lambda: [name for name in sorted(town.nodes) if leads(town, town.nodes[name])]  # one that was suspect leads nothing for a while
    one = lambda: town.nodes[rng.choice(leading())]
    zone = lambda name: [town.nodes[each] for each in leading() if town.nodes[each].zone == name]
    for how in ("hold", "mute", "refuse") if long else ("mute",):
        yield f"nobody is heard: {how}", lambda: nobody_heard(town, how, long)
    packets = town.network == "namespaces"
    for how in ("hold", "mute", "refuse"):
        yield f"a node is not heard: {how}", lambda: no_pulses(town, one(), how, long)
    yield "a node hears nothing", lambda: no_pulses(town, one(), "deaf", long) if packets else no_answers(town, one(), long)
    for how in ("hold", "refuse") if long else ("hold",):
        yield f"a daemon without the store: {how}", lambda: daemon_without_store(town, how, long)
        yield f"a node alone: {how}", lambda: alone(town, [one()], how, long)
    if long:
        yield "a zone, each alone", lambda: alone(town, zone("z2"), "hold", long)
    if packets and len(town.store.members) > 1:
        yield from cuts_of_store(town, rng, long)


def cuts_of_store(town, rng, long):
    member = lambda: rng.choice(town.store.members)
    zone = lambda: [node for node in town.nodes.values() if node.zone == "z3"]
    peerless = lambda one: member_apart(town, one, town.store.members, long)
    yield "the store's leader without its peers", lambda: peerless(town.store.leader())
    yield "a split", lambda: split(town, member(), zone(), long)
    if long:
        yield "the store's leader alone", lambda: member_apart(town, town.store.leader(), None, long)
        yield "a member without its peers", lambda: peerless(member())
        yield "a member alone", lambda: member_apart(town, member(), None, long)
        yield "a split with the store's leader", lambda: split(town, town.store.leader(), zone(), long)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--fencing", choices=("session", "epoch"), default="session")
    parser.add_argument("--store", choices=("served", "etcd", "zookeeper"), default="served")
    parser.add_argument("--network", choices=sorted(world.NETWORKS), default="wires")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="everything, and until connections give up")
    parser.add_argument("--keep", action="store_true", help="the folder stays")
    given = parser.parse_args()
    with World(given.program, given.store, shards=600 if given.long else 120, keep=given.keep, fencing=given.fencing, network=given.network, ttl=TTL, controller_ttl=TTL) as town:
        what = "the start"
        try:
            town.begin()
            until_heard(town)
            for what, cut in cuts(town, random.Random(given.seed), given.long):
                begun = time.monotonic()
                cut()
                print(f"{what}: {time.monotonic() - begun:.1f} s", flush=True)
            town.until_well(witness.now())
            print("ok:", town.witness.tally(), flush=True)
        except (Failed, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            town.keep = True
            print(f"FAILED: --fencing {given.fencing} --store {given.store} --network {given.network} --seed {given.seed}: {what}: {type(error).__name__}: {error}\nwhat everybody said is in {town.folder}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
