#!/usr/bin/env python3
"""What `make run` starts, as real processes: a daemon, six nodes, a client that writes. A node dies, another is drained, and nothing that was acknowledged is lost.

Usage: demo_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass: a test asks until something is so, or waits for a line or the end of a process.
"""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

from live import PATIENCE, expect, run_tests, until
from screen_live import Screen, frames

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARDS = 60


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Demo:
    """A demo in a folder of its own, on free ports."""

    def __init__(self, program, *words, ttl="2s"):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {**os.environ, "NO_COLOR": "1", "DATA": self.folder.name, "PORTS": "free", "TTL": ttl, "BUILD": os.path.dirname(program)}
        for name in ("EVENKEEL_STORE", "EVENKEEL_CLUSTER"):
            self.environment.pop(name, None)
        self.said = ""
        self.pids = {}
        self.process = subprocess.Popen([os.path.join(ROOT, "scripts/demo"), *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()  # what it started dies with it
        self.process.communicate()
        until("everything is gone", lambda: not any(lives(pid) for pid in self.pids.values()))
        self.folder.cleanup()

    def started(self):
        """Reads what it says until it has said all."""
        for line in self.process.stdout:
            self.said += line
            if line.startswith("Processes: "):
                self.pids = {name: int(pid) for name, pid in re.findall(r"(\w+) (\d+)", line)}
            if "--name n7" in line:
                break
        expect(len(self.pids) == 8, self.said)
        store = re.search(r"export EVENKEEL_STORE=(\S+)", self.said)
        expect(store, self.said)
        self.environment["EVENKEEL_STORE"] = store.group(1)

    def look_at_pids(self):
        (run,) = os.listdir(self.folder.name)
        with open(os.path.join(self.folder.name, run, "pids"), encoding="utf-8") as file:
            self.pids = {name: int(pid) for name, pid in (line.split() for line in file)}

    def run(self, *words):
        done = subprocess.run(words, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=3 * PATIENCE)
        expect(done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, *words):
        return json.loads(self.run(self.program, *words, "-o", "json"))

    def client(self, *words):
        counter = os.path.join(os.path.dirname(self.program), "examples/counter")
        return int(self.run(counter, "client", "--store", self.environment["EVENKEEL_STORE"], *words))

    def node(self, name):
        return next(node for node in self.ask("node", "list") if node["node"] == name)

    def all_led(self):
        return self.ask("workload", "list")[0]["led"] == SHARDS

    def ends(self, added=0):
        """Nothing that was acknowledged is lost; `added` by others than its own client. Nothing of it is left."""
        os.kill(self.pids["load"], signal.SIGTERM)
        until("the client has ended", lambda: not lives(self.pids["load"]))
        acknowledged, unknown = self.tally()
        value = self.client("value") - added
        expect(acknowledged <= value <= acknowledged + unknown, f"{value} of {acknowledged} acknowledged and {unknown} that may be done")
        self.process.send_signal(signal.SIGTERM)
        said, _ = self.process.communicate(timeout=PATIENCE)
        expect(self.process.returncode == 0, said)
        expect(not any(lives(pid) for pid in self.pids.values()), "nothing is left running")
        expect(os.listdir(self.folder.name) == [], "nor on disk")

    def tally(self):
        """What the writing client knows: how many adds were acknowledged, and of how many it knows nothing."""
        (run,) = os.listdir(self.folder.name)
        with open(os.path.join(self.folder.name, run, "load.out"), encoding="utf-8") as file:
            last = file.read().splitlines()[-1]
        return [int(number) for number in re.match(r"(\d+) adds acknowledged, (\d+) neither", last).groups()]


def test_without_a_terminal_it_shows_and_ends(program):
    with Demo(program) as demo:
        demo.started()
        expect(demo.process.wait(PATIENCE) == 0, demo.said)
        expect(re.search(r"^z3 +n6 +there +30 +\d+ +0 ", demo.said, re.MULTILINE), demo.said)
        expect(re.search(r"^demo +\w+ +60 +3 +60 ", demo.said, re.MULTILINE), demo.said)
        expect(not any(lives(pid) for pid in demo.pids.values()), "nothing is left running")
        expect(os.listdir(demo.folder.name) == [], "nor on disk")


def test_nodes_come_and_go_and_nothing_is_lost(program):
    with Demo(program, "--stay") as demo:
        demo.started()
        until("writes are acknowledged", lambda: demo.tally()[0] > SHARDS)
        expect(demo.client("add", "demo/7", "1000") >= 1000, "one more")
        os.kill(demo.pids["n1"], signal.SIGKILL)
        until("n1 leads nothing, and others everything", lambda: demo.node("n1")["leaders"] == 0 and demo.all_led())
        before = demo.tally()[0]
        value = demo.client("value") - 1000
        expect(value >= before, f"{value} are there, and {before} were acknowledged before it was asked")
        until("writes go on", lambda: demo.tally()[0] > before + 2 * SHARDS)
        demo.run(program, "node", "drain", "n2", "--wait", "--within", "2m")
        expect(demo.node("n2")["replicas"] == 0, "n2 is empty")
        until("every shard is led", demo.all_led)
        demo.ends(added=1000)


@contextlib.contextmanager
def own_node(program, hints, environment):
    """The seventh node, by the line that is shown: no part of the demo, and it keeps its data elsewhere. It is in the cluster."""
    (line,) = [line for line in hints.splitlines() if "--name n7" in line]
    environment = {**environment, "EVENKEEL_STORE": re.search(r"EVENKEEL_STORE=(\S+)", hints).group(1)}

    def is_there():
        done = subprocess.run([program, "node", "list", "-o", "json"], env=environment, capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode == 0 and any(node["node"] == "n7" and node["state"] == "there" for node in json.loads(done.stdout))

    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(["bash", "-c", "exec " + line], cwd=ROOT, env={**environment, "TMPDIR": folder}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until("n7 is there", is_there)
            (data,) = os.listdir(folder)
            yield process, os.path.join(folder, data)
        finally:
            process.kill()
            process.wait()


def test_at_a_terminal_it_fits_and_ctrl_c_ends_it(program):
    with tempfile.TemporaryDirectory() as folder:
        # As seen from where the script runs: what is shown is cut at the screen's edge.
        environment = {**os.environ, "DATA": folder, "PORTS": "free", "TTL": "2s", "BUILD": os.path.relpath(os.path.dirname(program), ROOT)}
        for name in ("EVENKEEL_STORE", "EVENKEEL_CLUSTER", "NO_COLOR"):
            environment.pop(name, None)
        with Screen([os.path.join(ROOT, "scripts/demo")], environment, rows=24, columns=80) as screen:
            screen.until("pictures", lambda text: len(frames(text)) > 3)
            (run,) = os.listdir(folder)
            with open(os.path.join(folder, run, "pids"), encoding="utf-8") as file:
                pids = [int(line.split()[1]) for line in file]
            expect(len(pids) == 8 and all(lives(pid) for pid in pids), f"{pids}")
            with open(os.path.join(folder, run, "hints"), encoding="utf-8") as file:
                hints = file.read()
            expect("--name n7" in hints and "rollout" in hints, "all that can be tried")
            frame = frames(screen.text)[2].removesuffix("\n")
            lines = frame.split("\n")
            expect(len(lines) < 24 and all(len(line) <= 80 for line in lines), frame)
            expect(re.search(r"^z3 +n6 +there +30 ", frame, re.MULTILINE) and re.search(r"^demo +\w+ +60 ", frame, re.MULTILINE), frame)
            expect("Ctrl-C ends it all" in frame and "adds acknowledged" in lines[-1], frame)
            screen.until("what there is room for when all is well", lambda text: any("rollout" in one and "--name n7" in one and "adds acknowledged" in one for one in frames(text)))
            with own_node(program, hints, environment) as (n7, data):
                screen.type("\x03")
                status, _, _ = screen.ends()
                expect(status == 0, screen.text[-2000:])
                expect(not any(lives(pid) for pid in pids), "nothing is left running")
                expect(os.listdir(folder) == [], "nor on disk")
                expect(n7.poll() is None and os.path.exists(os.path.join(data, "evenkeel.id")), "what the demo did not start goes on, with its data")


def test_a_rolling_restart(program):
    with Demo(program, "--stay") as demo:
        demo.started()
        until("writes are acknowledged", lambda: demo.tally()[0] > SHARDS)
        until("all replicas serve", lambda: demo.ask("workload", "list")[0]["incomplete"] == 0)
        before = dict(demo.pids)
        (words,) = re.findall(r"evenkeel (rollout .*)", demo.said)
        demo.run(program, *words.split())
        demo.look_at_pids()
        nodes = [name for name in before if name.startswith("n")]
        expect(len(nodes) == 6 and all(demo.pids[name] != before[name] and lives(demo.pids[name]) for name in nodes), f"{before} {demo.pids}")
        expect(not any(lives(before[name]) for name in nodes), "the old ones have ended")
        expect(demo.pids["serve"] == before["serve"] and demo.pids["load"] == before["load"], "and nobody else")
        # One that is dead is started again, too; with one demo below DATA its folder need not be named.
        os.kill(demo.pids["n1"], signal.SIGKILL)
        demo.run(os.path.join(ROOT, "scripts/demo"), "restart", "n1")
        until("n1 is there", lambda: demo.node("n1")["state"] == "there" and demo.all_led())
        demo.look_at_pids()
        demo.ends()


def test_a_restart_that_nobody_can_grant(program):
    with tempfile.TemporaryDirectory() as folder:
        def restart(*words):
            done = subprocess.run([os.path.join(ROOT, "scripts/demo"), "restart", *words], env={**os.environ, "DATA": folder}, capture_output=True, text=True, timeout=PATIENCE)
            return done.returncode, done.stderr
        expect(restart("n1") == (1, f"demo: none runs below {folder}; 'make run' starts one\n"), f"{restart('n1')}")
        expect(restart("n1", folder)[0] == 1 and "none runs in" in restart("n1", folder)[1], f"{restart('n1', folder)}")
        expect(restart("n9")[0] == 2 and "n9 is no node" in restart("n9")[1], f"{restart('n9')}")
        expect(restart()[0] == 2 and "usage" in restart()[1], f"{restart()}")
        # What a demo that was killed leaves behind is none that runs.
        os.mkdir(os.path.join(folder, "run.dead"))
        with open(os.path.join(folder, "run.dead", "lock"), "w", encoding="utf-8"):
            pass
        expect("none runs below" in restart("n1")[1], f"{restart('n1')}")


def test_a_node_that_cannot_read_what_it_holds_does_not_join(program):
    with tempfile.TemporaryDirectory() as folder:
        counter = os.path.join(os.path.dirname(program), "examples/counter")
        for text in ("", "demo/7 3 0 3 3 12", "demo/x 3 0 3 3 12 40", "half of it"):
            with open(os.path.join(folder, "demo.7.counter"), "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([counter, "--name", "n1", "--data", folder, "--store", "etcd://127.0.0.1:1"], capture_output=True, text=True, timeout=PATIENCE)
            expect(done.returncode == 1 and done.stdout == "" and "demo.7.counter is no counter: put it back" in done.stderr, f"{text}: {done.returncode} {done.stderr}")


def test_a_port_in_use_is_said(program):
    with socket.socket() as taken, tempfile.TemporaryDirectory() as folder:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        environment = {**os.environ, "DATA": folder, "HTTP": address, "STORE": "127.0.0.1:0", "PORTS": "", "BUILD": os.path.dirname(program)}
        done = subprocess.run([os.path.join(ROOT, "scripts/demo")], env=environment, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == 1 and address in done.stderr and "PORTS=free" in done.stderr, done.stdout + done.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
