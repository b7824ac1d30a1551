#!/usr/bin/env python3
"""Fail-over of real processes: nodes in three zones, three replicas, on each store. One JSON line a case.

Usage: failover.py PROGRAM [--store embedded etcd zookeeper] [--shards 600 6000] [--nodes 12] [--kills 20] [--ttl 2] [--fencing session|epoch] [--idle 10]

  bring_up   a workload is created: until every shard is led, and a router knows it; what processes used and the store was asked until then
  failover   a node is killed: until the end of its session is proved and written down (seen), until the last replica of the shards that it led is sealed for
             the next epoch, until the first and the last of these shards are given to others, who hear of it, and until a router knows all of them. Median and
             worst; from the kill, and from `seen`. And the cpu that was used from the kill until then, a fail-over: how much of the time is work that the
             cores of one machine share; and how often and for how long daemons decided, and how long a write took
  idle       a cluster that does nothing: cpu of daemons, of nodes and of the store's own processes, in percent of one core, and writes a second; and requests a second,
             reads and renewals with them, where the store counts what it is asked (etcd: messages over gRPC; ZooKeeper: packets, pings too; ours: what its engine is asked, by the daemon that it is in too)

Each time is taken by the process that it concerns, by one clock of this host. Nodes write nothing and have nothing to copy. `seen` is not later than it would
be for a client of the store; with `--fencing epoch` leaders are followed before it, so that only the times from the kill say something.
"""
import argparse
import json
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/chaos"))

import witness  # noqa: E402
from world import CLUSTER, PATIENCE, Failed, Process, World  # noqa: E402

SECOND = witness.SECOND


class Observer(Process):
    """Who leads each shard, as a router knows it, and since when; and when each node's session was over."""

    def __init__(self, town):
        super().__init__(town, "observer", os.path.join(os.path.dirname(town.ledger), "observer"), "--store", town.store.url(), "--cluster", CLUSTER)
        self.leaders, self.ends = {}, {}

    def look(self):
        """What it has said since the last look."""
        for words in self.news():
            if words[0] == "r" and self.leaders.get(int(words[2]), ("", 0))[0] != words[4]:
                self.leaders[int(words[2])] = (words[4], int(words[1]))
            elif words[0] == "s":
                self.ends[words[2]] = int(words[1])


def milliseconds(nanoseconds):
    return round(nanoseconds / 1e6, 1)


def say(case, store, shards, **numbers):
    print(json.dumps({"bench": "failover", "case": case, "backend": store, "shards": shards, **numbers}), flush=True)


def led(town, observer, but=None):
    observer.look()
    return len(observer.leaders) == town.shards and all(leader not in ("-", but) for leader, _ in observer.leaders.values())


def wait(town, good, why):
    """As World.until, but that it looks seldom: who looks at thousands of shards with each line that is said takes the processor from those who are measured."""
    give_up = time.monotonic() + PATIENCE
    while not good():
        town.check()
        if time.monotonic() > give_up:
            raise Failed(f"not so after {PATIENCE} s: {why()}")
        time.sleep(0.25)


def calm(town, observer, before=None):
    """Everybody is in its place, and leads what it led before."""
    return led(town, observer) and town.why_not_calm() == "" and before in (None, {shard: leader for shard, (leader, _) in observer.leaders.items()})


def bring_up(town, observer, given):
    used, asked = cpu_of(town), town.store.requests()
    begun = witness.now()
    town.apply()
    wait(town, lambda: led(town, observer), town.why_not_whole)
    used = {f"{kind}_cpu_ms": round(1000 * (seconds - used[kind])) for kind, seconds in cpu_of(town).items()}
    again = town.store.requests()
    granted = max(at for shard in town.witness.shards for _, at, _ in shard.granted.values())
    known = max(at for _, at in observer.leaders.values())
    town.until("all is calm", lambda: calm(town, observer), why=town.why_not_calm)
    requests = None if asked is None or again is None else round(again - asked)
    say("bring_up", given.backend, town.shards, led_ms=milliseconds(granted - begun), known_ms=milliseconds(known - begun), requests=requests, **used)


def cpu(process):
    """Seconds of cpu that it has used."""
    with open(f"/proc/{process.process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of(town):
    """The same of all processes of a kind."""
    kinds = {"daemons": town.daemons, "nodes": list(town.nodes.values()), "store": [member for member in town.store.members if member not in town.daemons]}
    return {kind: sum(cpu(process) for process in processes if process.runs()) for kind, processes in kinds.items()}


def decisions_of(town):
    """Of all daemons, as they count themselves: what deciding and writing took."""
    names = {"steps": "step_seconds_count", "step_s": "step_seconds_sum", "writes": "commit_seconds_count", "write_s": "commit_seconds_sum"}
    return {short: sum(sum(daemon.metrics("evenkeel_control_" + name)) for daemon in town.daemons if daemon.runs()) for short, name in names.items()}


def kill_one(town, observer, name):
    """Moments after the kill: seen, the last sealed, the first and the last granted, the last known to the router; and what was used and decided in that time."""
    before = {shard: leader for shard, (leader, _) in observer.leaders.items()}
    lost = [shard for shard, leader in before.items() if leader == name]
    observer.ends.pop(name, None)
    decided = decisions_of(town)
    begun = witness.now()
    town.nodes[name].kill()
    used = cpu_of(town)
    wait(town, lambda: led(town, observer, name) and name in observer.ends, town.why_not_whole)
    used = {kind: seconds - used[kind] for kind, seconds in cpu_of(town).items()}
    decided = {kind: number - decided[kind] for kind, number in decisions_of(town).items()}
    heard = [town.witness.shards[shard] for shard in lost]
    granted = [shard.granted[max(shard.granted)][1] for shard in heard]
    sealed = max(shard.sealed.get(max(shard.granted), 0) for shard in heard)
    known = max(observer.leaders[shard][1] for shard in lost)
    seen = observer.ends[name]
    town.nodes[name].start()
    town.until("it leads what it led before", lambda: calm(town, observer, before), why=town.why_not_calm)
    return [moment - begun for moment in (seen, sealed, min(granted), max(granted), known)], used, decided


def failover(town, observer, given):
    names = sorted(town.nodes)
    kills = [kill_one(town, observer, names[i % len(names)]) for i in range(given.kills)]
    times = [moments for moments, _, _ in kills]
    numbers = {f"{kind}_cpu_ms": round(1000 * statistics.mean(used[kind] for _, used, _ in kills)) for kind in kills[0][1]}
    decided = {kind: statistics.median(each[kind] for _, _, each in kills) for kind in kills[0][2]}
    numbers |= {"steps": decided["steps"], "steps_ms": round(1000 * decided["step_s"], 1), "writes": decided["writes"]}
    numbers["write_ms"] = round(1000 * decided["write_s"] / max(1, decided["writes"]), 1)
    for i, part in enumerate(("seen", "all_sealed", "first_leader", "all_leaders", "router")):
        after = [time[i] for time in times]
        numbers[part + "_ms"] = [milliseconds(statistics.median(after)), milliseconds(max(after))]
        if part != "seen" and given.fencing == "session":
            since = [time[i] - time[0] for time in times]
            numbers[part + "_after_seen_ms"] = [milliseconds(statistics.median(since)), milliseconds(max(since))]
    say("failover", given.backend, town.shards, kills=given.kills, ttl_s=given.ttl, fencing=given.fencing, **numbers)


def idle(town, given):
    revision = lambda: json.loads(town.run("store", "status", "-o", "json"))["revision"]
    begun, before, first, asked = witness.now(), cpu_of(town), revision(), town.store.requests()
    town.until_past(begun + given.idle * SECOND)
    again = town.store.requests()
    requests = None if asked is None or again is None else again - asked
    after, last, passed = cpu_of(town), revision(), (witness.now() - begun) / SECOND
    shares = {f"{kind}_cpu_percent": round(100 * (after[kind] - before[kind]) / passed, 1) for kind in after}
    say("idle", given.backend, town.shards, seconds=round(passed, 1), writes_per_second=round((last - first) / passed, 1),
        requests_per_second=None if requests is None else round(requests / passed, 1), ttl_s=given.ttl, **shares)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--store", nargs="*", default=["embedded", "etcd", "zookeeper"])
    parser.add_argument("--shards", nargs="*", type=int, default=[600, 6000])
    parser.add_argument("--nodes", type=int, default=12)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--ttl", type=int, default=2)
    parser.add_argument("--fencing", choices=("session", "epoch"), default="session")
    parser.add_argument("--idle", type=int, default=10)
    given = parser.parse_args()
    for given.backend in given.store:
        for shards in given.shards:
            with World(given.program, given.backend, shards, given.nodes, ttl=given.ttl, words=("--every", "0s"), wired=False, fencing=given.fencing) as town:
                observer = Observer(town)
                town.others.append(observer)
                town.start()
                observer.start()
                bring_up(town, observer, given)
                if given.kills > 0:
                    failover(town, observer, given)
                if given.idle > 0:
                    idle(town, given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
