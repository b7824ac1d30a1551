#!/usr/bin/env python3
"""`evenkeel agent` as real processes: a daemon, and nodes that are shell scripts or an HTTP hook; what happens when they die, fail, hang or flood.

Usage: agent_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass: a test asks until something is so, or waits for a line or the end of a process.
"""
import http.server
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading

from live import PATIENCE, expect, run_tests, until
from serve_live import Daemons, end, get
from store_live import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "examples/agent/node.sh")
EXAMPLE_FILE = os.path.join(ROOT, "examples/agent/shell.yaml")
SHARDS = 6


class Agents(Daemons):
    """A daemon, and nodes by agents."""

    def __init__(self, program):
        super().__init__(program)
        for name in ("EVENKEEL_CLUSTER", "EVENKEEL_STORE"):
            self.environment.pop(name, None)
        self.daemon = self.serve("--data", self.path("store"), "--store-listen", "127.0.0.1:0")
        self.environment["EVENKEEL_STORE"] = self.daemon.said["store"]

    def begin_agent(self, name, *words, command=(EXAMPLE,), options=(), log=None):
        words = [self.program, "agent", "--name", name, "--data", self.path(name), "--ttl", "2s", *options, *(("--", *command) if command else ()), *words]
        with open(self.path((log or name) + ".log"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.started.append(process)
        return process

    def agent(self, name, **more):
        process = self.begin_agent(name, **more)
        line = process.stdout.readline()
        expect(line, f"{name}: {self.log(name)}")
        process.said = json.loads(line)
        expect(process.said["pid"] == process.pid and process.said["node"] == name, line)
        return process

    def log(self, name):
        with open(self.path(name + ".log"), encoding="utf-8") as file:
            return file.read()

    def script(self, text):
        """A command whose words are these."""
        return ("sh", "-c", text)

    def run(self, *words, data=None):
        done = subprocess.run([self.program, *words], env=self.environment, input=data, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, *words):
        return json.loads(self.run(*words, "-o", "json"))

    def create(self, name="t1", shards=SHARDS, replicas=2, **more):
        spec = {"name": name, "shards": shards, "replicas": replicas, **more}
        self.run("apply", "-f", "-", "--yes", data=json.dumps({"settings": {"rebalance_delay": "30s"}, "workloads": [spec]}))

    def until(self, what, good):
        until(what, good, why=lambda: self.run("cluster", "show"))

    def led(self, shards=SHARDS, name="t1"):
        return any(each["workload"] == name and each["led"] == shards for each in self.ask("workload", "list"))

    def node(self, name):
        return next(each for each in self.ask("node", "list") if each["node"] == name)

    def leads(self, node):
        return self.node(node)["leaders"]


def leave(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(2 * PATIENCE)


def test_a_service_in_shell(program):
    with Agents(program) as world:
        agents = {name: world.agent(name, options=("--zone", "z" + name[1:], "--report-every", "200ms")) for name in ("n1", "n2", "n3")}
        world.create()
        world.until("all are led", world.led)
        world.until("each leads some", lambda: all(world.leads(name) > 0 for name in agents))
        expect({node["version"] for node in world.ask("node", "list")} == {world.ask("version")["version"]}, "each says what it runs")
        dry = world.run("apply", "-f", EXAMPLE_FILE, "--dry-run")
        expect("workload/shell (new)" in dry, dry)
        # Whoever leads may; at another epoch, or who does not lead, may not.
        def who_may(number):
            return [name for name, agent in agents.items() if get(agent.said["agent"], f"/may_lead/t1/0?epoch={number}")[0] == 200]

        world.until("one may lead", lambda: any(len(who_may(number)) == 1 for number in range(1, 20)))
        expect(who_may(1000) == [], "an epoch that nobody gave")
        first = agents["n1"].said["agent"]
        expect(get(first, "/may_lead/t1/0?epoch=x")[0] == 400 and get(first, "/healthz") == (200, "ok\n"), "what else is asked")
        # One dies.
        agents["n1"].kill()
        world.until("others lead what n1 led", lambda: world.leads("n1") == 0 and world.led())
        # It comes back with what it has.
        agents["n1"].wait(PATIENCE)
        agents["n1"] = world.agent("n1", options=("--zone", "z1", "--report-every", "200ms"))
        world.until("all are led, some by n1", lambda: world.led() and world.leads("n1") > 0)
        # One leaves.
        expect(leave(agents["n2"]) == 0, world.log("n2"))
        world.until("n2 leads nothing, and all are led", lambda: world.leads("n2") == 0 and world.led())
        for name in ("n1", "n3"):
            for shard in range(SHARDS):
                path = world.path(f"{name}/t1.{shard}.log")
                if not os.path.exists(path):
                    continue
                with open(path, encoding="utf-8") as file:
                    epochs = [int(line.split()[0]) for line in file]
                expect(epochs == sorted(set(epochs)), f"{path}: {epochs}: one leader at each epoch")
        end(world.daemon)


COUNTS = """echo $EVENKEEL_KIND >>"$EVENKEEL_DATA/asked"
case $EVENKEEL_KIND in
  inventory) [ ! -f "$EVENKEEL_DATA/hang" ] || exec tail -f /dev/null
             [ ! -f "$EVENKEEL_DATA/held" ] || echo '{"shards": [{"shard": "t1/0", "epoch": 1}]}';;
  transition) touch "$EVENKEEL_DATA/held";;
  seal) echo '{"epoch": 0, "progress": 0}';;
esac"""


def test_a_second_agent_waits_for_the_folder_and_asks_again(program):
    with Agents(program) as world:
        def inventories():
            with open(world.path("n1/asked"), encoding="utf-8") as file:
                return file.read().split().count("inventory")

        first = world.agent("n1", command=world.script(COUNTS))
        second = world.begin_agent("n1", command=world.script(COUNTS), log="second")
        world.until("it waits", lambda: "another process has the data folder" in world.log("second"))
        expect(inventories() == 3, "each has tried, and the first one has joined")
        world.create(shards=1, replicas=1)
        world.until("the first one leads", lambda: world.led(1))
        # The first one stands still until the cluster has given it up: nobody would be in the second one's way but for the lock, which the first one has.
        first.send_signal(signal.SIGSTOP)
        world.until("the first one is gone", lambda: world.node("n1")["state"] == "gone")
        expect(not select.select([second.stdout], [], [], 0)[0], "the second one is not ready")
        expect(inventories() == 3, "nor has it asked")
        first.kill()
        first.wait(PATIENCE)
        expect(json.loads(second.stdout.readline())["pid"] == second.pid, world.log("second"))
        expect(inventories() == 4, "what counts is what is there now")
        world.until("the second one leads", lambda: world.led(1))


def test_the_example_drops_nothing_of_another_workload(program):
    with Agents(program) as world:
        os.mkdir(world.path("n1"))
        for name in ("t.1.log", "t.1.state", "t.1.0.log", "t.1.0.state"):
            with open(world.path("n1/" + name), "w", encoding="utf-8") as file:
                file.write("t/1 1 1 1 -\n")
        environment = dict(world.environment, EVENKEEL_KIND="transition", EVENKEEL_TO="dropped", EVENKEEL_WORKLOAD="t", EVENKEEL_SHARD="t/1", EVENKEEL_DATA=world.path("n1"))
        subprocess.run([EXAMPLE], env=environment, check=True, timeout=PATIENCE)
        expect(sorted(os.listdir(world.path("n1"))) == ["t.1.0.log", "t.1.0.state", "t.1.lock"], f"{os.listdir(world.path('n1'))}")


FAILS = """case $EVENKEEL_KIND-$EVENKEEL_SHARD in
  transition-t1/0) echo trying >&2; echo no space left for $EVENKEEL_SHARD >&2; exit 3;;
  transition-t1/1) exec tail -f /dev/null;;
  transition-t1/2) head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo enough said >&2; exit 1;;
  seal-*) echo '{"epoch": 0, "progress": 0}';;
esac"""


def test_what_fails_hangs_and_floods_is_told(program):
    with Agents(program) as world:
        agent = world.agent("n1", command=world.script(FAILS), options=("--within", "300ms", "--grace", "100ms"))
        world.create(shards=4, replicas=1)
        world.until("the shard that is well is led", lambda: world.led(1))
        for shard, words in enumerate(("exit status 3: trying; no space left for t1/0", "overdue, ended after 300ms", "enough said (99")):
            world.until(words, lambda shard=shard, words=words: words in world.run("shard", "show", f"t1/{shard}"))
        expect("bytes before that were cut)" in world.run("shard", "show", "t1/2"), world.run("shard", "show", "t1/2"))
        agent.kill()


# Hangs, or floods, as long as there is a file of that name.
MISBEHAVES = """[ ! -f "$EVENKEEL_DATA/$EVENKEEL_KIND.hangs" ] || exec tail -f /dev/null
[ ! -f "$EVENKEEL_DATA/$EVENKEEL_KIND.floods" ] || exec nice -n 19 yes
[ ! -f "$EVENKEEL_DATA/$EVENKEEL_KIND.spills" ] || exec head -c 9000000 /dev/zero
case $EVENKEEL_KIND in
  seal|report) echo '{"epoch": 1, "progress": 1}';;
esac"""
QUICK = ("--within", "1s", "--grace", "100ms")


def test_a_seal_that_hangs_or_floods_is_told_and_asked_again(program):
    with Agents(program) as world:
        agents = {name: world.agent(name, command=world.script(MISBEHAVES), options=QUICK) for name in ("n1", "n2", "n3")}
        world.create(shards=1, replicas=3, acks=2)
        world.until("it is led by one of three", lambda: world.led(1) and world.ask("workload", "list")[0]["incomplete"] == 0)
        (leader,) = [name for name in agents if world.leads(name) == 1]
        hanging, flooding = [name for name in agents if name != leader]
        for name, how in ((hanging, "hangs"), (flooding, "floods")):
            with open(world.path(f"{name}/seal.{how}"), "w", encoding="utf-8"):
                pass
        agents[leader].kill()
        # Operators read who holds it up, and why.
        shown = lambda: world.run("shard", "show", "t1/0")
        world.until("the one that hangs", lambda: re.search(r"overdue, ended after 1s(?!, and its answer)", shown()) and "nobody leads: " in shown())
        world.until("the one that floods", lambda: "overdue, ended after 1s, and its answer was too large" in shown())
        expect(not world.led(1), "with neither of them")
        # Each is asked again, and then somebody leads.
        os.remove(world.path(f"{hanging}/seal.hangs"))
        world.until("one is sealed", lambda: "1 of 2 sealed" in shown())
        expect(not world.led(1), "nor with one of them")
        os.rename(world.path(f"{flooding}/seal.floods"), world.path(f"{flooding}/seal.spills"))
        world.until("the one that says too much", lambda: "its answer has more than 8388608 bytes" in shown())
        os.remove(world.path(f"{flooding}/seal.spills"))
        world.until("another leads", lambda: world.led(1))


def test_a_report_that_hangs_or_floods_is_told(program):
    with Agents(program) as world:
        os.mkdir(world.path("n1"))
        with open(world.path("n1/report.hangs"), "w", encoding="utf-8"):
            pass
        agent = world.agent("n1", command=world.script(MISBEHAVES), options=(*QUICK, "--report-every", "100ms"))
        world.create(shards=1, replicas=1)
        shown = lambda: world.run("shard", "show", "t1/0")
        world.until("it has not done what it cannot tell of", lambda: "it is done, but its report failed: overdue, ended after 1s" in shown())
        os.rename(world.path("n1/report.hangs"), world.path("n1/report.floods"))
        world.until("the flood", lambda: "its report failed: overdue, ended after 1s, and its answer was too large" in shown())
        os.remove(world.path("n1/report.floods"))
        # It may have been tried so often that it was given up.
        reset = [program, "shard", "reset", "t1/0", "n1"]
        world.until("it is led", lambda: world.led(1) or (subprocess.run(reset, env=world.environment, capture_output=True, timeout=PATIENCE) and None))
        # One that fails later is logged (in another way than before: the same is not said again so soon), and the leader leads on.
        with open(world.path("n1/report.spills"), "w", encoding="utf-8"):
            pass
        world.until("it is logged", lambda: "its answer has more than 8388608 bytes" in world.log("n1"))
        expect(world.led(1) and agent.poll() is None, "it leads")


def test_an_inventory_that_hangs_or_floods_is_refused_and_can_be_interrupted(program):
    with Agents(program) as world:
        for how, words in (("hangs", "inventory: overdue, ended after 1s\n"), ("floods", "inventory: overdue, ended after 1s, and its answer was too large"), ("spills", "inventory: its answer has more than 8388608 bytes")):
            os.mkdir(world.path(how))
            with open(world.path(f"{how}/inventory.{how}"), "w", encoding="utf-8"):
                pass
            agent = world.begin_agent(how, command=world.script(MISBEHAVES), options=QUICK)
            expect(agent.wait(PATIENCE) != 0 and agent.stdout.read() == "", f"{how}: {agent.returncode}")
            expect(words in world.log(how), world.log(how))
        # Whoever stops it need not wait for that.
        agent = world.begin_agent("hangs", command=world.script("echo >\"$EVENKEEL_DATA/asked\"; exec tail -f /dev/null"), options=("--within", "1h"))
        until("it asks", lambda: os.path.exists(world.path("hangs/asked")))
        expect(leave(agent) == 0, world.log("hangs"))


HANGS = """case $EVENKEEL_KIND-$EVENKEEL_FROM in
  transition-leader) exec tail -f /dev/null;;
  seal-*) echo '{"epoch": 0, "progress": 0}';;
esac"""


def test_a_step_down_that_hangs_ends_the_agent(program):
    with Agents(program) as world:
        agent = world.agent("n1", command=world.script(HANGS), options=("--leave-within", "4s"))
        world.create(shards=1, replicas=1)
        world.until("it leads", lambda: world.led(1))
        expect(leave(agent) == 70, f"{agent.returncode}: {world.log('n1')}")


CANNOT_CLOSE = """case $EVENKEEL_KIND-$EVENKEEL_TO in
  transition-offline) echo cannot close >&2; exit 4;;
  seal-*) echo '{"epoch": 0, "progress": 0}';;
esac"""


def test_what_leaving_could_not_finish_is_told(program):
    with Agents(program) as world:
        agent = world.agent("n1", command=world.script(CANNOT_CLOSE), options=("--leave-within", "4s"))
        world.create(shards=1, replicas=1)
        world.until("it leads", lambda: world.led(1))
        expect(leave(agent) == 1, world.log("n1"))
        expect("not finished: t1/0 is follower" in world.log("n1") and "exit status 4: cannot close" in world.log("n1"), world.log("n1"))


class Hook(http.server.BaseHTTPRequestHandler):
    """Keeps nothing, and answers."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        fails = asked.get("shard") == "t1/1"
        body = b"no such disk\nmore" if fails else b'{"epoch": 0, "progress": 0}' if asked["kind"] == "seal" else b""
        self.send_response(500 if fails else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_hook(program):
    with Agents(program) as world, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        hook = f"http://127.0.0.1:{server.server_address[1]}/evenkeel"
        agent = world.agent("n1", command=(), options=("--hook", hook, "--address", "10.0.0.1:9", "--capacity", "disk=2Ti", "--label", "disk=ssd"))
        world.create(shards=2, replicas=1)
        world.until("one is led", lambda: world.led(1))
        world.until("its words", lambda: "HTTP status 500: no such disk" in world.run("shard", "show", "t1/1"))
        expect(server.asked[0]["kind"] == "inventory" and server.asked[0]["node"] == "n1", f"{server.asked[0]}")
        node = world.run("node", "show", "n1")
        expect("10.0.0.1:9" in node and "2Ti" in node and "ssd" in node, node)
        agent.kill()
        server.shutdown()


def test_a_hook_that_comes_later_is_waited_for(program):
    with Agents(program) as world:
        port = free_port()
        agent = world.begin_agent("n1", command=(), options=("--hook", f"http://127.0.0.1:{port}"))
        world.until("it says whom it waits for", lambda: f"http://127.0.0.1:{port} cannot be reached; it is asked again" in world.log("n1"))
        with http.server.ThreadingHTTPServer(("127.0.0.1", port), Hook) as server:
            server.asked = []
            threading.Thread(target=server.serve_forever, daemon=True).start()
            expect(json.loads(agent.stdout.readline())["node"] == "n1", world.log("n1"))
            expect(leave(agent) == 0, world.log("n1"))
            server.shutdown()


def test_a_wrong_cluster_is_said(program):
    with Agents(program) as world:
        agent = world.agent("n1", options=("--cluster", "defalt"))
        world.until("it says that nobody controls it", lambda: "nobody controls the cluster; is its name right?" in world.log("n1") and "defalt" in world.log("n1"))
        expect("no controller is active" in world.run("cluster", "show", "--cluster", "defalt"), "and so do others")
        expect("nobody controls" not in world.run("top"), "the one with a daemon")
        agent.kill()


def test_refusals(program):
    with Agents(program) as world:
        def refused(status, *words):
            # Whoever ignores the ends of its children, and starts us, passes that on.
            done = subprocess.run([program, "agent", "--name", "n1", *words], env=world.environment, capture_output=True, text=True, timeout=PATIENCE, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
            expect(done.returncode == status and done.stdout == "" and done.stderr != "", f"{words}: {done.returncode} {done.stdout}{done.stderr}")
            return done.stderr

        expect("who shall be asked" in refused(2), "neither")
        expect("who shall be asked" in refused(2, "--hook", "http://127.0.0.1:1", "--", "true"), "both")
        expect("https" in refused(2, "--hook", "https://127.0.0.1:1"), "no TLS")
        expect("one process" in refused(2, "--store", "memory:", "--", "true"), "a store of nobody else")
        expect("inventory: exit status 3: no disk" in refused(1, "--", "sh", "-c", "echo no disk >&2; exit 3"), "its own words")
        expect("inventory: its answer" in refused(2, "--", "echo", "done"), "no inventory")
        expect("No such file" in refused(1, "--", "/no/such/program"), "no program")
        expect("choose another" in refused(4, "--listen", world.daemon.said["http"].removeprefix("http://"), "--", "true"), "a port that is taken")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
