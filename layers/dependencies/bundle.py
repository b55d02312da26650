"""What a layer's folder may hold: its imports, its machine, its size, and what does not belong there."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

IMPORTS = ("aws_lambda_powertools", "boto3", "httpx", "json_repair", "numpy", "psycopg", "psycopg_binary", "pydantic")
"""What the package imports of others; a bundle without one of them is not deployed."""

ZIP_LIMIT = 50_000_000
"""Bytes of one zipped layer: what Lambda takes in one upload."""

LAMBDA_LIMIT = 200_000_000
"""Bytes of both layers unzipped; Lambda's own limit, with the function's code, is 250 MiB."""

_ELF = b"\x7fELF"
_ARM64 = 183  # EM_AARCH64 of the ELF specification
_MACHINE = slice(18, 20)
_FOLDERS_CUT = {"__pycache__", "tests", "bin", "f2py"}
# Written at installation: with times, paths or hashes of files that were cut. What the code asks for
# at run time (METADATA, entry points) stays, and so do licences.
_INSTALLERS_NOTES = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"}
_ENDINGS_CUT = {".pyc", ".pyi", ".pyx", ".pxd", ".a", ".h", ".c"}


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes of a folder, as files and as a zip."""

    unzipped: int
    zipped: int


def trim(bundle: Path) -> None:
    """Remove what no function needs, and what differs between two installations of the same versions."""
    python = bundle / "python"
    for folder in [path for path in sorted(python.rglob("*")) if path.is_dir() and path.name in _FOLDERS_CUT]:
        shutil.rmtree(folder, ignore_errors=True)
    (python / ".lock").unlink(missing_ok=True)
    for path in _files(python):
        note = path.parent.suffix == ".dist-info" and path.name in _INSTALLERS_NOTES
        if note or path.suffix in _ENDINGS_CUT:
            path.unlink()


def missing(bundle: Path) -> list[str]:
    """Return the imports that the bundle does not have."""
    python = bundle / "python"
    return [name for name in IMPORTS if not (python / name).is_dir() and not (python / f"{name}.py").is_file()]


def machine_problems(bundle: Path) -> list[str]:
    """Return the shared objects that are not for arm64; there must be some that are."""
    objects = [path for path in _files(bundle) if path.suffix == ".so" or ".so." in path.name]
    wrong = [str(path.relative_to(bundle)) for path in objects if not _is_arm64(path)]
    return wrong if objects else ["no shared object at all"]


def _is_arm64(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(20)
    return head[:4] == _ELF and int.from_bytes(head[_MACHINE], "little") == _ARM64


def size_of(folder: Path) -> Size:
    """Measure a folder; zipped as each file's deflated bytes and its two headers."""
    unzipped = zipped = 0
    for path in _files(folder):
        if "__pycache__" in path.parts:
            continue
        content = path.read_bytes()
        unzipped += len(content)
        zipped += len(zlib.compress(content)) + 2 * len(str(path.relative_to(folder))) + 76
    return Size(unzipped, zipped)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
