"""The text of an HTML mail."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = frozenset({"head", "script", "style", "template", "title", "noscript", "svg", "object"})
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "pre", "dl", "hr", "blockquote"})
_LINES = frozenset(
    {"div", "li", "tr", "dt", "dd", "section", "article", "header", "footer", "aside", "main", "form", "center", "body"}
)
_CELLS = frozenset({"td", "th"})
_NOT_SHOWN = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_UNENDED = re.compile(r"<(?=[^<>]*(?:<|\Z))")
_SPACE = re.compile(r"[ \t\r\n\f]+")


def html_to_text(html: str) -> str:
    """Return what an HTML document shows, as plain text; lines within a `blockquote` begin with `> `.

    Markup that is broken is read as far as it goes, as browsers do. Hidden elements, styles and scripts
    are left out, and pictures with them.
    """
    reader = _Reader()
    # The parser takes time quadratic in the number of tags and comments that never end.
    reader.feed(_UNENDED.sub("&lt;", _without_comments(html)))
    reader.close()
    return reader.text()


def _without_comments(html: str) -> str:
    kept: list[str] = []
    position = 0
    while (start := html.find("<!--", position)) >= 0 and (end := html.find("-->", start + 2)) >= 0:
        kept.append(html[position:start])
        position = end + len("-->")
    return "".join([*kept, html[position:]])


class _Reader(HTMLParser):
    """Collects lines, each with the depth of its quote; a line of None stands for a paragraph's end."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[tuple[int, str | None]] = []
        self._parts: list[str] = []
        self._quotes = 0
        self._preformatted = 0
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden:
            if tag == self._hidden[0]:
                self._hidden.append(tag)
            return
        if tag not in _VOID and (tag in _HIDDEN or _NOT_SHOWN.search(dict(attrs).get("style") or "")):
            self._hidden.append(tag)
            return
        if tag == "br":
            self._end_line(keep=True)
        elif tag in _CELLS and self._parts:
            self._parts.append(" ")
        self._block(tag)
        self._quotes += tag == "blockquote"
        self._preformatted += tag == "pre"
        if tag == "li":
            self._parts.append("- ")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag == self._hidden[0]:
                self._hidden.pop()
            # A page whose head is never closed still has a body to show.
            return
        self._block(tag)
        if tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if not self._preformatted:
            self._parts.append(_SPACE.sub(" ", data))
            return
        first, *others = data.splitlines() or [""]
        self._parts.append(first)
        for line in others:
            self._end_line(keep=True)
            self._parts.append(line)

    def _block(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            self._end_line()
            self._lines.append((self._quotes, None))
        elif tag in _LINES:
            self._end_line()

    def _end_line(self, *, keep: bool = False) -> None:
        """End the line; one that shows nothing is only kept where a line break asks for it."""
        line = "".join(self._parts).replace("\u00a0", " ")
        self._parts = []
        line = line.rstrip() if self._preformatted else re.sub(r" {2,}", " ", line).strip(" ")
        if line.strip() or keep:
            self._lines.append((self._quotes, line))

    def text(self) -> str:
        """What was collected, without blank lines at its ends and never two in a row."""
        self._end_line()
        shown: list[str] = []
        for depth, line in self._lines:
            if line and line.strip():
                shown.append("> " * min(depth, 20) + line)
            elif shown and shown[-1]:
                shown.append("")
        return "\n".join(shown).strip("\n")
