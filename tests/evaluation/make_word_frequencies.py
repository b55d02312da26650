"""Remake the word-frequency table behind the rare-first order of words.

Usage: python tests/evaluation/make_word_frequencies.py CORPORA OUTPUT

CORPORA holds gzipped JSON lines under permissive licences (meetings, chat, commit messages); every
text in them is read. Beside these it reads the documentation strings of the Python standard library.
Only an order of words leaves it: for each word the share of sentences that contain it, summed over
the sources with equal weight, the most common first. A new table needs a new `WORDS_VERSION`.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

from dreaming.beliefs.words import word_set

WORDS = 20_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_MARKUP = re.compile(r"\{\w+\}|<[^>]*>|https?://\S+|[0-9a-f]{12,}")
_WORD = re.compile(r"[a-z][a-z']{0,24}|\d{1,4}|[%$@&+=]")


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from texts_of(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from texts_of(entry)


def corpus(path: Path) -> Iterator[str]:
    """Yield the texts of one file of gzipped JSON lines, without speaker labels."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            for text in texts_of(json.loads(line)):
                yield re.sub(r"^[\w ]{1,40}: ", "", text)


def standard_library() -> Iterator[str]:
    """Yield the documentation strings of the Python standard library, and its language reference."""
    yield from topics.values()
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.get_docstring(node) or ""


def shares(texts: Iterator[str]) -> Counter[str]:
    """Return for each word the share of sentences that contain it, in millionths."""
    counts: Counter[str] = Counter()
    sentences = 0
    for text in texts:
        for sentence in _SENTENCE_END.split(_MARKUP.sub(" ", text)):
            words = [word for word in word_set(sentence) if _WORD.fullmatch(word)]
            sentences += bool(words)
            counts.update(words)
    return Counter({word: count * 1_000_000 // max(sentences, 1) for word, count in counts.items()})


def main(corpora: Path, output: Path) -> None:
    """Write the most common words, one a line, the most common first."""
    total: Counter[str] = Counter()
    for path in sorted(corpora.glob("*.jsonl.gz")):
        total += shares(corpus(path))
    total += shares(standard_library())
    ranked = sorted(total, key=lambda word: (-total[word], word))[:WORDS]
    output.write_text("".join(word + "\n" for word in ranked), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
