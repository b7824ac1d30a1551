#!/usr/bin/env python3
"""Commands that work through a context, against served stores: what counts of flags, contexts and the environment, and what is said of a store that does not answer.

Usage: context_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass.
"""
import json
import os
import stat
import subprocess
import sys

from live import expect, run_tests
from operate_live import Cluster
from store_live import free_port

NOWHERE = "etcd://127.0.0.1:{}"


class Places(Cluster):
    """A served store with a cluster in it, which no variable names, and a file of contexts."""

    def __init__(self, program, *options):
        super().__init__(program, *options)
        self.url = self.environment["EVENKEEL_STORE"]
        self.config = self.path("home/config/contexts.yaml")

    def leave(self):
        """From here on nothing but contexts and flags says where it is."""
        for name in ("EVENKEEL_STORE", "EVENKEEL_CLUSTER"):
            self.environment.pop(name, None)
        self.environment["EVENKEEL_CONFIG"] = self.config

    def context(self, *words, **more):
        return self.do("context", *words, **more)

    def start_any(self, *words):
        process = subprocess.Popen([self.program, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.started.append(process)
        return process


def test_commands_work_through_a_context(program):
    with Places(program) as world:
        world.fill()
        world.leave()
        world.context("set", "pages", "--store", world.url, "--cluster", "pages")
        mode = stat.S_IMODE(os.stat(world.config).st_mode)
        expect(mode == 0o600, f"{mode:o}")
        expect(stat.S_IMODE(os.stat(os.path.dirname(world.config)).st_mode) == 0o700, "folders as well")
        names = "node/n1\nnode/n2\nnode/n3\nnode/n4\n"
        expect(world.do("node", "list", "--context", "pages", "-o", "name").stdout == names, "named")
        os.chmod(world.config, 0o644)
        world.context("use", "pages")
        expect(stat.S_IMODE(os.stat(world.config).st_mode) == 0o600, "whatever it was")
        expect(os.listdir(os.path.dirname(world.config)) == ["contexts.yaml"], "nothing is left beside it")
        expect(world.do("node", "list", "-o", "name").stdout == names, "in use")
        expect(world.do("node", "cordon", "n1").stdout == "node/n1 written\n", "written")
        expect(world.do("routes", "-o", "name").stdout == "shard/t1/0\nshard/t1/1\n", "routes, too")
        expect("/evenkeel/pages/config" in world.do("store", "list", "/", "-o", "name").stdout, "and the store's own")
        file = world.write("pages.yaml", "cluster: pages\nsettings: {rebalance_delay: 20m}\n")
        world.do("apply", "-f", file, "--yes")
        other = world.write("other.yaml", "cluster: other\nworkloads: [{name: t1, shards: 1, replicas: 1}]\n")
        said = world.do("apply", "-f", other, "--dry-run").stderr
        expect("about the cluster other, not pages as context pages says" in said, said)


def test_what_counts(program):
    with Places(program) as world:
        world.fill()
        world.leave()
        away = NOWHERE.format(free_port())
        world.context("set", "pages", "--store", world.url, "--cluster", "pages")
        world.context("set", "away", "--store", away, "--cluster", "pages")
        world.context("use", "away")
        quick = ("--timeout", "1s")
        said = world.do("node", "list", *quick, status=5).stderr
        expect('that of context "away"' in said and "evenkeel context show away" in said, said)
        expect('context "away"' in world.do("store", "get", "/a", *quick, status=5).stderr, "the same of a store's commands")
        world.do("node", "list", "--context", "pages")
        world.do("node", "list", EVENKEEL_STORE=world.url, EVENKEEL_CLUSTER="pages")  # goes before the one in use
        world.do("node", "list", "--context", "pages", EVENKEEL_STORE=away)  # and behind one that is named
        said = world.do("node", "list", "--context", "pages", "--store", away, *quick, status=5).stderr
        expect("context" not in said, f"a flag has chosen it: {said}")
        # Who names the store has left the context in use, with its cluster.
        said = world.do("node", "list", "--store", world.url, status=3).stderr
        expect('no cluster "default"' in said, said)
        said = world.do("node", "list", "--context", "pages", "--cluster", "nowhere", status=3).stderr
        expect('no cluster "nowhere"' in said and 'that of context "pages"' in said, said)
        world.do("node", "list", "--context", "pages", status=3, EVENKEEL_CONFIG="/dev/null")
        world.write("broken.yaml", "contexts: [")
        said = world.do("node", "list", status=2, EVENKEEL_CONFIG=world.path("broken.yaml")).stderr
        expect("broken.yaml:" in said and "error:" in said, said)
        world.do("node", "list", "--store", world.url, "--cluster", "pages", EVENKEEL_CONFIG=world.path("broken.yaml"))
        world.context("set", "x", "--cluster", "c", status=2, EVENKEEL_CONFIG="/dev/null")
        world.context("set", "away", "--cluster", "", "--http", "http://127.0.0.1:7070")
        shown = json.loads(world.context("show", "away", "-o", "json").stdout)
        expect(shown == [{"name": "away", "current": True, "store": away, "http": "http://127.0.0.1:7070"}], f"an empty word takes a field back: {shown}")
        # A folder that a file of contexts names begins where the file is, too.
        file = world.write("beside.yaml", "contexts: {folder: {store: 'embedded:nothing'}}")
        said = world.do("node", "list", "--context", "folder", status=3, EVENKEEL_CONFIG=file).stderr
        expect(world.path("nothing") in said, said)
        said = world.do("node", "list", "--context", "", status=2).stderr
        expect("--context" in said, f"a variable that is not set does not mean the one in use: {said}")


def test_a_password_goes_only_to_its_store(program):
    with Places(program) as open_one:
        hashed = open_one.do("store", "password", data="geheim\n").stdout.strip()
        users = open_one.write("users.yaml", f"users: [{{name: ann, password: '{hashed}', admin: true}}]\n")
        check_passwords(Places(program, "--users", users))


def check_passwords(guarded):
    with guarded as world:
        password = world.write("password", "geheim\n")
        world.leave()
        world.do("store", "get", "/a", "--store", world.url, status=6)
        world.context("set", "ann", "--store", world.url, "--user", "ann", "--password-file", os.path.relpath(password))
        world.context("use", "ann")
        world.do("store", "put", "/a", "1")
        with open(world.config, encoding="utf-8") as file:
            text = file.read()
        expect("geheim" not in text and password in text, text)
        said = world.do("store", "get", "/a", EVENKEEL_STORE_PASSWORD="wrong", status=6).stderr
        expect('context "ann"' in said, said)
        expect(world.do("store", "get", "/a", "--context", "ann", EVENKEEL_STORE_PASSWORD="wrong").stdout == "1", "named, its own goes before")
        # The same store by another name is another store: nobody asks there.
        other = world.url.replace("127.0.0.1", "localhost")
        world.do("store", "get", "/a", "--context", "ann", "--store", other, status=6)
        world.do("store", "get", "/a", "--context", "ann", "--user", "bob", status=2)
        # Who asks by the environment asks the environment's store, and no other that a context names.
        world.context("set", "plain", "--store", other)
        asks = {"EVENKEEL_STORE_USER": "ann", "EVENKEEL_STORE_PASSWORD": "geheim"}
        expect(world.do("store", "get", "/a", "--context", "plain", **asks).stdout == "1", "the environment names none")
        world.do("store", "get", "/a", "--context", "plain", EVENKEEL_STORE=world.url, **asks, status=6)
        # A relative path begins where the file is.
        os.rename(password, os.path.join(os.path.dirname(world.config), "word"))
        with open(world.config, "w", encoding="utf-8") as file:
            file.write(text.replace(password, "word"))
        expect(world.do("store", "get", "/a").stdout == "1", "beside the file")
        os.remove(os.path.join(os.path.dirname(world.config), "word"))
        expect("the file of the password" in world.do("store", "get", "/a", status=3).stderr, "it is gone")


def test_daemons_and_agents_take_only_a_context_that_is_named(program):
    with Places(program) as world:
        world.fill()
        world.leave()
        world.context("set", "pages", "--store", world.url, "--cluster", "pages")
        world.context("set", "bare", "--cluster", "pages")
        world.context("use", "pages")
        expect("names no store" in world.do("serve", "--context", "bare", status=2).stderr, "a daemon needs one")
        expect("--data" in world.do("serve", "--context", "pages", "--data", world.path("x"), status=2).stderr, "one store, not two")
        process = world.start_any("serve", "--context", "pages", "--http", "127.0.0.1:0")
        ready = json.loads(process.stdout.readline())
        expect(ready["cluster"] == "pages" and ready["store"] == world.url, f"{ready}")
        process = world.start_any("agent", "--context", "pages", "--name", "n9", "--", "true")
        ready = json.loads(process.stdout.readline())
        expect(ready["cluster"] == "pages" and ready["store"] == world.url, f"{ready}")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
