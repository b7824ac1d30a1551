#!/usr/bin/env python3
"""`evenkeel plan` and the files and clock of a real process: --apply is whole or not at all, --time ends with a plan.

Usage: plan_files.py PROGRAM
"""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile

OLD = b"cluster: what was there\n"
SHARDS = 600
QUICK = ("--only", "repair", "-o", "name")  # nothing to search: these tests are about the file


def problem():
    """Everything is on the first ten of forty nodes, so there is much to level, and a result of many bytes."""
    rows = "".join(f"    - [n{i % 10 + 1}, n{(i + 1 + i // 10 % 9) % 10 + 1}]\n" for i in range(SHARDS))
    loads = ", ".join(f"{i}: {{cpu: {i % 17 + 1}}}" for i in range(SHARDS))
    return (
        'settings: {moves_max: 0}\nnodes: [{name: "n[1-40]", capacity: {cpu: 10000}}]\n'
        f"workloads: [{{name: t, shards: {SHARDS}, replicas: 2, shard_loads: {{{loads}}}}}]\nplacement:\n  t:\n{rows}"
    )


class Folder:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        with open(os.path.join(folder, "c.yaml"), "w", encoding="utf-8") as file:
            file.write(problem())

    def plan(self, *words, before=None, out=subprocess.PIPE):
        command = [self.program, "plan", "-f", "c.yaml", *words]
        return subprocess.run(command, cwd=self.folder, stdout=out, stderr=subprocess.PIPE, preexec_fn=before, restore_signals=False)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def put_old(self):
        with open(os.path.join(self.folder, "next.yaml"), "wb") as file:
            file.write(OLD)

    def others(self):
        return sorted(set(os.listdir(self.folder)) - {"c.yaml", "next.yaml"})

    def remove_others(self):
        for name in self.others():
            os.unlink(os.path.join(self.folder, name))


def limited(size, action):
    """No file may grow beyond so many bytes: a write beyond is an error, as on a full disk, or the end of the process."""

    def before():
        signal.signal(signal.SIGXFSZ, action)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return before


def check(ok, what, *shown):
    if not ok:
        raise AssertionError(" ".join([what, *(repr(one)[:2000] for one in shown)]))


def whole(folder):
    """The file that all others are compared with."""
    folder.put_old()
    run = folder.plan("--apply", "next.yaml", *QUICK)
    check(run.returncode == 0, "a plan:", run)
    check(folder.others() == [], "nothing is left beside the file:", folder.others())
    new = folder.read("next.yaml")
    check(len(new) > 10_000 and new != OLD, "a result of many bytes:", len(new))
    return new


def full_disk(folder):
    """The old file is as it was, nothing is left beside it, and the message and the status say so."""
    new = whole(folder)
    for size in (0, 1, len(new) // 2, len(new) - 1):
        folder.put_old()
        run = folder.plan("--apply", "next.yaml", *QUICK, before=limited(size, signal.SIG_IGN))
        check(run.returncode == 5 and run.stdout == b"", f"{size} bytes of room:", run.returncode, run.stdout)
        check(run.stderr == b'evenkeel: cannot write "next.yaml": File too large\n', "the message:", run.stderr)
        check(folder.read("next.yaml") == OLD, f"{size} bytes of room: the old file has changed")
        check(folder.others() == [], "left beside it:", folder.others())
    run = folder.plan("--apply", "next.yaml", *QUICK, before=limited(len(new), signal.SIG_IGN))
    check(run.returncode == 0 and folder.read("next.yaml") == new, "just enough room:", run.returncode, run.stderr)


def killed(folder):
    """Killed in the middle of writing: whoever reads the file finds the old one, never a part of the new one."""
    new = whole(folder)
    for size in (0, 1, len(new) // 2, len(new) - 1):
        folder.put_old()
        run = folder.plan("--apply", "next.yaml", *QUICK, before=limited(size, signal.SIG_DFL))
        check(run.returncode == -signal.SIGXFSZ, "it is killed while it writes:", run)
        check(folder.read("next.yaml") == OLD, f"killed after {size} bytes: the old file has changed")
        left = folder.others()
        check(len(left) == 1 and folder.read(left[0]) == new[:size], "what was written is beside it, under another name:", left)
        folder.remove_others()
    os.unlink(os.path.join(folder.folder, "next.yaml"))
    folder.plan("--apply", "next.yaml", *QUICK, before=limited(len(new) // 2, signal.SIG_DFL))
    check(not os.path.exists(os.path.join(folder.folder, "next.yaml")), "where there was none, there is none")
    folder.remove_others()


def devices(folder):
    """What is no regular file is not replaced, and a standard output that is full is an error."""
    run = folder.plan("--apply", "/dev/full", *QUICK)
    check(run.returncode == 2 and run.stdout == b"", "--apply /dev/full:", run)
    check(run.stderr == b'evenkeel: cannot write "/dev/full": it is not a regular file\n', "the message:", run.stderr)
    for words in (["--apply", "-"], ["-o", "json"], ["-o", "table"]):
        with open("/dev/full", "wb") as full:
            run = folder.plan("--only", "repair", *words, out=full)
        check(run.returncode == 1 and b"standard output: No space left on device" in run.stderr, "a full output:", words, run)


def time_is_over(folder):
    """A time that is over at once: the search is cut short, and what it has is a plan that can be carried out and planned on."""
    unhurried = json.loads(folder.plan("-o", "json").stdout)
    check(not unhurried["stats"]["cut_short"] and unhurried["moves"], "without a limit it ends by itself:", unhurried["stats"])
    run = folder.plan("--time", "1ns", "-o", "json", "--apply", "next.yaml")
    check(run.returncode == 0, "a plan:", run.returncode, run.stderr)
    plan = json.loads(run.stdout)
    check(plan["stats"]["cut_short"] is True, "cut short:", plan["stats"])
    check(len(plan["moves"]) < len(unhurried["moves"]), "it has done less:", len(plan["moves"]), len(unhurried["moves"]))
    rows = plan["placement"]["t"]
    check(len(rows) == SHARDS and all(len(set(row)) == 2 for row in rows), "every shard is on two nodes")
    moved = [line.split("[")[1].split("]")[0].split(", ") for line in problem().splitlines() if line.startswith("    - [")]
    for move in sorted(plan["moves"], key=lambda move: move["step"]):
        row = moved[move["shard"]]
        check(move["from"] in row and move["to"] not in row, "a move that can be done:", move, row)
        row[row.index(move["from"])] = move["to"]
    check([sorted(row) for row in moved] == [sorted(row) for row in rows], "the moves lead to the placement")
    valid = subprocess.run([folder.program, "validate", "-f", "next.yaml"], cwd=folder.folder, capture_output=True)
    check(valid.returncode == 0, "its result is a cluster file:", valid)
    said = folder.plan("--time", "1ns").stdout
    check(b"\ncut short: plan again when this is done\n" in said, "the table says so:", said[:500])


def main():
    program = os.path.abspath(sys.argv[1])
    failed = 0
    for test in (full_disk, killed, devices, time_is_over):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Folder(program, folder))
                print("ok:", test.__name__)
            except AssertionError as error:
                print("FAILED:", test.__name__, error)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
