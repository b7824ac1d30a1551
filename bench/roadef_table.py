#!/usr/bin/env python3
"""Runs build/bench/roadef over instances and seeds, and prints a table of medians and spreads.

  python3 -B bench/roadef_table.py build/bench/roadef FOLDER --time 30 --seeds 5 --results results.jsonl
  python3 -B bench/roadef_table.py build/bench/roadef --make 100x5000x12 1000x20000x6 --time 30 --seeds 3 --results made.jsonl

FOLDER holds model_X.txt[.gz] and assignment_X.txt[.gz], in folders of its own or not. Each run is one line that is appended to the results
as soon as it is there; what is there already for the same label, instance, seed, limit and threads is not run again, so that a table of hours can be
stopped and gone on with, and two builds be compared in one table by their --label. A run that breaks a constraint ends everything with
status 1, wrong arguments with 2.

With --check PROGRAM each result is also judged by another program, the challenge's own or tests/place/roadef_judge.py: called as PROGRAM MODEL START
RESULT, all plain text, it prints OK and the objective if the result keeps all constraints. One that says otherwise ends everything with status 1.
"""

import argparse
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def wrong(what):
    print(f"roadef_table: {what}", file=sys.stderr)
    raise SystemExit(2)


def instances(folder):
    """Name -> words of the command line, for every model that has an assignment beside it."""
    found = {}
    for model in sorted(folder.rglob("model_*.txt*")):
        start = model.with_name("assignment" + model.name[len("model"):])
        if not start.exists():
            wrong(f"{model} has no {start.name} beside it")
        found[model.name[len("model_"):].split(".")[0]] = [str(model), str(start)]
    return found


def limit_of(given):
    """Words of the command line, which also say in the results what a run was given."""
    limit = ["--budget", str(given.budget)] if given.budget else ["--time", str(given.time)] + ["--own-time"] * given.own_time
    return [*limit, "--threads", str(given.threads)]


def read(results):
    """The lines that are there; one that was cut short when a run was stopped is left out, and said."""
    lines = []
    if results.exists():
        for number, line in enumerate(results.read_text().splitlines(), 1):
            try:
                lines.append(json.loads(line))
            except ValueError:
                print(f"roadef_table: {results}: line {number} is no whole line; it is run again", file=sys.stderr)
    return lines


def append(results, line):
    """On a line of its own, also after one that was cut short."""
    with results.open("a+b") as file:
        if file.tell() > 0:
            file.seek(-1, 2)
            line = line if file.read() == b"\n" else "\n" + line
        file.write(line.encode() + b"\n")


def plain(path, folder):
    """The file itself, or what is packed in it."""
    if not path.endswith(".gz"):
        return path
    into = pathlib.Path(folder, pathlib.Path(path).stem)
    into.write_bytes(gzip.decompress(pathlib.Path(path).read_bytes()))
    return str(into)


def check(program, files, result, objective, folder):
    """Whether somebody else finds the same."""
    command = [program, *(plain(path, folder) for path in files), result]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    if said.split()[:2] != ["OK", str(objective)]:
        print(f"roadef_table: {' '.join(command)}: says {said.strip()!r}, and the objective should be {objective}", file=sys.stderr)
        raise SystemExit(1)


def run_one(given, words, seed):
    """The line that it prints. A made instance is written out for another program to read."""
    with tempfile.TemporaryDirectory() as folder:
        result = str(pathlib.Path(folder, "result.txt"))
        checked, made = given.check is not None, words[0] == "--make"
        command = [given.program, *words, *limit_of(given), "--seed", str(seed)] + ["-o", result] * checked + ["--write", folder] * (checked and made)
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            print(f"roadef_table: {' '.join(command)}: status {ended.returncode}: {ended.stderr.strip()}", file=sys.stderr)
            raise SystemExit(ended.returncode)
        line = json.loads(ended.stdout)
        if checked:
            files = [str(pathlib.Path(folder, f"{kind}_{line['case']}.txt")) for kind in ("model", "assignment")] if made else words
            check(given.check, files, result, line["objective"], folder)
        return {**line, "checked": checked}


def run(given, cases):
    done = {(line["label"], line["instance"], line["run_seed"], line["limit"]) for line in read(given.results)}
    limit = " ".join(limit_of(given))
    for seed in range(1, given.seeds + 1):
        for name, words in cases.items():
            if (given.label, name, seed, limit) in done:
                continue
            line = {"label": given.label, "instance": name, "run_seed": seed, "limit": limit, **run_one(given, words, seed)}
            append(given.results, json.dumps(line))
    return limit


def read_best(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        return wrong(f"{path}: {error}")


def table(given, cases, limit, best):
    print(limit)
    print("| instance | label | seeds | median | least | most | spread of initial | gap to best known |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    lines = [line for line in read(given.results) if line["limit"] == limit]
    for name in cases:
        for label in dict.fromkeys(line["label"] for line in lines):
            mine = [line for line in lines if line["instance"] == name and line["label"] == label]
            if not mine:
                continue
            costs, initial = sorted(line["objective"] for line in mine), mine[0]["initial"]
            median = statistics.median(costs)
            gap = f"{100 * (median - best[name]) / initial:.4f} %" if name in best else ""
            print(f"| {name} | {label} | {len(costs)} | {median:,.0f} | {costs[0]:,} | {costs[-1]:,} | "
                  f"{100 * (costs[-1] - costs[0]) / initial:.4f} % | {gap} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--make", nargs="*", default=[], metavar="MACHINESxPROCESSESxRESOURCES[xSLACK]")
    parser.add_argument("--only", nargs="*", help="names of instances")
    parser.add_argument("--time", type=float, default=30)
    parser.add_argument("--own-time", action="store_true", help="--time is of processor time per thread")
    parser.add_argument("--budget", type=int, help="changes to try, instead of --time")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--label", default="this", help="of this build, in the table")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--check", metavar="PROGRAM", help="that judges each result, too")
    parser.add_argument("--best", type=pathlib.Path, help="a JSON object: the best known cost by instance")
    given = parser.parse_args()
    if given.folder is None and not given.make:
        parser.error("a folder of instances, or --make")
    best = read_best(given.best) if given.best else {}
    if given.folder and not given.folder.is_dir():
        parser.error(f"{given.folder} is no folder")
    cases = instances(given.folder) if given.folder else {}
    cases.update({f"made_{shape}": ["--make", shape] for shape in given.make})
    for name in given.only or []:
        if name not in cases:
            parser.error(f"no instance {name}; there are {', '.join(cases)}")
    cases = {name: words for name, words in cases.items() if not given.only or name in given.only}
    table(given, cases, run(given, cases), best)


if __name__ == "__main__":
    main()
