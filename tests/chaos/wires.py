"""Wires: what lies between a process and its store, or a node and the daemons that it pulses to, and can be cut. Beside them the witness's socket. All on one
thread, with an event loop of its own.

A wire is a small proxy: the process is given its ports instead of those of whom it asks. It is `whole`, or

    hold     as in a broken network: nothing comes through, nothing is said, and what was on its way comes when it is whole again
    mute     nothing that the process says comes through, but it hears what the others say
    deaf     the other way round
    refuse   as by a host without the server: connections break, and new ones are closed

New connections come about only where it is whole. It needs no privileges, so it works in any container. Where pulses go to a node reads in the store, so that
this answer is changed on its way: `says` of the wire to the store. The datagrams among nodes are cut by ledger.cc itself.
"""
import asyncio
import threading


STATES = ("whole", "hold", "mute", "deaf", "refuse")


class Wire:
    """From one process to all members of a store, or to all daemons."""

    def __init__(self):
        self.state = "whole"
        self.pipes = set()
        self.ports = []
        self.says = {}  # what the process reads instead of what was said, both of one length, so that nothing else changes

    def set(self, state):
        assert state in STATES, state
        self.state = state
        for pipe in list(self.pipes):
            pipe.go_on()

    def connections(self):
        """That are there, through and through."""
        return sum(1 for pipe in self.pipes if pipe.port and pipe.peer)


class Pipe(asyncio.Protocol):
    """One end of a connection through a wire. That of the process has the `port` to which it goes on; the other end is the process's no more."""

    def __init__(self, wire, port=None, peer=None):
        self.wire, self.port, self.peer = wire, port, peer
        self.transport = None
        self.dialled = port is None
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
        elif state in ("hold", "mute" if self.port else "deaf"):
            self.transport.pause_reading()
        elif self.dialled and self.peer:
            self.transport.resume_reading()

    async def dial(self):
        try:
            _, self.peer = await asyncio.get_running_loop().create_connection(lambda: Pipe(self.wire, peer=self), "127.0.0.1", self.port)
        except OSError:
            self.transport.abort()
            return
        self.go_on()

    def data_received(self, data):
        self.peer.transport.write(data if self.port else self.changed(data))

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


class Wires:
    """The thread. `changed` is notified whenever the witness has heard something."""

    def __init__(self, heard, socket):
        self.witness = heard
        self.changed = threading.Condition()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.call(self.loop.create_unix_server(lambda: Ear(self), socket))

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def lay(self, ports):
        """A wire to these ports."""

        async def listen():
            wire = Wire()
            for port in ports:
                server = await self.loop.create_server(lambda port=port: Pipe(wire, port), "127.0.0.1", 0)
                wire.ports.append(server.sockets[0].getsockname()[1])
            return wire

        return self.call(listen())

    def set(self, wire, state):
        async def change():
            wire.set(state)

        self.call(change())

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)
