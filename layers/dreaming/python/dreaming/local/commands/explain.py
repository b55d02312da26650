"""`dream explain`: why two statements are one belief, or are not, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import styled

if TYPE_CHECKING:
    from dreaming.passes.consolidation.nearness import Nearness
    from dreaming.passes.consolidation.records import Decision, Veto
    from dreaming.settings.resolution import Settings


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two statements, as deduplication sees it."""

    statement: str
    folded: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """What one guard says of the pair."""

    guard: str
    objects: bool
    left: str | None = None
    right: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every step of the decision; `verdict` is one of one_belief, queued and two_beliefs."""

    left: Side
    right: Side
    exact: bool
    shared_words: tuple[str, ...]
    jaccard: float
    threshold: float
    found_by_index: bool
    guards: tuple[GuardVerdict, ...]
    part: bool
    cosine: float | None
    embedder: str | None
    cosine_threshold: float | None
    cosine_grey: float | None
    verdict: str
    reason: str


@click.command(
    cls=DreamCommand,
    examples="""
    dream explain "The rent is due on 3 May" "The rent is due on 4 May"
    dream explain --semantic "Ada uses Postgres" "Ada decided on Postgres"
    dream explain "Tom plays cello and sails on Sundays" "Tom sails on Sundays"
    """,
)
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1.0),
    help="Word-set similarity from which two statements match; the deployment's by default.",
)
@click.option("--semantic", is_flag=True, help="Ask the packaged embedding model too.")
@with_session
def explain(session: Session, left: str, right: str, threshold: float | None, semantic: bool) -> None:
    """Show why statements A and B are one belief, or are not.

    A is believed, B is claimed. No database is read: the rules alone decide, as they do in a pass.
    """
    from dreaming.passes.consolidation.run import word_threshold
    from dreaming.settings.resolution import resolve

    for name, statement in (("A", left), ("B", right)):
        if not statement.strip():
            raise InvalidInput(name, "is empty", "give a statement")
    settings = resolve(session.variables, {})
    nearness = _nearness(left, right, settings) if semantic else None
    comparison = compare(left, right, word_threshold(settings) if threshold is None else threshold, nearness)
    if session.output.as_json:
        session.output.document(comparison)
    else:
        _show(session, comparison)


def compare(left: str, right: str, threshold: float, nearness: Nearness | None) -> Comparison:
    """Take two statements through every step; `nearness` holds their vectors, if these are to count."""
    from dreaming.beliefs.words import fold, word_set
    from dreaming.passes.consolidation.compounds import is_part
    from dreaming.passes.consolidation.deduplication import decide, like
    from dreaming.passes.consolidation.guards import DEFAULT_GUARDS
    from dreaming.passes.consolidation.records import Candidate, CandidateState

    sides = [Side(statement, fold(statement), tuple(sorted(word_set(statement)))) for statement in (left, right)]
    likeness = like(left, right, nearness)
    believed = Candidate(UUID(int=0), left, CandidateState.LIVE)
    verdict, reason = _verdict(decide(right, [believed], threshold=threshold, nearness=nearness))
    return Comparison(
        left=sides[0],
        right=sides[1],
        exact=sides[0].folded == sides[1].folded,
        shared_words=tuple(sorted(word_set(left) & word_set(right))),
        jaccard=likeness.jaccard,
        threshold=threshold,
        found_by_index=_is_found(right, left, threshold),
        guards=tuple(_guard(guard.name, guard.veto(left, right)) for guard in DEFAULT_GUARDS),
        part=is_part(right, left),
        cosine=likeness.cosine,
        embedder=nearness.model if nearness else None,
        cosine_threshold=nearness.bands.threshold if nearness else None,
        cosine_grey=nearness.bands.grey if nearness else None,
        verdict=verdict,
        reason=reason,
    )


def _guard(name: str, objection: Veto | None) -> GuardVerdict:
    if objection is None:
        return GuardVerdict(name, objects=False)
    return GuardVerdict(name, objects=True, left=objection.left, right=objection.right)


def _is_found(left: str, right: str, threshold: float) -> bool:
    """Say whether a claim of the one statement would find a stored belief of the other."""
    from dreaming.beliefs.similarity import hash_of, probe, stored_tokens

    wanted, stored = probe(left, threshold), stored_tokens(right)
    places = {token: place for place, token in enumerate(stored.tokens)}
    return wanted.statement_hash == hash_of(right) or any(
        lookup.size == stored.size and places.get(lookup.token, lookup.last_position + 1) <= lookup.last_position
        for lookup in wanted.lookups
    )


_MATCHED = {
    "exact": "the folded texts are the same; no guard is asked",
    "jaccard": "their words are alike enough, and no guard objects",
    "part": "B is one of the two things that A says; no guard is asked",
    "cosine": "their vectors are near enough, and no guard objects",
}


def _verdict(decision: Decision) -> tuple[str, str]:
    """Say in words what deduplication decided."""
    if decision.match is not None:
        return "one_belief", _MATCHED[decision.match.method]
    for pair in decision.queued:
        if pair.veto is None:
            return "queued", "their vectors are in the grey band: two beliefs, and the pair is left for adjudication"
        why = f"they are alike enough, but the guard {pair.veto.guard!r} objects"
        return "queued", f"{why}: two beliefs, and the pair is left for adjudication"
    return "two_beliefs", "they are not alike enough for anything to match"


def _nearness(left: str, right: str, settings: Settings) -> Nearness:
    from dreaming.models.minilm import OfflineEmbedder
    from dreaming.passes.consolidation.nearness import Nearness, by_statement
    from dreaming.passes.consolidation.semantic import bands

    embedder = OfflineEmbedder()
    vectors = by_statement(zip((left, right), embedder.embed([left, right], timeout=60), strict=True))
    return Nearness(embedder.name, bands(settings, embedder.name), vectors)


_VERDICTS = {"one_belief": "One belief", "queued": "Two beliefs, queued", "two_beliefs": "Two beliefs"}
_STYLES = {"one_belief": "bold green", "queued": "bold yellow", "two_beliefs": "bold red"}


def _show(session: Session, found: Comparison) -> None:
    from rich.table import Table

    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(ratio=1)
    for name, text in _steps(found):
        made.add_row(name, styled(text))
    output = session.output
    output.line(_VERDICTS[found.verdict], _STYLES[found.verdict])
    output.line(f"{found.reason}\n")
    output.show(made)


def _steps(found: Comparison) -> list[tuple[str, str]]:
    """Return each step's name and what came of it, in the order in which a pass takes them."""
    alike = "reaches" if found.jaccard >= found.threshold else "is below"
    index = "B would find A in the index" if found.found_by_index else "B would not find A in the index"
    steps = [
        ("A folded", found.left.folded),
        ("B folded", found.right.folded),
        ("exact match", "yes" if found.exact else "no"),
        ("words of A", " · ".join(found.left.words)),
        ("words of B", " · ".join(found.right.words)),
        ("in both", " · ".join(found.shared_words) or "none"),
        ("Jaccard", f"{found.jaccard:.2f} {alike} {found.threshold:.2f}"),
        ("index", index),
        ("part of A", "yes" if found.part else "no"),
    ]
    if found.cosine is not None:
        bands = f"{found.cosine_threshold:.2f} matches, from {found.cosine_grey:.2f} on a judge is asked"
        steps.append(("cosine", f"{found.cosine:.2f} by {found.embedder}; {bands}"))
    return steps + [(f"guard {guard.guard}", _objection(guard)) for guard in found.guards]


def _objection(guard: GuardVerdict) -> str:
    if not guard.objects:
        return "no objection"
    if guard.left and guard.right:
        return f"objects: {guard.left} / {guard.right}"
    return f"objects: only {'A' if guard.left else 'B'} has {guard.left or guard.right}"
