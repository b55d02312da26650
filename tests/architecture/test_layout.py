"""The tree keeps to its layout, its names and its sizes, and these rules bite."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from tests.architecture.modules import PACKAGE_ROOT, ROOT, package_modules

TOP_LEVEL = {
    *("pyproject.toml", "functions", "layers", "infra", "tests", "samconfig.toml", "README.md"),
    *("Makefile", "uv.lock", ".ci", ".gitignore", ".editorconfig", "LICENSE", "CHANGELOG.md", "docs"),
}
EMPTY_NAMES = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}
MAX_LINES = 400
FEATURES = {
    "notes",
    "beliefs",
    "autonomy",
    "erasure",
    "passes",
    "recall",
    "models",
    "settings",
    "database",
    "lambdas",
    "api",
    "local",
}


def tree_files(root: Path) -> list[Path]:
    """The files that are, or are about to be, under version control, relative to `root`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        return [Path(name) for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]
    skipped = {".venv", "__pycache__", "build", "node_modules", "cdk.out"}
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return [path for path in found if not skipped & set(path.parts) and not _is_cache(path)]


def _is_cache(path: Path) -> bool:
    return path.parts[0].startswith(".") and path.parts[0] not in TOP_LEVEL


def empty_names(paths: list[Path]) -> list[Path]:
    """Paths with a part whose name says nothing about its subject."""
    return [path for path in paths if EMPTY_NAMES & {Path(part).stem for part in path.parts}]


def too_long(root: Path, paths: list[Path]) -> dict[Path, int]:
    """Python files of more lines than one subject needs."""
    lengths = {path: len((root / path).read_text("utf-8").splitlines()) for path in paths if path.suffix == ".py"}
    return {path: length for path, length in lengths.items() if length > MAX_LINES}


@pytest.fixture(scope="module")
def files() -> list[Path]:
    return tree_files(ROOT)


def test_the_top_level_holds_only_what_was_agreed(files: list[Path]) -> None:
    assert {path.parts[0] for path in files} - TOP_LEVEL == set()


def test_names_say_what_is_inside(files: list[Path]) -> None:
    assert empty_names(files) == []


def test_files_are_short(files: list[Path]) -> None:
    assert too_long(ROOT, files) == {}


def test_the_package_has_only_the_features_of_the_design() -> None:
    folders = {path.name for path in (PACKAGE_ROOT / "dreaming").iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= FEATURES


def test_every_module_says_what_it_is() -> None:
    assert [module.name for module in package_modules() if not ast.get_docstring(module.tree)] == []


def test_every_handler_folder_holds_a_handler() -> None:
    folders = [path for path in (ROOT / "functions").iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert [folder.name for folder in folders if not (folder / "handler.py").is_file()] == []


def test_tests_are_no_packages(files: list[Path]) -> None:
    assert [path for path in files if path.parts[0] == "tests" and path.name == "__init__.py"] == []


def test_the_rules_of_names_and_sizes_bite(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name, lines in (("notes/utils.py", 1), ("notes/store.py", MAX_LINES + 1), ("notes/rules.py", MAX_LINES)):
        (tmp_path / name).write_text("x = 1\n" * lines, "utf-8")
    paths = sorted(tree_files(tmp_path))
    assert empty_names(paths) == [Path("notes/utils.py")]
    assert too_long(tmp_path, paths) == {Path("notes/store.py"): MAX_LINES + 1}
