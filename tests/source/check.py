"""The test of the source: runs every rule of rules.py over the project and prints what breaks them.

    python3 tests/source/check.py --root . --program build/evenkeel
"""

import argparse
import subprocess
import sys

import rules
import tree


def asker(program):
    answers = {}

    def runs(words):
        key = tuple(words)
        if key not in answers:
            answers[key] = subprocess.run([program, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=30).returncode == 0
        return answers[key]

    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=".", help="the project's folder")
    parser.add_argument("--program", required=True, help="the built evenkeel, to ask which commands it has")
    options = parser.parse_args()

    project = rules.Project(tree.Tree.of_folder(options.root), asker(options.program))
    broken = 0
    for rule in rules.RULES:
        problems = list(rule(project))
        if problems:
            print(f"{rule.__name__}: {rule.__doc__.splitlines()[0]}")
            for problem in problems:
                print(f"  {problem}")
            broken += len(problems)
    if broken:
        print(f"source: {broken} problems")
        return 1
    print(f"source: {len(project.tree.paths)} files keep {len(rules.RULES)} rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
