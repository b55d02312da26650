"""The pages of documentation: their blocks of code, their headings, their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.modules import ROOT

SHELL = frozenset({"sh", "console"})

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)\s*$")
_HEADING = re.compile(r"^#{1,6} +(?P<text>.+?) *#*$")
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_INLINE = re.compile(r"(?<!`)`(?P<code>[^`\n]+)`(?!`)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of code; `line` is that of its first line of content, counted from 1."""

    line: int
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One Markdown file, named by its path from the root of the repository."""

    name: str
    text: str

    @property
    def path(self) -> Path:
        """Where it lies."""
        return ROOT / self.name

    def blocks(self) -> Iterator[Block]:
        """Yield the fenced blocks in order."""
        opened: tuple[int, str, int] | None = None
        lines = self.text.splitlines()
        for number, line in enumerate(lines, start=1):
            match = _FENCE.match(line)
            if match is None:
                continue
            if opened is None:
                opened = number, match["language"], len(match["indent"])
            else:
                start, language, indent = opened
                yield Block(start + 1, language, "".join(one[indent:] + "\n" for one in lines[start : number - 1]))
                opened = None

    def prose(self) -> list[tuple[int, str]]:
        """Return the numbered lines outside of fenced blocks."""
        fenced: set[int] = set()
        for block in self.blocks():
            fenced.update(range(block.line - 1, block.line + block.text.count("\n") + 1))
        return [(number, line) for number, line in enumerate(self.text.splitlines(), 1) if number not in fenced]

    def inline(self) -> Iterator[tuple[int, str]]:
        """Yield the code in the running text, each with its line."""
        for number, line in self.prose():
            for match in _INLINE.finditer(line):
                yield number, match["code"].strip()

    def links(self) -> Iterator[tuple[int, str]]:
        """Yield the targets of links, each with its line."""
        for number, line in self.prose():
            for match in _LINK.finditer(_INLINE.sub("", line)):
                yield number, match["target"]

    def anchors(self) -> set[str]:
        """Return the anchors that GitHub gives to the headings."""
        found: set[str] = set()
        for _, line in self.prose():
            match = _HEADING.match(line)
            if match is None:
                continue
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match["text"])
            anchor = re.sub(r"[^\w\- ]", "", text.lower().replace("`", "")).replace(" ", "-")
            number = 0
            while (name := f"{anchor}-{number}" if number else anchor) in found:
                number += 1
            found.add(name)
        return found


def pages() -> list[Page]:
    """Return every page that people read: the README files, and all of docs/."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for folder in ("functions", "infra", "layers"):
        paths += sorted(path for path in (ROOT / folder).rglob("README.md") if "node_modules" not in path.parts)
    return [Page(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]
