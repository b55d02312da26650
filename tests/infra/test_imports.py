"""The app stands on the CDK and on the package's pure parts, and nothing stands on the app."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.architecture.modules import FUNCTIONS, ROOT, imported, package_modules

APP = sorted(path for path in (ROOT / "infra").rglob("*.py") if not {"cdk.out", "node_modules"} & set(path.parts))
BUILD = sorted((ROOT / "layers" / "dependencies").glob("*.py"))
OF_THE_PACKAGE = {"dreaming.errors", "dreaming.settings.registry", "dreaming.settings.resolution"}
# The build script and the tests of choices start no Node.
WITHOUT_CDK = {"config.py", "cost.py", "paths.py", "node.py", "cdk.py", "log_queries.py", "__init__.py"}


def modules(path: Path) -> set[str]:
    """What a file imports, modules and names."""
    return imported(ast.parse(path.read_text("utf-8")))


@pytest.mark.parametrize("path", APP, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_app_imports_the_cdk_and_the_pure_parts_of_the_package(path: Path) -> None:
    outside = {name for name in modules(path) if name.partition(".")[0] not in sys.stdlib_module_names}
    allowed = {"infra", "pydantic"} if path.name in WITHOUT_CDK else {"infra", "aws_cdk", "cdk_nag", "constructs"}
    ours = {name for name in outside if name.startswith("dreaming.")}
    assert {name.partition(".")[0] for name in outside - ours} <= allowed
    assert {
        name for name in ours if name not in OF_THE_PACKAGE and name.rpartition(".")[0] not in OF_THE_PACKAGE
    } == set()


@pytest.mark.parametrize("path", BUILD, ids=lambda path: path.name)
def test_the_build_of_the_layer_needs_only_the_standard_library_and_the_choices(path: Path) -> None:
    outside = {name for name in modules(path) if name.partition(".")[0] not in {*sys.stdlib_module_names, "layers"}}
    assert {name for name in outside if not name.startswith(("infra.config", "infra.paths"))} == set()


def test_what_is_deployed_knows_nothing_of_the_app() -> None:
    deployed = [module.path for module in package_modules()] + sorted(FUNCTIONS.rglob("*.py"))
    assert [
        path for path in deployed if any(name.partition(".")[0] in {"infra", "layers"} for name in modules(path))
    ] == []
