#!/usr/bin/env python3
"""What only a terminal shows: `evenkeel top`, colours and bars, each by the stream that it goes to.

Usage: screen_live.py PROGRAM [PART OF A TEST'S NAME]

No controller runs here. Nothing here waits for time to pass: a test reads until something is there.
"""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from live import PATIENCE, Failed, expect, run_tests
from operate_live import ROOT, Cluster

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Screen:
    """A terminal of some size, and a program that has it as its standard input and some of its other streams."""

    def __init__(self, words, environment, rows=24, columns=80, out=True, err=True):
        self.ours, theirs = pty.openpty()
        self.size(rows, columns)
        self.text = ""

        def take_over():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        streams = {"stdin": theirs, "stdout": theirs if out else subprocess.PIPE, "stderr": theirs if err else subprocess.PIPE}
        self.process = subprocess.Popen(words, env=environment, preexec_fn=take_over, **streams)
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        os.close(self.ours)

    def size(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        """What is there; False: nothing comes any more."""
        try:
            got = os.read(self.ours, 65536).decode(errors="replace")
        except OSError:  # the other side is closed
            return False
        self.text += got
        return got != ""

    def await_more(self, what, give_up):
        """The same, as soon as there is something."""
        ready, _, _ = select.select([self.ours], [], [], max(0, give_up - time.monotonic()))
        if not ready:
            raise Failed(f"not so in time: {what}\n{self.text[-3000:]}")
        return self.read()

    def until(self, what, good):
        give_up = time.monotonic() + PATIENCE
        while not good(self.text):
            if not self.await_more(what, give_up):
                raise Failed(f"it ended before: {what}\n{self.text[-3000:]}")

    def type(self, text):
        os.write(self.ours, text.encode())

    def ends(self):
        """Its exit status, and what it wrote to streams that are no terminal."""
        give_up = time.monotonic() + PATIENCE
        while self.await_more("its end", give_up):
            pass
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, (out or b"").decode(), (err or b"").decode()


def frames(text):
    """What was drawn from the upper left corner on, picture by picture, without escapes."""
    return [ESCAPE.sub("", part).replace("\r", "") for part in text.split("\x1b[H")[1:]]


def colourful(world):
    return {name: value for name, value in world.environment.items() if name != "NO_COLOR"}


def test_top_without_a_terminal(program):
    with Cluster(program) as world:
        world.fill()
        frame = world.do("top").stdout
        lines = frame.splitlines()
        expect(lines[0] == "pages: nodes are gone" and lines[1] == "  gone: n4", frame)
        expect(lines[2] == "3 of 4 nodes; 2 shards, 0 without a leader, 0 incomplete; controller host-1 at http://127.0.0.1:1", frame)
        expect(lines[4].split() == ["ZONE", "NODE", "STATE", "REPLICAS", "LEADERS", "ERRORS", "OPERATION"], frame)
        expect(["dc1", "n1", "there", "2", "2", "0", "-"] in [line.split() for line in lines], frame)
        expect(lines[-1].split() == ["t1", "well", "2", "3", "2", "0", "0", "0"], frame)
        expect("\x1b" not in frame, "no escapes")
        twice = world.do("top", "--count", "2", "--interval", "1ms").stdout
        expect(twice == frame + "\n" + frame, twice)
        world.control(ended=True)
        expect("pages: no controller is active\n  nobody controls pages" in world.do("top").stdout, "nobody acts")
        expect('no cluster "other"' in world.do("top", "--cluster", "other", status=3).stderr, "nothing there")


def test_top_fits_the_terminal(program):
    with Cluster(program) as world:
        world.fill()
        for number in range(5, 40):
            world.beat(f"n{number}")
            world.put(f"live/n{number}", incarnation=f"{number:016x}", data="d", address="a", version="1", reads=1, zone=f"dc{number % 3}")
        world.put("nodes/n7", operation="cordon")
        with Screen([program, "top", "--interval", "100ms"], colourful(world)) as screen:
            screen.until("two pictures", lambda text: len(frames(text)) > 2)
            frame = frames(screen.text)[1]
            lines = frame.split("\n")
            expect(len(lines) <= 24 and all(len(line) <= 80 for line in lines), frame)
            expect("pages: \x1b[33mnodes are gone\x1b[0m" in screen.text, "in colours")
            expect(["dc2", "13", "13", "2", "0", "0"] in [line.split() for line in lines], "zones, where there is no room for nodes: " + frame)
            expect(["dc1", "n7", "there", "0", "0", "0", "cordon"] in [line.split() for line in lines], "and who is not as usual: " + frame)
            expect("t1 " in frame, frame)
            screen.size(60, 40)
            seen = len(frames(screen.text))
            screen.until("a picture of the new size", lambda text: "n39" in text and len(frames(text)) > seen + 2)
            lines = frames(screen.text)[-2].split("\n")
            expect(all(len(line) <= 40 for line in lines) and len(lines) <= 60, f"{lines}")
            screen.type("\x03")
            status, _, _ = screen.ends()
            expect(status == 0, "an end that was asked for")


def test_colours_follow_their_stream(program):
    with Cluster(program) as world:
        world.fill()
        world.do("cluster", "freeze", "--reason", "frozen peas")
        with Screen([program, "cluster", "show"], colourful(world), out=False) as screen:
            status, out, _ = screen.ends()
            expect(status == 0 and "frozen" in out and "\x1b" not in out, "nothing but text in a file: " + out)
        with Screen([program, "cluster", "show"], colourful(world), err=False) as screen:
            screen.ends()
            expect("\x1b[31mfrozen\x1b[0m" in screen.text and screen.text.count("\x1b[") == 2, screen.text)
        with Screen([program, "cluster", "show"], world.environment) as screen:
            screen.ends()
            expect("frozen" in screen.text and "\x1b" not in screen.text, "NO_COLOR: " + screen.text)
        wrong = [program, "validate", "-f", world.write("wrong.yaml", "nodes: [{nam: n1}]\n")]
        with Screen(wrong, colourful(world), err=False) as screen:
            status, _, err = screen.ends()
            expect(status == 2 and "error" in err and "\x1b" not in err, err)
        with Screen(wrong, colourful(world), out=False) as screen:
            screen.ends()
            expect("\x1b[31merror\x1b[0m" in screen.text, screen.text)


def test_a_bar_is_drawn_in_one_line(program):
    with Cluster(program) as world:
        world.fill()
        world.join("n4")
        for columns, bar in ((100, "[" + "." * 30 + "] 0 of 2 replicas have left n1; it leads 2"), (55, "[" + "." * 11 + "] 0 of 2 replicas have left n1; it leads 2"), (30, "0 of 2 replicas have left n1…")):
            with Screen([program, "node", "drain", "n1", "--wait"], world.environment, columns=columns, out=False) as screen:
                screen.until("a bar", lambda text: "0 of 2" in text)
                screen.type("\x03")
                status, out, _ = screen.ends()
                expect(status == 1 and out == "" and f"\r\x1b[K{bar}\r\n" in screen.text.replace("^C", ""), f"{columns}: {screen.text!r}")
                expect("\nevenkeel: interrupted; the draining goes on without us" in screen.text, screen.text)
        done = subprocess.run([program, "node", "drain", "n1", "--wait", "--within", "1ms"], env=world.environment, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.stderr.startswith("evenkeel: n1 is being drained already\n0 of 2 replicas have left n1; it leads 2\n"), "words alone: " + done.stderr)
        world.run("put", ROOT + "shards/t1/0", json.dumps({"format": 1, "shards": []}))
        with Screen([program, "node", "drain", "n1", "--wait"], world.environment) as screen:
            status, _, _ = screen.ends()
            expect(status == 0 and "\nevenkeel: n1 holds nothing any more" in screen.text, screen.text)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
