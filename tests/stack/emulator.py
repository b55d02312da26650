"""An emulator of AWS on this machine, in a bare environment of its own.

Bare, because its workers see the packages of its environment beside those of the layers: one more than
it needs would hide what the layers lack.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import wait_until

VERSION = "1.5.33"
ACCOUNT = "000000000000"
REGION = "us-east-1"


@dataclass(frozen=True)
class Emulator:
    """A running emulator; `environment` is that of a process which takes it for AWS."""

    url: str
    port: int
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


def install(folder: Path) -> Path:
    """Make the emulator's environment in `folder` unless it is there, and return its program."""
    done = folder / f".ministack-{VERSION}"
    program = folder / "bin" / "ministack"
    if not done.exists():
        uv = str(Path(sys.executable).with_name("uv"))
        shutil.rmtree(folder, ignore_errors=True)
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)])
        python = str(folder / "bin" / "python")
        _run([uv, "pip", "install", "--quiet", "--python", python, f"ministack=={VERSION}"])
        done.touch()
    return program


@contextmanager
def running(program: Path, folder: Path) -> Iterator[Emulator]:
    """Run the emulator with everything it writes below `folder`, and leave neither process nor file."""
    port = _free_port()
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    log = folder / "emulator.log"
    environment = {
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(temporary),
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with log.open("wb") as output:
        process = subprocess.Popen([str(program)], cwd=folder, env=environment, stdout=output, stderr=output)
        try:
            emulator = Emulator(f"http://127.0.0.1:{port}", port, log)
            wait_until(lambda: _answers(process, emulator), "the emulator answers", within=60)
            yield emulator
        finally:
            process.terminate()
            try:
                process.wait(5)  # it also waits for clients that keep their connections
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            shutil.rmtree(temporary, ignore_errors=True)


def processes_with(text: str) -> list[str]:
    """The command lines of running processes whose environment or command line holds `text`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command, environment = ((folder / name).read_bytes() for name in ("cmdline", "environ"))
        except OSError:
            continue
        if folder.name != str(os.getpid()) and command and text.encode() in command + environment:
            found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found


def _answers(process: subprocess.Popen[bytes], emulator: Emulator) -> bool:
    assert process.poll() is None, f"the emulator has ended: {emulator.log.read_text('utf-8', 'replace')[-2000:]}"
    try:
        with urllib.request.urlopen(f"{emulator.url}/_ministack/health", timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _run(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    subprocess.run(command, check=True, env=environment)
