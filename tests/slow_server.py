"""A way to the database that can be made to stall, as while a server is paused."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from psycopg.conninfo import conninfo_to_dict

from tests.databases import at_database


@dataclass
class SlowServer:
    """Passes on what both sides send while it is `open_`; connections are accepted all the time."""

    url: str
    open_: threading.Event = field(default_factory=threading.Event)
    sockets: list[socket.socket] = field(default_factory=list)
    accepted: int = 0

    def stall(self) -> None:
        """From now on nothing passes; what is sent meanwhile waits."""
        self.open_.clear()

    def resume(self) -> None:
        self.open_.set()

    def serve(self, listener: socket.socket, address: tuple[str, int]) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(address)
            self.accepted += 1
            self.sockets += [client, server]
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65_536):
                self.open_.wait()
                other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)


@contextmanager
def slow_server(database_url: str) -> Iterator[SlowServer]:
    """A way to the database at `database_url`, open at first."""
    known = conninfo_to_dict(database_url)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        slow = SlowServer(at_database(database_url, port=str(listener.getsockname()[1])))
        slow.resume()
        address = (str(known["host"]), int(str(known["port"])))
        accepting = threading.Thread(target=slow.serve, args=(listener, address), daemon=True)
        accepting.start()
        try:
            yield slow
        finally:
            slow.resume()
            listener.shutdown(socket.SHUT_RDWR)
            for one in slow.sockets:
                one.close()
            accepting.join(5)
