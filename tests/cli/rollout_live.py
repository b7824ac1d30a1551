#!/usr/bin/env python3
"""`evenkeel rollout` on real processes: a daemon, six nodes, a client that writes. Every node is restarted, and no shard is ever served by too few.

Usage: rollout_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass: a test asks until something is so, or waits for a line or the end of a process.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.request

from demo_live import SHARDS, Demo, lives, until
from live import LOOK_EVERY, PATIENCE, expect, run_tests

MIN_ACTIVE = 2
# What rollout runs: tells the test whom to restart, and ends well if the test says so.
COMMAND = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode()); s.shutdown(1); sys.exit(s.recv(10) != b'done')"


class Town(Demo):
    """A demo whose nodes can be restarted by commands of a rollout."""

    def __init__(self, program, how=signal.SIGTERM):
        super().__init__(program, "--stay", ttl="4s")  # a node that cannot renew its session on a busy machine ends by itself
        self.how = how
        self.restarted = []
        self.processes = []
        self.door = socket.socket(socket.AF_UNIX)
        self.porch = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.porch.name, "door")
        self.door.bind(self.path)
        self.door.listen()
        threading.Thread(target=self.open_door, daemon=True).start()

    def __exit__(self, *_):
        self.door.close()
        self.porch.cleanup()
        for process in self.processes:
            process.kill()
            process.wait()
        super().__exit__()

    def started(self):
        super().started()
        self.http = re.search(r"curl -s (http://\S+)/api/v1/events", self.said).group(1)
        until("writes are acknowledged", lambda: self.tally()[0] > SHARDS)
        until("all replicas serve", self.whole)

    def get(self, path):
        with urllib.request.urlopen(self.http + path, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def whole(self):
        return self.ask("workload", "list")[0]["incomplete"] == 0

    def placement(self):
        return [shard["placement"] for shard in json.loads(self.get("/api/v1/shards/demo?limit=1000"))["shards"]]

    def open_door(self):
        while True:
            try:
                visitor, _ = self.door.accept()
            except OSError:
                return
            with visitor:
                name = visitor.recv(100).decode()
                self.restart(name)
                visitor.sendall(b"done")

    def restart(self, name):
        self.restarted.append(name)
        pid = self.pids[name]
        (run,) = [entry for entry in os.listdir(self.folder.name) if entry.startswith("run.")]
        data = os.path.join(self.folder.name, run, name)
        try:
            os.kill(pid, self.how)
        except ProcessLookupError:
            for log in (data + ".log", data + ".again.log"):
                if os.path.exists(log):
                    with open(log, encoding="utf-8") as file:
                        print(f"{name} has ended by itself: {file.read()[-2000:]}", file=sys.stderr)
            raise
        for process in self.processes:
            if process.pid == pid:
                process.wait(PATIENCE)
        until(name + " has ended", lambda: not lives(pid))
        counter = os.path.join(os.path.dirname(self.program), "examples/counter")
        words = [counter, "--store", self.environment["EVENKEEL_STORE"], "--ttl", self.environment["TTL"], "--name", name, "--zone", zone_of(name), "--data", data]
        with open(data + ".again.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        self.pids[name] = process.pid

    def rollout(self, *words, command=None):
        command = command or [sys.executable, "-c", COMMAND, self.path, "{node}"]
        words = [self.program, "rollout", "--yes", *words, "--", *command]
        process = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process


def zone_of(name):
    return f"z{(int(name[1:]) - 1) % 3 + 1}"


class Watcher(threading.Thread):
    """Looks all the time at what clients see, and at what happens."""

    def __init__(self, town):
        super().__init__()
        self.town = town
        self.over = threading.Event()
        self.looks = 0
        self.fewest = MIN_ACTIVE + 1
        self.below = 0
        self.trouble = ""
        self.told_before = self.told()
        self.last = json.loads(town.get("/api/v1/events"))["last"]
        self.events = []

    def run(self):
        try:
            while not self.over.wait(LOOK_EVERY):
                self.look()
        except Exception as error:  # for the test to show
            self.trouble = f"{type(error).__name__}: {error}"

    def look(self):
        self.looks += 1
        for shard in json.loads(self.town.get("/api/v1/view/demo"))["shards"]:
            self.fewest = min(self.fewest, len(shard["others"]) + (shard["leader"] is not None))
        self.below = max(self.below, int(re.search(r"^evenkeel_control_below_min_active_shards (\d+)", self.town.get("/metrics"), re.MULTILINE).group(1)))
        news = json.loads(self.town.get(f"/api/v1/events?after={self.last}"))
        self.last = news["last"]
        self.events += news["events"]

    def told(self):
        """How often it was told that a shard is sealed, as it is when its leader is lost, or that a replica comes or goes. The daemon forgets events in the end, and not their number."""
        return re.findall(r'^evenkeel_control_events_total{kind="(?:seal|replica)"} .*', self.town.get("/metrics"), re.MULTILINE)

    def end(self):
        self.over.set()
        self.join()
        expect(not self.trouble, self.trouble)
        self.look()


def check_rollout(program, how, *words):
    """Everybody is restarted, and nobody notices; returns who was, in order."""
    with Town(program, how) as town:
        town.started()
        before = town.placement()
        watcher = Watcher(town)
        watcher.start()
        process = town.rollout(*words, "-o", "json")
        out, said = process.communicate(timeout=5 * PATIENCE)
        watcher.end()
        expect(process.returncode == 0, said)
        expect([(one["node"], one["state"]) for one in json.loads(out)] == [(name, "done") for name in town.restarted], out + said)
        expect(sorted(town.restarted) == ["n1", "n2", "n3", "n4", "n5", "n6"], f"{town.restarted}")
        expect("6 of 6 nodes are done" in said, said)
        expect(watcher.fewest >= MIN_ACTIVE and watcher.below == 0, f"in {watcher.looks} looks a shard was served by {watcher.fewest}, {watcher.below} were below min_active")
        lost = [i for i, event in enumerate(watcher.events) if event["kind"] in ("seal", "replica") or "failover" in event["text"]]
        around = [" ".join(str(event[key]) for key in ("time", "kind", "shard", "node", "text")) for event in watcher.events[max(0, lost[0] - 20) : lost[0] + 5]] if lost else []
        expect(watcher.told() == watcher.told_before, f"{watcher.told_before} {watcher.told()} {around}")
        expect(not lost, "no leader was lost, and no replica moved:\n" + "\n".join(around))
        expect(town.placement() == before, "everything is where it was")
        until("all replicas serve", town.whole)
        os.kill(town.pids["load"], signal.SIGTERM)
        until("the client has ended", lambda: not lives(town.pids["load"]))
        acknowledged, unknown = town.tally()
        value = town.client("value")
        expect(acknowledged <= value <= acknowledged + unknown, f"{value} of {acknowledged} acknowledged and {unknown} that may be done")
        return town.restarted


def test_zone_by_zone(program):
    order = check_rollout(program, signal.SIGTERM, "--zone-by-zone", "--max-at-once", "2")
    expect(order == ["n1", "n4", "n2", "n5", "n3", "n6"], f"{order}")


def test_in_random_order_and_by_force(program):
    order = check_rollout(program, signal.SIGKILL, "--random-order", "--seed", "3")
    expect(order != sorted(order), f"{order}")


def test_what_ends_it(program):
    with Town(program) as town:
        town.started()
        rows = town.ask("rollout", "--dry-run", "--zone", "z2")
        expect([row["node"] for row in rows] == ["n2", "n5"] and rows[0]["in_its_way"] == "", f"{rows}")
        # Nobody in particular is not everybody.
        for words in (["--node", ""], ["--node", "n1,"], ["--zone", ""]):
            process = town.rollout(*words)
            out, said = process.communicate(timeout=PATIENCE)
            expect(process.returncode == 2 and out == "" and " empty: " in said, out + said)
        # A command that fails: nothing more is begun.
        process = town.rollout(command=["sh", "-c", "test $EVENKEEL_NODE = {node} && test {zone} = z1 && exit 3"])
        out, said = process.communicate(timeout=PATIENCE)
        expect(process.returncode == 1 and out == "", out + said)
        expect("n1: its command ended with status 3" in said and "no node is done" in said and "--node n1,n2,n3,n4,n5,n6" in said, said)
        expect(town.node("n1")["permit"] == "go", "it may have been stopped")
        # n1 is out, so n2 may not stop; an interrupt takes its wish back.
        stoppable = subprocess.run([program, "node", "stoppable", "n2", "n4", "-o", "json"], env=town.environment, capture_output=True, text=True, timeout=PATIENCE)
        answer = json.loads(stoppable.stdout)
        expect(stoppable.returncode == 1 and not answer["all"] and "would have 1 serving, and needs 2" in answer["nodes"][0]["why_not"][0], stoppable.stdout)
        process = town.rollout("--node", "n2")
        for line in process.stderr:
            if "n2 may not stop yet: " in line:
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        expect(process.returncode == 1 and "interrupted" in said and "not done: n2" in said, said)
        expect("permit" not in town.node("n2"), "it is taken back")
        # n1 was not stopped: it serves again.
        town.run(program, "node", "permit", "n1", "--revoke", "--yes")
        until("all replicas serve", town.whole)
        expect(town.run(program, "node", "permit", "n2", "--wait", "--for", "1m") == "node/n2 may stop\n", "leave")
        expect(town.node("n2")["leaders"] == 0, "its leaders are handed over")
        town.restart("n2")
        until("its permit has ended", lambda: "permit" not in town.node("n2"))
        until("all replicas serve", town.whole)
        town.run(program, "cluster", "freeze", "--reason", "new switch")
        process = town.rollout()
        _, said = process.communicate(timeout=PATIENCE)
        expect(process.returncode == 1 and "nobody may stop now: the cluster is frozen (new switch)" in said, said)


def wait_for(process, words):
    for line in process.stderr:
        if words in line:
            return
    expect(False, "it never said: " + words)


def test_a_store_that_does_not_answer_is_asked_again(program):
    with Town(program) as town:
        town.started()
        town.run(program, "node", "permit", "n1", "--wait")
        process = town.rollout("--node", "n2", "--timeout", "1s")
        wait_for(process, "n2 may not stop yet: ")
        os.kill(town.pids["serve"], signal.SIGSTOP)
        wait_for(process, "it is asked again for 30s")
        process.send_signal(signal.SIGINT)
        wait_for(process, "interrupted")
        os.kill(town.pids["serve"], signal.SIGCONT)
        _, said = process.communicate(timeout=2 * PATIENCE)
        expect(process.returncode == 1 and "not done: n2" in said and "may still have a permit" not in said, said)
        expect("permit" not in town.node("n2"), "it is taken back")
        # A permit that cannot be read may be one that was given.
        town.run(program, "store", "put", "/evenkeel/default/permits/n3", "{")
        process = town.rollout("--node", "n4")
        _, said = process.communicate(timeout=PATIENCE)
        expect(process.returncode != 0 and "whether they could stop is not known: " in said and town.restarted == [], said)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
