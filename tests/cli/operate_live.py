#!/usr/bin/env python3
"""The operators' commands against a served store: what they show of a cluster's documents, what they write, and what they refuse.

Usage: operate_live.py PROGRAM [PART OF A TEST'S NAME]

No controller runs here: what it would do with the documents is tested in tests/control. Nothing here waits for time to pass.
"""
import json
import os
import pty
import signal
import subprocess
import sys

from live import PATIENCE, Failed, expect, run_tests
from store_live import World

ROOT = "/evenkeel/pages/"


def identity(node):
    return f"{int(node[1:]):016x}"


def holder(node, told, **more):
    return {"node": node, "data": "d-" + node, "incarnation": identity(node), "told": told, "version": [4, 2], "reason": "first", "arrived": True, **more}


class Cluster(World):
    """A served store with a cluster in it: n1, n2 and n3 hold t1, of which n1 leads both shards; n4 is gone."""

    def put(self, key, **document):
        self.run("put", ROOT + key, json.dumps({"format": 1, **document}))

    def get(self, key):
        return json.loads(self.out("get", ROOT + key))

    def beat(self, node, ended=False):
        self.put(f"beats/{node}", identity=identity(node), count=3, ttl="10s", meta="", ended=ended)

    def join(self, node):
        self.beat(node)
        for kind in ("live", "members"):
            self.say(kind, node)

    def say(self, kind, node):
        self.put(f"{kind}/{node}", incarnation=identity(node), data="d-" + node, address=f"10.0.0.{node[1:]}:9090", version="1", reads=1, zone="dc" + node[1:], capacity={"disk": "1Ti", "cpu": 4})

    def control(self, count=3, ended=False):
        """As if a controller was active, with so many beats."""
        self.put("office/controller", owner="c1", kind="session", ttl="3s", meta="host-1 http=127.0.0.1:1 pulse=127.0.0.1:2", beat=ROOT + "controllers/host-1", identity="c1")
        self.put("controllers/host-1", identity="c1", count=count, ttl="3s", meta="host-1", ended=ended)

    def fill(self):
        self.environment["EVENKEEL_CLUSTER"] = "pages"
        self.control()
        self.put("config", settings={"rebalance_delay": "10m"})
        self.put("workloads/t1", buckets=1, shards=2, replicas=3)
        for node in ("n1", "n2", "n3"):
            self.join(node)
        self.beat("n4", ended=True)
        shards, views = [], []
        for shard in (0, 1):
            holders = [holder("n1", "leader", may_be="leader"), holder("n2", "follower"), holder("n3", "follower")]
            shards.append({"shard": shard, "version": [4, 2], "told": [4, 2], "has_data": True, "placement": ["n1", "n2", "n3"], "holders": holders})
            views.append({"shard": shard, "version": [4, 2], "leader": "n1", "others": [["n2", "follower"], ["n3", "follower"]]})
        self.put("shards/t1/0", shards=shards)
        self.put("view/t1/0", shards_in_all=2, key_map="hash", hash_version=1, shards=views)
        for node, state in (("n1", "leader"), ("n2", "follower"), ("n3", "follower")):
            replicas = [{"shard": shard, "state": state, "version": [4, 2], "last": 4, "progress": 10} for shard in (0, 1)]
            self.put(f"reports/{node}/t1/0", incarnation=identity(node), data="d-" + node, obeyed=[1, 1], replicas=replicas)

    def do(self, *words, status=0, data=None, **variables):
        done = subprocess.run([self.program, *words], env={**self.environment, **variables}, input=data, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == status, f"{words}: exit {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
        expect(status == 0 or (done.stdout == "" and done.stderr != ""), f"{words}: {done.stdout}{done.stderr}")
        return done

    def answer(self, text, *words):
        """Runs a command at a terminal, where `text` is typed."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([self.program, *words], env=self.environment, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        os.close(theirs)
        os.write(ours, text.encode())
        out, err = process.communicate(timeout=PATIENCE)
        os.close(ours)
        return process.returncode, out, err


def test_nodes_are_shown(program):
    with Cluster(program) as world:
        world.fill()
        lines = [line.split() for line in world.do("node", "list").stdout.splitlines()]
        expect(lines[0] == ["NODE", "STATE", "ZONE", "REPLICAS", "LEADERS", "ERRORS", "OPERATION", "REASON"], f"{lines[0]}")
        expect(lines[1] == ["n1", "there", "dc1", "2", "2", "0", "-", "-"], f"{lines[1]}")
        expect(lines[4][:2] == ["n4", "gone"], f"{lines[4]}")
        world.put("waits", gone={"n4": "2m10s"})
        expect("gone for 2m10s" in world.do("node", "list").stdout, "for how long, as the controller has saved it")
        expect(world.do("node", "list", "-o", "name").stdout == "node/n1\nnode/n2\nnode/n3\nnode/n4\n", "names")
        found = json.loads(world.do("node", "list", "-o", "json").stdout)
        expect(found[0]["address"] == "10.0.0.1:9090" and found[0]["replicas"] == 2 and found[3]["state"] == "gone", f"{found}")
        world.do("node", "set", "n1", "capacity.disk=2Ti", "rebalance_delay=1h")
        page = world.do("node", "show", "n1").stdout
        expect("cpu 4, disk 2Ti (set by an operator)" in page and "2, leading 2" in page and "1h" in page, page)
        found = json.loads(world.do("node", "show", "n1", "-o", "json").stdout)
        expect(found["node"] == "n1" and found["replicas"] == 2 and found["version"] == "1", f"what the list shows of it: {found}")
        expect(found["capacity"] == {"cpu": 4, "disk": "2Ti"} and found["power"] == 1 and found["labels"] == {} and found["taints"] == [], f"{found}")
        expect(found["set_by_operator"] == ["capacity"] and found["rebalance_delay"] == "1h" and found["disabled"] == [] and found["failed"] == [], f"{found}")
        expect(world.do("node", "show", "n1", "-o", "name").stdout == "node/n1\n", "its name")
        said = world.do("node", "show", "n11", status=3).stderr
        expect('no node "n11": did you mean "n1"?' in said, said)


def test_who_fails_to_lead_is_no_leader(program):
    with Cluster(program) as world:
        world.fill()
        view = world.get("view/t1/0")
        view["shards"][1].pop("leader")
        view["shards"][1]["next"] = "n1"
        world.put("view/t1/0", **view)
        report = world.get("reports/n1/t1/0")
        report["replicas"][1].update(state="follower", error="No space left on device", tries=7)
        world.put("reports/n1/t1/0", **report)
        lines = [line.split() for line in world.do("node", "list").stdout.splitlines()]
        expect(lines[1][:6] == ["n1", "there", "dc1", "2", "1", "1"], f"{lines[1]}")
        expect(lines[2][:6] == ["n2", "there", "dc2", "2", "0", "0"], f"{lines[2]}")
        page = world.do("node", "show", "n1").stdout
        expect("2, leading 1, 1 in error" in page and "t1/1: No space left on device" in page, page)


def test_what_a_node_that_is_gone_said_last(program):
    with Cluster(program) as world:
        world.fill()
        world.say("members", "n4")
        lines = [line.split() for line in world.do("node", "list").stdout.splitlines()]
        expect(lines[4][:3] == ["n4", "gone", "dc4"], f"{lines[4]}")
        page = world.do("node", "show", "n4").stdout
        expect("cpu 4, disk 1Ti" in page and "10.0.0.4:9090" in page, page)
        world.do("node", "set", "n4", "capacity.disk=2Ti")
        expect(world.get("nodes/n4")["capacity"] == {"cpu": 4, "disk": "2Ti"}, "its cpu is kept")


def test_operations_are_written(program):
    with Cluster(program) as world:
        world.fill()
        expect(world.do("node", "cordon", "n1", "--reason", "new kernel").stdout == "node/n1 written\n", "what was written")
        expect(world.get("nodes/n1") == {"format": 1, "operation": "cordon", "reason": "new kernel"}, "the document")
        expect("cordoned already" in world.do("node", "cordon", "n1").stderr, "twice is once")
        dry = world.do("node", "no-leaders", "n1", "--dry-run")
        expect('-   "operation": "cordon"' in dry.stdout and '+   "operation": "no-leaders"' in dry.stdout, dry.stdout)
        expect(world.get("nodes/n1")["operation"] == "cordon", "nothing was written")
        expect("undrain" not in world.do("node", "uncordon", "n1").stderr and world.get("nodes/n1") == {"format": 1}, "undone")
        world.do("node", "swap", "n1", "n2")
        expect(world.get("nodes/n1") == {"format": 1, "operation": "swap", "swap_with": "n2"}, "swap")
        expect("`evenkeel node undrain n1`" in world.do("node", "swap", "n3", "n2", status=1).stderr, "one place each")
        expect("is not there" in world.do("node", "swap", "n3", "n4", status=1).stderr, "nobody takes a place who is not there")
        world.do("node", "undrain", "n1")
        world.do("node", "disable", "t1/1", "n3")
        expect(world.get("nodes/n3")["disabled"] == ["t1/1"], "disabled")
        world.do("node", "enable", "t1/1", "n3")
        expect("counted from 0" in world.do("node", "disable", "t1/9", "n3", status=3).stderr, "no such shard")
        expect("session is not over" in world.do("node", "forget", "n1", status=1).stderr, "it is there")
        world.do("node", "forget", "n4")
        expect(world.get("nodes/n4")["since"] == identity("n4"), "forgotten")
        done = json.loads(world.do("node", "undo", "n4", "-o", "json").stdout)
        expect(done["written"] and done["documents"][0]["name"] == "node/n4" and '"since"' in done["documents"][0]["before"], f"{done}")


def test_a_drain_says_what_is_in_its_way(program):
    with Cluster(program) as world:
        world.fill()
        said = world.do("node", "drain", "n1", "--reason", "old disk").stderr
        expect("not everything can leave n1" in said and "t1/0:" in said, said)
        expect(world.get("nodes/n1")["operation"] == "drain", "it is written all the same")
        said = world.do("node", "drain", "n1", "--wait", status=1).stderr
        expect("2 replicas cannot leave n1:" in said and "t1/1:" in said and "undrain" in said, said)
        world.run("put", ROOT + "shards/t1/0", json.dumps({"format": 1, "shards": []}))
        done = world.do("node", "drain", "n1", "--wait")
        expect("holds nothing any more" in done.stderr, done.stderr)


def test_a_drain_waits_while_something_can_leave(program):
    with Cluster(program) as world:
        world.fill()
        world.join("n4")
        world.do("node", "disable", "t1/1", "n4")
        said = world.do("node", "drain", "n1", "--wait", "--within", "1ms", status=5).stderr
        expect("2 replicas are still on n1" in said and "cannot leave" not in said, said)
        for words, way_out in ((("freeze", "--reason", "new switch"), "`evenkeel cluster unfreeze`"), (("maintenance", "on", "--reason", "new hall"), "`evenkeel cluster maintenance off`")):
            world.do("cluster", *words)
            said = world.do("node", "drain", "n1", "--wait", status=1).stderr
            expect(way_out in said and "make room" not in said, said)
            world.do("cluster", *(("unfreeze",) if words[0] == "freeze" else ("maintenance", "off")))


def test_a_drain_is_not_over_if_records_cannot_be_read(program):
    with Cluster(program) as world:
        world.fill()
        world.run("put", ROOT + "shards/t1/0", "no document")
        said = world.do("node", "drain", "n1", "--wait", status=2).stderr
        expect("what is left on n1 is not known" in said and "shards/t1/0" in said, said)


def test_a_drain_is_waited_for(program):
    with Cluster(program) as world:
        world.fill()
        world.join("n4")
        said = world.do("node", "drain", "n1", "--wait", "--within", "1ms", status=5).stderr
        expect("2 replicas are still on n1 after 1ms" in said, said)
        process = subprocess.Popen([program, "node", "drain", "n1", "--wait"], env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        world.started.append(process)
        for line in process.stderr:
            if "0 of 2 replicas have left n1; it leads 2" in line:
                break
        world.run("put", ROOT + "shards/t1/0", json.dumps({"format": 1, "shards": []}))
        _, said = process.communicate(timeout=PATIENCE)
        expect(process.returncode == 0 and "2 of 2 replicas have left n1" in said and "holds nothing" in said, said)


def wait_for(world, *words):
    """A command that waits, whose words are read line by line."""
    process = subprocess.Popen([world.program, *words, "--wait"], env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    world.started.append(process)
    return process


def said_until(process, words):
    said = ""
    for line in process.stderr:
        said += line
        if words in line:
            return said
    raise Failed(f"not said: {words}\n{said}")


def ends_with(process, words, data):
    out, said = process.communicate(timeout=PATIENCE)
    expect(process.returncode == 0 and words in said and out == data, f"{process.returncode} {out}{said}")


def test_a_swap_is_waited_for(program):
    with Cluster(program) as world:
        world.fill()
        world.join("n4")
        process = wait_for(world, "node", "swap", "n1", "n4")
        said_until(process, "0 of 2 replicas have left n1; it leads 2")
        expect(world.get("nodes/n1")["swap_with"] == "n4", "it is written first")
        world.run("put", ROOT + "shards/t1/0", json.dumps({"format": 1, "shards": []}))
        ends_with(process, "n1 holds nothing any more", "node/n1 written\n")
        world.do("node", "undrain", "n1")
        expect("goes with --wait" in world.do("node", "swap", "n1", "n4", "--within", "1s", status=2).stderr, "--within alone")


def test_a_split_is_waited_for(program):
    with Cluster(program) as world:
        world.fill()
        expect("2 shards of t1 are not split after 1ms; the split goes on without us" in world.do("workload", "split", "t1", "--yes", "--wait", "--within", "1ms", status=5).stderr, "its time is over")
        world.put("workloads/t1", buckets=1, shards=2, replicas=3)
        process = wait_for(world, "workload", "split", "t1", "--yes")
        said_until(process, "0 of 2 shards of t1 are split")
        world.put("workloads/t1", buckets=1, shards=4, replicas=3)
        ends_with(process, "t1 is split: it has 4 shards", "workload/t1 written\n")
        world.do("cluster", "freeze", "--reason", "new switch")
        said = world.do("workload", "split", "t1", "--yes", "--wait", status=1).stderr
        expect("t1 is not split as things are:" in said and "`evenkeel cluster unfreeze`" in said, said)


def test_a_deletion_is_waited_for(program):
    with Cluster(program) as world:
        world.fill()
        process = wait_for(world, "workload", "delete", "t1", "--yes")
        said = said_until(process, "0 of 6 replicas of t1 are dropped")
        expect("[" not in said, "no bar where nobody draws one: " + said)
        for node in ("n1", "n2", "n3"):
            world.run("del", f"{ROOT}reports/{node}/t1/0")
        world.run("del", ROOT + "shards/t1/0")
        ends_with(process, "t1 is gone", "workload/t1 written\n")


def test_what_was_applied_is_waited_for(program):
    with Cluster(program) as world:
        world.fill()
        same = world.write("same.yaml", "workloads: [{name: t1, shards: 2, replicas: 3}]")
        said = world.do("apply", "-f", same, "--yes", "--wait").stderr
        expect("so already" in said and "all 2 shards are served in full" in said, said)
        settings = world.write("settings.yaml", "settings: {rebalance_delay: 9m}")
        expect(world.do("apply", "-f", settings, "--yes", "--wait").stdout == "cluster/pages written\n", "there is nothing to wait for")
        more = world.write("more.yaml", "workloads: [{name: t1, shards: 2, replicas: 3}, {name: t3, shards: 1, replicas: 2}]")
        late = world.do("apply", "-f", more, "--yes", "--wait", "--within", "1ms", status=5).stderr
        expect("1 shards are not served in full" in late and "after 1ms; what was written goes on without us" in late, late)
        world.run("del", ROOT + "workloads/t3")
        process = wait_for(world, "apply", "-f", more, "--yes")
        said_until(process, "2 of 3 shards are served in full")
        holders = [holder("n1", "leader", may_be="leader"), holder("n2", "follower")]
        world.put("shards/t3/0", shards=[{"shard": 0, "version": [1, 1], "told": [1, 1], "has_data": True, "placement": ["n1", "n2"], "holders": holders}])
        world.put("view/t3/0", shards_in_all=1, key_map="hash", hash_version=1, shards=[{"shard": 0, "version": [1, 1], "leader": "n1", "others": [["n2", "follower"]]}])
        for node, state in (("n1", "leader"), ("n2", "follower")):
            world.put(f"reports/{node}/t3/0", incarnation=identity(node), data="d-" + node, obeyed=[1, 1], replicas=[{"shard": 0, "state": state, "version": [1, 1], "last": 1, "progress": 1}])
        ends_with(process, "all 3 shards are served in full", "workload/t3 written\n")
        world.run("del", ROOT + "view/t3/0")
        world.do("cluster", "freeze", "--reason", "new switch")
        said = world.do("apply", "-f", more, "--yes", "--wait", status=1).stderr
        expect("nothing is placed as things are:" in said and "`evenkeel cluster unfreeze`" in said, said)


def test_nobody_controls_it(program):
    with Cluster(program) as world:
        world.fill()
        world.control(ended=True)
        page = world.do("cluster", "show").stdout
        expect("no controller is active" in page and "none is active" in page, page)
        found = json.loads(world.do("cluster", "show", "-o", "json").stdout)
        expect(found["controller"] is None and "nobody controls pages" in found["reasons"][0] and "gone: n4" in found["reasons"], f"{found}")
        said = world.do("node", "cordon", "n1").stderr
        expect("nobody controls cluster pages" in said and "`evenkeel serve`" in said and "is the name right?" in said, said)
        world.run("del", ROOT + "office/controller")
        expect("no controller is active" in world.do("cluster", "show").stdout, "nobody ever did")
        world.join("n4")
        process = wait_for(world, "node", "drain", "n1")
        said_until(process, "nobody controls cluster pages")
        world.control()
        said_until(process, "host-1 controls cluster pages")
        said_until(process, "nobody controls cluster pages")  # since its beat stands still
        world.control(count=4)
        said_until(process, "host-1 controls cluster pages")
        world.run("put", ROOT + "shards/t1/0", json.dumps({"format": 1, "shards": []}))
        ends_with(process, "n1 holds nothing any more", "node/n1 written\n")


def test_a_store_that_comes_back_is_waited_for(program):
    with Cluster(program) as world:
        world.fill()
        world.join("n4")
        world.listen = world.address
        watch = subprocess.Popen([program, "node", "list", "--watch", "-o", "name", "--timeout", "1s"], env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        world.started.append(watch)
        expect([watch.stdout.readline() for _ in range(4)][3] == "node/n4\n", "all of it")
        drain = wait_for(world, "node", "drain", "n1", "--timeout", "1s")
        said_until(drain, "0 of 2 replicas have left n1")
        world.server.kill()
        world.server.communicate()
        said_until(watch, "it is asked again until it answers")
        said_until(drain, "it is asked again for 30s")
        world.serve()
        world.put("nodes/n5", operation="cordon")
        expect([watch.stdout.readline() for _ in range(6)][5] == "node/n5\n", "it goes on")
        world.run("put", ROOT + "shards/t1/0", json.dumps({"format": 1, "shards": []}))
        ends_with(drain, "n1 holds nothing any more", "node/n1 written\n")


def test_leave_to_stop(program):
    with Cluster(program) as world:
        world.fill()
        lines = [line.split() for line in world.do("node", "stoppable", "n1").stdout.splitlines()]
        expect(lines == [["NODE", "STOPPABLE", "WHY", "NOT"], ["n1", "yes", "-"]], f"{lines}")
        done = subprocess.run([program, "node", "stoppable", "n1", "n2", "-o", "json"], env=world.environment, capture_output=True, text=True, timeout=PATIENCE)
        answer = json.loads(done.stdout)
        expect(done.returncode == 1 and not answer["all"] and answer["nodes"][1]["why_not"][0] == "t1/0 would have 1 serving, and needs 2", done.stdout + done.stderr)
        world.do("node", "stoppable", "n1", "n9", status=3)
        expect(world.do("node", "permit", "n1", "--for", "3m").stdout == "permit/n1 written\n", "asked for")
        expect(world.get("permits/n1") == {"format": 1, "incarnation": identity("n1"), "stage": "asked", "timeout": "3m"}, "the document")
        expect("has asked already" in world.do("node", "permit", "n1", "--for", "3m").stderr, "twice is once")
        expect(world.do("node", "permit", "n1", "--revoke").stdout == "permit/n1 removed\n", "taken back")
        expect("has no permit" in world.do("node", "permit", "n1", "--revoke").stderr, "nothing to take back")
        world.put("permits/n1", incarnation=identity("n1"), stage="go")
        expect("say --yes" in world.do("node", "permit", "n1", "--revoke", status=1).stderr, "it may be stopping")
        expect(world.do("node", "permit", "n1", "--wait", "-o", "json").stdout == '{\n  "node": "n1",\n  "permit": "go"\n}\n', "it has one")
        world.do("node", "permit", "n1", "--revoke", "--yes")
        expect("n1 has asked to stop after 1ms" in world.do("node", "permit", "n1", "--wait", "--within", "1ms", status=5).stderr, "nobody answers")
        expect("has no permit" in world.do("node", "permit", "n1", "--revoke").stderr, "who waits no longer wants it no longer")
        expect("not there" in world.do("node", "permit", "n4", status=1).stderr, "nothing to stop")


def test_removing_asks(program):
    with Cluster(program) as world:
        world.fill()
        expect("say --yes" in world.do("node", "remove", "n4", status=1).stderr, "nobody to ask")
        status, _, said = world.answer("n\n", "node", "remove", "n4")
        expect(status == 1 and "Remove n4?" in said and "nothing is written" in said, said)
        status, out, said = world.answer("yes\n", "node", "remove", "n4")
        expect(status == 0 and out == "node/n4 written\n", out + said)
        expect(world.get("nodes/n4") == {"format": 1, "operation": "remove"}, "the controller writes the tombstone")
        expect("session is not over" in world.do("node", "remove", "n1", "--yes", status=1).stderr, "not while it is there")
        for node in ("n1", "n2", "n3"):
            world.beat(node, ended=True)
        world.do("node", "remove", "n1", "--yes")
        world.do("node", "remove", "n2", "--yes")
        expect("last copy of t1/0" in world.do("node", "remove", "n3", "--yes", status=1).stderr, "not the last copy")


def test_what_is_set(program):
    with Cluster(program) as world:
        world.fill()
        world.do("node", "set", "n1", "capacity.disk=2Ti", "power=2", "labels.disk=ssd", "taints.gpu=v100:refuse", "rebalance_delay=30m")
        document = world.get("nodes/n1")
        expect(document["capacity"] == {"cpu": 4, "disk": "2Ti"}, f"what the node says itself is kept: {document}")
        expect(document["taints"] == [{"key": "gpu", "value": "v100", "effect": "refuse"}] and document["rebalance_delay"] == "30m", f"{document}")
        world.do("node", "set", "n1", "capacity.cpu-", "power-", "labels-", "taints.gpu-")
        expect(world.get("nodes/n1") == {"format": 1, "rebalance_delay": "30m", "capacity": {"cpu": 4, "disk": "2Ti"}}, "taken back: the node's own cpu counts, and its own taints")
        world.do("node", "set", "n1", "capacity.gpu=2", "capacity.disk-")
        expect(world.get("nodes/n1")["capacity"] == {"cpu": 4, "disk": "1Ti", "gpu": 2}, "the node's own disk")
        world.do("node", "set", "n1", "capacity.gpu-")
        expect(world.get("nodes/n1") == {"format": 1, "rebalance_delay": "30m"}, "what the node says is no override")
        world.put("live/n1", incarnation=identity("n1"), data="d-n1", address="a", version="1", reads=1, zone="dc1", labels={"disk": "hdd"}, taints=[{"key": "old", "effect": "avoid"}])
        world.do("node", "set", "n1", "labels.disk=ssd", "taints.old=refuse", "taints.gpu=refuse")
        world.do("node", "set", "n1", "labels.disk-", "taints.old-")
        document = world.get("nodes/n1")
        expect("labels" not in document and sorted((one["key"], one["effect"]) for one in document["taints"]) == [("gpu", "refuse"), ("old", "avoid")], f"{document}")
        world.do("node", "set", "n1", "taints.gpu-")
        expect(world.get("nodes/n1") == {"format": 1, "rebalance_delay": "30m"}, "as the node says")
        for word, said in (("powr=2", 'did you mean "power"?'), ("power", "KEY=VALUE"), ("power=much", 'power: "much" is not a quantity'), ("capacity=3", "capacity.KEY=VALUE"), ("taints.a=hate", "refuse, avoid"), ("power.a=2", "no parts")):
            expect(said in world.do("node", "set", "n1", word, status=2).stderr, f"{word}: {said}")
        world.do("cluster", "set", "max_offline=3", "recovery.copies=200", "levels=[\"dc\"]", "spread.level=dc")
        settings = world.get("config")["settings"]
        expect(settings["max_offline"] == 3 and settings["recovery"] == {"copies": 200} and settings["rebalance_delay"] == "10m" and settings["levels"] == ["dc"], f"{settings}")
        world.do("cluster", "set", "rebalance_delay-")
        expect("rebalance_delay" not in world.get("config")["settings"], "its usual value")
        for word, said in (("rebalance_dely=3m", 'did you mean "rebalance_delay"?'), ("max_offline=many", "many"), ("max_offline.x=3", "no parts"), ("spread.level=hall", "hall")):
            expect(said in world.do("cluster", "set", word, status=2).stderr, f"{word}: {said}")


def test_the_cluster_is_frozen_and_shown(program):
    with Cluster(program) as world:
        world.fill()
        page = world.do("cluster", "show").stdout
        expect("host-1 at http://127.0.0.1:1" in page, page)
        expect("nodes are gone" in page and "3 of 4 are there" in page and "1 with 2 shards" in page, page)
        expect("--reason is required" in world.do("cluster", "freeze", status=2).stderr, "a reason")
        world.do("cluster", "freeze", "--reason", "new switch", "--for", "2h", "--keep-leaders")
        expect(world.get("config")["freeze"] == {"keep_leaders": True, "reason": "new switch", "timeout": "2h"}, "the document")
        expect("new switch (leaders are kept), for 2h" in world.do("cluster", "show").stdout, "shown")
        world.put("waits", freeze="40m")
        expect("new switch (leaders are kept), for 40m of 2h" in world.do("cluster", "show").stdout, "how long already")
        said = world.do("node", "drain", "n1").stderr
        expect("frozen (new switch)" in said, said)
        world.put("waits", freeze="2h")
        expect("frozen" not in world.do("cluster", "show").stdout, "its time is over")
        expect("frozen" not in world.do("shard", "lead", "t1/0", "n2", "--dry-run").stderr, "orders do not wait for it")
        world.do("cluster", "unfreeze")
        expect("not frozen" in world.do("cluster", "unfreeze").stderr, "twice")
        world.do("cluster", "maintenance", "on", "--reason", "moving house")
        expect(json.loads(world.do("cluster", "show", "-o", "json").stdout)["maintenance"] == "by hand: moving house", "shown")
        world.do("cluster", "maintenance", "off")
        expect(world.get("config") == {"format": 1, "settings": {"rebalance_delay": "10m"}}, "as it was")


def test_workloads(program):
    with Cluster(program) as world:
        world.fill()
        lines = [line.split() for line in world.do("workload", "list").stdout.splitlines()]
        expect(lines[1] == ["t1", "well", "2", "3", "2", "0", "0", "0"], f"{lines}")
        file = world.write("t2.yaml", "workloads: [{name: t2, shards: 64, replicas: 2}]\n")
        expect(world.do("workload", "create", "-f", file).stdout == "workload/t2 written\n", "created")
        expect(world.get("workloads/t2") == {"format": 1, "buckets": 2, "shards": 64, "replicas": 2}, f"{world.get('workloads/t2')}")
        expect("already" in world.do("workload", "create", "-f", file, status=4).stderr, "a conflict")
        page = world.do("workload", "show", "t2").stdout
        expect("leaders missing" in page and "0 of 64" in page, page)
        expect('did you mean "t2"?' in world.do("workload", "show", "t22", status=3).stderr, "a near name")
        expect("say --yes" in world.do("workload", "split", "t2", status=1).stderr, "it asks")
        world.do("workload", "split", "t2", "--yes")
        expect(world.get("workloads/t2") == {"format": 2, "buckets": 2, "split_from": 64, "shards": 128, "replicas": 2}, f"{world.get('workloads/t2')}")
        expect("is being split from 64 shards into 128" in world.do("workload", "split", "t2", "--yes", status=1).stderr, "one at a time")
        page = world.do("workload", "show", "t2").stdout
        expect("0 of 64 are split off" in page and "0 of 64" in page, page)
        more = world.write("more.yaml", "workloads: [{name: t2, shards: 256, replicas: 2}]\n")
        expect("cannot have 256 until that is done" in world.do("apply", "-f", more, "--yes", status=1).stderr, "not meanwhile")
        expect("say --yes" in world.do("workload", "delete", "t2", status=1).stderr, "it asks")
        world.do("workload", "delete", "t2", "--yes")
        expect(world.get("workloads/t2")["deleted"], "deleted")
        expect("t2" not in world.do("workload", "list").stdout, "nothing is left of it")
        world.do("workload", "delete", "t1", "--yes")
        expect("being deleted" in world.do("workload", "list").stdout, "something is left of it")
        again = world.write("t1.yaml", "workloads: [{name: t1, shards: 2}]\n")
        expect("still being dropped" in world.do("workload", "create", "-f", again, status=1).stderr, "not yet")
        wrong = world.write("wrong.yaml", "workloads:\n  - {name: t3, shard: 2}\n")
        said = world.do("workload", "create", "-f", wrong, status=2).stderr
        expect("wrong.yaml:2:" in said and 'did you mean "shards"?' in said, said)


def test_shards(program):
    with Cluster(program) as world:
        world.fill()
        table = world.do("shard", "list", "t1").stdout.splitlines()
        expect(table[1].split() == ["t1/0", "n1", "n2", "(follower),", "n3", "(follower)", "4", "0", "-"], table[1])
        page = world.do("shard", "show", "t1/0").stdout
        expect("epoch 4, change 2" in page and "n1 n2 n3" in page and "CLIENTS SEE" in page and "why" not in page, page)
        world.do("shard", "lead", "t1/0", "n2")
        expect(world.get("orders/t1/0") == {"format": 1, "lead": "n2"}, "ordered")
        expect("lead n2" in world.do("shard", "show", "t1/0").stdout, "and shown")
        expect("does not hold t1/0" in world.do("shard", "lead", "t1/0", "n4", status=1).stderr, "only who holds it")
        expect("say --yes" in world.do("shard", "lead", "t1/1", "--accept-loss", status=1).stderr, "loss is asked about")
        world.do("shard", "lead", "t1/1", "--accept-loss", "--yes")
        expect(world.get("orders/t1/1") == {"format": 1, "accept_loss": True}, "ordered")
        expect("nothing to reset" in world.do("shard", "reset", "t1/0", "n2", status=1).stderr, "nothing failed")
        failed = {"shard": 0, "state": "error", "version": [4, 2], "error": "No space left on device", "tries": 5, "gave_up": True}
        world.put("reports/n2/t1/0", incarnation=identity("n2"), data="d-n2", obeyed=[1, 1], replicas=[failed])
        page = world.do("shard", "show", "t1/0").stdout
        expect("gave up after 5 tries: No space left on device" in page, page)
        world.do("shard", "reset", "t1/0", "n2")
        expect(world.get("orders/t1/0") == {"format": 1, "lead": "n2", "reset": ["n2"]}, "added to what waits")
        found = json.loads(world.do("node", "show", "n2", "-o", "json").stdout)
        expect(found["failed"] == [{"shard": "t1/0", "error": "No space left on device"}], f"{found}")
        found = json.loads(world.do("workload", "show", "t1", "-o", "json").stdout)
        expect(found["failed"] == [{"shard": "t1/0", "node": "n2", "error": "No space left on device"}], f"{found}")
        expect(found["workload"] == "t1" and found["state_model"] == "leader-follower" and found["buckets"] == 1, f"{found}")
        expect(found["fencing"] == "session" and found["acks"] == 0 and found["led"] == 2, f"{found}")
        expect("No space left" in world.do("node", "show", "n2").stdout and "errors" in world.do("workload", "list").stdout, "shown there too")
        found = json.loads(world.do("shard", "show", "t1/0", "-o", "json").stdout)
        expect([one["node"] for one in found["replicas"]] == ["n1", "n2", "n3"] and found["replicas"][1]["gave_up"], f"{found}")


def test_orphans(program):
    with Cluster(program) as world:
        world.fill()
        expect(world.do("cluster", "adopt").stdout.split() == ["SHARD", "NODE", "EPOCH"], "none")
        world.run("del", ROOT + "shards/t1/0")
        table = world.do("cluster", "adopt")
        expect(len(table.stdout.splitlines()) == 7 and "--all" in table.stderr, table.stdout)
        expect("holds nothing of t1/0" in world.do("shard", "drop", "t1/0", "n4", "--yes", status=1).stderr, "n4 holds nothing")
        world.do("shard", "drop", "t1/0", "n3", "--yes")
        expect(world.get("orders/t1/0") == {"format": 1, "drop": ["n3"]}, "to be dropped")
        expect("waits to be carried out" in world.do("shard", "adopt", "t1/0", "n3", status=4).stderr, "not both")
        world.do("cluster", "adopt", "--all")
        expect(world.get("orders/t1/0") == {"format": 1, "adopt": ["n1", "n2"], "drop": ["n3"]}, "the others")
        expect(world.get("orders/t1/1") == {"format": 1, "adopt": ["n1", "n2", "n3"]}, "and the other shard")


FILE = """cluster: pages
settings: {rebalance_delay: 7m}
nodes: [{name: n1, labels: {disk: ssd}}, {name: n2, status: cordoned}]
workloads:
  - {name: t1, shards: 2, replicas: 2}
  - {name: t3, shards: 4}
"""


def test_apply(program):
    with Cluster(program) as world:
        world.fill()
        del world.environment["EVENKEEL_CLUSTER"]
        file = world.write("pages.yaml", FILE)
        dry = world.do("apply", "-f", file, "--dry-run").stdout
        expect("workload/t3 (new)" in dry and '-   "replicas": 3' in dry and '+   "replicas": 2' in dry, dry)
        expect("say --yes" in world.do("apply", "-f", file, status=1).stderr, "it asks")
        status, out, said = world.answer("y\n", "apply", "-f", file)
        expect(status == 0 and out.split("\n")[:-1] == [f"{name} written" for name in ("cluster/pages", "node/n1", "node/n2", "workload/t1", "workload/t3")], out + said)
        expect("Write these 5 documents" in said and "workload/t3 (new)" in said, said)
        expect(world.get("workloads/t3") == {"format": 1, "buckets": 1, "shards": 4}, "a new workload")
        expect("so already" in world.do("apply", "-f", file, "--yes").stderr, "twice is once")
        expect("about the cluster" in world.do("apply", "-f", file, "--yes", "--cluster", "other", status=2).stderr, "which one?")
        expect("--yes" in world.do("apply", "-f", "-", data=FILE, status=2).stderr, "standard input cannot be asked")
        fewer = world.do("apply", "-f", "-", "--yes", data="cluster: pages\nworkloads: [{name: t1, shards: 1, replicas: 2}]", status=1).stderr
        expect("do not become fewer" in fewer, fewer)
        world.do("apply", "-f", "-", "--yes", data="cluster: pages\nworkloads: [{name: t4, shards: 1}]")
        expect(world.get("config")["settings"] == {"rebalance_delay": "7m"}, "what is not in the file stays")
        world.do("apply", "-f", "-", "--yes", data="cluster: fresh\nworkloads: [{name: t1, shards: 1}]")
        expect("leaders missing" in world.do("workload", "list", "--cluster", "fresh").stdout, "a new cluster")


def test_somebody_was_quicker(program):
    with Cluster(program) as world:
        world.fill()
        ours, theirs = pty.openpty()
        process = subprocess.Popen([program, "node", "remove", "n4"], env=world.environment, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        world.started.append(process)
        os.close(theirs)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(process.stderr.fileno(), 1000)
        world.put("nodes/n4", operation="cordon")
        os.write(ours, b"y\n")
        _, err = process.communicate(timeout=PATIENCE)
        os.close(ours)
        expect(process.returncode == 4 and b"somebody else has written node/n4" in err, f"{process.returncode} {err}")
        expect(world.get("nodes/n4") == {"format": 1, "operation": "cordon"}, "theirs stays")


def test_what_is_newer_is_left_alone(program):
    with Cluster(program) as world:
        world.fill()
        world.run("put", ROOT + "nodes/n1", '{"format": 2, "operation": "levitate"}')
        said = world.do("node", "cordon", "n1", status=1).stderr
        expect("nothing is written" in said and "newer evenkeel" in said, said)
        expect(world.get("nodes/n1")["operation"] == "levitate", "it is as it was")
        expect("nothing is written" in world.do("apply", "-f", "-", "--yes", data=FILE, status=1).stderr, "nor anything else")
        expect(world.get("workloads/t1")["replicas"] == 3, "it is as it was")
        shown = world.do("node", "list")
        expect("n1" in shown.stdout and "nodes/n1" in shown.stderr, "what can be read is shown")
        world.run("put", ROOT + "nodes/n1", "no document")
        expect("cannot be read" in world.do("node", "cordon", "n1", status=2).stderr, "nor what is no document")
        world.do("node", "cordon", "n2")


def test_where_nothing_is(program):
    with Cluster(program) as world:
        said = world.do("node", "list", status=3).stderr
        expect('no cluster "default"' in said and "--cluster" in said, said)
        expect('no cluster "elsewhere"' in world.do("cluster", "freeze", "--reason", "x", "--cluster", "elsewhere", status=3).stderr, "by option")
        expect("a/b" in world.do("node", "list", "--cluster", "a/b", status=2).stderr, "no name")
        world.server.kill()
        world.server.communicate()
        world.do("node", "list", "--timeout", "1s", status=5)


def test_a_watch_prints_what_changed(program):
    with Cluster(program) as world:
        world.fill()
        process = subprocess.Popen([program, "node", "list", "--watch", "-o", "name"], env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        world.started.append(process)
        expect([process.stdout.readline() for _ in range(4)][3] == "node/n4\n", "all of it")
        world.put("nodes/n5", operation="cordon")
        expect([process.stdout.readline() for _ in range(6)][5] == "node/n5\n", "and again when it changed")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        expect(process.returncode == 0, "an end that was asked for")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
