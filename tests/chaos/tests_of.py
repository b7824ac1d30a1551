"""How the scripts of this folder run their tests: functions test_…(program), or those whose names have a part in common with the second word of the command line."""
import os
import subprocess
import sys

from world import Failed


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
