"""Builds the dependencies layer from uv.lock, without Docker, into `build/layers/`.

    python -m layers.dependencies.build                    both bundles, and a table of their sizes
    python -m layers.dependencies.build --only host        only the one for this machine
    python -m layers.dependencies.build --only host --python /path/to/python

`lambda/` is for Lambda's Python on arm64, `host/` for an emulator that runs functions on this machine.
The same lock file gives the same files: versions and hashes come from it, and what differs between two
installations is removed. A bundle replaces the one before it only after every check.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.config import LAMBDA_PYTHON
from infra.paths import CERTIFICATES_FETCHED, CERTIFICATES_IN_LAYER, LAYERS_BUILT, PACKAGE_LAYER, ROOT
from layers.dependencies.bundle import IMPORTS, LAMBDA_LIMIT, ZIP_LIMIT, Size, machine_problems, missing, size_of, trim

BUNDLES = ("lambda", "host")
# Amazon Linux 2023 has glibc 2.34, so wheels for 2.28 run there.
_PLATFORM = "aarch64-manylinux_2_28"


class BuildFailed(Exception):
    """A bundle is not what it must be; the one before it is still in place."""


def build(name: str, *, python: str = sys.executable, into: Path = LAYERS_BUILT) -> Path:
    """Build one bundle and return its folder; raises `BuildFailed` naming what is wrong with it."""
    into.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=into, prefix=f".{name}-") as scratch:
        bundle = Path(scratch) / "bundle"
        _install(name, bundle / "python", Path(scratch) / "requirements.txt", python)
        trim(bundle)
        if name == "lambda" and CERTIFICATES_FETCHED.is_file():
            (bundle / CERTIFICATES_IN_LAYER).parent.mkdir()
            shutil.copyfile(CERTIFICATES_FETCHED, bundle / CERTIFICATES_IN_LAYER)
        check(name, bundle, python=python)
        bundle.chmod(0o755)
        shutil.rmtree(into / name, ignore_errors=True)
        bundle.rename(into / name)
    return into / name


def check(name: str, bundle: Path, *, python: str = sys.executable) -> None:
    """Raise `BuildFailed` when a bundle lacks an import, is too large, or holds another machine's code."""
    absent = missing(bundle)
    if absent:
        raise BuildFailed(f"{name}: {', '.join(absent)} cannot be imported from it")
    if name == "lambda":
        wrong = machine_problems(bundle)
        if wrong:
            raise BuildFailed(f"{name}: not for arm64: {', '.join(wrong)}")
    else:
        _import_alone(name, bundle, python)
    size = size_of(bundle)
    if size.zipped > ZIP_LIMIT:
        raise BuildFailed(f"{name}: {size.zipped:,} bytes zipped, more than {ZIP_LIMIT:,}")


def _install(name: str, target: Path, requirements: Path, python: str) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    _run(uv, "export", "--frozen", "--no-dev", "--no-emit-project", "--no-header", "--quiet", "-o", str(requirements))
    place = ["--python", python]
    if name == "lambda":
        place += ["--python-platform", _PLATFORM, "--python-version", LAMBDA_PYTHON]
    _run(
        *(uv, "pip", "install", "--quiet", "--target", str(target), *place),
        *("--only-binary", ":all:", "--require-hashes", "--no-deps", "--link-mode", "copy", "-r", str(requirements)),
    )


def _import_alone(name: str, bundle: Path, python: str) -> None:
    """Import every dependency in an interpreter that has nothing else, no site-packages and no project."""
    lines = ["import sys", f"sys.path.append({str(bundle / 'python')!r})", *(f"import {module}" for module in IMPORTS)]
    done = subprocess.run(
        [python, "-I", "-S", "-B", "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BuildFailed(f"{name}: it does not import alone: {done.stderr.strip().splitlines()[-1]}")


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildFailed(f"{' '.join(command[:3])} failed:\n{done.stderr.strip()}")


def table(sizes: Sequence[tuple[str, Size]]) -> str:
    """Return sizes as lines for people."""
    lines = [f"{'layer':<24}{'unzipped':>12}{'zipped':>12}"]
    lines += [f"{name:<24}{size.unzipped / 1e6:>9.1f} MB{size.zipped / 1e6:>9.1f} MB" for name, size in sizes]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what was asked for and print the sizes; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build the dependencies layer from uv.lock.")
    parser.add_argument("--only", choices=BUNDLES, help="build one bundle; both without it")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the host bundle")
    options = parser.parse_args(arguments)
    bundles = (options.only,) if options.only else BUNDLES
    try:
        _build_all(bundles, options.python)
    except BuildFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _build_all(bundles: Sequence[str], python: str) -> None:
    sizes = [(f"dependencies, {name}", size_of(build(name, python=python))) for name in bundles]
    package = size_of(PACKAGE_LAYER)
    sys.stdout.write(table([("package", package), *sizes]) + "\n")
    together = package.unzipped + max(size.unzipped for _, size in sizes)
    if together > LAMBDA_LIMIT:
        raise BuildFailed(f"both layers together: {together:,} bytes unzipped, more than {LAMBDA_LIMIT:,}")


if __name__ == "__main__":
    sys.exit(main())
