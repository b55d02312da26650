"""A shell in which the commands of a page run one after another, as a reader types them."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.architecture.modules import ROOT
from tests.documents.programs import SOCKET, write_client
from tests.documents.samples import repository, write_samples
from tests.documents.stand_ins import STAND_INS, TOOLS
from tests.waiting import wait_until

_SERVER = re.compile(r"^\s*(?:\S*/)?dream (?:\S+ )*(?:up|dashboard)\b")
_MAY_FAIL = re.compile(r"^(?P<command>[^#\n]*[^#\s])\s+#[^\n]*\bexit code (?P<code>\d+)[^\n]*$", re.MULTILINE)
_NOT_KEPT = "^declare -[a-zA-Z]*r|^declare -[-a-zA-Z]+ (BASH|DIRSTACK|FUNCNAME|GROUPS|PIPESTATUS|SHLVL|_=)"
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    printed: str
    complaint: str


@dataclass
class Shell:
    """Bash with a home and a folder of its own; variables, functions and the folder carry over to the next command.

    `database_url` names the database that `dream` uses; `socket` is where the programs are served.
    """

    folder: Path
    socket: Path
    database_url: str
    _servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        programs = self.folder / "programs"
        programs.mkdir(parents=True)
        client = programs / "client"
        write_client(client)
        for name in ("dream", *STAND_INS):
            (programs / name).symlink_to(client)
        for name in TOOLS:
            (programs / name).symlink_to(_where(name))
        self.home.mkdir()
        self.place.mkdir()
        write_samples(self.place, self.home)
        # As in a checkout.
        for name in ("docs", "layers"):
            (self.place / name).symlink_to(ROOT / name)
        repository(self.folder / "repository")
        self._state.write_text(f"cd {shlex.quote(str(self.place))}\n", "utf-8")

    @property
    def home(self) -> Path:
        """The home folder of the reader."""
        return self.folder / "home"

    @property
    def place(self) -> Path:
        """The folder in which the first command runs; with a space in its name, as folders have."""
        return self.folder / "a folder"

    @property
    def installation(self) -> Path:
        """Where `dream` keeps what it keeps."""
        return self.home / ".local" / "share" / "dreaming"

    @property
    def _state(self) -> Path:
        return self.folder / "state"

    def run(self, command: str) -> Done:
        """Run one or more lines; they stop at the first that fails."""
        printed, complaint = self.folder / "printed", self.folder / "complaint"
        with printed.open("wb") as out, complaint.open("wb") as err:
            done = subprocess.run(
                [_where("bash"), "-c", self._script(_allowed_to_fail(command))],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                check=False,
                timeout=_SECONDS,
            )
        return Done(done.returncode, printed.read_text("utf-8"), complaint.read_text("utf-8"))

    def serve(self, command: str) -> None:
        """Start what serves until it is interrupted, in the place of what served before."""
        self.stop()
        with (self.folder / "served").open("ab") as log:
            process = subprocess.Popen(
                [_where("bash"), "-c", self._script(f"exec {command.strip().split('#')[0]}")],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._servers.append(process)
        url = self.installation / "api-url"
        wait_until(lambda: url.exists() or process.poll() is not None, f"{command} serves", within=_SECONDS)
        if process.poll() is not None:
            raise AssertionError(f"{command} ended: {(self.folder / 'served').read_text('utf-8')}")

    def stop(self) -> None:
        """Interrupt what serves, and see that it ends well."""
        while self._servers:
            process = self._servers.pop()
            process.send_signal(signal.SIGINT)
            # One that has only just begun to serve says that it was interrupted, or dies of the signal while it ends.
            code = process.wait(_SECONDS)
            assert code in {0, 130, -signal.SIGINT}, f"{code}: {(self.folder / 'served').read_text('utf-8')}"

    def _script(self, command: str) -> str:
        state = shlex.quote(str(self._state))
        keep = f"{{ declare -p | grep -vE '{_NOT_KEPT}'; declare -f; printf 'cd %q\\n' \"$PWD\"; }} > {state}"
        return f"source {state}\nset -euo pipefail\ntrap {shlex.quote(keep)} EXIT\n{command}\n"

    def _environment(self) -> dict[str, str]:
        programs = self.folder / "programs"
        return {
            "PATH": str(programs),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "BROWSER": "true",
            "USER": "ana",
            "TMPDIR": str(self.folder),
            "DATABASE_URL": self.database_url,
            "DOCUMENTS_DATABASE": self.database_url,
            "DOCUMENTS_CLIENT": str(programs / "client"),
            "DOCUMENTS_REPOSITORY": str(self.folder / "repository"),
            SOCKET: str(self.socket),
            # Where another checkout than the installed one is tested.
            **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
        }


def parts(block: str) -> Iterator[tuple[bool, str]]:
    """Split a block where something is started that serves; each part says whether it does."""
    gathered = ""
    for line in block.splitlines(keepends=True):
        if _SERVER.match(line):
            if gathered.strip():
                yield False, gathered
            gathered = ""
            yield True, line
        else:
            gathered += line
    if gathered.strip():
        yield False, gathered


def _allowed_to_fail(command: str) -> str:
    """Let a command end with the exit code that the comment behind it tells."""
    return _MAY_FAIL.sub(lambda match: f"{match['command']} || [ $? -eq {match['code']} ]", command)


def _where(program: str) -> str:
    for folder in os.environ["PATH"].split(os.pathsep):
        if os.access(path := Path(folder) / program, os.X_OK):
            return str(path)
    raise AssertionError(f"this machine has no {program}")
