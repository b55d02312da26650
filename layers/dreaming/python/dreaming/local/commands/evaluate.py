"""`dream evaluate`: quality on labelled sets, one's own included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamFamily, with_session
from dreaming.local.commands.evaluate_autonomy import autonomy
from dreaming.local.commands.evaluate_contradictions import contradictions
from dreaming.local.commands.evaluate_extraction import extraction
from dreaming.local.commands.evaluate_recall import recall
from dreaming.local.commands.evaluate_results import Results, with_results
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
    dream evaluate extraction                    # claims found, invented and missed in labelled notes
    dream evaluate dedup                         # pairs of statements: merged, queued, kept apart
    dream evaluate contradictions                # stories: what must be believed after a few notes
    dream evaluate recall corpora/               # conversations found from a summary or a question
    dream evaluate autonomy                      # how soon a score says what an agent is worth
    dream evaluate extraction notes.jsonl        # your own notes, in the format of docs/evaluation.md
    dream evaluate dedup --html page.html        # a page with plots, for each of them
    dream evaluate dedup --save before.json      # keep the result, change something, and compare:
    dream evaluate dedup --against before.json --fail-if-worse --tolerance 1
    """,
)
def evaluate() -> None:
    """Measure quality on labelled sets; exit code 5 when a goal is missed.

    Every command takes --json, --html, --save and --against.
    """


for one in (extraction, contradictions, recall, autonomy):
    evaluate.add_command(one)


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
@with_results
def dedup(results: Results, session: Session, file: Path | None, half: str | None, wrong: bool) -> int | None:
    """Measure deduplication on pairs of statements.

    FILE is tab-separated: left, right, label. Label paraphrase means one belief; same_topic and
    unrelated mean two without any conflict; every other label names a kind of contradiction.
    """
    from dreaming.local.evaluation.dedup import ALL_RULES, Half, Thresholds, figures, half_of, judge, read_pairs
    from dreaming.local.evaluation.records import Report, environment
    from dreaming.local.evaluation.results import SET, VERSION, digest
    from dreaming.models.minilm import OfflineEmbedder
    from dreaming.passes.consolidation.run import word_threshold
    from dreaming.passes.consolidation.semantic import bands
    from dreaming.settings.resolution import resolve

    path = file or _SETS / "dedup.tsv"
    if file is None and not path.exists():
        raise InvalidInput("FILE", "is not given, and the built-in pairs are only in the repository", "name a file")
    chosen = Half(half) if half else (Half.REPORTED if file is None else Half.ALL)
    pairs = half_of(read_pairs(path), chosen)
    identity = {
        VERSION: 1,
        SET: digest(text for pair in pairs for text in (pair.left, pair.right, pair.label)),
        "file": path.name,
        "half": chosen.value,
    }
    results.check("dedup", identity)
    embedder, settings = OfflineEmbedder(), resolve(session.variables, {})
    thresholds = Thresholds(word_threshold(settings), bands(settings, embedder.name))
    judged = judge(pairs, embedder, thresholds)
    details = {"embedder": embedder.name, **identity, "pairs": len(pairs)}
    report = Report("dedup", figures(judged), environment(**details, thresholds=thresholds))
    code = results.finish(
        session,
        report,
        lambda: _show_figures(
            session, report.figures, f"{counted(len(pairs), 'pair')} ({chosen.value}) of {path.name}, {embedder.name}"
        ),
        titles={rules.name: rules.title for rules in ALL_RULES}
        | {name: title.replace("\n", " ") for name, title in _COLUMNS},
        problems=[_told(one) for one in judged if one.is_wrong(ALL_RULES[-1].name)],
    )
    if wrong:
        _show_wrong(session, judged)
    return code


def _told(one: Judged) -> tuple[str, Sequence[str]]:
    """Return what the last row made of a pair, and the pair."""
    from dreaming.local.evaluation.dedup import ALL_RULES

    outcome = one.outcomes[ALL_RULES[-1].name]
    return f"{one.pair.label} {outcome.value} (jaccard {one.jaccard:.2f}, cosine {one.cosine:.2f})", (
        one.pair.left,
        one.pair.right,
    )


def _show_figures(session: Session, found: Mapping[str, Figure], of: str) -> None:
    from dreaming.local.evaluation.dedup import ALL_RULES

    session.output.line(of, "bold")
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

    for one in judged:
        if one.is_wrong(ALL_RULES[-1].name):
            name, statements = _told(one)
            session.output.notice("\n  ".join([name, *statements]))
