"""`dream evaluate`: quality on labelled sets, one's own included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamFamily, with_session
from dreaming.local.commands.evaluate_contradictions import contradictions
from dreaming.local.commands.evaluate_recall import recall
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, table

if TYPE_CHECKING:
    from dreaming.local.evaluation.dedup import Judged
    from dreaming.local.evaluation.records import Figure

_SETS = Path(__file__).parents[6] / "tests" / "evaluation"
"""Where a checkout keeps the labelled sets; an installed package has none."""

_COLUMNS = (
    ("wrong_merges", "wrong,\nof merges"),
    ("wrong_merge_rate", "wrong, of\npairs apart"),
    ("paraphrases_merged", "paraphrases\nmerged"),
    ("paraphrases_found", "merged\nor queued"),
    ("others_queued", "topic, unrelated\nqueued"),
    ("contradictions_queued", "contradictions\nqueued"),
)


@click.group(
    cls=DreamFamily,
    examples="""
    dream evaluate dedup               # the labelled pairs of this repository
    dream evaluate dedup pairs.tsv     # your own
    dream evaluate contradictions      # stories: what must be believed after a few notes
    dream evaluate recall corpora/     # conversations found from a summary or a question
    """,
)
def evaluate() -> None:
    """Measure quality on labelled sets; exit code 5 when a goal is missed."""


evaluate.add_command(recall)
evaluate.add_command(contradictions)


@evaluate.command(
    examples="""
    dream evaluate dedup                        # the half that is reported
    dream evaluate dedup --half development --wrong
    dream evaluate dedup pairs.tsv --json       # columns left, right, label
    """,
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--half",
    type=click.Choice(["development", "reported", "all"]),
    help="Which pairs; the reported half of the built-in set and all of a file of yours by default.",
)
@click.option("--wrong", is_flag=True, help="List the pairs that the last row gets wrong.")
@with_session
def dedup(session: Session, file: Path | None, half: str | None, wrong: bool) -> int | None:
    """Measure deduplication on pairs of statements.

    FILE is tab-separated: left, right, label. Label paraphrase means one belief; same_topic and
    unrelated mean two without any conflict; every other label names a kind of contradiction.
    """
    from dreaming.local.evaluation.dedup import Half, Thresholds, figures, half_of, judge, read_pairs
    from dreaming.local.evaluation.records import Report, environment
    from dreaming.models.minilm import OfflineEmbedder
    from dreaming.passes.consolidation.run import word_threshold
    from dreaming.passes.consolidation.semantic import bands
    from dreaming.settings.resolution import resolve

    path = file or _SETS / "dedup.tsv"
    if file is None and not path.exists():
        raise InvalidInput("FILE", "is not given, and the built-in pairs are only in the repository", "name a file")
    chosen = Half(half) if half else (Half.REPORTED if file is None else Half.ALL)
    pairs = half_of(read_pairs(path), chosen)
    embedder, settings = OfflineEmbedder(), resolve(session.variables, {})
    thresholds = Thresholds(word_threshold(settings), bands(settings, embedder.name))
    judged = judge(pairs, embedder, thresholds)
    details = {"embedder": embedder.name, "file": path.name, "half": chosen.value, "pairs": len(pairs)}
    report = Report("dedup", figures(judged), environment(**details, thresholds=thresholds))
    if session.output.as_json:
        session.output.document(report)
    else:
        session.output.line(f"{counted(len(pairs), 'pair')} ({chosen.value}) of {path.name}, {embedder.name}", "bold")
        _show_figures(session, report.figures)
    if wrong:
        _show_wrong(session, judged)
    return None if report.ok else 5


def _show_figures(session: Session, found: Mapping[str, Figure]) -> None:
    from dreaming.local.evaluation.dedup import ALL_RULES

    made = table("", *((title, {"justify": "right"}) for _, title in _COLUMNS))
    for rules in ALL_RULES:
        made.add_row(rules.title, *(_cell(found.get(f"{rules.name}.{name}")) for name, _ in _COLUMNS))
    goals = [found.get(f"{ALL_RULES[-1].name}.{name}") for name, _ in _COLUMNS]
    made.add_row("goal", *((figure.goal or "" if figure else "") for figure in goals), style="dim")
    session.output.show(made)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    return f"{figure.value:.1f} %" + (" ✗" if figure.ok is False else "")


def _show_wrong(session: Session, judged: Sequence[Judged]) -> None:
    """List what went wrong on standard error, so that a JSON document stays one."""
    from dreaming.local.evaluation.dedup import ALL_RULES

    rules = ALL_RULES[-1].name
    for one in judged:
        if one.is_wrong(rules):
            pair = one.pair
            session.output.notice(
                f"{pair.label} {one.outcomes[rules].value} (jaccard {one.jaccard:.2f}, cosine {one.cosine:.2f})"
                f"\n  {pair.left}\n  {pair.right}"
            )
