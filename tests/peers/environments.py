"""An environment of its own for each peer, outside the checkout, from a pinned list of packages."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
FOLDER_VARIABLE = "DREAMING_PEERS"
"""Where the environments are kept; by default a folder of the user's cache."""

_UV = Path(sys.executable).with_name("uv")
_LONGEST = 1_200.0


@dataclass(frozen=True, slots=True)
class Installed:
    """A peer's interpreter, or why there is none; the package's version as pinned."""

    python: str | None
    version: str
    reason: str = ""


def folder() -> Path:
    """Where the environments are."""
    kept = os.environ.get(FOLDER_VARIABLE)
    return Path(kept) if kept else Path.home() / ".cache" / "dreaming-peers"


def pinned(name: str, package: str) -> str:
    """Return the version of a package in a peer's list."""
    lines = (HERE / f"requirements-{name}.txt").read_text("utf-8").splitlines()
    return next(line.partition("==")[2] for line in lines if line.partition("==")[0] == package)


def install(name: str, package: str) -> Installed:
    """Make the peer's environment unless the same list made it before; never raises for what went wrong."""
    listed = HERE / f"requirements-{name}.txt"
    version = pinned(name, package)
    home = folder() / f"{name}-{sha256(listed.read_bytes()).hexdigest()[:12]}"
    python = home / "bin" / "python"
    done = home / ".complete"
    if done.exists():
        return Installed(str(python), version)
    if not _UV.exists():
        return Installed(None, version, "there is no uv beside the interpreter: run `make setup`")
    for step in (
        [str(_UV), "venv", "--quiet", "--clear", "--python", sys.executable, str(home)],
        [str(_UV), "pip", "install", "--quiet", "--python", str(python), "--requirement", str(listed)],
    ):
        if problem := _problem(step):
            return Installed(None, version, f"`uv {step[1]}` failed: {problem}")
    done.touch()
    return Installed(str(python), version)


def _problem(command: list[str]) -> str:
    """Run a command; return the end of what it said if it failed."""
    environment = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "UV_PYTHON"}}
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST, check=False, env=environment
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no end after {_LONGEST:.0f} s"
    return "" if ran.returncode == 0 else " ".join(ran.stderr.split())[-400:]
