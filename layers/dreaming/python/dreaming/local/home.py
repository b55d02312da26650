"""The folder where a laptop's installation lives, and the deployment settings kept in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from dreaming.errors import InvalidInput, Misconfigured

ENVIRONMENT_FILE = "environment"


def home_folder(environment: Mapping[str, str]) -> Path:
    """Return `DREAMING_HOME`, or the XDG data folder of the user."""
    given = environment.get("DREAMING_HOME")
    if given:
        return Path(given).expanduser().resolve()
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser().resolve() / "dreaming"


def make_home(home: Path) -> None:
    """Make the home folder where it is missing; it holds private text, so it is its owner's alone.

    So is each folder above it that is missing, as the XDG rules ask of data folders.

    Raises:
        Misconfigured: it cannot be made.
    """
    missing = [folder for folder in (home, *home.parents) if not folder.exists()]
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        home.mkdir(mode=0o700, exist_ok=True)  # what stands there and is no folder is refused
    except OSError as error:
        raise Misconfigured(
            f"the home folder {home} cannot be made: {error.strerror}; name another with --home"
        ) from error


def private_file(path: Path) -> Path:
    """Make a file where it is missing, for its owner alone, and return it; one that others may read is closed to them.

    Raises:
        OSError: it cannot be made.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    found = path.stat()
    if found.st_mode & 0o077 and found.st_uid == os.getuid():
        path.chmod(0o600)
    return path


def deployment_environment(home: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables kept in the home folder, with the process's own winning over them.

    Raises `InvalidInput` when the file is not UTF-8, or naming the line that is not `NAME=value`.
    """
    return {**_read(home / ENVIRONMENT_FILE), **environment}


class DeploymentEnvironment(Mapping[str, str]):
    """The same variables for a process that lives long: what `dream settings` changes meanwhile is seen.

    A file that cannot be read any more raises `InvalidInput` at the next look, as at the first.
    """

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        """Read the home folder's file now, and again whenever it has changed."""
        self._home = home
        self._own = dict(environment)
        self._stamp = self._look()
        self._values = deployment_environment(home, self._own)

    def __getitem__(self, name: str) -> str:
        """Return a variable."""
        return self._current()[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._current())

    def __len__(self) -> int:
        """Count the variables."""
        return len(self._current())

    def _current(self) -> dict[str, str]:
        stamp = self._look()
        if stamp != self._stamp:
            self._values = deployment_environment(self._home, self._own)
            self._stamp = stamp
        return self._values

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = (self._home / ENVIRONMENT_FILE).stat()
        except FileNotFoundError:
            return None
        # A changed file is a new one that took the old one's place.
        return found.st_ino, found.st_mtime_ns, found.st_size


def keep_variable(home: Path, name: str, value: str | None) -> None:
    """Keep a variable in the home folder, or forget it when `value` is None."""
    if value is not None and len(value.splitlines()) > 1:
        raise InvalidInput(name, "has more than one line", "write it on one line")
    kept = _read(home / ENVIRONMENT_FILE)
    kept.pop(name, None)
    if value is not None:
        kept[name] = value
    make_home(home)
    fresh = home / f"{ENVIRONMENT_FILE}.{os.getpid()}"
    fresh.touch(mode=0o600)
    fresh.write_text("".join(f"{key}={kept[key]}\n" for key in sorted(kept)), encoding="utf-8")
    fresh.replace(home / ENVIRONMENT_FILE)


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(str(path), "is not UTF-8", "correct or delete the file") from error
    kept = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, separator, value = line.partition("=")
        if not separator or not name.strip():
            raise InvalidInput(f"{path}, line {number}", "is not NAME=value", "correct or delete the line")
        kept[name.strip()] = value
    return kept
