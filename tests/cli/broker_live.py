#!/usr/bin/env python3
"""A live broker and its clients as real processes: what each verb says, and what is left when one of them is killed.

Usage: broker_live.py PROGRAM

Nothing here waits for time to pass: a test waits for a line, a grant, or the end of a process.
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from live import PATIENCE, Failed, expect, run_tests, until


class World:
    """One broker, and a way to run commands against it."""

    def __init__(self, program, *options, config=None):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        words = [program, "broker", "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", *options]
        if config is not None:
            words += ["--config", self.write("broker.yaml", config)]
        self.server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.server.stdout.readline()
        if not line:
            raise Failed("serve said: " + self.server.stderr.read())
        self.ready = json.loads(line)
        self.environment = {**os.environ, "EVENKEEL_BROKER": self.ready["broker"], "NO_COLOR": "1"}
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [*self.started, self.server]:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def run(self, *words, status=0, text=None):
        """Runs `evenkeel broker WORD…` to its end; returns what it wrote to both outputs."""
        done = subprocess.run([self.program, "broker", *words], env=self.environment, input=text, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == status, f"{words}: exit {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
        expect(status == 0 or words[0] == "submit" or done.stdout == "", f"{words}: failed and wrote data: {done.stdout}")
        return done

    def start(self, *words, **options):
        process = subprocess.Popen([self.program, "broker", *words], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.started.append(process)
        return process

    def hold(self, *words):
        """A client that holds a grant until its standard input is closed: the process, once it has the grant."""
        process = self.start("submit", *words, "--", "sh", "-c", "echo held; read line; exit 7")
        expect(process.stdout.readline() == "held\n", "no grant")
        return process

    def status(self):
        return json.loads(self.run("status", "-o", "json").stdout)

    def get(self, path):
        with urllib.request.urlopen(self.ready["http"] + path, timeout=PATIENCE) as answer:
            return answer.url, answer.headers, answer.read().decode()


ALL_CPU = ["--type", "transaction", "--cpu", "10"]


def test_submit_runs_a_command_and_passes_on_its_status(program):
    with World(program) as world:
        expect(world.run("submit", *ALL_CPU, "--", "echo", "a", "-b", "--", "c").stdout == "a -b -- c\n", "the words are the command's own")
        world.run("submit", *ALL_CPU, "--", "sh", "-c", "exit 42", status=42)
        world.run("submit", *ALL_CPU, "--", "sh", "-c", "kill -9 $$", status=128 + 9)
        done = world.run("submit", *ALL_CPU, "--", "/no/such/program", status=3)
        expect("cannot run" in done.stderr, done.stderr)
        expect(world.run("submit", *ALL_CPU).stdout.startswith("granted after "), "without a command it says how long it took")
        total = world.status()["total"]
        expect(total["finished"] == 5 and total["running"] == 0, f"{total}")
        transaction = [task for task in world.status()["tasks"] if task["name"] == "transaction"][0]
        expect(transaction["finished"] == 5, f"{transaction}")


def test_submit_waits_is_refused_or_gives_up(program):
    with World(program, config="queues: [{name: queue_default, weight: 1}]\ntasks: [{name: unknown, queue_name: queue_default}]\n"
               "resource_limit: {cpu: 2, gpu: 1}\n") as world:
        holder = world.hold("--type", "x", "--need", "gpu=1", "--name", "the holder")
        expect("not granted at once" in world.run("submit", "--type", "x", "--need", "gpu=1", "--instant", status=1).stderr, "instant")
        expect("not granted within 50ms" in world.run("submit", "--type", "x", "--need", "gpu=1", "--timeout", "50ms", status=5).stderr, "timeout")
        expect("the holder" in world.run("status", "-o", "wide").stdout, "who holds it")
        waiting = world.start("submit", "--type", "x", "--need", "gpu=1", "--", "echo", "granted")
        expect("tpu" in world.run("submit", "--type", "x", "--need", "tpu=1", status=1).stderr, "an unknown resource is named")
        holder.communicate(timeout=PATIENCE)
        expect(holder.returncode == 7, "the holder's status")
        expect(waiting.communicate(timeout=PATIENCE)[0] == "granted\n", "it was granted once the holder was done")
        for words in (["--need", "gpu"], ["--need", "cpu=1"], ["--need", "gpu=1", "--need", "gpu=2"], ["--cpu", "much"], ["--timeout", "0s"]):
            world.run("submit", "--type", "x", *words, status=2)


def test_a_killed_client_frees_everything(program):
    with World(program) as world:
        holder = world.hold(*ALL_CPU)
        waiting = world.start("submit", *ALL_CPU, "--", "echo", "granted")
        os.kill(holder.pid, signal.SIGKILL)
        expect(waiting.communicate(timeout=PATIENCE)[0] == "granted\n", "what the killed one held was given on")
        expect(holder.stdout.read() == "", "the command of the killed client is gone too")
        expect(world.status()["total"]["running"] == 0, "nothing is held")


def test_a_client_that_no_longer_answers_frees_everything(program):
    with World(program, "--ping", "200ms") as world:
        holder = world.hold(*ALL_CPU)
        waiting = world.start("submit", *ALL_CPU, "--", "echo", "granted")
        holder.send_signal(signal.SIGSTOP)
        expect(waiting.communicate(timeout=PATIENCE)[0] == "granted\n", "what the stopped one held was given on")
        holder.send_signal(signal.SIGCONT)
        holder.communicate(timeout=PATIENCE)
        expect(holder.returncode == 7, "its command goes on")


def test_a_broker_that_stops_tells_its_clients(program):
    with World(program) as world:
        holder = world.hold(*ALL_CPU)
        waiting = world.start("submit", *ALL_CPU, "--", "echo", "granted")
        recorder = world.start("record")
        expect(recorder.stdout.readline() != "", "a recording")
        until("it waits", lambda: world.status()["total"]["waiting"] == 1)
        world.server.send_signal(signal.SIGTERM)
        expect("stopping" in world.server.communicate(timeout=PATIENCE)[1] and world.server.returncode == 0, "a clean end, with all of them connected")
        for client in (waiting, recorder):
            words = client.communicate(timeout=PATIENCE)[1]
            expect("went away" in words and client.returncode == 5, words)
        words = holder.communicate(timeout=PATIENCE)[1]
        expect("went away" in words and holder.returncode == 7, words)


def test_signals_reach_the_command(program):
    with World(program) as world:
        holder = world.start("submit", *ALL_CPU, "--", "sh", "-c", "trap 'echo told; kill $!; exit 5' TERM; sleep 1000 & echo held; wait")
        expect(holder.stdout.readline() == "held\n", "no grant")
        waiting = world.start("submit", *ALL_CPU, "--", "echo", "granted")
        # It stands in the queue once the broker says so; then it is told to stop waiting.
        until("it waits", lambda: world.status()["total"]["waiting"] == 1)
        waiting.send_signal(signal.SIGINT)
        expect("interrupted" in waiting.communicate(timeout=PATIENCE)[1] and waiting.returncode == 1, "a waiting one gives up")
        holder.send_signal(signal.SIGTERM)
        expect("told" in holder.communicate(timeout=PATIENCE)[0] and holder.returncode == 5, "the command was told, and its status is ours")


def test_status_and_top(program):
    with World(program) as world:
        holder = world.hold("--type", "compaction_gen0", "--cpu", "1", "--memory", "1Gi")
        table = world.run("status").stdout
        expect("queue_compaction_gen0" in table and "1Gi/" in table and "total" in table, table)
        status = world.status()
        expect(status["total"]["held"] == {"cpu": 1, "memory": 1 << 30}, f"{status['total']}")
        expect(status["running_tasks"][0]["type"] == "compaction_gen0", f"{status}")
        expect("held: {cpu: 1" in world.run("status", "-o", "yaml").stdout, "yaml")
        expect("queue/queue_default\n" in world.run("status", "-o", "name").stdout, "names")
        blocks = world.run("top", "--count", "2", "--interval", "1ms").stdout
        expect(blocks.count("QUEUE") == 2 and blocks.count("finished a second") == 1 and "\033" not in blocks, blocks)
        endless = world.start("top", "--interval", "1h")
        expect(endless.stdout.readline().startswith("up "), "top")
        endless.send_signal(signal.SIGINT)
        endless.communicate(timeout=PATIENCE)
        expect(endless.returncode == 0, "an interrupt is how top ends")
        holder.communicate(timeout=PATIENCE)


def test_configure(program):
    with World(program) as world:
        patch = "queues: [{name: queue_default, weight: 50}, {name: new, weight: 3}]"
        wanted = "~ queue queue_default: weight: 30 -> 50\n+ queue new\n~ queue new: weight: 0 -> 3\n"
        done = world.run("configure", "-f", "-", "--merge", "--dry-run", text=patch)
        expect(done.stdout == wanted and "dry run" in done.stderr, done.stdout)
        expect(len(world.status()["queues"]) == 7, "a dry run changes nothing")
        expect(world.run("configure", "-f", "-", "--merge", text=patch).stdout == wanted, "what changed")
        expect("nothing" in world.run("configure", "-f", "-", "--merge", text=patch).stderr, "nothing changes twice")
        expect("queue_default" in world.run("configure", "-f", "-", text="queues: []", status=1).stderr, "refused by the broker")
        expect("<stdin>:1:" in world.run("configure", "-f", "-", text="quues: []", status=2).stderr, "a wrong file")
        default = subprocess.run([program, "broker", "default-config"], capture_output=True, text=True, check=True).stdout
        expect("- queue new\n" in world.run("configure", "-f", "-", text=default).stdout, "what goes is said")


def test_reload_on_hang_up(program):
    config = "queues: [{name: queue_default, weight: 1}]\ntasks: [{name: unknown, queue_name: queue_default}]\n"
    with World(program, config=config) as world:
        for text, words in ((config.replace("weight: 1", "weight: 9"), "was read again"), ("queues: {", "stays as it was"), ("queues: []", "stays as it was")):
            world.write("broker.yaml", text)
            world.server.send_signal(signal.SIGHUP)
            for line in world.server.stderr:
                if words in line:
                    break
            else:
                raise Failed("no answer to a hang-up")
        expect(world.status()["queues"][0]["weight"] == 9, "the right config stays")


def test_record_replays_to_the_same_grants(program):
    with World(program) as world:
        holder = world.hold("--type", "transaction", "--cpu", "3")
        path = world.path("life.trace")
        recorder = world.start("record", "--output", path)
        # The recording has begun once its first line is there.
        until("a recording", lambda: os.path.exists(path) and "\n" in open(path).read())
        for words in (["--type", "transaction", "--cpu", "1"], ["--type", "compaction_gen0", "--cpu", "2"], ["--type", "nobody_knows", "--cpu", "1"]):
            world.run("submit", *words)
        holder.communicate(timeout=PATIENCE)
        world.run("submit", "--type", "transaction", "--cpu", "4", "--name", "last")
        until("the end is recorded", lambda: '"last"' in open(path).read())
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=PATIENCE)
        expect(recorder.returncode == 0, "an interrupt is how a recording ends")
        replayed = subprocess.run([program, "broker", "replay", path], capture_output=True, text=True, timeout=PATIENCE)
        expect(replayed.returncode == 0, replayed.stderr)
        grants = [event for event in map(json.loads, replayed.stdout.splitlines()) if event["ev"] == "allocated"]
        expect(len(grants) == 4, f"{grants}")
        short = world.run("record", "--for", "1ms").stdout
        expect(short == "" or json.loads(short.splitlines()[0]), "--for ends it")


def test_page_metrics_and_health(program):
    with World(program) as world:
        url, headers, page = world.get("/")
        expect(url.endswith("/broker") and "text/html" in headers["Content-Type"] and "queue_compaction_gen0" in page, url)
        _, headers, metrics = world.get("/metrics")
        expect("version=0.0.4" in headers["Content-Type"] and "evenkeel_broker_" in metrics, metrics[:200])
        expect(world.get("/healthz")[2] == "ok\n", "health")
        bare = http.client.HTTPConnection(world.ready["http"][7:], timeout=PATIENCE)
        bare.putrequest("POST", "/healthz")  # without a length, so without a body
        bare.endheaders()
        expect(bare.getresponse().status == 405, "a request without a body is answered at once")
        try:
            world.get("/nothing")
            raise Failed("nothing is there")
        except urllib.error.HTTPError as error:
            expect(error.code == 404 and error.headers["Content-Type"] == "application/problem+json", f"{error}")


def test_serve_says_what_is_wrong(program):
    with World(program) as world:
        taken = world.run("serve", "--listen", world.ready["broker"], status=4).stderr
        expect("--listen" in taken and "choose another" in taken and "chttp2" not in taken, taken)
        expect("--http" in world.run("serve", "--listen", "127.0.0.1:0", "--http", world.ready["http"][7:], status=4).stderr, "taken")
        expect("no encryption" in world.run("serve", "--listen", "0.0.0.0:7071", status=6).stderr, "other hosts")
        world.run("serve", "--listen", "somewhere", status=2)
        world.run("serve", "--config", "/no/such/file", status=3)
        expect("queue_default" in world.run("serve", "--config", world.write("bad.yaml", "queues: []"), status=2).stderr, "a refused config")


def test_serve_stops_and_leaves_nothing(program):
    with tempfile.TemporaryDirectory() as folder:
        address, ready = f"unix:{folder}/socket", f"{folder}/ready"
        words = [program, "broker", "serve", "--listen", address, "--ready-file", ready, "--tasks-max", "1", "--waiting-max", "1", "--refuse-oversized"]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = server.stdout.readline()
        expect(json.loads(line)["broker"] == address and json.loads(line)["http"] is None, line)
        expect(open(ready).read() == line, "the ready file says the same")
        refused = subprocess.run([program, "broker", "submit", "--address", address, "--type", "transaction", "--cpu", "11"], capture_output=True, text=True)
        expect(refused.returncode == 1 and refused.stdout == "", refused.stderr)
        server.send_signal(signal.SIGTERM)
        expect("stopping" in server.communicate(timeout=PATIENCE)[1] and server.returncode == 0, "a clean end")
        expect(not os.path.exists(f"{folder}/socket"), "the socket is gone")


def test_nobody_there(program):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        environment = {**os.environ, "EVENKEEL_BROKER": f"127.0.0.1:{closed.getsockname()[1]}"}
        for words in (["status"], ["top"], ["record"], ["submit", "--type", "x"], ["configure", "-f", "-"]):
            done = subprocess.run([program, "broker", *words], env=environment, input="queues: []", capture_output=True, text=True, timeout=PATIENCE)
            expect(done.returncode == 5 and done.stdout == "", f"{words}: {done.returncode} {done.stderr}")
            expect("evenkeel broker serve" in done.stderr and environment["EVENKEEL_BROKER"] in done.stderr, done.stderr)
        for address, status in (("nonsense", 2), ("example.com:7071", 6)):
            done = subprocess.run([program, "broker", "status", "--address", address], capture_output=True, text=True, timeout=PATIENCE)
            expect(done.returncode == status, done.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
