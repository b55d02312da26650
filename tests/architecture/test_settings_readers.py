"""Every setting is read by the module that the registry names, and nobody reads another's or an unknown one."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from dreaming.settings.records import Setting
from dreaming.settings.registry import REGISTRY
from tests.architecture.modules import imported, package_modules

ACCESSORS = {"flag": bool, "integer": int, "number": float, "text": str}


def uses_settings(tree: ast.AST) -> bool:
    """Whether a module imports from the settings package; another's `.text("x")` is a method of its own."""
    return any(name.startswith("dreaming.settings") for name in imported(tree))


def accessed(tree: ast.AST) -> list[tuple[str, str]]:
    """The settings that a user of `Settings` reads by an accessor, with that accessor."""
    return [
        (argument.value, node.func.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ACCESSORS
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def subscribed(tree: ast.AST) -> set[str]:
    """The settings that a module reads as `mapping["name"]`, whatever it calls the mapping."""
    keys = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    }
    return {key for key in keys if isinstance(key, str)} & set(REGISTRY)


MODULES = [module for module in package_modules() if not module.name.startswith("dreaming.settings")]
ACCESSES = {module.name: accessed(module.tree) for module in MODULES if uses_settings(module.tree)}


@pytest.fixture(scope="module")
def readers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for name in subscribed(module.tree):
            found[name].add(module.name)
    for module_name, accesses in ACCESSES.items():
        for name, _ in accesses:
            found[name].add(module_name)
    return found


@pytest.mark.parametrize("setting", REGISTRY.values(), ids=lambda setting: setting.name)
def test_a_setting_is_read_by_its_reader_and_by_nobody_else(setting: Setting, readers: dict[str, set[str]]) -> None:
    assert readers.get(setting.name, set()) == {setting.reader}


def test_nobody_reads_a_setting_that_is_not_registered(readers: dict[str, set[str]]) -> None:
    assert {name: modules for name, modules in readers.items() if name not in REGISTRY} == {}


def test_every_setting_is_read_as_its_own_type() -> None:
    wrong = [
        (module, name, accessor)
        for module, accesses in ACCESSES.items()
        for name, accessor in accesses
        if name in REGISTRY and REGISTRY[name].type is not ACCESSORS[accessor]
    ]
    assert wrong == []


def test_the_scan_finds_every_way_to_read() -> None:
    tree = ast.parse('settings.flag("a")\nself._settings.integer("b")\nvalues["enabled"]\nsettings["role"]')
    assert accessed(tree) == [("a", "flag"), ("b", "integer")]
    assert subscribed(tree) == {"enabled"}
    assert uses_settings(ast.parse("from dreaming.settings.resolution import Settings"))
    assert not uses_settings(ast.parse("from dreaming.database import Database"))
