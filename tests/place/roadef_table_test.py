#!/usr/bin/env python3
"""bench/roadef_table.py: what is there is not run again, a line that was cut short is, and wrong arguments are said with status 2.

Usage: roadef_table_test.py BENCH_ROADEF
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TABLE = pathlib.Path(__file__).parents[2] / "bench" / "roadef_table.py"
JUDGE = pathlib.Path(__file__).with_name("roadef_judge.py")
PROGRAM = sys.argv.pop()


class Table(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.results = pathlib.Path(self.folder.name, "results.jsonl")

    def run_table(self, *words):
        command = [sys.executable, "-B", TABLE, PROGRAM, *words, "--results", self.results]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def lines(self):
        return self.results.read_text().splitlines()

    def test_goes_on_where_it_was_stopped(self):
        words = ["--make", "3x20x2", "--budget", "2000", "--seeds", "2"]
        first = self.run_table(*words)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual([json.loads(line)["run_seed"] for line in self.lines()], [1, 2])
        before = self.lines()
        again = self.run_table(*words)
        self.assertEqual((again.stdout, self.lines()), (first.stdout, before))
        self.results.write_text(before[0] + "\n" + before[1][:40])  # killed while it wrote
        cut = self.run_table(*words)
        self.assertIn("line 2 is no whole line", cut.stderr)
        self.assertEqual(len(self.lines()), 3)
        self.assertEqual(json.loads(self.lines()[2])["objective"], json.loads(before[1])["objective"])
        self.assertEqual(cut.stdout, first.stdout)

    def test_other_threads_are_another_run(self):
        for threads in ("1", "2"):
            self.assertEqual(self.run_table("--make", "3x20x2", "--budget", "2000", "--seeds", "1", "--threads", threads).returncode, 0)
        self.assertEqual(len(self.lines()), 2)

    def test_another_judge(self):
        judge = pathlib.Path(self.folder.name, "judge")
        for says, status in (("OK $(cat $3 | wc -w)", 1), ("VIOLATED 1", 1), (None, 0)):
            wrote = subprocess.run([PROGRAM, "--make", "3x20x2", "--make-seed", "7", "--write", self.folder.name], capture_output=True, text=True, check=False)
            self.assertEqual((wrote.returncode, wrote.stdout), (0, ""), wrote.stderr)
            words = [self.folder.name, "--budget", "2000", "--seeds", "1"]
            self.results.unlink(missing_ok=True)
            if says is None:  # it finds what we do
                self.assertEqual(self.run_table(*words).returncode, 0)
                found = json.loads(self.lines()[0])
                self.assertEqual((found["checked"], found["instance"]), (False, "made_3x20x2_7"))
                says = f"OK {found['objective']}"
                self.results.unlink()
            judge.write_text(f'#!/bin/sh\ntest -s "$1" && test -s "$2" && test -s "$3" && echo "{says}"\n')
            judge.chmod(0o755)
            ended = self.run_table(*words, "--check", judge)
            self.assertEqual(ended.returncode, status, ended.stderr)
            self.assertEqual(self.results.exists(), status == 0)
            if status == 0:
                self.assertTrue(json.loads(self.lines()[0])["checked"])
            else:
                self.assertIn("the objective should be", ended.stderr)

    def test_made_ones_are_judged_too(self):
        """Small and large, loose and tight, by the definitions alone; and what was tampered with is found out."""
        shapes = ["3x20x2", "20x200x4x5", "60x600x3x1", "100x1000x12x8"]
        ended = self.run_table("--make", *shapes, "--budget", "300000", "--seeds", "2", "--check", JUDGE)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        lines = [json.loads(line) for line in self.lines()]
        self.assertEqual([line["checked"] for line in lines], [True] * 2 * len(shapes))
        for line in lines:
            self.assertLess(line["objective"], line["initial"], line["instance"])
        folder = self.folder.name
        files = [pathlib.Path(folder, name) for name in ("model_made_20x200x4x5.txt", "assignment_made_20x200x4x5.txt", "result.txt")]
        command = [PROGRAM, "--make", "20x200x4x5", "--budget", "20000", "--write", folder, "-o", files[2]]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        judge = lambda: subprocess.run([sys.executable, "-B", JUDGE, *files], capture_output=True, text=True, check=False)
        self.assertEqual((judge().returncode, judge().stdout), (0, f"OK {found['objective']}\n"))
        files[2].write_text(" ".join(["0"] * 200))
        self.assertEqual(judge().returncode, 1)
        self.assertIn("two processes on one machine", judge().stdout)
        self.assertIn("of resource", judge().stdout)
        files[2].write_text("1 2 3")
        self.assertEqual(judge().returncode, 2)

    def test_wrong_arguments(self):
        lonely = pathlib.Path(self.folder.name, "model_x.txt")
        lonely.write_text("")
        for words, said in (([], "a folder of instances, or --make"), (["--make", "3x20"], "expected MACHINESx"), (["nowhere"], "is no folder"),
                            ([self.folder.name], "has no assignment_x.txt"), (["--make", "3x20x2", "--only", "other"], "no instance other"),
                            (["--make", "3x20x2", "--best", "nowhere"], "nowhere")):
            ended = self.run_table(*words, "--budget", "10")
            self.assertEqual(ended.returncode, 2, words)
            self.assertIn(said, ended.stderr)


if __name__ == "__main__":
    unittest.main()
