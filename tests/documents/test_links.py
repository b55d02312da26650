"""Links lead to pages that there are, and to headings that they have; every page is reached from the map."""

from __future__ import annotations

import re

import pytest

from tests.architecture.modules import ROOT
from tests.documents.pages import Page, pages

CHANGES = Page("CHANGELOG.md", (ROOT / "CHANGELOG.md").read_text("utf-8"))
OF_THE_TREE = re.compile(r"(?:docs|functions|infra|layers|tests)/[\w./-]+")


def lost(page: Page) -> list[str]:
    """Return the links of a page that lead nowhere, each with its line."""
    wrong = []
    for line, target in page.links():
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve()
        if not path.exists():
            wrong.append(f"line {line}: {target} is not there")
            continue
        other = Page(name, path.read_text("utf-8")) if path.suffix == ".md" else page
        if anchor and anchor not in other.anchors():
            wrong.append(f"line {line}: {target} has no such heading")
    return wrong


@pytest.mark.parametrize("page", [*pages(), CHANGES], ids=lambda page: page.name)
def test_links_lead_to_pages_and_headings(page: Page) -> None:
    assert lost(page) == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_files_named_in_the_text_are_there(page: Page) -> None:
    named = {code for _, code in page.inline() if OF_THE_TREE.fullmatch(code) and "NNN" not in code}
    made = {name for name in named if name.startswith(("infra/cdk.out", "infra/node_modules"))}
    assert sorted(name for name in named - made if not (ROOT / name).exists()) == []


def test_every_page_of_docs_is_on_the_map() -> None:
    on_map = {target.partition("#")[0] for _, target in _map().links()}
    folder = ROOT / "docs"
    expected = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.md")
        if path.name != "README.md" and path.parent.name != "decisions"
    }
    assert expected - on_map == set()


def test_a_lost_heading_is_found() -> None:
    text = "# One\n\n## `dream` and *more*, twice\n\n[a](#one) [b](#dream-and-more-twice) [c](#two) `[d](#three)`\n"
    assert lost(Page("docs/page.md", text)) == ["line 5: #two has no such heading"]
    assert lost(Page("docs/page.md", "[gone](gone.md)\n")) == ["line 1: gone.md is not there"]


def _map() -> Page:
    return next(page for page in pages() if page.name == "docs/README.md")
