"""`dream explain`: why two statements are one belief, or are not, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import styled

if TYPE_CHECKING:
    from dreaming.passes.consolidation.records import Veto

COSINE_MATCH, COSINE_GREY = 0.85, 0.60
"""From which cosine two statements match, and from which a judge is asked; as `semantic_dedup` has them."""


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
    cosine: float | None
    embedder: str | None
    verdict: str
    reason: str


@click.command(
    cls=DreamCommand,
    examples="""
    dream explain "The rent is due on 3 May" "The rent is due on 4 May"
    dream explain --semantic "Ada uses Postgres" "Ada decided on Postgres"
    """,
)
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1.0),
    default=0.7,
    show_default=True,
    help="Word-set similarity from which two statements match.",
)
@click.option("--semantic", is_flag=True, help="Ask the packaged embedding model too.")
@with_session
def explain(session: Session, left: str, right: str, threshold: float, semantic: bool) -> None:
    """Show why statements A and B are one belief, or are not.

    No database is read: the rules alone decide, in the order in which a pass asks them.
    """
    for name, statement in (("A", left), ("B", right)):
        if not statement.strip():
            raise InvalidInput(name, "is empty", "give a statement")
    comparison = compare(left, right, threshold, *(_cosine(left, right) if semantic else (None, None)))
    if session.output.as_json:
        session.output.document(comparison)
    else:
        _show(session, comparison)


def compare(left: str, right: str, threshold: float, cosine: float | None, embedder: str | None) -> Comparison:
    """Take two statements through every step; `cosine` is that of their vectors, if it is to count."""
    from dreaming.beliefs.words import fold, jaccard, word_set
    from dreaming.passes.consolidation.guards import DEFAULT_GUARDS

    sides = [Side(statement, fold(statement), tuple(sorted(word_set(statement)))) for statement in (left, right)]
    similarity = jaccard(word_set(left), word_set(right))
    exact = sides[0].folded == sides[1].folded
    guards = tuple(_guard(guard.name, guard.veto(left, right)) for guard in DEFAULT_GUARDS)
    verdict, reason = _verdict(exact, similarity >= threshold, guards, cosine)
    return Comparison(
        left=sides[0],
        right=sides[1],
        exact=exact,
        shared_words=tuple(sorted(word_set(left) & word_set(right))),
        jaccard=similarity,
        threshold=threshold,
        found_by_index=_is_found(left, right, threshold),
        guards=guards,
        cosine=cosine,
        embedder=embedder,
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


def _verdict(exact: bool, similar: bool, guards: tuple[GuardVerdict, ...], cosine: float | None) -> tuple[str, str]:
    objection = next((guard.guard for guard in guards if guard.objects), None)
    if exact:
        return "one_belief", "the folded texts are the same; no guard is asked"
    near = cosine is not None and cosine >= COSINE_MATCH
    if similar or near:
        how = "their words are alike enough" if similar else "their vectors are near enough"
        if objection is None:
            return "one_belief", f"{how}, and no guard objects"
        return (
            "queued",
            f"{how}, but the guard {objection!r} objects: two beliefs, and the pair is left for adjudication",
        )
    if cosine is not None and cosine >= COSINE_GREY:
        return "queued", "their vectors are in the grey band: two beliefs, and the pair is left for adjudication"
    return "two_beliefs", "they are not alike enough for anything to match"


def _cosine(left: str, right: str) -> tuple[float, str]:
    from dreaming.models.minilm import OfflineEmbedder

    embedder = OfflineEmbedder()
    one, other = embedder.embed([left, right], timeout=60)
    return float(one @ other), embedder.name


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
    index = "A would find B in the index" if found.found_by_index else "A would not find B in the index"
    steps = [
        ("A folded", found.left.folded),
        ("B folded", found.right.folded),
        ("exact match", "yes" if found.exact else "no"),
        ("words of A", " · ".join(found.left.words)),
        ("words of B", " · ".join(found.right.words)),
        ("in both", " · ".join(found.shared_words) or "none"),
        ("Jaccard", f"{found.jaccard:.2f} {alike} {found.threshold:.2f}"),
        ("index", index),
    ]
    if found.cosine is not None:
        bands = f"{COSINE_MATCH:.2f} matches, from {COSINE_GREY:.2f} on a judge is asked"
        steps.append(("cosine", f"{found.cosine:.2f} by {found.embedder}; {bands}"))
    for guard in found.guards:
        seen = f"objects: {guard.left or '-'} / {guard.right or '-'}" if guard.objects else "no objection"
        steps.append((f"guard {guard.guard}", seen))
    return steps
