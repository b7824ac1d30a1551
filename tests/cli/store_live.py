#!/usr/bin/env python3
"""A served store and the commands that talk to it as real processes: what each verb says, and what is left when the server is killed.

Usage: store_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass: a test waits for a line or the end of a process.
"""
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

from live import PATIENCE, Failed, expect, run_tests, until

ZOOKEEPER_JARS = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class World:
    """A served store in a folder of its own, and a way to run commands against it."""

    def __init__(self, program, *options, listen="127.0.0.1:0"):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.options = options
        self.started = []
        self.server = None
        self.listen = listen
        self.environment = {**os.environ, "NO_COLOR": "1"}
        for name in ("EVENKEEL_STORE", "EVENKEEL_STORE_USER", "EVENKEEL_STORE_PASSWORD"):
            self.environment.pop(name, None)
        self.serve()

    def serve(self):
        words = [self.program, "store", "serve", "--data", self.path("data"), "--listen", self.listen, *self.options]
        self.server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(self.server)
        line = self.server.stdout.readline()
        if not line:
            raise Failed("serve said: " + self.server.stderr.read())
        start = f"serving {self.path('data')} on "
        expect(line.startswith(start), line)
        self.address = line[len(start):].strip()
        self.environment["EVENKEEL_STORE"] = "etcd://" + self.address

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

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def run(self, *words, status=0, data=None, **variables):
        """Runs `evenkeel store WORD…` to its end. What it wrote is text, unless that is not UTF-8."""
        done = subprocess.run([self.program, "store", *words], env={**self.environment, **variables}, input=data, capture_output=True, timeout=PATIENCE)
        done.stderr = done.stderr.decode()
        expect(done.returncode == status, f"{words}: exit {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
        expect(status == 0 or done.stdout == b"", f"{words}: failed and wrote data: {done.stdout}")
        expect(status == 0 or done.stderr != "", f"{words}: failed and said nothing")
        return done

    def out(self, *words, **options):
        return self.run(*words, **options).stdout.decode()

    def error(self, status, *words, **options):
        return self.run(*words, status=status, **options).stderr

    def revision(self, *words, **options):
        return json.loads(self.out(*words, "-o", "json", **options))["revision"]

    def start(self, *words):
        process = subprocess.Popen([self.program, "store", *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process


def test_put_get_list_del(program):
    with World(program) as world:
        first = world.revision("put", "/c1/a", "one")
        expect(world.out("put", "/c1/b", "-", data=b"two\nlines\n") == f"revision {first + 1}\n", "revisions grow by one")
        world.run("put", "/c1/empty", "")
        world.run("put", "/c10", "--file", world.write("value", b"\x00\xff binary"))
        expect(world.out("get", "/c1/a") == "one", "the value's bytes and no more")
        expect(world.out("get", "/c1/b", "-o", "value") == "two\nlines\n", "a value")
        expect(world.out("get", "/c1/empty") == "", "an empty value")
        expect(world.run("get", "/c10").stdout == b"\x00\xff binary", "bytes that are not text")
        entry = json.loads(world.out("get", "/c10", "-o", "json"))
        expect(base64.b64decode(entry["base64"]) == b"\x00\xff binary" and entry["key"] == "/c10" and entry["revision"] == entry["created"], f"{entry}")
        expect(json.loads(world.out("get", "/c1/b", "-o", "json"))["value"] == "two\nlines\n", "text in JSON")
        expect(world.out("list", "/c1", "-o", "name") == "/c1/a\n/c1/b\n/c1/empty\n", "a list by key, without /c10")
        listing = json.loads(world.out("list", "-o", "json"))
        expect([entry["key"] for entry in listing["entries"]] == ["/c1/a", "/c1/b", "/c1/empty", "/c10"] and listing["revision"] == first + 3, f"{listing}")
        expect("value" not in json.loads(world.out("list", "/c1/", "--keys", "-o", "json"))["entries"][0], "only keys")
        table = world.out("list", "/")
        expect("KEY" in table and '"two\\nlines\\n"' in table and "9 bytes, not text" in table, table)
        expect("EPHEMERAL" in world.out("list", "/", "-o", "wide") and "entries:" in world.out("list", "/", "-o", "yaml"), "other forms")
        world.run("del", "/c1/a")
        expect("no key" in world.error(3, "get", "/c1/a") and "no key" in world.error(3, "del", "/c1/a"), "it is gone")
        world.run("del", "--below", "/c1/")
        expect(world.out("list", "-o", "name") == "/c10\n", "all below a prefix, and nothing beside it")
        world.run("del", "--below", "/nothing/")


def test_only_if_nobody_was_quicker(program):
    with World(program) as world:
        first = world.revision("put", "/a", "1", "--if-absent")
        said = world.error(4, "put", "/a", "2", "--if-absent")
        expect("there already" in said and str(first) in said, said)
        second = world.revision("put", "/a", "2", "--if-revision", str(first))
        expect(str(second) in world.error(4, "put", "/a", "3", "--if-revision", str(first)), "says where it is now")
        world.run("del", "/a")
        expect("not there" in world.error(4, "put", "/a", "3", "--if-revision", str(second)), "or that it is gone")
        world.error(2, "put", "/a", "3", "--if-revision", "5", "--if-absent")


def test_txn(program):
    with World(program) as world:
        text = "compare: [{key: /a, absent: true}]\nthen:\n  - {put: /a, value: x}\n  - {put: /b, base64: AP8=}\nelse:\n  - {erase: /a}\n"
        file = world.write("change.yaml", text)
        done = json.loads(world.out("txn", "-f", file, "-o", "json"))
        expect(done["succeeded"] is True, f"{done}")
        expect(world.run("get", "/b").stdout == b"\x00\xff", "base64 is bytes")
        expect(world.out("txn", "-f", file).startswith("else at revision "), "which branch was taken")
        world.run("put", "/old/x", "1")
        revision = json.loads(world.out("get", "/b", "-o", "json"))["revision"]
        document = {"compare": [{"key": "/b", "unchanged": revision}, {"key": "/old/x", "present": True}], "then": [{"erase_below": "/old/"}, {"erase": "/b"}]}
        world.run("txn", data=json.dumps(document).encode())
        expect(world.out("list", "-o", "name") == "", "all of it was done")
        expect("do not hold" in world.error(4, "txn", data=json.dumps(document).encode()), "without an else it is a conflict")
        expect("absent: true" in world.out("txn", "--dry-run", "-f", file) and world.out("list", "-o", "name") == "", "a dry run does nothing")
        expect("change.yaml:1:" in world.error(2, "txn", "-f", world.write("change.yaml", "compare: [{key: a}]")), "places of errors")
        world.error(3, "txn", "-f", world.path("nothing.yaml"))


def test_watch(program):
    with World(program) as world:
        world.run("put", "/w/a", "1")
        watching = world.start("watch", "/w", "-o", "json")
        lines = [json.loads(watching.stdout.readline()) for _ in range(2)]
        expect(lines[0] == {"type": "fresh", "entries": 1} and lines[1]["key"] == "/w/a" and lines[1]["value"] == "1", f"{lines}")
        world.run("put", "/other", "1")
        world.run("put", "/w/b", "2")
        line = json.loads(watching.stdout.readline())
        expect(line["type"] == "put" and line["key"] == "/w/b", f"{line}")
        upto = line["upto"]
        world.run("del", "/w/a")
        expect(json.loads(watching.stdout.readline())["type"] == "delete", "a deletion")
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=PATIENCE)
        expect(watching.returncode == 0, "an interrupt is how a watch ends")
        later = world.out("watch", "/w", "--after", str(upto), "--count", "1")
        expect(later == "delete /w/a\n", later)
        world.run("compact")
        world.run("put", "/w/c", "3")
        fresh = world.out("watch", "/w", "--after", "1", "--count", "1")
        expect(fresh.startswith("fresh: 2 keys"), fresh)
        empty = world.start("watch", "/none", "-o", "json")
        expect(json.loads(empty.stdout.readline())["entries"] == 0, "an empty list is said")


def test_a_watch_outlives_its_server(program):
    with World(program, listen=f"127.0.0.1:{free_port()}") as world:
        world.listen = world.address
        watching = world.start("watch", "/w", "-o", "json")
        expect(json.loads(watching.stdout.readline())["type"] == "fresh", "a watch")
        world.server.kill()
        world.server.communicate()
        world.serve()
        world.run("put", "/w/a", "1")
        for line in watching.stdout:  # a fresh list may come in between
            if json.loads(line).get("key") == "/w/a":
                return
        raise Failed("the watch ended: " + watching.stderr.read())


def test_backup_and_restore(program):
    with World(program) as world:
        for i in range(3):
            world.run("put", f"/b/{i:03}", "-", data=b"\x00\xfe" * i)
        big = {"then": [{"put": f"/b/t{i:03}", "value": "x" * 1000} for i in range(120)]}
        world.run("txn", data=json.dumps(big).encode())
        world.run("txn", data=json.dumps(big).replace("/b/t", "/b/u").encode())
        world.run("put", "/large", "-", data=b"y" * (512 << 10))
        said = world.run("backup", "--to", world.path("all.jsonl")).stderr
        expect("244 keys" in said, said)
        before = world.out("list", "/", "-o", "name")
        expect("there are" in world.error(4, "restore", "--from", world.path("all.jsonl")), "not over what is there")
        world.run("del", "--below", "/")
        expect("244 keys restored" in world.run("restore", "--from", world.path("all.jsonl")).stderr, "restored")
        expect(world.out("list", "/", "-o", "name") == before and world.run("get", "/b/002").stdout == b"\x00\xfe" * 2, "the same is there")
        world.run("restore", "--from", world.path("all.jsonl"), "--overwrite")
        part = world.out("backup", "--to", "-", "--below", "/large")
        expect(part.count("\n") == 2, "only what is below")
        text = open(world.path("all.jsonl")).read()
        expect("no end" in world.error(2, "restore", "--from", "-", data=text[: text.rindex('{"end"')].encode()), "a dump that was cut off")
        expect("<stdin>:1:" in world.error(2, "restore", "--from", "-", data=b"hello\n"), "no dump")
        lines = text.splitlines()
        wrong = "\n".join([lines[0], '{"key":"nopath","value":""}', lines[1], lines[1], '{"key":"/k"}', '{"end":true,"entries":9}'])
        said = world.error(2, "restore", "--from", "-", data=wrong.encode())
        expect(all(f"<stdin>:{line}:" in said for line in (2, 4, 5, 6)), said)
        world.error(2, "backup")
        expect("embedded:DIR" in world.error(2, "backup", "--folder", world.path("copy")), "a server's folder is not here")


def test_folders(program):
    with World(program) as world:
        revision = world.revision("put", "/a", "1")
        folder = "embedded:" + world.path("data")
        said = world.error(4, "get", "/a", "--store", folder)
        expect(world.path("data") in said, said)
        said = world.error(4, "backup", "--folder", world.path("copy"), "--store", folder)
        expect("stop its server" in said, said)
        world.error(4, "serve", "--data", world.path("data"), "--listen", "127.0.0.1:0")
        world.server.send_signal(signal.SIGTERM)
        said = world.server.communicate(timeout=PATIENCE)[1]
        expect(world.server.returncode == 0 and "stopping" in said, said)
        expect(world.out("get", "/a", "--store", folder) == "1", "the folder itself is a store")
        expect(f"revision {revision}" in world.run("backup", "--folder", world.path("copy"), "--store", folder).stderr, "a copy")
        world.error(4, "backup", "--folder", world.path("copy"), "--store", folder)
        world.run("put", "/a", "2", "--store", folder)
        expect(json.loads(world.out("get", "/a", "-o", "json", "--store", "embedded:" + world.path("copy")))["revision"] == revision, "the copy stays")
        expect("no folder" in world.error(3, "get", "/a", "--store", "embedded:" + world.path("nothing")), "no folder is made by a look")
        expect(not os.path.exists(world.path("nothing")), "no folder is made by a look")
        dump = world.out("backup", "--to", "-", "--store", folder)
        world.run("restore", "--from", "-", "--store", "embedded:" + world.path("new"), data=dump.encode())
        expect(world.out("get", "/a", "--store", "embedded:" + world.path("new")) == "2", "a store made by restore")


def test_folders_that_are_no_store(program):
    with tempfile.TemporaryDirectory() as folder:
        def serve(path):
            done = subprocess.run([program, "store", "serve", "--data", path, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=PATIENCE)
            expect(done.stdout == "" and done.returncode == 2 and path in done.stderr, f"{path}: {done.returncode} {done.stderr}")
            return done
        with open(f"{folder}/file", "w") as file:
            file.write("not a folder")
        serve(f"{folder}/file")
        os.mkdir(f"{folder}/photos")
        with open(f"{folder}/photos/cat.jpg", "w") as file:
            file.write("meow")
        serve(f"{folder}/photos")
        expect(os.listdir(f"{folder}/photos") == ["cat.jpg"], "a foreign folder is left alone")


def test_what_was_answered_survives_a_kill(program):
    with World(program) as world:
        for i in range(20):
            world.run("put", f"/k/{i:02}", str(i))
        world.server.send_signal(signal.SIGKILL)
        world.server.communicate()
        world.serve()
        expect(len(world.out("list", "/k", "-o", "name").splitlines()) == 20, "every answered put is there")
        expect(world.revision("put", "/k/more", "") > 20, "and revisions go on")


def test_status_and_compact(program):
    with World(program, "--quota", "64Mi", "--name", "alone") as world:
        revision = world.revision("put", "/a", "1")
        status = json.loads(world.out("status", "-o", "json"))
        expect(status["revision"] == revision and status["members"], f"{status}")
        expect("REVISION" in world.out("status") and world.out("status", "-o", "name").startswith("store/"), "forms")
        world.run("put", "/a", "2")
        expect(world.revision("compact", str(revision)) >= revision, "compacted")
        world.error(2, "compact", "0")


def test_bad_input(program):
    with World(program) as world:
        expect("UTF-8" in world.error(2, "put", b"/a\xff".decode(errors="surrogateescape"), "x"), "a key that is not UTF-8")
        for key, words in (("a", "begin with '/'"), ("/a//b", "empty"), ("/a/", "empty"), ("/a/../b", '".."'), ("/zookeeper/x", "ZooKeeper"), ("/a\nb", "control")):
            for verb in (["get", key], ["put", key, "x"], ["del", key]):
                expect(words in world.error(2, *verb), f"{verb}")
        expect("1024" in world.error(2, "get", "/" + "k" * 1100), "a key that is too long")
        expect("524288" in world.error(2, "put", "/a", "-", data=b"x" * (512 * 1024 + 1)), "a value that is too large")
        world.error(2, "put", "/a")
        world.error(2, "put", "/a", "x", "--file", "y")
        world.error(3, "put", "/a", "--file", world.path("nothing"))
        world.error(2, "del")
        expect("ends with '/'" in world.error(2, "del", "--below", "/a"), "no prefix")
        for url, words in (("nonsense", "is no store"), ("etcd://", "store"), ("etcd://user:pw@h:1", "password"), ("etcd://h", "store"), ("zk://h:0", "port"), ("embedded:", "folder")):
            expect(words in world.error(2, "get", "/a", "--store", url), url)
        expect("etcds://" in world.error(2, "get", "/a", "--tls-authority", "x.pem"), "TLS without TLS")
        expect(world.out("get", "/missing", "--store", "memory:", status=3) == "", "a memory store is empty")


def test_endpoints_that_nobody_answers(program):
    with World(program) as world, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        dead = f"127.0.0.1:{closed.getsockname()[1]}"
        said = world.error(5, "get", "/a", "--store", f"etcd://{dead}", "--timeout", "2s")
        expect(dead in said, said)
        world.error(5, "watch", "/", "--store", f"etcd://{dead}", "--timeout", "2s")
        world.run("put", "/a", "1", "--store", f"etcd://{dead},{world.address}")
        expect(world.out("get", "/a", "--store", f"etcd://{dead},{world.address}") == "1", "one good endpoint is enough")
        world.run("put", "/below/x", "1", "--store", f"etcd://{world.address}/below")
        expect(world.out("get", "/below/below/x") == "1", "a prefix of the URL is put in front")


def test_serve_says_what_is_wrong(program):
    with World(program) as world:
        new = ["serve", "--data", world.path("new")]
        expect(world.address in world.error(4, *new, "--listen", world.address), "a port that is taken")
        world.error(2, *new, "--listen", "somewhere")
        expect("other hosts" in world.error(1, *new, "--listen", "0.0.0.0:0"), "not for other hosts without TLS and users")
        world.error(2, *new, "--tls-certificate", "x.pem")
        world.error(2, *new, "--client-authority", "x.pem")
        world.error(2, *new, "--quota", "none")
        world.error(2, *new, "--quota", "0")
        world.error(2, "serve")
        world.error(3, *new, "--users", world.path("nothing"))
        said = world.error(2, *new, "--users", world.write("users.yaml", "users: [{name: a, pasword: x}]"))
        expect("users.yaml:1:" in said and "pasword" in said, said)


def test_users(program):
    with World(program) as world:
        hashed = [world.out("password", data=word).strip() for word in (b"secret\n", b"another")]
        expect(hashed[0].startswith("scrypt:") and hashed[0] != world.out("password", data=b"secret").strip(), "salted")
        world.error(2, "password", data=b"\n")
        world.error(2, "password", data=b"a\nb\n")
        users = (f"users:\n  - {{name: root, password: '{hashed[0]}', admin: true}}\n"
                 f"  - {{name: n1, password: '{hashed[1]}', rights: [{{prefix: /c1/, read: true}}, {{prefix: /c1/live/n1, write: true}}]}}\n")
        with World(program, "--users", world.write("users.yaml", users)) as guarded:
            root = {"EVENKEEL_STORE_USER": "root", "EVENKEEL_STORE_PASSWORD": "secret"}
            n1 = {"EVENKEEL_STORE_PASSWORD": "another"}
            guarded.run("put", "/c1/config", "x", **root)
            guarded.error(6, "get", "/c1/config")
            guarded.error(6, "get", "/c1/config", "--user", "root", EVENKEEL_STORE_PASSWORD="wrong")
            guarded.error(6, "get", "/c1/config", "--user", "nobody", EVENKEEL_STORE_PASSWORD="secret")
            expect("EVENKEEL_STORE_PASSWORD" in guarded.error(2, "get", "/c1/config", "--user", "root"), "how to give a password")
            expect("--user" in guarded.error(2, "get", "/c1/config", "--password-file", "x"), "whose password")
            secret = guarded.write("secret", "another\n")
            expect(guarded.out("get", "/c1/config", "--user", "n1", "--password-file", secret) == "x", "a password from a file")
            guarded.run("put", "/c1/live/n1", "y", "--user", "n1", **n1)
            guarded.error(6, "put", "/c1/config", "y", "--user", "n1", **n1)
            guarded.error(6, "list", "/", "--user", "n1", **n1)
            guarded.error(6, "watch", "/other", "--user", "n1", **n1)
            guarded.error(6, "compact", "2", "--user", "n1", **n1)
            expect(guarded.out("list", "/c1", "-o", "name", "--user", "n1", **n1) == "/c1/config\n/c1/live/n1\n", "what it may read")


def test_users_are_read_again_at_a_hang_up(program):
    with World(program) as world:
        hashed = world.out("password", data=b"secret").strip()
        n1 = {"EVENKEEL_STORE_USER": "n1", "EVENKEEL_STORE_PASSWORD": "secret"}

        def may_read(prefix):
            return f"users: [{{name: n1, password: '{hashed}', rights: [{{prefix: {prefix}, read: true}}]}}]\n"

        def hang_up(server, words):
            server.send_signal(signal.SIGHUP)
            for line in server.stderr:
                if words in line:
                    return line
            raise Failed("no answer to a hang-up")
        with World(program, "--users", world.write("users.yaml", may_read("/c1/"))) as guarded:
            guarded.error(6, "get", "/c2/a", **n1)
            world.write("users.yaml", "users: [{name: n1, pasword: x}]")
            said = hang_up(guarded.server, "users stay as they were")
            expect("users.yaml:1:" in said and "pasword" in said, said)
            guarded.error(3, "get", "/c1/a", **n1)
            world.write("users.yaml", may_read("/c2/"))
            hang_up(guarded.server, "users read anew")
            guarded.error(6, "get", "/c1/a", **n1)
            guarded.error(3, "get", "/c2/a", **n1)
        expect("no file of users" in hang_up(world.server, "users stay as they were"), "nothing to read")


def make_certificates(world):
    """An authority, a server's certificate for localhost, and a client's for n1."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=PATIENCE, cwd=world.folder.name)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2")
    for name, names in (("server", "DNS:localhost,IP:127.0.0.1"), ("n1", "DNS:n1")):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        world.write(f"{name}.ext", f"subjectAltName={names}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-extfile", f"{name}.ext")


def test_tls(program):
    with World(program) as plain:
        make_certificates(plain)
        users = plain.write("users.yaml", "users: [{name: n1, certificate: n1, rights: [{prefix: /c1/, read: true, write: true}]}]\n")
        options = ["--tls-certificate", plain.path("server.pem"), "--tls-key", plain.path("server.key"), "--client-authority", plain.path("ca.pem"), "--users", users]
        with World(program, *options) as world:
            trust = ["--store", "etcds://" + world.address, "--tls-authority", plain.path("ca.pem")]
            own = ["--tls-certificate", plain.path("n1.pem"), "--tls-key", plain.path("n1.key")]
            world.run("put", "/c1/a", "1", *trust, *own)
            expect(world.out("get", "/c1/a", *trust, *own) == "1", "over TLS")
            world.error(6, "get", "/other", *trust, *own)
            said = world.error(5, "get", "/c1/a", *trust, "--timeout", "2s")
            said += world.error(5, "get", "/c1/a", "--timeout", "2s")  # without TLS
            said += world.error(5, "get", "/c1/a", "--store", "etcds://" + world.address, *own, "--timeout", "2s")  # an unknown authority
            world.error(2, "get", "/c1/a", *trust, "--tls-key", plain.path("n1.key"))
            world.error(3, "get", "/c1/a", "--store", "etcds://" + world.address, "--tls-authority", plain.path("nothing"))
            # gRPC's own lines name its source files.
            world.server.terminate()
            said += world.server.communicate(timeout=PATIENCE)[1]
            expect("stopping" in said and ".cc:" not in said, said)
        said = plain.error(2, "serve", "--data", plain.path("new"), "--tls-certificate", plain.path("server.pem"), "--tls-key", plain.path("n1.key"))
        expect("not that of the certificate" in said, said)


def test_etcdctl(program):
    with World(program) as world:
        def etcdctl(*words):
            return subprocess.run(["etcdctl", "--endpoints", world.address, *words], env={**os.environ, "ETCDCTL_API": "3"}, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        world.run("put", "/a", "ours")
        expect(etcdctl("get", "/a") == "/a\nours\n", "what we wrote")
        etcdctl("put", "/b", "theirs")
        expect(world.out("get", "/b") == "theirs", "what they wrote")


def test_systemd_is_told(program):
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(f"{folder}/notify")
        notified.settimeout(PATIENCE)
        os.environ["NOTIFY_SOCKET"] = f"{folder}/notify"
        try:
            with World(program):
                expect(notified.recv(100) == b"READY=1", "it says when it serves")
        finally:
            del os.environ["NOTIFY_SOCKET"]


def try_backend(world, url):
    """The same words on another backend; a dump of ours goes there and comes back the same."""
    there = ["--store", url]
    world.run("put", "/c1/a", "1")
    world.run("put", "/c1/b", "-", data=b"\x00\xff")
    dump = world.out("backup", "--to", "-")
    world.run("restore", "--from", "-", *there, data=dump.encode())
    expect(world.out("get", "/c1/a", *there) == "1" and world.out("list", "/c1", "-o", "name", *there) == "/c1/a\n/c1/b\n", "restored")
    again = world.out("backup", "--to", "-", *there)
    expect(again.splitlines()[1:] == dump.splitlines()[1:], f"{again}\n{dump}")
    world.error(4, "put", "/c1/a", "2", "--if-absent", *there)
    revision = json.loads(world.out("get", "/c1/a", "-o", "json", *there))["revision"]
    world.run("txn", *there, data=f"compare: [{{key: /c1/a, unchanged: {revision}}}]\nthen: [{{put: /c1/a, value: '2'}}, {{erase: /c1/b}}]".encode())
    watched = world.out("watch", "/c1", "--count", "1", "-o", "json", *there).splitlines()
    expect(json.loads(watched[-1])["value"] == "2", f"{watched}")
    world.run("compact", *there)
    world.run("del", "--below", "/c1/", *there)
    world.error(3, "del", "/c1/a", *there)
    expect(world.out("list", "/", "-o", "name", *there) == "", "all gone")
    world.run("status", *there)


def wait_for(process, port, what):
    """Until something listens there."""
    def listens():
        expect(process.poll() is None, f"{what} ended: {process.stderr.read() if process.stderr else ''}")
        with socket.socket() as asked:
            return asked.connect_ex(("127.0.0.1", port)) == 0

    until(f"{what} listens", listens)


def test_a_real_etcd(program):
    with World(program) as world:
        client, peer = free_port(), free_port()
        words = ["etcd", "--name", "s1", "--data-dir", world.path("etcd"), "--listen-client-urls", f"http://127.0.0.1:{client}", "--advertise-client-urls",
                 f"http://127.0.0.1:{client}", "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                 "--initial-cluster", f"s1=http://127.0.0.1:{peer}", "--logger=zap", "--log-level=error"]
        server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        world.started.append(server)
        wait_for(server, client, "etcd")
        try_backend(world, f"etcd://127.0.0.1:{client}/deep/down")


def test_a_real_zookeeper(program):
    with World(program) as world:
        port = free_port()
        config = world.write("zoo.cfg", f"tickTime=500\ndataDir={world.path('zk')}\nclientPort={port}\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\nadmin.enableServer=false\n")
        words = ["java", "-Xmx512m", "-cp", ZOOKEEPER_JARS, "-Dzookeeper.extendedTypesEnabled=true", "org.apache.zookeeper.server.quorum.QuorumPeerMain", config]
        server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        world.started.append(server)
        wait_for(server, port, "ZooKeeper")
        try_backend(world, f"zk://127.0.0.1:{port}")


def test_a_certificate_that_nobody_is_asked_for_is_warned_of(program):
    def said(options):
        with World(program, *options) as world:
            world.server.terminate()
            return world.server.communicate(timeout=PATIENCE)[1]
    with World(program) as plain:
        make_certificates(plain)
        users = ["--users", plain.write("users.yaml", "users: [{name: n1, certificate: n1.example.org}]\n")]
        tls = ["--tls-certificate", plain.path("server.pem"), "--tls-key", plain.path("server.key")]
        for options in (users, tls + users):
            words = said(options)
            expect("warning" in words and "n1.example.org" in words and "--client-authority" in words, words)
        words = said(tls + users + ["--client-authority", plain.path("ca.pem")])
        expect("warning" not in words, words)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
