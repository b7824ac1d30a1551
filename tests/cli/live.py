"""What tests of live processes share: patience, what they expect, and how they are run.

A test is a function test_…(program). `run_tests(globals())` runs those of a script, or those whose names have a part in common with the
second word of its command line.
"""
import os
import subprocess
import sys

PATIENCE = 60  # seconds; whoever waits so long has failed


class Failed(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failed(what)


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
