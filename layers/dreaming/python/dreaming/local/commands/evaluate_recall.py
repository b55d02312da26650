"""`dream evaluate recall`: how often the right conversation is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.evaluate_results import Results, with_results
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, table

if TYPE_CHECKING:
    from dreaming.local.evaluation.conversations import Collection
    from dreaming.local.evaluation.recall import VectorCache
    from dreaming.local.evaluation.records import Figure


@click.command(
    cls=DreamCommand,
    examples="""
    dream evaluate recall corpora/             # the folder with qmsum_*.jsonl.gz
    dream evaluate recall locomo10.json        # or longmemeval_s.json
    dream evaluate recall corpora/ --words-only --choose
    """,
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--words-only", is_flag=True, help="Compare no vectors, which takes seconds instead of minutes.")
@click.option("--choose", is_flag=True, help="Also show other constants on the first part, as they were chosen.")
@click.option("--cache", type=click.Path(path_type=Path), help="File that keeps the vectors; in the home by default.")
@with_session
@with_results
def recall(
    results: Results, session: Session, path: Path, words_only: bool, choose: bool, cache: Path | None
) -> int | None:
    """Measure recall on labelled conversations: QMSum, LoCoMo or LongMemEval files.

    Each way of indexing is asked the same. Hits count among the first five.
    """
    from dreaming.local.evaluation.conversations import read_collections
    from dreaming.local.evaluation.recall import WAYS, figures, measure, merged
    from dreaming.local.evaluation.records import Report, environment
    from dreaming.local.evaluation.results import SET, VERSION, digest
    from dreaming.recall.service import lexical_weight
    from dreaming.settings.resolution import resolve

    parts = read_collections(path)
    names = list(dict.fromkeys(one.part for one in parts))
    collections = [*parts, merged(parts)] if len(parts) == len(names) > 1 else parts
    asked = (query.text for one in parts for queries in one.queries.values() for query in queries)
    identity = {VERSION: 1, SET: digest(asked), "path": path.name}
    results.check("recall", identity)
    vectors = None if words_only else _vectors(session, collections, cache)
    weight = lexical_weight(resolve(session.variables, {}))
    found = figures(measure(collections, WAYS, vectors, lexical_weight=weight))
    conversations = sum(len(one.conversations) for one in parts)
    report = Report("recall", found, environment(**identity, conversations=conversations, lexical_weight=weight))
    of = f"{counted(conversations, 'conversation')} of {path.name}, hit@5 (hit@1)"
    code = results.finish(
        session,
        report,
        lambda: _show(session, found, list(dict.fromkeys(one.part for one in collections)), of),
        titles={way.name: way.title for way in WAYS}
        | {"hit5": "among the first five", "hit1": "the first", "summary": "summaries", "question": "questions"},
    )
    if choose:
        _show_choices(session, parts[:1], vectors)
    return code


def _vectors(session: Session, collections: Sequence[Collection], cache: Path | None) -> VectorCache:
    from dreaming.local.evaluation.recall import VectorCache, texts_to_embed
    from dreaming.models.minilm import OfflineEmbedder

    vectors = VectorCache(cache or session.home / "evaluation" / "recall-vectors.npz", OfflineEmbedder())
    texts = texts_to_embed(collections)
    if missing := vectors.missing(texts):
        with session.output.progress("embedding", missing, "texts") as show:
            vectors.fill(texts, show)
    return vectors


def _show(session: Session, found: Mapping[str, Figure], parts: Sequence[str], of: str) -> None:
    from dreaming.local.evaluation.recall import WAYS

    session.output.line(of, "bold")

    kinds = [kind for kind in ("summary", "question") if any(f".{kind}." in name for name in found)]
    columns = [(part, kind) for kind in kinds for part in parts]
    made = table("", *((f"{part}\n{_plural(kind)}", {"justify": "right"}) for part, kind in columns))
    for way in WAYS:
        cells = [_cell(found, f"{way.name}.{part}.{kind}") for part, kind in columns]
        if any(cell != "-" for cell in cells):
            made.add_row(way.title, *cells)
    session.output.show(made)


def _plural(kind: str) -> str:
    return {"summary": "summaries", "question": "questions"}[kind]


def _cell(found: Mapping[str, Figure], name: str) -> str:
    five, one = found.get(f"{name}.hit5"), found.get(f"{name}.hit1")
    if five is None or one is None:
        return "-"
    return f"{five.value:.1f} ({one.value:.1f})" + (" ✗" if five.ok is False else "")


def _show_choices(session: Session, part: Sequence[Collection], vectors: VectorCache | None) -> None:
    """Show the constants that were tried on standard error, so that a JSON document stays one."""
    from dreaming.local.evaluation.recall import WAYS, tried

    kind = next(iter(part[0].queries))
    for k1, b, weight, found in tried(part, vectors):
        scores = found[WAYS[-1].name, part[0].part, kind]
        share = 100 * scores.among / max(1, scores.queries)
        session.output.notice(f"k1 {k1:g}, b {b:g}, lexical weight {weight:g}: hit@5 {share:.1f}")
