"""The folder where a laptop's installation lives, and the deployment settings kept in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dreaming.errors import InvalidInput

ENVIRONMENT_FILE = "environment"


def home_folder(environment: Mapping[str, str]) -> Path:
    """Return `DREAMING_HOME`, or the XDG data folder of the user."""
    given = environment.get("DREAMING_HOME")
    if given:
        return Path(given).expanduser().resolve()
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser().resolve() / "dreaming"


def make_home(home: Path) -> None:
    """Make the home folder where it is missing; it holds private text, so it is its owner's alone."""
    home.parent.mkdir(parents=True, exist_ok=True)
    home.mkdir(mode=0o700, exist_ok=True)


def deployment_environment(home: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables kept in the home folder, with the process's own winning over them.

    Raises `InvalidInput` when the file is not UTF-8, or naming the line that is not `NAME=value`.
    """
    return {**_read(home / ENVIRONMENT_FILE), **environment}


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
