#!/usr/bin/env python3
"""`evenkeel serve` as real processes: what it says and answers, who stands by, what it does while its store is away, and how it ends.

Usage: serve_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass: a test waits for a line, an answer, or the end of a process.
"""
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from live import PATIENCE, Failed, expect, run_tests, until
from store_live import World, free_port


class Daemons:
    """Daemons in a folder of their own."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {**os.environ, "NO_COLOR": "1", "HOME": self.folder.name}
        self.environment.pop("XDG_STATE_HOME", None)
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def begin(self, *words):
        words = [self.program, "serve", "--http", "127.0.0.1:0", *words]
        process = subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def serve(self, *words):
        process = self.begin(*words)
        line = process.stdout.readline()
        if not line:
            raise Failed("serve said: " + process.stderr.read())
        process.said = json.loads(line)
        expect(process.said["pid"] == process.pid, line)
        return process

    def refused(self, status, *words):
        done = subprocess.run([self.program, "serve", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == status, f"{words}: exit {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
        expect(done.stdout == "" and done.stderr != "", f"{words}: {done.stdout}{done.stderr}")
        return done.stderr


def get(address, path):
    """Status and body."""
    try:
        with urllib.request.urlopen(address + path, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def until_answered(address, path, good):
    """What is answered, once it is good."""
    last = ()

    def look():
        nonlocal last
        last = get(address, path)
        return last if good(*last) else None

    return until(f"{path} is what it should be", look, why=lambda: str(last))[1]


def end(process):
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    expect(process.returncode == 0, f"exit {process.returncode}: {out}{err}")
    return err


def said_until(process, words):
    """What it has said on standard error up to these words, and perhaps a little more."""
    said = ""
    give_up = time.monotonic() + PATIENCE
    while words not in said:
        if not select.select([process.stderr], [], [], max(0, give_up - time.monotonic()))[0]:
            raise Failed(f"not said: {words}\n{said}")
        more = os.read(process.stderr.fileno(), 1 << 16).decode()
        if not more:
            raise Failed(f"it ended, and never said: {words}\n{said}")
        said += more
    return said


def is_active(status, body):
    return status == 200 and json.loads(body)["active"]


def test_with_a_store_of_its_own(program):
    with Daemons(program) as world:
        daemon = world.serve("--cluster", "pages", "--store-listen", "127.0.0.1:0")
        http, store = daemon.said["http"], daemon.said["store"]
        expect(daemon.said["cluster"] == "pages" and store.startswith("etcd://127.0.0.1:"), f"{daemon.said}")
        expect(os.path.isdir(world.path(".local/state/evenkeel/pages")), "the folder of the user's state")
        expect(get(http, "/readyz") == (200, "ready\n"), "it is ready")
        cluster = json.loads(until_answered(http, "/api/v1/cluster", is_active))
        expect(cluster["controller"]["http"] == http, f"{cluster}")
        # Commands work on its store.
        spec = json.dumps({"format": 1, "buckets": 1, "name": "t1", "shards": 2, "replicas": 1})
        put = subprocess.run([program, "store", "put", "--store", store, "/evenkeel/pages/workloads/t1", spec], capture_output=True, text=True, timeout=PATIENCE)
        expect(put.returncode == 0, put.stderr)
        until_answered(http, "/api/v1/workloads", lambda status, body: len(json.loads(body)["workloads"]) == 1)
        until_answered(http, "/metrics", lambda status, body: "\nevenkeel_control_leaderless_shards 2\n" in body)
        # It counts what its store is asked. The answer is one for all who ask within a second.
        def asked(kind, body):
            found = re.search(rf'^evenkeel_store_requests_total{{kind="{kind}"}} (\S+)$', body, re.MULTILINE)
            return float(found.group(1)) if found else -1

        before = until_answered(http, "/metrics", lambda status, body: "\nevenkeel_store_full 0\n" in body)  # there is room
        found = subprocess.run([program, "store", "get", "--store", store, "/evenkeel/pages/workloads/t1"], capture_output=True, text=True, timeout=PATIENCE)
        expect(found.returncode == 0, found.stderr)
        until_answered(http, "/metrics", lambda status, body: asked("read", body) > asked("read", before) and asked("write", body) > asked("write", before))
        # One folder, one daemon.
        refusal = world.refused(4, "--cluster", "pages", "--http", "127.0.0.1:0", "--store-listen", "127.0.0.1:0")
        expect("evenkeel/pages" in refusal, refusal)
        end(daemon)
        again = world.serve("--cluster", "pages", "--store-listen", "127.0.0.1:0")
        until_answered(again.said["http"], "/api/v1/workloads", lambda status, body: len(json.loads(body)["workloads"]) == 1)
        end(again)


def test_refusals(program):
    with Daemons(program) as world:
        first = world.serve("--data", world.path("first"), "--store-listen", "127.0.0.1:0")
        http = first.said["http"].removeprefix("http://")
        store = first.said["store"].removeprefix("etcd://")
        own = ("--data", world.path("second"), "--store-listen", "127.0.0.1:0")
        refusal = world.refused(4, *own, "--http", http)
        expect(http in refusal and "choose another" in refusal, refusal)
        refusal = world.refused(4, "--data", world.path("second"), "--store-listen", store, "--http", "127.0.0.1:0")
        expect(store in refusal, refusal)
        refusal = world.refused(6, *own, "--http", "0.0.0.0:7070")
        expect("use 127.0.0.1:7070" in refusal, refusal)
        refusal = world.refused(6, *own, "--http", "127.0.0.1:0", "--pulse", "10.0.0.1:7071")
        expect("use 127.0.0.1:7071" in refusal, refusal)
        world.refused(2, *own, "--store", "etcd://127.0.0.1:1")
        world.refused(2, "--store-listen", "127.0.0.1:0", "--store", "etcd://127.0.0.1:1")
        world.refused(2, "--cluster", "a/b")
        world.refused(2, "--store", "nothing://127.0.0.1:1")
        with open(world.path("file"), "w", encoding="utf-8") as file:
            file.write("not a folder")
        world.refused(2, "--data", world.path("file"), "--store-listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
        end(first)


def test_a_cluster_that_nobody_knows(program):
    """In a store that others use, too, its name may be wrong. One of its own is new at some time."""
    with World(program, listen=f"127.0.0.1:{free_port()}") as store, Daemons(program) as world:
        daemon = world.serve("--store", "etcd://" + store.address, "--cluster", "pags")
        said_until(daemon, "nothing is known of this cluster")
        own = world.serve("--cluster", "pages", "--store-listen", "127.0.0.1:0")
        said = said_until(own, "is active") + end(own)
        expect("nothing is known" not in said, said)


def test_standby_and_a_store_that_goes_away(program):
    with World(program, listen=f"127.0.0.1:{free_port()}") as store, Daemons(program) as world:
        url = "etcd://" + store.address
        first = world.serve("--store", url, "--name", "d1")
        until_answered(first.said["http"], "/api/v1/cluster", is_active)
        second = world.serve("--store", url, "--name", "d2")
        body = until_answered(second.said["http"], "/api/v1/cluster", lambda status, body: json.loads(body)["controller"] is not None)
        expect(json.loads(body)["controller"]["http"] == first.said["http"] and not json.loads(body)["active"], body)
        # The store goes, and comes back.
        store.server.kill()
        store.server.wait()
        for daemon in (first, second):
            until_answered(daemon.said["http"], "/readyz", lambda status, body: status == 503)
        third = world.begin("--store", url, "--name", "d3")  # one that starts meanwhile waits
        store.serve()
        for daemon in (first, second):
            until_answered(daemon.said["http"], "/readyz", lambda status, body: status == 200)
        line = third.stdout.readline()
        expect(line and json.loads(line)["name"] == "d3", line)
        third.said = json.loads(line)
        # One is active. They are asked one after the other, so the office may change hands in between: then they are asked again.
        daemons = [first, second, third]

        def actives():
            return [each for each in daemons if is_active(*get(each.said["http"], "/api/v1/cluster"))]

        def steadily_active():
            found = actives()
            return found[0] if len(found) == 1 and actives() == found else None

        # Whoever is active leaves its office, and another takes over.
        active = until("one is active", steadily_active)
        end(active)
        daemons.remove(active)
        until("another takes over", steadily_active)
        for each in daemons:
            end(each)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
