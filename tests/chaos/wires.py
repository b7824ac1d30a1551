"""Wires: what lies between a process and its store, and can be cut. Beside them the witness's socket. All on one thread, with an event loop of its own.

A wire is a small proxy: the process is given its ports instead of the store's. `hold` is what a broken network does: nothing comes through, nothing is
said, and what was on its way comes when it is whole again. `refuse` is what a host without the server does: connections break, and new ones are closed.
It needs no privileges, so it works in any container; what it cannot cut are the datagrams among nodes and the pulses to daemons.
"""
import asyncio
import threading


class Wire:
    """From one process to all members of a store."""

    def __init__(self):
        self.state = "whole"
        self.pipes = set()
        self.ports = []

    def set(self, state):
        self.state = state
        for pipe in list(self.pipes):
            if state == "refuse":
                pipe.transport.abort()
            elif state == "hold":
                pipe.transport.pause_reading()
            else:
                pipe.go_on()


class Pipe(asyncio.Protocol):
    """One end of a connection through a wire. The end at the store has no `port`."""

    def __init__(self, wire, port=None, peer=None):
        self.wire, self.port, self.peer = wire, port, peer
        self.transport = None
        self.dialled = port is None

    def connection_made(self, transport):
        self.transport = transport
        self.wire.pipes.add(self)
        transport.pause_reading()
        self.go_on()

    def go_on(self):
        if self.wire.state == "refuse":
            self.transport.abort()
        elif self.wire.state == "whole" and not self.dialled:
            self.dialled = True
            asyncio.ensure_future(self.dial())
        elif self.wire.state == "whole" and self.peer:
            self.transport.resume_reading()

    async def dial(self):
        try:
            _, self.peer = await asyncio.get_running_loop().create_connection(lambda: Pipe(self.wire, peer=self), "127.0.0.1", self.port)
        except OSError:
            self.transport.abort()
            return
        if self.wire.state == "whole":
            self.transport.resume_reading()

    def data_received(self, data):
        self.peer.transport.write(data)

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
