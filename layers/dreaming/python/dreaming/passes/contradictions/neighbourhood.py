"""Brings together what has to do with some beliefs: their subject's others, what looks alike, what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from dreaming.beliefs.records import ArchiveReason
from dreaming.beliefs.rules import Ageing
from dreaming.database import Transaction
from dreaming.passes.contradictions import store
from dreaming.passes.contradictions.aliases import (
    Alias,
    canonical_names,
    may_name,
    resolve,
    told_aliases,
    without_head,
)
from dreaming.passes.contradictions.belief_readings import Examined, fingerprint, read_belief
from dreaming.passes.contradictions.examined import store as examined_store
from dreaming.passes.contradictions.lines import Key, Neighbourhood, Pair, is_bound
from dreaming.passes.contradictions.records import Judgement
from dreaming.passes.contradictions.setting import AROUND, needs_setting, setting_of

MOST_OF_A_SUBJECT = 1_000
"""How many beliefs of a subject that is looked at as a whole are read, the latest confirmed first."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A neighbourhood, and what is new in it.

    `aliases` are those told by the beliefs in focus, and none for each belief that tells names no more; `renamed`
    the names that change by them.
    `recorded` are the pairs of which something is remembered, valid or not, and `queued` those that consolidation left.
    """

    around: Neighbourhood
    aliases: Mapping[UUID, tuple[Alias, ...]]
    renamed: frozenset[str]
    recorded: frozenset[Pair]
    queued: frozenset[Pair]


def survey(
    tx: Transaction,
    slice_id: int,
    focus: Sequence[UUID],
    *,
    ageing: Ageing,
    now: datetime,
    verdicts: Mapping[Pair, Judgement],
    similar: Mapping[Pair, str] | None = None,
) -> Surroundings:
    """Return the neighbourhood of the beliefs in `focus`; `verdicts` are judgements not yet stored.

    `similar` are pairs that were found before, which saves the search. What is read grows with the lines that the
    beliefs in focus are on, not with all that is known of their subjects.
    """
    loaded = _examined(tx, slice_id, focus)
    told = {one: _told_by(loaded.get(one)) for one in focus}
    stored = store.read_aliases(tx, slice_id)
    before = canonical_names((alias.name, alias.other_name) for _, alias, _ in stored)
    # What counts no more goes with this batch, whether or not its teller is in focus: else every batch would find
    # the names changed until that one comes, and let all the others be examined again.
    told |= {belief_id: () for belief_id, _, counts in stored if not counts}
    aliases = [alias for belief_id, alias, _ in stored if belief_id not in told]
    aliases += [alias for found in told.values() for alias in found]
    names = _Names(tx, slice_id, canonical_names((alias.name, alias.other_name) for alias in aliases), before)
    fresh = {one for pair, judged in verdicts.items() if is_bound(judged) for one in pair}
    complete = _load_lines(tx, slice_id, {*focus, *fresh}, names, loaded)
    if similar is None:
        live = {one: loaded[one].belief.statement for one in focus if one in loaded and _in_question(loaded[one])}
        similar = store.find_similar(tx, slice_id, live)
    queued = store.queued(tx, slice_id, list(focus))
    similar = {**similar, **queued}
    near = {one for pair in similar for one in pair} | set(store.find_partners(tx, slice_id, list(focus)))
    loaded |= _examined(tx, slice_id, near - loaded.keys())
    recorded = store.read_judgements(tx, slice_id, list(loaded), list(focus))
    judged = recorded | dict(verdicts)
    around = Neighbourhood(
        beliefs=loaded,
        canonical=names.canonical,
        judged={pair: one for pair, one in judged.items() if _is_valid(one, loaded)},
        similar=similar,
        ageing=ageing,
        now=now,
        focus=frozenset(focus),
        complete=frozenset(complete),
    )
    changed = {name for name in {*before, *names.canonical} if before.get(name) != names.canonical.get(name)}
    return Surroundings(around, told, frozenset(changed), frozenset(recorded), frozenset(queued))


def _told_by(one: Examined | None) -> tuple[Alias, ...]:
    if one is None or not may_name(one.belief.sources, one.belief.trust, one.belief.archive_reason):
        return ()
    return told_aliases(one.belief.statement)


class _Names:
    """The subjects of a slice under all their names."""

    def __init__(self, tx: Transaction, slice_id: int, canonical: Mapping[str, str], before: Mapping[str, str]) -> None:
        self.canonical = canonical
        self._tx, self._slice_id = tx, slice_id
        self._aliased = frozenset((*canonical, *before))
        self._subjects: list[str] | None = None

    def spelled(self, subjects: set[str]) -> dict[str, str]:
        """Return canonical subjects under every name that beliefs have for them; most have one name."""
        found = {subject: subject for subject in subjects if resolve(subject, self.canonical) == subject}
        if any(Neighbourhood.mentions(without_head(one), self._aliased) for one in subjects):
            if self._subjects is None:
                self._subjects = examined_store.subjects(self._tx, self._slice_id)
            names = ((resolve(subject, self.canonical), subject) for subject in self._subjects)
            found |= {subject: name for name, subject in names if name in subjects}
        return found


def _load_lines(
    tx: Transaction, slice_id: int, wanted: set[UUID], names: _Names, loaded: dict[UUID, Examined]
) -> set[Key]:
    """Load whole lines: those of the beliefs wanted, those of what a judge or a person joined with them, and so on.

    Return the subjects and attributes of which all beliefs are loaded. A subject of which something is told without
    an attribute, or that is called things of several sorts, is loaded as a whole: any of its lines may be meant.
    """
    complete: set[Key] = set()
    seen: set[UUID] = set()
    while wanted and len(seen) < _MOST_JOINED:
        loaded |= _examined(tx, slice_id, wanted - loaded.keys())
        readings = [one.reading for belief_id in wanted if (one := loaded.get(belief_id)) and one.reading]
        told = {(one.subject, one.attribute) for one in readings} | set(
            examined_store.examined_keys(tx, slice_id, sorted(wanted))
        )
        keys = {(resolve(subject, names.canonical), attribute) for subject, attribute in told}
        spelled = names.spelled({subject for subject, _ in keys})
        loose = {resolve(one, names.canonical) for one in examined_store.loose_subjects(tx, slice_id, sorted(spelled))}
        loose |= {resolve(one.subject, names.canonical) for one in readings if one.attribute is None or one.sense}
        keys = {(subject, None if subject in loose else attribute) for subject, attribute in keys} - complete
        ids = _find_lines(tx, slice_id, keys, spelled)
        complete |= keys
        loaded |= _examined(tx, slice_id, ids - loaded.keys())
        seen |= wanted | ids
        wanted = set(store.find_bound(tx, slice_id, sorted(wanted | ids))) - seen
    return complete


_MOST_JOINED = 5_000


def _find_lines(tx: Transaction, slice_id: int, keys: set[Key], spelled: Mapping[str, str]) -> set[UUID]:
    """Return the beliefs of subjects and attributes; of an attribute all, of a whole subject the latest."""
    whole = {subject for subject, attribute in keys if attribute is None}
    found = set(
        examined_store.find_by_subject(
            tx, slice_id, [one for one in spelled if spelled[one] in whole], MOST_OF_A_SUBJECT
        )
    )
    pairs = [
        (one, attribute) for one in spelled for subject, attribute in keys if attribute and spelled[one] == subject
    ]
    return found | set(examined_store.find_by_key(tx, slice_id, pairs))


def refreshed(tx: Transaction, slice_id: int, found: Surroundings, touched: set[UUID]) -> Surroundings | None:
    """Return surroundings with some beliefs read anew after a merge; None when one of them says something else now."""
    around = found.around
    anew = _examined(tx, slice_id, touched)
    for belief_id, one in anew.items():
        if one.fingerprint != around.beliefs[belief_id].fingerprint and one.belief.sources:
            return None
    beliefs = {**around.beliefs, **anew}
    return replace(found, around=replace(around, beliefs=beliefs))


def _in_question(one: Examined) -> bool:
    """Whether something may be like it: it is in sight, or has only faded."""
    return one.belief.archive_reason in (None, ArchiveReason.FADED) and one.belief.sources > 0


def _examined(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID] | set[UUID]) -> dict[UUID, Examined]:
    loaded = store.load(tx, slice_id, belief_ids)
    unnamed = [
        belief_id
        for belief_id, (belief, _) in loaded.beliefs.items()
        if not belief.subject and needs_setting(belief.statement)
    ]
    around = store.read_surroundings(tx, slice_id, unnamed, characters=AROUND) if unnamed else {}
    return {
        belief_id: Examined(
            belief=belief,
            sources=tuple(sorted(sources, key=lambda source: (source.occurred_at, source.statement, source.source_id))),
            reading=read_belief(belief),
            fingerprint=fingerprint(belief),
            offsets={source.source_id: loaded.offsets.get(source.source_id, 0) for source in sources},
            setting=setting_of(around.get(belief_id, ())),
        )
        for belief_id, (belief, sources) in loaded.beliefs.items()
    }


def _is_valid(judgement: Judgement, loaded: Mapping[UUID, Examined]) -> bool:
    """Whether both beliefs still say what was judged."""
    left, right = loaded.get(judgement.left), loaded.get(judgement.right)
    return (left is None or left.fingerprint == judgement.left_fingerprint) and (
        right is None or right.fingerprint == judgement.right_fingerprint
    )
