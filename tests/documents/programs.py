"""Programs for shells that tests drive: each call is a fork of one process that has everything imported.

A shell finds the programs on its PATH as small scripts. They hand their arguments, their environment and
their standard streams to this server over a socket; it forks, and the child is the program, with the
real exit code. So `dream` starts in milliseconds, and is otherwise a process like any other.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shlex
import signal
import socket
import struct
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import dreaming
from tests.architecture.modules import ROOT

SOCKET = "DOCUMENTS_PROGRAMS"

_CLIENT = """\
import json, os, signal, socket, struct, sys
link = socket.socket(socket.AF_UNIX)
link.connect(os.environ["{socket}"])
told = json.dumps([os.path.basename(sys.argv[1]), sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(link, [struct.pack("!i", len(told))], [0, 1, 2])
link.sendall(told)
pid = struct.unpack("!i", link.recv(4, socket.MSG_WAITALL))[0]
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
sys.exit(struct.unpack("!i", link.recv(4, socket.MSG_WAITALL))[0])
"""

_LOADED = ("boto3", "botocore.session", "tests.documents.stand_ins")


def write_client(path: Path) -> None:
    """Write the script that hands a call over; it is called by the names of links to it."""
    script = path.with_name(f"{path.name}.py")
    script.write_text(_CLIENT.format(socket=SOCKET), "utf-8")
    # By way of a shell: the first line of a script cannot name an interpreter in a folder with a space.
    path.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -ES {shlex.quote(str(script))} "$0" "$@"\n', "utf-8"
    )
    path.chmod(0o755)


@contextmanager
def programs(folder: Path) -> Iterator[Path]:
    """Serve programs until the end of the block; gives the socket's path."""
    path = folder / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(16)
        listening.set_inheritable(True)
        command = [sys.executable, "-m", "tests.documents.programs", str(listening.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[listening.fileno()])
    try:
        yield path
    finally:
        process.terminate()
        process.wait()


def serve(listening: socket.socket) -> None:
    """Fork for every call until terminated."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    while True:
        link, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os._exit(_attend(link))
        link.close()


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(0)


def _attend(link: socket.socket) -> int:
    """Be the parent of one program: tell its process id, then how it ended."""
    head, streams, _, _ = socket.recv_fds(link, 4, 3)
    name, arguments, folder, environment = json.loads(link.recv(struct.unpack("!i", head)[0], socket.MSG_WAITALL))
    child = os.fork()
    if child == 0:
        link.close()
        os._exit(_run(name, arguments, folder, environment, streams))
    link.sendall(struct.pack("!i", child))
    _, status = os.waitpid(child, 0)
    link.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status) & 0xFF))
    return 0


def _run(name: str, arguments: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> int:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    from tests.documents.stand_ins import run

    code: int | str | None
    try:
        code = run(name, arguments)
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 - the outermost door of a process
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code or 0


def _load() -> None:
    """Import what any program may need: the whole package, too, since it imports much where it is used."""
    package = (module.name for module in pkgutil.walk_packages(dreaming.__path__, "dreaming."))
    for name in (*_LOADED, *package):
        importlib.import_module(name)


if __name__ == "__main__":
    _load()
    serve(socket.socket(fileno=int(sys.argv[1])))
