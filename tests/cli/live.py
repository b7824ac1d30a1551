"""What tests of live processes share: patience, what they expect, and how they are run.

A test is a function test_…(program). `run_tests(globals())` runs those of a script, or those whose names have a part in common with the
second word of its command line.
"""
import os
import subprocess
import sys
import time

PATIENCE = 60  # seconds; whoever waits so long has failed
LOOK_EVERY = 0.03  # seconds between two looks: what is looked at needs the processors as well


class Failed(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failed(what)


def until(what, good, patience=2 * PATIENCE, why=lambda: ""):
    """What `good` says, as soon as it says something."""
    give_up = time.monotonic() + patience
    while not (said := good()):
        if time.monotonic() > give_up:
            raise Failed(f"not so in time: {what}\n{why()}")
        time.sleep(LOOK_EVERY)
    return said


def run_tests(names):
    program = os.path.abspath(sys.argv[1])
    failed = 0
    for name, test in list(names.items()):
        if not name.startswith("test_") or (len(sys.argv) > 2 and sys.argv[2] not in name):
            continue
        try:
            test(program)
            print("ok:", name, flush=True)
        except (Failed, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            print("FAILED:", name, f"{type(error).__name__}: {error}", flush=True)
            failed += 1
    return 1 if failed else 0
