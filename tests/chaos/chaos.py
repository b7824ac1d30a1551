#!/usr/bin/env python3
"""Real processes that die, stand still and are cut off, in seeded rounds; the witness sees that nothing went wrong, and everything comes back.

Usage: chaos.py PROGRAM [--store embedded|etcd|zookeeper] [--rounds 7] [--seed 1] [--first 1] [--fault NAME…] [--shards 600] [--fencing session|epoch]
                [--network wires|namespaces] [--keep]

A round breaks one thing or several, waits until those that are left lead every shard (where enough are left), mends, and waits until all is in its place. What the
round does depends on the seed and its number alone: --first 17 --rounds 1 does the seventeenth. When things happen depends on the machine, so that the
same round may go well the next time.

A failure says seed and round, and leaves the folder with what each process said.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import witness
import world
from world import TTL, Failed, World, expect

SECOND = witness.SECOND


class Round:
    """What is broken at the moment: which nodes do not take part, and how each is mended."""

    def __init__(self, town, rng):
        self.town, self.rng = town, rng
        self.away = set()  # nodes that cannot lead
        self.nobody_acts = False  # no store, or no daemon that reaches it: nobody can be elected or told anything
        self.disk_lost = False
        self.mend = []
        self.broken = set()  # processes that have their fault already

    def nodes(self, names):
        """Of these nodes those that are well; they are away from now on."""
        free = [self.town.nodes[name] for name in names if name not in self.away]
        self.away |= {node.name for node in free}
        return free

    def one(self):
        return self.nodes([self.rng.choice(sorted(self.town.nodes))])

    def zone(self):
        zone = self.rng.choice(("z1", "z2", "z3"))
        return self.nodes([name for name in sorted(self.town.nodes) if self.town.nodes[name].zone == zone])

    def take(self, process):
        """Whether that process, a daemon or a member of the store, is well; it is broken from now on."""
        if process is None or process.name in self.broken:
            return False
        self.broken.add(process.name)
        # The other members go on alone only if they are most of all.
        members, daemons = ([each.name in self.broken for each in all] for all in (self.town.store.members, self.town.daemons))
        self.nobody_acts = all(daemons) or 2 * sum(members) >= len(members)
        return True

    def zones(self):
        return {self.town.nodes[name].zone for name in self.away}


def kill(round, nodes):
    for node in nodes:
        node.kill()
        round.mend.append(node.start)


def stand_still(round, processes):
    for process in processes:
        process.signal(signal.SIGSTOP)
        round.mend.append(lambda process=process: process.signal(signal.SIGCONT))


def cut(round, processes, state):
    for process in processes:
        round.town.wires.set(process.wire, state)
        round.mend.append(lambda process=process: round.town.wires.set(process.wire, "whole"))


def kill_node(round):
    kill(round, round.one())


def kill_zone(round):
    kill(round, round.zone())


def lose_disk(round):
    """A node that comes back with an empty disk. One at a time: with two acknowledgements two copies may not be lost."""
    nodes = [] if round.disk_lost else round.one()
    round.disk_lost = True
    for node in nodes:
        node.kill()
        shutil.rmtree(node.data, ignore_errors=True)
        round.mend.append(node.start)


def pause_node(round):
    stand_still(round, round.one())


def pause_zone(round):
    stand_still(round, round.zone())


def cut_node(round):
    cut(round, round.one(), "hold")


def cut_zone(round):
    cut(round, round.zone(), "hold")


def refuse_node(round):
    cut(round, round.one(), "refuse")


def flicker(round):
    """Shorter than a session: it may be noticed or not."""
    nodes = round.one()
    cut(round, nodes, round.rng.choice(("hold", "refuse")))
    for node in nodes:
        round.town.until_past(witness.now() + round.rng.randrange(TTL * SECOND))
        round.town.wires.set(node.wire, "whole")
        round.away.discard(node.name)


def silence(round, nodes, state):
    """Of their pulses; they reach the store, and so they are not away."""
    pulses = [node.pulse for node in nodes]
    round.town.wires.set_all(pulses, state)
    round.mend.append(lambda: round.town.wires.set_all(pulses, "whole"))


def silence_node(round):
    silence(round, [round.town.nodes[round.rng.choice(sorted(round.town.nodes))]], round.rng.choice(("hold", "mute", "deaf", "refuse")))


def silence_all(round):
    silence(round, round.town.nodes.values(), round.rng.choice(("hold", "mute", "deaf", "refuse")))


def alone_node(round):
    """Neither the store, nor a daemon, nor any other node."""
    for node in round.one():
        node.cut_off(round.rng.choice(("hold", "refuse")))
        round.mend.append(node.reach)


def leave_node(round):
    """As an operator stops a service: its leaders move first."""
    for node in round.one():
        node.signal(signal.SIGTERM)

        def back(node=node):
            node.end()
            node.start()

        round.mend.append(back)


def acting(round):
    """Who acts; nobody, where another fault has seen to that."""
    found = []

    def look():
        found[:] = [round.town.active()]
        return found[0]

    if not look() and not round.nobody_acts:
        round.town.until("a daemon acts", look)
    return found[0]


def active_daemon(round):
    daemon = acting(round)
    return [daemon] if round.take(daemon) else []


def kill_daemon(round):
    kill(round, active_daemon(round))


def pause_daemon(round):
    stand_still(round, active_daemon(round))


def cut_daemon(round):
    daemon = acting(round)
    if daemon is None or daemon.wire is None:
        return kill_daemon(round)
    if round.take(daemon):
        cut(round, [daemon], round.rng.choice(("hold", "refuse")))
    return None


def member(round, one):
    return [one] if round.take(one) else []


def kill_member(round):
    """One that does not lead, where there is one: kill_store_leader has the other. While nobody acts the store may have no leader, and any will do."""
    members = round.town.store.members
    leader = round.town.store.leader() if len(members) > 1 and not round.nobody_acts else None
    kill(round, member(round, round.rng.choice([each for each in members if each is not leader])))


def kill_store_leader(round):
    if not round.nobody_acts:
        kill(round, member(round, round.town.store.leader()))


def pause_store_leader(round):
    if not round.nobody_acts:
        stand_still(round, member(round, round.town.store.leader()))


def part(round, ones, others=None):
    if ones:
        round.mend.append(round.town.part(ones, others))


def part_member(round):
    """From everybody."""
    part(round, member(round, round.rng.choice(round.town.store.members)))


def part_store_leader(round):
    """From its peers alone: its clients still reach it, and it can do nothing for them."""
    members = round.town.store.members
    if not round.nobody_acts and len(members) > 1:
        part(round, member(round, round.town.store.leader()), members)


def split(round):
    """A zone, a daemon and, where there are several, a member of the store on one side; most of all on the other."""
    members = round.town.store.members
    some = [round.rng.choice([daemon for daemon in round.town.daemons if daemon not in members])]
    some += [round.rng.choice(members)] if len(members) > 1 else []
    part(round, [process for process in some if round.take(process)] + round.zone())


FAULTS = {fault.__name__: fault for fault in (
    kill_node, kill_zone, lose_disk, pause_node, pause_zone, cut_node, cut_zone, refuse_node, flicker, silence_node, silence_all, alone_node, leave_node,
    kill_daemon, pause_daemon, cut_daemon, kill_member, kill_store_leader, pause_store_leader)}
# What no proxy can do.
PARTINGS = {fault.__name__: fault for fault in (part_member, part_store_leader, split)}
KNOWN = {"wires": FAULTS, "namespaces": FAULTS | PARTINGS}

# The first rounds of every run, so that a short one has met what matters; then the dice decide. They begin when all is calm, and whoever is left has to lead
# before anything is mended: so each of these faults is followed by somebody for certain.
KILLING = (("kill_node",), ("pause_node",), ("cut_node",), ("kill_daemon",), ("kill_member",), ("kill_store_leader",), ("kill_zone",),
           ("kill_member", "kill_node"), ("cut_node", "kill_store_leader"), ("pause_zone", "kill_daemon"))
CUTTING = (("split",), ("cut_zone", "part_store_leader"), ("alone_node",), ("part_member", "cut_daemon"), ("silence_all",))
OPENING = {"wires": KILLING, "namespaces": CUTTING + KILLING}


def choose(seed, number, network):
    opening = OPENING[network]
    if number <= len(opening):
        return list(opening[number - 1])
    rng = random.Random(f"{seed}/{number}")
    return [rng.choice(sorted(KNOWN[network])) for _ in range(rng.choice((1, 1, 2, 2, 3)))]


def play(town, faults, rng, calm=True, opening=False):
    """One round. Says how long each part took. Not calm: it begins while replicas may be on their way, so that a shard may have more of them in one zone
    than it should, and nobody can promise that those who are left may lead it. In an opening round the others lead meanwhile, unless the only store is lost."""
    laps = [time.monotonic()]

    def lap():
        laps.append(time.monotonic())
        return laps[-1] - laps[-2]

    broken = Round(town, rng)
    for fault in faults:
        KNOWN[town.network][fault](broken)
    expect(not (opening and broken.nobody_acts and len(town.store.members) > 1), "somebody is left who acts")
    town.until_past(witness.now() + TTL * SECOND * 3 // 2)
    words = []
    if not broken.nobody_acts:
        town.until(f"{sorted(broken.away)} are gone", lambda: town.gone(broken.away), why=lambda: town.why_not_whole())
        words.append(f"gone {lap():.1f} s")
    if calm and not broken.nobody_acts and len(broken.zones()) <= 1:
        town.until_led(witness.now())
        words.append(f"led {lap():.1f} s")
    for mend in broken.mend:
        mend()
    town.until_well(witness.now(), calm=False)
    words.append(f"well {lap():.1f} s")
    return ", ".join(words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--store", choices=sorted(world.STORES), default="embedded")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--fault", nargs="*", choices=sorted(FAULTS | PARTINGS), help="these in every round, whatever the seed")
    parser.add_argument("--shards", type=int, default=600)
    parser.add_argument("--fencing", choices=("session", "epoch"), default="session")
    parser.add_argument("--network", choices=sorted(KNOWN), default="wires")
    parser.add_argument("--keep", action="store_true", help="the folder stays")
    given = parser.parse_args()
    unknown = set(given.fault or ()) - set(KNOWN[given.network])
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: only with --network namespaces")
    number = 0
    with World(given.program, given.store, given.shards, keep=given.keep, fencing=given.fencing, network=given.network) as town:
        try:
            begun = time.monotonic()
            town.begin()
            print(f"{given.store}: {len(town.nodes)} nodes lead {given.shards} shards after {time.monotonic() - begun:.1f} s; {town.folder}", flush=True)
            for number in range(given.first, given.first + given.rounds):
                faults = given.fault or choose(given.seed, number, given.network)
                rng = random.Random(f"{given.seed}/{number}/where")
                opening = not given.fault and number <= len(OPENING[given.network])
                calm = rng.random() < 0.7 or opening
                if calm:
                    town.until_well(0)
                went = play(town, faults, rng, calm, opening)
                print(f"round {number}: {' and '.join(faults)}{'' if calm else ', in a hurry'}: {went}", flush=True)
            town.until_well(witness.now())
            print("ok:", town.witness.tally(), flush=True)
        except (Failed, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            town.keep = True
            print(f"FAILED: --store {given.store} --fencing {given.fencing} --network {given.network} --seed {given.seed} --first {number} --rounds 1: {type(error).__name__}: {error}\nwhat everybody said is in {town.folder}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
