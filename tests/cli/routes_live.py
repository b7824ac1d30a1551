#!/usr/bin/env python3
"""`evenkeel routes` against a served store: what it prints, and the file that it keeps, while the view changes and the store goes away.

Usage: routes_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass: a test waits for a line, for a file that is another one, or for the end of a process.
"""
import json
import os
import signal
import socket
import subprocess
import sys

from live import PATIENCE, expect, run_tests, until
from store_live import World, free_port


def live(address, zone="dc1/r1"):
    """A node's own document, as docs/documents.md has it."""
    return json.dumps({"format": 1, "incarnation": "5b2e91c04d7a8f36", "data": "d1", "address": address, "version": "1", "reads": 1, "zone": zone})


def view(*shards, **more):
    """A bucket of the view. A shard: (number, [epoch, change], leader, {node: state})."""
    rows = []
    for number, version, leader, others in shards:
        row = {"shard": number, "version": version, "others": [[node, state] for node, state in others.items()]}
        if leader:
            row["leader"] = leader
        rows.append(row)
    return json.dumps({"format": 1, "shards_in_all": 2, "key_map": "hash", "hash_version": 1, **more, "shards": rows})


class Routes(World):
    """A served store with a cluster of two nodes in it, and `evenkeel routes` against it."""

    def fill(self):
        self.run("put", "/evenkeel/pages/live/n1", live("10.0.0.1:9090"))
        self.run("put", "/evenkeel/pages/live/n2", live("10.0.0.2:9090", "dc1/r2"))
        self.run("put", "/evenkeel/pages/view/t1/0", view((0, [4, 2], "n1", {"n2": "follower"}), (1, [3, 0], None, {"n2": "follower"})))

    def routes(self, *words, status=0, **variables):
        done = subprocess.run([self.program, "routes", *words], env={**self.environment, **variables}, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == status, f"{words}: exit {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
        expect(status == 0 or (done.stdout == "" and done.stderr != ""), f"{words}: {done.stdout}{done.stderr}")
        return done

    def begin(self, *words):
        process = subprocess.Popen([self.program, "routes", *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def until(self, process, name, good):
        """The map in a file, once it is there and good."""
        def look():
            expect(process.poll() is None, "it ended: " + (process.stderr.read() if process.poll() is not None else ""))
            if not os.path.exists(self.path(name)):
                return None
            with open(self.path(name), encoding="utf-8") as file:
                found = json.load(file)  # never a part of one
            return found if good(found) else None

        return until(f"{name} is what it should be", look)


def end(process, status=0):
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    expect(process.returncode == status, f"exit {process.returncode}, wanted {status}: {out}{err}")
    return err


def leader_of(found, shard):
    return found["workloads"]["t1"]["replicas"][shard].get("leader")


def test_forms(program):
    with Routes(program) as world:
        world.fill()
        table = world.routes("--cluster", "pages").stdout.splitlines()
        expect(table[0].split() == ["SHARD", "LEADER", "NEXT", "OTHERS", "EPOCH"], table[0])
        expect(table[1].split() == ["t1/0", "n1", "-", "n2", "(follower)", "4"], table[1])
        expect(table[2].split() == ["t1/1", "-", "-", "n2", "(follower)", "3"] and len(table) == 3, table[2])
        expect("10.0.0.1:9090" in world.routes("--cluster", "pages", "-o", "wide").stdout, "addresses")
        expect(world.routes("--cluster", "pages", "-o", "name").stdout == "shard/t1/0\nshard/t1/1\n", "names")
        found = json.loads(world.routes("--cluster", "pages", "-o", "json").stdout)
        expect(leader_of(found, 0) == "n1" and found["nodes"]["n2"]["zone"] == "dc1/r2", f"{found}")
        expect("key_map: hash" in world.routes("--cluster", "pages", "-o", "yaml").stdout, "yaml")
        found = json.loads(world.routes("--cluster", "pages", "-o", "rocksplicator").stdout)
        expect(found == {"t1": {"num_shards": 2, "10.0.0.1:9090:dc1_r1": ["00000:M"], "10.0.0.2:9090:dc1_r2": ["00000:S", "00001:S"]}}, f"{found}")


def test_a_file_is_written_when_it_changed(program):
    with Routes(program) as world:
        world.fill()
        words = ["--cluster", "pages", "--out", world.path("map.json")]
        expect(world.routes(*words).stdout == "", "nothing is printed")
        before = os.stat(world.path("map.json")).st_ino
        world.routes(*words)
        expect(os.stat(world.path("map.json")).st_ino == before, "the same map is not written again")
        world.run("put", "/evenkeel/pages/view/t1/0", view((0, [5, 0], "n2", {"n1": "follower"}), (1, [3, 0], None, {})))
        world.routes(*words)
        expect(os.stat(world.path("map.json")).st_ino != before, "another map is another file")
        with open(world.path("map.json"), encoding="utf-8") as file:
            expect(leader_of(json.load(file), 0) == "n2", "the new one")
        expect("no/map.json" in world.routes("--cluster", "pages", "--watch", "--out", world.path("no/map.json"), status=3).stderr, "a wrong path ends it")


def test_a_watched_file_follows(program):
    with Routes(program, listen=f"127.0.0.1:{free_port()}") as world:
        world.listen = world.address
        world.write("map.json", '{"workloads": {}, "old": true}')
        following = world.begin("--cluster", "pages", "--watch", "--out", world.path("map.json"))
        expect("stays as it is" in following.stderr.readline(), "an empty store is no reason to write")
        with open(world.path("map.json"), encoding="utf-8") as file:
            expect(json.load(file)["old"], "the old file")
        world.fill()
        # The view may come before the addresses do.
        world.until(following, "map.json", lambda found: "old" not in found and "n2" in found["nodes"] and leader_of(found, 0) == "n1")
        world.server.kill()
        world.server.communicate()
        world.serve()
        world.run("put", "/evenkeel/pages/view/t1/0", view((0, [5, 0], "n2", {"n1": "follower"}), (1, [3, 0], "n1", {})))
        found = world.until(following, "map.json", lambda found: leader_of(found, 0) == "n2")
        expect(leader_of(found, 1) is None, "a version that is not higher is not taken")
        # An older view is ignored; what can no longer be written is tried again.
        os.rename(world.path("map.json"), world.path("kept.json"))
        os.mkdir(world.path("map.json"))
        world.run("put", "/evenkeel/pages/view/t1/0", view((0, [6, 0], "n1", {"n2": "follower"}), (1, [3, 0], None, {})))
        expect("map.json" in following.stderr.readline(), "it says that it cannot write")
        os.rmdir(world.path("map.json"))
        world.until(following, "map.json", lambda found: leader_of(found, 0) == "n1")
        end(following)


def test_a_watch_prints_what_changed(program):
    with Routes(program) as world:
        world.fill()
        following = world.begin("--cluster", "pages", "--watch")
        expect([following.stdout.readline().split()[0] for _ in range(3)] == ["SHARD", "t1/0", "t1/1"], "all of it first")
        world.run("put", "/evenkeel/pages/view/t1/0", view((0, [5, 0], "n2", {"n1": "follower"}), (1, [3, 0], None, {"n2": "follower"})))
        following.stdout.readline()
        expect(following.stdout.readline().split()[:2] == ["t1/0", "n2"], "then what changed")
        world.run("del", "/evenkeel/pages/view/t1/0")
        expect([following.stdout.readline().split() for _ in range(3)][1:] == [["t1/0", "-", "-", "gone", "-"], ["t1/1", "-", "-", "gone", "-"]], "and what is gone")
        end(following)


def test_who_cannot_be_in_it_is_said(program):
    with Routes(program) as world:
        world.fill()
        world.run("put", "/evenkeel/pages/live/n2", live("n2.example:9090"))
        said = world.routes("--cluster", "pages", "-o", "rocksplicator", "--out", world.path("map.json")).stderr
        expect("n2 serves and is not in the map" in said and "n2.example:9090" in said, said)
        expect(world.routes("--cluster", "pages", "-o", "json").stderr == "", "JSON can name everybody")
        standby = view((0, [4, 3], "n1", {"n2": "standby"}), (1, [3, 1], "n1", {}), idle=["standby"])
        world.run("put", "/evenkeel/pages/view/t1/0", standby)
        expect(world.routes("--cluster", "pages", "-o", "rocksplicator").stderr == "", "a standby is not missed")
        world.run("put", "/evenkeel/pages/view/t2/0", "no document")
        expect("t2/0" in world.routes("--cluster", "pages").stderr, "what cannot be read is said")


def test_what_goes_wrong(program):
    with Routes(program) as world, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        expect('no cluster "pages"' in world.routes("--cluster", "pages", status=3).stderr, "no such cluster")
        world.run("put", "/evenkeel/pages/live/n1", live("10.0.0.1:9090"))
        expect(world.routes("--cluster", "pages").stdout.split() == ["SHARD", "LEADER", "NEXT", "OTHERS", "EPOCH"], "nothing is served yet")
        expect("stays as it is" in world.routes("--cluster", "pages", "--out", world.path("map.json"), status=3).stderr, "no empty file")
        expect(not os.path.exists(world.path("map.json")), "none")
        dead = f"etcd://127.0.0.1:{closed.getsockname()[1]}"
        world.routes("--cluster", "pages", "--store", dead, "--timeout", "2s", status=5)
        world.routes("--cluster", "pages", "--store", dead, "--timeout", "2s", "--watch", status=5)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
