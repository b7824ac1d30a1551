"""Wires: what lies between a process and its store, or a node and the daemons that it pulses to, and can be cut. Beside them the witness's socket. All on one
thread, with an event loop of its own.

A wire is a small proxy: the process is given its ports instead of those of whom it asks. It is `whole`, or

    hold     as in a broken network: nothing comes through, nothing is said, and what was on its way comes when it is whole again
    mute     nothing that the process says comes through, but it hears what the others say
    deaf     the other way round
    refuse   as by a host without the server: connections break, and new ones are closed

New connections come about only where it is whole. It needs no privileges, so it works in any container. Where pulses go to a node reads in the store, so that
this answer is changed on its way: `says` of the wire to the store. The datagrams among nodes are cut by ledger.cc itself.

A proxy closes and acknowledges what a broken network would not: hosts.py has the same wires as packets that are really lost. Both are a `Network`.
"""
import asyncio
import threading


STATES = ("whole", "hold", "mute", "deaf", "refuse")


class Host:
    """Where a process is: for wires always this host."""

    address = "127.0.0.1"
    pid = None  # of the process that was started there last

    def words(self, words):
        """How that is started there."""
        return words


class Wire:
    """From one process to all members of a store, or to all daemons. An end is an address and a port."""

    def __init__(self):
        self.state = "whole"
        self.pipes = set()
        self.ends = []  # where the process is to go
        self.says = {}  # what the process reads instead of what was said, both of one length, so that nothing else changes

    def set(self, state):
        assert state in STATES, state
        self.state = state
        for pipe in list(self.pipes):
            pipe.go_on()

    def connections(self):
        """That are there, through and through."""
        return sum(1 for pipe in self.pipes if pipe.end and pipe.peer)


class Pipe(asyncio.Protocol):
    """One end of a connection through a wire. That of the process has the `end` to which it goes on; the other one is the process's no more."""

    def __init__(self, wire, end=None, peer=None):
        self.wire, self.end, self.peer = wire, end, peer
        self.transport = None
        self.dialled = end is None
        self.rest = b""

    def connection_made(self, transport):
        self.transport = transport
        self.wire.pipes.add(self)
        transport.pause_reading()
        self.go_on()

    def go_on(self):
        state = self.wire.state
        if state == "refuse":
            self.transport.abort()
        elif not self.dialled and state == "whole":
            self.dialled = True
            asyncio.ensure_future(self.dial())
        elif state in ("hold", "mute" if self.end else "deaf"):
            self.transport.pause_reading()
        elif self.dialled and self.peer:
            self.transport.resume_reading()

    async def dial(self):
        try:
            _, self.peer = await asyncio.get_running_loop().create_connection(lambda: Pipe(self.wire, peer=self), *self.end)
        except OSError:
            self.transport.abort()
            return
        self.go_on()

    def data_received(self, data):
        self.peer.transport.write(data if self.end else self.changed(data))

    def changed(self, data):
        """The end of it is kept back if it may be the beginning of what is to be changed. One byte or two would do so too often, and nobody might come after them."""
        data = self.rest + data
        kept = 0
        for old, new in self.wire.says.items():
            data = data.replace(old, new)
            kept = max([kept, *(size for size in range(len("pulse="), len(old)) if data.endswith(old[:size]))])
        self.rest = data[len(data) - kept:]
        return data[:len(data) - kept]

    def connection_lost(self, _):
        self.wire.pipes.discard(self)
        if self.peer and self.peer.transport:
            self.peer.transport.close()


class Ear(asyncio.Protocol):
    """One ledger's lines to the witness."""

    def __init__(self, heard):
        self.heard = heard
        self.who = "?"
        self.rest = b""

    def data_received(self, data):
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            words = line.decode()
            if words.startswith("h "):
                self.who = ":".join(words.split()[1:])
            else:
                self.heard.witness.hear(self.who, words)
        with self.heard.changed:
            self.heard.changed.notify_all()


class Network:
    """The thread, and where the witness is told everything. `changed` is notified whenever it has heard something."""

    def __init__(self, heard, socket):
        self.witness = heard
        self.changed = threading.Condition()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.call(self.loop.create_unix_server(lambda: Ear(self), socket))

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def set(self, wire, state):
        self.set_all([wire], state)

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)


class Wires(Network):
    def host(self, _):
        return Host()

    def lay(self, _, ends):
        """A wire to these."""

        async def listen():
            wire = Wire()
            for end in ends:
                server = await self.loop.create_server(lambda end=end: Pipe(wire, end), "127.0.0.1", 0)
                wire.ends.append(server.sockets[0].getsockname())
            return wire

        return self.call(listen())

    def set_all(self, wires, state):
        """At one moment."""

        async def change():
            for wire in wires:
                wire.set(state)

        self.call(change())
