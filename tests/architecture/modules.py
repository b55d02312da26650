"""The package's source as the architecture tests read it: modules, and what each imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE_ROOT = ROOT / "layers" / "dreaming" / "python"
FUNCTIONS = ROOT / "functions"


@dataclass(frozen=True)
class Module:
    """A module, by its dotted name and its file."""

    name: str
    path: Path

    @property
    def source(self) -> str:
        return self.path.read_text("utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source, str(self.path))


@cache
def package_modules() -> tuple[Module, ...]:
    """Every module of the package, each parsed once in a run."""
    return tuple(Module(_dotted(path), path) for path in sorted(PACKAGE_ROOT.rglob("*.py")))


def imported(tree: ast.AST) -> set[str]:
    """The dotted names that a module imports, wherever in it; `from a import b` gives `a` and `a.b`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


def _dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE_ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
