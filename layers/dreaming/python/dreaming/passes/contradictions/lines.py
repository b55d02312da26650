"""Which beliefs bear upon each other: those about one subject and attribute, and of them one line or several. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from uuid import UUID

from dreaming.beliefs.rules import Ageing
from dreaming.notes.records import Trust
from dreaming.passes.contradictions.aliases import resolve
from dreaming.passes.contradictions.belief_readings import Examined, span_in
from dreaming.passes.contradictions.reading import Reading
from dreaming.passes.contradictions.records import DecidedBy, Judgement, Relation
from dreaming.passes.contradictions.values import Value, alternatives, keys_of, same_value
from dreaming.passes.contradictions.vocabulary import is_exclusive, is_known

Pair = tuple[UUID, UUID]
Key = tuple[str, str | None]


def pair_of(one: UUID, other: UUID) -> Pair:
    """Return two ids in order."""
    return (one, other) if one < other else (other, one)


@dataclass(slots=True)
class Group:
    """The beliefs about one subject and attribute."""

    subject: str
    attribute: str
    members: list[Examined] = field(default_factory=list)


@dataclass(frozen=True)
class Neighbourhood:
    """Beliefs that may have to do with each other, and what is known about pairs of them.

    `canonical` maps folded names to the one that stands for them. `similar` are pairs that a search or
    consolidation found, with the reason. `complete` tells of which subjects and attributes all beliefs
    are here; an attribute of None stands for the whole subject.
    """

    beliefs: Mapping[UUID, Examined]
    canonical: Mapping[str, str]
    judged: Mapping[Pair, Judgement]
    similar: Mapping[Pair, str]
    ageing: Ageing
    now: datetime
    focus: frozenset[UUID] = frozenset()
    complete: frozenset[Key] = frozenset()

    @cached_property
    def _names(self) -> dict[str, str]:
        return {}

    def resolved(self, subject: str) -> str:
        """Return a subject under its canonical name."""
        name = self._names.get(subject)
        if name is None:
            name = self._names[subject] = resolve(subject, self.canonical)
        return name

    def in_focus(self, pair: Pair) -> bool:
        """Tell whether one of two beliefs is in focus."""
        return pair[0] in self.focus or pair[1] in self.focus

    @cached_property
    def brought_up(self) -> Mapping[UUID, Sequence[Pair]]:
        """For each belief the pairs that a search, consolidation or an earlier look brought up."""
        found: defaultdict[UUID, list[Pair]] = defaultdict(list)
        for pair in dict.fromkeys((*self.similar, *self.judged)):
            found[pair[0]].append(pair)
            found[pair[1]].append(pair)
        return found

    def is_complete(self, reading: Reading) -> bool:
        """Tell whether all beliefs about a reading's subject and attribute are here."""
        name = self.resolved(reading.subject)
        return (name, None) in self.complete or (name, reading.attribute) in self.complete

    def tells_of_past(self, belief_id: UUID) -> bool:
        """Tell whether a belief itself says that it is over: that stays true when something follows."""
        one = self.beliefs[belief_id]
        return one.reading is not None and (
            one.reading.past
            or any((end := span_in(one, source).end) and end <= source.occurred_at for source in one.sources)
        )

    @staticmethod
    def mentions(subject: str, names: frozenset[str]) -> bool:
        """Tell whether a subject is one of the names, or begins or ends with one."""
        words = subject.split(" ")
        sizes = range(1, len(words) + 1)
        return any(" ".join(words[:size]) in names or " ".join(words[-size:]) in names for size in sizes)

    def subject(self, reading: Reading) -> str:
        """Return the subject of a reading under its canonical name, kept apart by sense where one is told."""
        name = self.resolved(reading.subject)
        return f"{name} ({reading.sense})" if reading.sense and reading.subject in self.ambiguous else name

    @cached_property
    def ambiguous(self) -> frozenset[str]:
        """The subjects that trusted statements call things of several sorts."""
        senses: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.beliefs.values():
            if one.reading is not None and one.reading.sense and is_trusted(one):
                senses[one.reading.subject].add(one.reading.sense)
        return frozenset(name for name, found in senses.items() if len(found) > 1)

    @cached_property
    def judged_of(self) -> Mapping[UUID, Sequence[tuple[UUID, Judgement]]]:
        """For each belief those with which a judge or a person related it, with the judgement, in order."""
        found: defaultdict[UUID, list[tuple[UUID, Judgement]]] = defaultdict(list)
        for (left, right), judged in sorted(self.judged.items()):
            if judged.relation is not None and judged.decided_by is not DecidedBy.RULE:
                found[left].append((right, judged))
                found[right].append((left, judged))
        return found


def is_trusted(one: Examined) -> bool:
    """Whether a belief has a trusted source."""
    return one.belief.trust is Trust.TRUSTED


def _heard_by(one: Examined, members: Iterable[Examined]) -> list[Examined]:
    """Return those members whose word counts for a belief: to a trusted one, only trusted ones."""
    return [member for member in members if is_trusted(member) or not is_trusted(one)]


def counts(one: Examined) -> bool:
    """Whether a belief takes part: it has sources, and no person, fold or merge took it out."""
    reason = one.belief.archive_reason
    return one.belief.sources > 0 and (reason is None or reason.value in ("superseded", "rejected", "faded"))


def groups_of(around: Neighbourhood) -> list[Group]:
    """Bring beliefs on one subject and attribute together; a change without an attribute goes where its value is."""
    named: dict[tuple[str, str], Group] = {}
    loose: list[Examined] = []
    for one in sorted(around.beliefs.values(), key=lambda one: (one.belief.statement, one.belief.belief_id)):
        if one.reading is None or not counts(one):
            continue
        if one.reading.attribute is None:
            loose.append(one)
            continue
        key = around.subject(one.reading), one.reading.attribute
        named.setdefault(key, Group(*key)).members.append(one)
    for one in loose:
        home = _home(one, named.values(), around)
        key = (around.subject(one.reading), home.attribute if home else "is") if one.reading else ("", "")
        named.setdefault(key, Group(*key)).members.append(one)
    homes = {one.belief.belief_id: key for key, group in named.items() for one in group.members}
    for pair, judged in sorted(around.judged.items()):
        if is_bound(judged) and all(one in homes for one in pair):
            _join_judged(named, pair, homes)
    return list(named.values())


def is_bound(judged: Judgement) -> bool:
    """Tell whether a judge or a person puts two beliefs on one line."""
    return (
        judged.relation in (Relation.SUCCESSIVE, Relation.INCOMPATIBLE, Relation.DUPLICATE)
        and judged.decided_by is not DecidedBy.RULE
    )


def _join_judged(named: dict[tuple[str, str], Group], pair: Pair, homes: dict[UUID, tuple[str, str]]) -> None:
    """Bring two beliefs together that were judged to be about one attribute; `homes` are their groups."""
    keys = [homes[one] for one in pair]
    if keys[0] == keys[1]:
        return
    # An untrusted belief goes to the trusted one, which stays among its own.
    home_of_trusted = {
        key
        for key in keys
        if any(is_trusted(member) and member.belief.belief_id in pair for member in named[key].members)
    }
    first, second = sorted(keys, key=lambda key: (key not in home_of_trusted, not is_known(key[1]), key))
    joined = [member for member in named[second].members if member.belief.belief_id in pair]
    named[second].members = [member for member in named[second].members if member.belief.belief_id not in pair]
    named[first].members += joined
    homes.update((member.belief.belief_id, first) for member in joined)


def _home(one: Examined, groups: Iterable[Group], around: Neighbourhood) -> Group | None:
    reading = one.reading
    if reading is None:
        return None
    wanted = reading.ended or ((reading.value,) if reading.negative else ())
    subject = around.subject(reading)
    for group in groups:
        if group.subject == subject and any(
            same_value(member.reading.value, value, around.canonical)
            or (reading.negative and member.reading.value.words[-len(value.words) :] == value.words)
            for member in _heard_by(one, group.members)
            for value in wanted
            if member.reading is not None
        ):
            return group
    exclusive = [group for group in groups if group.subject == subject and is_exclusive(group.attribute)]
    fitting = [
        group
        for group in exclusive
        if any(
            alternatives(heard.reading.value, reading.value) for heard in _heard_by(one, group.members) if heard.reading
        )
    ]
    return fitting[0] if len(fitting) == 1 else None


def tells_time(one: Examined) -> bool:
    """Tell whether a belief by itself says that something is over, or from when or until when it holds."""
    reading = one.reading
    if reading is None or not one.sources:
        return False
    span = span_in(one, one.sources[0])
    told = one.sources[0].valid_from or one.sources[0].valid_until or span.start or span.end
    return reading.past or told is not None


def kept_over(members: Iterable[Examined], around: Neighbourhood) -> dict[UUID, UUID]:
    """Return for each belief that a person rejected the one that was kept."""
    ids = {one.belief.belief_id for one in members}
    return {
        belief_id: judged.kept
        for belief_id in ids
        for other, judged in around.judged_of.get(belief_id, ())
        if judged.kept is not None and judged.kept == other and other in ids
    }


class _Numbered:
    """Values with a number for each that differs; a value is compared with those filed under its keys alone."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases
        self._known: list[list[Value]] = []
        self._filed: defaultdict[tuple[object, ...], dict[int, None]] = defaultdict(dict)

    def number(self, value: Value, apart: Collection[int] = ()) -> int:
        """Return the number of a value, a new one when none is equal but those that it is kept apart from."""
        _, wanted = keys_of(value, self._aliases)
        places = sorted({place for key in wanted for place in self._filed.get(key, ())})
        for place in places:
            if place not in apart and any(same_value(value, other, self._aliases) for other in self._known[place]):
                self.add(value, place)
                return place
        self._known.append([])
        self.add(value, len(self._known) - 1)
        return len(self._known) - 1

    def add(self, value: Value, place: int) -> None:
        """File a value under a number."""
        if value not in self._known[place]:
            self._known[place].append(value)
            for key in keys_of(value, self._aliases)[0]:
                self._filed[key][place] = None


def number_values(members: Iterable[Examined], around: Neighbourhood) -> dict[UUID, tuple[int, tuple[int, ...]]]:
    """Give equal values one number, in an order that no arrival decides; tell each belief's, and those it ends."""
    members = list(members)
    # A name says nothing of the thing but the name itself: another name of it is another value.
    named = all(one.reading is None or one.reading.attribute == "name" for one in members)
    values = _Numbered({} if named else around.canonical)
    by_belief: dict[UUID, int] = {}
    ordered = sorted(
        members, key=lambda one: (len(one.reading.value.words) if one.reading else 0, one.belief.statement)
    )
    for one in ordered:
        if one.reading is None:
            continue
        judged = [
            by_belief[other]
            for other, found in around.judged_of.get(one.belief.belief_id, ())
            if other in by_belief and _is_together(found.relation, one, around.beliefs[other])
        ]
        if judged:
            values.add(one.reading.value, min(judged))
        apart = [
            by_belief[other]
            for other, found in around.judged_of.get(one.belief.belief_id, ())
            if other in by_belief and _are_two(found.relation, one, around.beliefs[other], around)
        ]
        number = min(judged) if judged else values.number(one.reading.value, apart)
        by_belief[one.belief.belief_id] = number
    return {
        one.belief.belief_id: (
            by_belief[one.belief.belief_id],
            tuple(values.number(value) for value in one.reading.ended),
        )
        for one in ordered
        if one.reading is not None
    }


def _are_two(relation: Relation | None, one: Examined, other: Examined, around: Neighbourhood) -> bool:
    """Tell whether a judge's or a person's word sets against each other what a form reads as one value.

    What changed then is the subject ("Niko has the keys", "Paula has the keys"), the verb ("is in foal", "had her
    foal"), or what the form took for a time ("is set in winter", "is set in autumn").
    """
    if relation not in (Relation.SUCCESSIVE, Relation.INCOMPATIBLE) or one.reading is None or other.reading is None:
        return False
    if around.subject(one.reading) != around.subject(other.reading):
        return one.reading.negative == other.reading.negative
    told = one.reading.negative, one.reading.past, bool(one.reading.ended)
    return told == (other.reading.negative, other.reading.past, bool(other.reading.ended))


def _is_together(relation: Relation | None, one: Examined, other: Examined) -> bool:
    """Tell whether a judge's or a person's word makes two beliefs speak of one value: one of them may end it."""
    if relation in (Relation.SUCCESSIVE, Relation.INCOMPATIBLE):
        return one.reading is not None and other.reading is not None and one.reading.negative != other.reading.negative
    return relation in (Relation.DUPLICATE, Relation.COEXISTING)
