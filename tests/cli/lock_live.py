#!/usr/bin/env python3
"""Commands under locks as real processes: one at a time, and none after its lock is lost, whoever is killed or stopped.

Usage: lock_live.py PROGRAM [PART OF A TEST'S NAME]

Nothing here waits for time to pass: a test waits for a line or the end of a process. Locks expire while it does.
"""
import json
import os
import signal
import socket
import subprocess
import sys

from live import PATIENCE, expect, run_tests
from store_live import World, free_port


class Locks(World):
    """A served store, and `evenkeel lock` against it."""

    def lock(self, *words, status=0):
        done = subprocess.run([self.program, "lock", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == status, f"{words}: exit {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
        return done

    def begin(self, *words):
        process = subprocess.Popen([self.program, "lock", *words], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def hold(self, *words, script="read line; exit 9"):
        """A process that holds a lock until its standard input is closed, once it has it; and the token."""
        process = self.begin("run", *words, "--", "sh", "-c", f"echo $EVENKEEL_LOCK_TOKEN; {script}")
        line = process.stdout.readline()
        expect(line, "no lock: " + (process.stderr.read() if not line else ""))
        return process, int(line)

    def show(self, path):
        return json.loads(self.lock("show", path, "-o", "json").stdout)[0]


def end(process, status, words=""):
    out, err = process.communicate(timeout=PATIENCE)
    expect(process.returncode == status and words in err, f"exit {process.returncode}, wanted {status}: {out}{err}")
    return out


def test_run_passes_on_the_status_and_gives_it_back(program):
    with Locks(program) as world:
        expect(world.lock("run", "/l/a", "--", "echo", "x", "-y", "--", "z").stdout == "x -y -- z\n", "the words are the command's own")
        world.lock("run", "/l/a", "--wait", "0s", "--", "sh", "-c", "exit 42", status=42)
        world.lock("run", "/l/a", "--wait", "0s", "--", "sh", "-c", "kill -9 $$", status=128 + 9)
        expect("cannot run" in world.lock("run", "/l/a", "--wait", "0s", "--", "/no/such/program", status=127).stderr, "no such program")
        expect("cannot run" in world.lock("run", "/l/a", "--wait", "0s", "--", "/etc/passwd", status=126).stderr, "no program")
        said = world.lock("run", "/l/a", "--wait", "0s", "--", "sh", "-c", "echo $EVENKEEL_LOCK_PATH $EVENKEEL_LOCK_TOKEN").stdout.split()
        expect(said[0] == "/l/a" and int(said[1]) > 0, f"{said}")
        expect(world.show("/l/a")["held"] is False, "it is free again")


def test_one_at_a_time(program):
    with Locks(program) as world:
        for kind in ([], ["--session"], ["--fair"], ["--session", "--fair"]):
            path = "/l/" + ("".join(kind).replace("-", "") or "plain")
            holder, token = world.hold(path, *kind, "--meta", "the first one")
            said = world.lock("run", path, *kind, "--wait", "0s", "--", "echo", "never", status=4)
            expect(said.stdout == "", "two at once")
            world.lock("run", path, *kind, "--wait", "100ms", "--", "echo", "never", status=4)
            state = world.show(path)
            expect(state["held"] and state["meta"] == "the first one" and state["token"] == token, f"{state}")
            expect(state["kind"] == ("session" if "--session" in kind else "expiring"), f"{state}")
            waiting = world.begin("run", path, *kind, "--", "sh", "-c", "echo $EVENKEEL_LOCK_TOKEN")
            end(holder, 9)
            expect(int(end(waiting, 0)) > token, "tokens grow")
        names = world.lock("list", "/l", "-o", "name").stdout.split()
        expect(names == ["/l/fair", "/l/plain", "/l/session", "/l/sessionfair"], f"{names}")
        expect("HELD BY" in world.lock("list", "/l").stdout, "a table")


def test_it_is_kept_for_longer_than_its_ttl(program):
    with Locks(program) as world:
        for kind in ([], ["--session"]):
            holder, token = world.hold("/l/a", *kind, "--ttl", "6s")
            # Four changes of its renewal take longer than the ttl.
            revisions = {world.show("/l/a")["renewed"]}
            while len(revisions) < 5:
                revisions.add(world.show("/l/a")["renewed"])
            expect(world.show("/l/a")["token"] == token, "still the same")
            end(holder, 9)


def test_the_token_is_a_fence(program):
    with Locks(program) as world:
        script = ("printf 'compare: [{key: %s, unchanged: %s}]\\nthen: [{put: /result, value: mine}]' $EVENKEEL_LOCK_PATH $EVENKEEL_LOCK_TOKEN"
                  f" | {program} store txn; read line; exit 9")
        holder, token = world.hold("/l/a", script=script)
        expect(holder.stdout.readline().startswith("then at revision"), "a write while it is held")
        end(holder, 9)
        world.lock("run", "/l/a", "--", "true")
        stale = f"compare: [{{key: /l/a, unchanged: {token}}}]\nthen: [{{put: /result, value: late}}]"
        world.error(4, "txn", data=stale.encode())
        expect(world.out("get", "/result") == "mine", "and none afterwards")


def test_a_broken_lock_ends_its_command(program):
    with Locks(program) as world:
        for kind in ([], ["--session"]):
            holder, _ = world.hold("/l/a", *kind, "--ttl", "3s")
            expect("held" in world.lock("break", "/l/a", "-o", "json").stdout, "what was broken")
            end(holder, 7, "the command was ended")
            world.lock("run", "/l/a", "--", "true")
        world.lock("show", "/l/nothing", status=3)


def test_a_store_that_is_gone_ends_the_command_in_time(program):
    with Locks(program) as world:
        # It ignores the polite end, and leaves a process behind that does so too: both are killed.
        stubborn = "trap '' TERM; (trap '' TERM; echo $PPID; while :; do sleep 0.1; done) & echo $!; wait; while :; do sleep 0.1; done"
        holder, _ = world.hold("/l/a", "--ttl", "2s", script=stubborn)
        pids = [int(holder.stdout.readline()) for _ in range(2)]
        world.server.kill()
        world.server.communicate()
        end(holder, 7, "could not be renewed")
        for pid in pids:
            expect(not os.path.exists(f"/proc/{pid}") or open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z", f"{pid} goes on")


def test_a_store_that_comes_back_in_time_is_no_matter(program):
    with Locks(program, listen=f"127.0.0.1:{free_port()}") as world:
        world.listen = world.address
        holders = {path: world.hold(path, *kind, "--ttl", "20s") for path, kind in (("/l/a", []), ("/l/b", ["--session"]))}
        renewed = {path: world.show(path)["renewed"] for path in holders}
        world.server.kill()
        world.server.communicate()
        world.serve()
        for path, (holder, token) in holders.items():
            while world.show(path)["renewed"] == renewed[path]:
                expect(holder.poll() is None, "it ended, without a need")
            expect(world.show(path)["token"] == token, "still held")
            end(holder, 9)
            expect(not world.show(path)["held"], "and given back")


def test_a_killed_holder_leaves_a_lock_that_expires(program):
    with Locks(program) as world:
        for kind in ([], ["--session"]):
            holder, token = world.hold("/l/a", *kind, "--ttl", "1s")
            holder.kill()
            later, newer = world.hold("/l/a", *kind)
            expect(newer > token, "a new token")
            expect(holder.stdout.read() == "", "its command is gone too")
            end(later, 9)


def test_a_stopped_holder_ends_its_command_when_it_goes_on(program):
    with Locks(program) as world:
        for kind in ([], ["--session"]):
            # Its command is not stopped, and would go on for ever.
            holder, token = world.hold("/l/a", *kind, "--ttl", "1s", script="trap '' TERM; echo $$; while :; do sleep 0.1; done")
            command = int(holder.stdout.readline())
            holder.send_signal(signal.SIGSTOP)
            later, newer = world.hold("/l/a", *kind)
            expect(newer > token, "a new token")
            holder.send_signal(signal.SIGCONT)
            end(holder, 7, "the command was ended")
            expect(not os.path.exists(f"/proc/{command}"), "the command goes on")
            state = world.show("/l/a")
            expect(state["held"] and state["token"] == newer, f"the next one's lock is its own: {state}")
            end(later, 9)


def test_signals(program):
    with Locks(program) as world:
        holder, _ = world.hold("/l/a", script="trap 'echo told; exit 5' TERM; while :; do sleep 0.05; done")
        waiting = world.begin("run", "/l/a", "--fair", "--", "echo", "never")
        while not world.show("/l/a")["waiting"]:
            expect(waiting.poll() is None, "it did not wait")
        waiting.send_signal(signal.SIGINT)
        expect(end(waiting, 1) == "", "one that waits gives up")
        holder.send_signal(signal.SIGTERM)
        expect("told" in end(holder, 5), "the command was told, and its status is ours")


def test_wrong_words(program):
    with Locks(program) as world, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        dead = f"etcd://127.0.0.1:{closed.getsockname()[1]}"
        world.lock("run", "/l/a", "--store", dead, "--timeout", "2s", "--", "true", status=5)
        world.lock("list", "--store", dead, "--timeout", "2s", status=5)
        world.lock("run", "nopath", "--", "true", status=2)
        world.lock("show", "nopath", status=2)
        world.lock("break", "/l/nothing", status=3)
        world.run("put", "/l/foreign", "no lock")
        said = world.lock("run", "/l/foreign", "--wait", "0s", "--", "true", status=2).stderr
        expect("/l/foreign" in said, said)


def test_every_signal_is_the_commands(program):
    names = ["HUP", "INT", "QUIT", "ALRM", "USR1", "USR2", "WINCH", "CONT", "TERM"]
    with Locks(program) as world:
        traps = "; ".join(f"trap 'echo {name}' {name}" for name in names)
        holder, _ = world.hold("/l/a", script=f"{traps}; trap 'echo TERM; exit 5' TERM; echo ready; while :; do sleep 0.05; done")
        expect(holder.stdout.readline() == "ready\n", "it listens")
        for name in names:
            holder.send_signal(getattr(signal, "SIG" + name))
            expect(holder.stdout.readline() == name + "\n", f"the command was not told {name}: {holder.poll()}")
        end(holder, 5)
        expect(not world.show("/l/a")["held"], "given back")
        waiting_for, _ = world.hold("/l/a")
        waiting = world.begin("run", "/l/a", "--fair", "--", "echo", "never")
        while not world.show("/l/a")["waiting"]:
            expect(waiting.poll() is None, "it did not wait")
        for name in ["WINCH", "CONT", "USR1"]:
            waiting.send_signal(getattr(signal, "SIG" + name))
        end(waiting, -signal.SIGUSR1)
        end(waiting_for, 9)


def test_a_session_of_the_same_host_and_number_is_another(program):
    with Locks(program) as world:
        # A shell whose number is known before it becomes the program: as if another container's process of that number had a session.
        script = f'echo $$; read line; exec {program} lock run /l/a --session --wait 0s -- echo mine'
        shell = subprocess.Popen(["sh", "-c", script], env=world.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        world.started.append(shell)
        key = f"/l/a.sessions/{socket.gethostname()}-{int(shell.stdout.readline())}"
        beat = '{"format":1,"identity":"another","count":1,"ttl":"1h","meta":"","ended":false}'
        world.run("put", key, beat)
        shell.stdin.write("go\n")
        expect(end(shell, 0) == "mine\n", "it did not run")
        expect(world.out("get", key) == beat, "it is left alone")


def test_sessions_of_the_killed_are_swept(program):
    with Locks(program) as world:
        holder, _ = world.hold("/l/a", "--session", "--ttl", "1s")
        expect(len(world.out("list", "/l/a.sessions", "-o", "name").split()) == 1, "one session")
        holder.kill()
        world.lock("run", "/l/a", "--session", "--", "true")
        expect(world.out("list", "/l/a.sessions", "-o", "name") == "", "none is left")


def test_a_lost_lock_is_not_waited_for(program):
    with Locks(program) as world:
        for kind in ([], ["--session"]):
            # Each call may take longer than anybody has patience for; the end of the command must not.
            holder, _ = world.hold("/l/a", *kind, "--ttl", "2s", "--timeout", "10m", script="while :; do sleep 0.05; done")
            world.server.send_signal(signal.SIGSTOP)
            end(holder, 7, "could not be renewed")
            world.server.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
