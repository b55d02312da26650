"""What the documents say about the tree is so."""

from __future__ import annotations

import re
import tomllib

from dreaming.local.cli import COMMANDS
from tests.architecture.modules import PACKAGE_ROOT, ROOT

LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")


def test_the_readme_names_every_command_and_no_other() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert set(re.findall(r"`dream ([a-z]+)`", readme)) == set(COMMANDS)


def test_the_readme_names_only_targets_that_make_has() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^|\$ )make ([a-z0-9-]+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_every_decision_is_listed_with_a_status() -> None:
    folder = ROOT / "docs" / "decisions"
    pages = sorted(page for page in folder.glob("*.md") if page.name != "README.md")
    listed = LINK.findall((folder / "README.md").read_text("utf-8"))
    assert listed == [page.name for page in pages]
    assert [page.name for page in pages if "**Status:**" not in page.read_text("utf-8")] == []


def test_every_function_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "functions" / "README.md").read_text("utf-8"), re.MULTILINE)
    assert rows == sorted(path.parent.name for path in (ROOT / "functions").glob("*/handler.py"))


def test_every_folder_of_the_package_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "layers" / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(path.parent.name for path in (PACKAGE_ROOT / "dreaming").glob("*/__init__.py"))


def test_the_sam_configuration_can_be_read() -> None:
    configuration = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
    assert configuration["version"] == 0.1
    assert configuration["default"]["global"]["parameters"]["template_file"].startswith("infra/cdk.out/")
