"""The semantic step: vectors for a batch's claims and for what they may repeat, fetched before anything is locked.

Only text that may be embedded is: the organization consents, and neither the claim's note nor any live
source of the belief is of an excluded source. What cannot be had costs nothing but the matches it would add.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from dreaming.beliefs.records import Source
from dreaming.beliefs.terms import store as terms_store
from dreaming.beliefs.vectors import store as vectors_store
from dreaming.beliefs.words import fold
from dreaming.database import Database, Transaction
from dreaming.models.protocols import Embedder
from dreaming.passes.consolidation import candidates
from dreaming.passes.consolidation.nearness import BANDS, Bands, Nearness, Vector, by_statement
from dreaming.passes.records import Deadline, Lease
from dreaming.settings.resolution import Origin, Settings
from dreaming.settings.store import read_enrolment

MOST_EMBEDDED = 256
"""How many texts one batch has embedded at most, claims first; the rest are compared by their words."""

_AT_ONCE = 64
_TIMEOUT_SECONDS = 30.0
_LEFT_FOR_APPLYING_SECONDS = 15.0

_log = logging.getLogger(__name__)

EmbedderOf = Callable[[Settings, str], Embedder | None]


def no_embedder(settings: Settings, org_id: str) -> Embedder | None:  # noqa: ARG001 - the port's shape
    """Return none: what a pass is given that embeds nothing."""
    return None


@dataclass(slots=True)
class Prepared:
    """What the semantic step has to say of a batch: nothing when it is off or could not be done."""

    nearness: Nearness | None = None
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a first short look into the database asks to be embedded, and the vectors that it found."""

    texts: tuple[str, ...] = ()
    known: Mapping[str, Vector] = field(default_factory=dict)


def prepare(
    database: Database,
    embedder_of: EmbedderOf,
    lease: Lease,
    settings: Settings,
    deadline: Deadline,
    claims: Sequence[tuple[Source, str]],
    *,
    threshold: float,
) -> Prepared:
    """Return the vectors by which the claims (each with its note's source) are compared.

    With `semantic_dedup` off, or nothing to compare, no embedder is even built. No connection is held while
    texts are embedded. Whatever fails is counted and logged by the error's name alone.
    """
    if not settings.flag("semantic_dedup") or not claims:
        return Prepared()
    failed = Prepared(counts=Counter(embedder_failures=1))
    try:
        embedder = embedder_of(settings, lease.slice.key.org_id)
        if embedder is None:
            return Prepared()
        wanted = _look(database, lease, embedder.name, claims, threshold)
        known = dict(wanted.known)
        known.update(_embed(embedder, wanted.texts, deadline))
    except Exception as error:  # noqa: BLE001 - deduplication goes on by words, whatever an embedder does
        _log.warning("semantic step left out", extra={"error": type(error).__name__, "run_id": str(lease.run_id)})
        return failed
    nearness = Nearness(embedder.name, bands(settings, embedder.name), known) if known else None
    return Prepared(nearness, Counter(texts_embedded=len(wanted.texts)) if wanted.texts else Counter())


def bands(settings: Settings, model: str) -> Bands:
    """Return the model's bands: what was set for this organization or deployment, else what was measured for it."""
    measured = BANDS.get(model, Bands(settings.number("semantic_threshold"), settings.number("semantic_grey")))
    chosen = {
        name: settings.number(setting)
        for name, setting in (("threshold", "semantic_threshold"), ("grey", "semantic_grey"))
        if settings.resolved(setting).origin is not Origin.DEFAULT
    }
    return Bands(chosen.get("threshold", measured.threshold), chosen.get("grey", measured.grey), measured.other_scripts)


def _look(
    database: Database, lease: Lease, model: str, claims: Sequence[tuple[Source, str]], threshold: float
) -> _Wanted:
    with database.transaction(lease.slice.key.tenant) as tx:
        enrolment = read_enrolment(tx, lease.slice.key.org_id)
        if not enrolment.embedding_consent:
            return _Wanted()
        excluded = enrolment.embedding_excluded_sources
        allowed = [claim for claim, source in claims if source not in excluded]
        return _wanted(tx, lease.slice.slice_id, allowed, excluded, model, threshold)


def _wanted(
    tx: Transaction,
    slice_id: int,
    claims: Sequence[Source],
    excluded: Sequence[str],
    model: str,
    threshold: float,
) -> _Wanted:
    found = candidates.find(tx, slice_id, claims, threshold=threshold, semantic=True)
    statements = found.statements
    withheld = terms_store.not_to_embed(tx, slice_id, list(statements), excluded)
    stored = vectors_store.read_vectors(tx, slice_id, statements.keys() - withheld, model)
    known = by_statement((statements[belief_id], vector) for belief_id, vector in stored.items())
    hidden = {fold(statements[belief_id]) for belief_id in withheld}
    texts = [claim.statement for claim in claims]
    ranked = _by_rank([list(one) for one in found.of_claim])
    texts += [statements[belief_id] for belief_id in ranked if belief_id not in withheld]
    return _Wanted(tuple(_unknown(texts, known.keys() | hidden)), known)


def _by_rank(of_claim: Sequence[Sequence[UUID]]) -> Iterable[UUID]:
    """Yield candidates of all claims in turn, so that a bound cuts off the least likely of each."""
    longest = max(map(len, of_claim), default=0)
    return dict.fromkeys(ids[place] for place in range(longest) for ids in of_claim if place < len(ids))


def _unknown(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    seen = set(known)
    found = []
    for text in texts:
        folded = fold(text)
        if folded and folded not in seen:
            seen.add(folded)
            found.append(text)
    return found[:MOST_EMBEDDED]


def _embed(embedder: Embedder, texts: Sequence[str], deadline: Deadline) -> dict[str, Vector]:
    """Embed texts in a few calls, as far as the invocation's time allows."""
    known: dict[str, Vector] = {}
    for start in range(0, len(texts), _AT_ONCE):
        timeout = min(_TIMEOUT_SECONDS, deadline.remaining() - _LEFT_FOR_APPLYING_SECONDS)
        if timeout <= 0:
            break
        chunk = texts[start : start + _AT_ONCE]
        known.update(by_statement(zip(chunk, embedder.embed(chunk, timeout=timeout), strict=True)))
    return known
