"""Brings together what has to do with some beliefs: their subject's others, what looks alike, what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dreaming.beliefs.records import ArchiveReason
from dreaming.beliefs.rules import Ageing
from dreaming.database import Transaction
from dreaming.passes.contradictions import store
from dreaming.passes.contradictions.aliases import Alias, canonical_names, resolve, told_aliases
from dreaming.passes.contradictions.belief_readings import Examined, fingerprint, read_belief
from dreaming.passes.contradictions.lines import Neighbourhood, Pair, is_bound, is_trusted
from dreaming.passes.contradictions.records import Judgement

MOST_OF_A_SUBJECT = 1_000
"""How many beliefs about one subject are looked at, the latest confirmed first; of its attribute, all."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A neighbourhood, and what is new in it: aliases told by the beliefs in focus, names that changed by them."""

    around: Neighbourhood
    aliases: Mapping[UUID, tuple[Alias, ...]]
    renamed: frozenset[str]


def survey(
    tx: Transaction,
    slice_id: int,
    focus: Sequence[UUID],
    *,
    ageing: Ageing,
    now: datetime,
    verdicts: Mapping[Pair, Judgement],
) -> Surroundings:
    """Return the neighbourhood of the beliefs in `focus`; `verdicts` are judgements not yet stored."""
    loaded = _examined(tx, slice_id, focus)
    # Only a trusted belief names things: who sends mail must not make two people one.
    telling = {one for one in focus if one in loaded and loaded[one].belief.sources and is_trusted(loaded[one])}
    told = {one: told_aliases(loaded[one].belief.statement) if one in telling else () for one in focus}
    stored = store.read_aliases(tx, slice_id)
    before = canonical_names((alias.name, alias.other_name) for _, alias, _ in stored)
    aliases = [alias for belief_id, alias, counts in stored if counts and belief_id not in told]
    aliases += [alias for found in told.values() for alias in found]
    canonical = canonical_names((alias.name, alias.other_name) for alias in aliases)
    bound = _bound(tx, slice_id, focus, verdicts)
    loaded |= _examined(tx, slice_id, bound - loaded.keys())
    keys = [(one.reading.subject, one.reading.attribute) for one in loaded.values() if one.reading is not None]
    keys += store.examined_keys(tx, slice_id, focus)
    complete = frozenset(resolve(subject, canonical) for subject, _ in keys)
    raw = {subject for subject, _ in keys}
    if canonical or before:
        raw |= {subject for subject in store.subjects(tx, slice_id) if resolve(subject, canonical) in complete}
    ids = {*focus, *bound, *store.find_by_subject(tx, slice_id, raw, MOST_OF_A_SUBJECT)}
    ids.update(store.find_by_key(tx, slice_id, raw, {attribute for _, attribute in keys if attribute}))
    live = {one: loaded[one].belief.statement for one in focus if one in loaded and _in_question(loaded[one])}
    similar = store.find_similar(tx, slice_id, live) | store.queued(tx, slice_id, list(focus))
    ids.update(one for pair in similar for one in pair)
    ids.update(store.find_partners(tx, slice_id, list(focus)))
    loaded |= _examined(tx, slice_id, ids - loaded.keys())
    judged = store.read_judgements(tx, slice_id, list(loaded)) | dict(verdicts)
    around = Neighbourhood(
        beliefs=loaded,
        canonical=canonical,
        judged={pair: one for pair, one in judged.items() if _is_valid(one, loaded)},
        similar=similar,
        ageing=ageing,
        now=now,
        focus=frozenset(focus),
        complete=complete,
    )
    changed = {name for name in {*before, *canonical} if before.get(name) != canonical.get(name)}
    return Surroundings(around, told, frozenset(changed))


_MOST_BOUND = 100


def _bound(tx: Transaction, slice_id: int, focus: Sequence[UUID], verdicts: Mapping[Pair, Judgement]) -> set[UUID]:
    """Return what a judge or a person put on one line with the beliefs in focus, and what with those in turn."""
    fresh = {one for pair, judged in verdicts.items() if is_bound(judged) for one in pair}
    found: set[UUID] = set(fresh)
    edge = {*focus, *fresh}
    while edge and len(found) < _MOST_BOUND:
        edge = set(store.find_bound(tx, slice_id, sorted(edge))) - found - set(focus)
        found |= edge
    return found


def _in_question(one: Examined) -> bool:
    """Whether something may be like it: it is in sight, or has only faded."""
    return one.belief.archive_reason in (None, ArchiveReason.FADED) and one.belief.sources > 0


def _examined(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID] | set[UUID]) -> dict[UUID, Examined]:
    loaded = store.load(tx, slice_id, belief_ids)
    return {
        belief_id: Examined(
            belief=belief,
            sources=tuple(sorted(sources, key=lambda source: (source.occurred_at, source.statement, source.source_id))),
            reading=read_belief(belief),
            fingerprint=fingerprint(belief),
            offsets={source.source_id: loaded.offsets.get(source.source_id, 0) for source in sources},
        )
        for belief_id, (belief, sources) in loaded.beliefs.items()
    }


def _is_valid(judgement: Judgement, loaded: Mapping[UUID, Examined]) -> bool:
    """Whether both beliefs still say what was judged."""
    left, right = loaded.get(judgement.left), loaded.get(judgement.right)
    return (left is None or left.fingerprint == judgement.left_fingerprint) and (
        right is None or right.fingerprint == judgement.right_fingerprint
    )
