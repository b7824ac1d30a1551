#!/usr/bin/env python3
"""Everything of this folder in its long form, one after the other, on each of these stores and with each way of fencing; and one summary.

Usage: long.py PROGRAM [--store embedded|etcd|zookeeper|all…] [--fencing session|epoch…] [--rounds 100] [--seed 1] [--network wires|namespaces]

What fails is shown where it fails, and the rest goes on.
"""
import argparse
import os
import subprocess
import sys
import time

import world

STORES = ("embedded", "etcd", "zookeeper")
FOLDER = os.path.dirname(os.path.abspath(__file__))


def scripts(given, store, fencing):
    """Each with its words."""
    on = ("--store", store, "--fencing", fencing)
    # Who cuts a daemon from its store needs one in a process of its own.
    apart = ("--store", "served" if store == "embedded" else store, "--fencing", fencing)
    yield ("versions.py", *on)
    yield ("formats.py", *on, "--long")
    for network in sorted(world.NETWORKS, reverse=True):
        yield ("cuts.py", *apart, "--long", "--network", network, "--seed", given.seed)
    yield ("rollout.py", *on)
    yield ("names.py", *on, "--long")
    yield ("store_loss.py", *on, "--long")
    yield ("chaos.py", *on, "--rounds", given.rounds, "--seed", given.seed, "--network", given.network)
    if store == "embedded":
        yield ("chaos.py", *apart, "--rounds", given.rounds, "--seed", given.seed, "--network", given.network)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--store", nargs="+", choices=(*STORES, "all"), default=["embedded"])
    parser.add_argument("--fencing", nargs="+", choices=("session", "epoch"), default=["session"])
    parser.add_argument("--rounds", default="100")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--network", choices=sorted(world.NETWORKS), default="wires")
    given = parser.parse_args()
    done = []
    for store in STORES if "all" in given.store else given.store:
        for fencing in given.fencing:
            for script, *words in scripts(given, store, fencing):
                begun = time.monotonic()
                print(f"{script} {' '.join(words)}", flush=True)
                status = subprocess.call([sys.executable, "-B", os.path.join(FOLDER, script), given.program, *words])
                done.append(f"{'ok:' if status == 0 else 'FAILED:'} {script} {' '.join(words)}, {time.monotonic() - begun:.0f} s")
    print("\n".join(done), flush=True)
    return 1 if any(line.startswith("FAILED") for line in done) else 0


if __name__ == "__main__":
    sys.exit(main())
