#!/usr/bin/env python3
"""The program itself under a limit of 1 GiB of address space: hostile files are refused with exit 2, a large honest one is read.

Usage: limits.py PROGRAM
"""
import os
import resource
import subprocess
import sys
import tempfile

GIB = 1 << 30


def files():
    """Name, content, wanted exit status, and words that its message must contain."""
    yield "empty.yaml", b"", 2, "empty"
    yield "empty.json", b"", 2, "empty"
    yield "line.yaml", b"cluster: " + b"a" * 100_000_000, 2, "line.yaml:1:10: error: a value of 100000000 bytes"
    yield "line.json", b'{"cluster": "' + b"a" * 100_000_000 + b'"}', 2, "line.json:1:13: error: a value of 100000000 bytes"
    yield "key.json", b'{"' + b"a" * 100_000_000 + b'": 1}', 2, "a value of 100000000 bytes"
    yield "comment.yaml", b"# " + b"a" * 100_000_000, 2, "empty"
    yield "spaces.yaml", b" " * 100_000_000, 2, "empty"
    yield "digits.yaml", b"nodes: [{name: n, cores: " + b"9" * 60_000 + b"}]", 2, "too large"
    yield "too-large.yaml", b"x" * (257 << 20), 2, "larger than 256Mi"
    yield "utf8.yaml", b"cluster: x\nnodes: [{name: n\xff1}]", 2, "utf8.yaml:2:17: error: byte 0xff is not valid UTF-8"
    yield "utf8.json", b'{"cluster": "\xc0\xaf"}', 2, "not valid UTF-8"
    yield "zero.yaml", b"cluster: \0", 2, "control characters"
    yield "bomb.yaml", b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (c + 1, c + 1, b",".join([b"*%c" % c] * 9)) for c in range(ord("a"), ord("z"))), 2, "anchors"
    yield "deep.yaml", b"[" * 1_000_000, 2, "deeper"
    yield "deep.json", b"[" * 1_000_000, 2, "deeper"
    yield "deep-block.yaml", b"".join(b" " * i + b"a:\n" for i in range(3000)), 2, "deeper"
    yield "twice.json", b'{"a": 1, ' * 30 + b'"a": 1, "a": 2' + b"}" * 30, 2, "not valid JSON"
    yield "many.yaml", b"[" + b"x," * 60_000_000 + b"]", 2, "values in one file"
    yield "keys.yaml", b"placement:\n" + b"".join(b"  t%d: 1\n" % i for i in range(1_000_000)), 2, "expected a list"
    yield "nodes.yaml", b'nodes: [{name: "n[1-4000000000]"}]', 2, "more than 1048576 names"
    labels = b", ".join(b"l%d: x" % i for i in range(100))
    yield "labels.yaml", b'nodes: [{name: "n[1-1048576]", labels: {' + labels + b"}}]", 2, "of all nodes together"
    sparse = b", ".join(b"%d: {r%d: 1}" % (i, i % 250) for i in range(200_000))
    yield "sparse.yaml", b"workloads: [{name: t, shards: 200000, shard_loads: {" + sparse + b"}}]", 2, "most of them not given"
    names = b", ".join(b"x%d: [[]]" % i for i in range(20_000))
    yield "unknown.yaml", b"workloads: [" + b", ".join(b"{name: t%d, shards: 1}" % i for i in range(20_000)) + b"]\nplacement: {" + names + b"}", 2, "there is no workload"
    yield "shards.yaml", b"workloads: [{name: t, shards: 2147483648}]", 2, "2147483648 is out of range"
    yield "billion.yaml", b"workloads: [{name: t, shards: 1000000000, replicas: 3}]", 0, "1000000000 shards"
    yield "models.yaml", b"state_models: [{name: m, initial: a, transitions: [], states: [" + b"{name: a}," * 300_000 + b"]}]", 2, "at most 32"
    rows = b"".join(b"    - [n%d, n%d, n%d]\n" % (i % 1000, (i + 7) % 1000, (i + 400) % 1000) for i in range(1_000_000))
    head = b'nodes: [{name: "n[0-999]"}]\nworkloads: [{name: t, shards: 1000000, replicas: 3, shard_loads: {'
    loads = b", ".join(b"%d: {cpu: 0.%d, disk: %dMi}" % (i, i % 997 + 1, i % 13) for i in range(1_000_000))
    yield "million.yaml", head + loads + b"}}]\nplacement:\n  t:\n" + rows, 0, "1000000 shards, 3000000 replicas"


def main():
    program = os.path.abspath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, content, status, words in files():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
            del content
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))
            run = subprocess.run([program, "validate", "-f", name], cwd=folder, capture_output=True, preexec_fn=limit)
            os.unlink(os.path.join(folder, name))
            said = run.stderr.decode()
            ok = run.returncode == status and words in said and (status == 0 or run.stdout == b"") and len(said) < 10_000
            print("ok:" if ok else "FAILED:", name, "" if ok else f"exit {run.returncode}, wanted {status} and {words!r}\n{said[:2000]}")
            failed += not ok
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
