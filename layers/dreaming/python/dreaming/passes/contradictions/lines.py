"""Which beliefs bear upon each other: those about one subject and attribute, and of them one line or several. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from uuid import UUID

from dreaming.beliefs.rules import Ageing
from dreaming.notes.records import Trust
from dreaming.passes.consolidation.wording import stem
from dreaming.passes.contradictions.aliases import resolve
from dreaming.passes.contradictions.belief_readings import Examined, span_in
from dreaming.passes.contradictions.reading import Reading
from dreaming.passes.contradictions.records import DecidedBy, Judgement, Relation
from dreaming.passes.contradictions.values import Value, alternatives, same_value
from dreaming.passes.contradictions.vocabulary import is_exclusive, is_known

Pair = tuple[UUID, UUID]


def pair_of(one: UUID, other: UUID) -> Pair:
    """Return two ids in order."""
    return (one, other) if one < other else (other, one)


@dataclass(slots=True)
class Group:
    """The beliefs about one subject and attribute."""

    subject: str
    attribute: str
    members: list[Examined] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Beliefs that may have to do with each other, and what is known about pairs of them.

    `canonical` maps folded names to the one that stands for them. `senses` tells of names that are used
    for things of several sorts. `similar` are pairs that a search or consolidation found, with the reason.
    """

    beliefs: Mapping[UUID, Examined]
    canonical: Mapping[str, str]
    judged: Mapping[Pair, Judgement]
    similar: Mapping[Pair, str]
    ageing: Ageing
    now: datetime
    focus: frozenset[UUID] = frozenset()
    complete: frozenset[str] = frozenset()

    def is_complete(self, reading: Reading) -> bool:
        """Tell whether all beliefs about a reading's subject are here."""
        return resolve(reading.subject, dict(self.canonical)) in self.complete

    def tells_of_past(self, belief_id: UUID) -> bool:
        """Tell whether a belief itself says that it is over: that stays true when something follows."""
        one = self.beliefs[belief_id]
        return one.reading is not None and (
            one.reading.past
            or any((end := span_in(one, source).end) and end <= source.occurred_at for source in one.sources)
        )

    @staticmethod
    def mentions(subject: str, names: frozenset[str]) -> bool:
        """Tell whether a subject is, or begins with, one of the names."""
        words = subject.split(" ")
        return any(" ".join(words[:size]) in names for size in range(1, len(words) + 1))

    def subject(self, reading: Reading) -> str:
        """Return the subject of a reading under its canonical name, kept apart by sense where one is told."""
        name = resolve(reading.subject, dict(self.canonical))
        return f"{name} ({reading.sense})" if reading.sense and reading.subject in self.ambiguous else name

    @property
    def ambiguous(self) -> frozenset[str]:
        """The subjects that trusted statements call things of several sorts."""
        senses: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.beliefs.values():
            if one.reading is not None and one.reading.sense and is_trusted(one):
                senses[one.reading.subject].add(one.reading.sense)
        return frozenset(name for name, found in senses.items() if len(found) > 1)


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
            same_value(member.reading.value, value, dict(around.canonical))
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


def components(group: Group, around: Neighbourhood) -> list[tuple[list[Examined], bool]]:
    """Split a group into lines: the beliefs that bear upon each other, and whether one value holds at a time.

    Untrusted beliefs neither join nor part trusted ones: each goes to the first line that has to do with it.
    """
    trusted = [one for one in group.members if is_trusted(one)]
    lines = _components(trusted, group.attribute, around) if trusted else []
    others: list[Examined] = []
    for one in group.members:
        if is_trusted(one):
            continue
        home = next((line for line, exclusive in lines if exclusive or _has_bond(one, line, around)), None)
        (others if home is None else home).append(one)
    return lines + (_components(others, group.attribute, around) if others else [])


def _has_bond(one: Examined, line: Iterable[Examined], around: Neighbourhood) -> bool:
    """Tell whether an untrusted belief has to do with the trusted ones of a line."""
    return any(_bond(one, member, around) is not None for member in line if is_trusted(member))


def _components(members: list[Examined], attribute: str, around: Neighbourhood) -> list[tuple[list[Examined], bool]]:
    """Split beliefs of equal trust into lines."""
    if (
        any(one.reading and one.reading.exclusive and not one.reading.past for one in members)
        and is_exclusive(attribute) is not False
    ):
        if not any(one.reading and one.reading.adds for one in members):
            return [(list(members), True)]
        single = True
    else:
        single = False
    parent = {one.belief.belief_id: one.belief.belief_id for one in members}

    def root(name: UUID) -> UUID:
        while parent[name] != name:
            name = parent[name]
        return name

    exclusive: set[UUID] = set()
    for left, right in combinations(members, 2):
        added = any(one.reading and one.reading.adds for one in (left, right))
        bond = True if single and not added else _bond(left, right, around)
        if added and bond and not _ends(left, right, around):
            bond = None
        if bond is not None:
            parent[root(left.belief.belief_id)] = root(right.belief.belief_id)
            if bond:
                exclusive |= {left.belief.belief_id, right.belief.belief_id}
    found: defaultdict[UUID, list[Examined]] = defaultdict(list)
    for one in members:
        found[root(one.belief.belief_id)].append(one)
    return [(line, any(one.belief.belief_id in exclusive for one in line)) for line in found.values()]


def _ends(left: Examined, right: Examined, around: Neighbourhood) -> bool:
    """Tell whether one of two beliefs says that it ends the other's value, or a judge or person that they conflict."""
    judged = around.judged.get(pair_of(left.belief.belief_id, right.belief.belief_id))
    if judged is not None and is_bound(judged):
        return True
    one, other = left.reading, right.reading
    aliases = dict(around.canonical)
    return (
        one is not None
        and other is not None
        and any(
            same_value(former.value, value, aliases)
            for former, latter in ((one, other), (other, one))
            for value in latter.ended
        )
    )


def _bond(left: Examined, right: Examined, around: Neighbourhood) -> bool | None:
    """Tell whether two beliefs of an attribute with several values exclude each other; None: no bond at all."""
    one, other = left.reading, right.reading
    judged = around.judged.get(pair_of(left.belief.belief_id, right.belief.belief_id))
    if judged is not None and judged.decided_by is not DecidedBy.RULE and judged.relation is not None:
        return _JUDGED_BOND.get(judged.relation)
    return None if one is None or other is None else _told_bond(one, other, dict(around.canonical))


_JUDGED_BOND = {Relation.SUCCESSIVE: True, Relation.INCOMPATIBLE: True, Relation.DUPLICATE: False}


def _told_bond(one: Reading, other: Reading, aliases: dict[str, str]) -> bool | None:
    """Tell what two readings themselves say of a bond."""
    if any(same_value(one.value, value, aliases) for value in other.ended) or any(
        same_value(other.value, value, aliases) for value in one.ended
    ):
        return True
    if same_value(one.value, other.value, aliases):
        return False
    several = is_exclusive(one.attribute or "") is False or is_exclusive(other.attribute or "") is False
    if several or one.past or other.past or one.negative or other.negative or one.event or other.event:
        return None
    choices = not (one.attribute or "").startswith("does ") or one.changes or other.changes
    if alternatives(one.value, other.value, choices=choices):
        return True
    return True if _replaces(one, other) else None


_TURNED_VERBS = "study drive ride attend rent drink wear lead teach major"
_TURNS = frozenset(f"does {stem(verb)}" for verb in _TURNED_VERBS.split())
_PLACED = (" at", " in", " for", " with", " to", " from", " under", " on")


def _replaces(one: Reading, other: Reading) -> bool:
    """Tell whether "now" in one of two sentences with one verb says that its value took the other's place.

    It does where somebody does a thing somewhere or for somebody ("now teaches at"), and with a few verbs that
    have one object at a time; who collects maps now may collect coins still.
    """
    verb = one.attribute or ""
    return one.changes != other.changes and verb == other.attribute and (verb in _TURNS or verb.endswith(_PLACED))


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
    found: dict[UUID, UUID] = {}
    for (left, right), judged in around.judged.items():
        if judged.kept is not None and left in ids and right in ids:
            found[right if judged.kept == left else left] = judged.kept
    return found


def number_values(members: Iterable[Examined], around: Neighbourhood) -> dict[UUID, tuple[int, tuple[int, ...]]]:
    """Give equal values one number, in an order that no arrival decides; tell each belief's, and those it ends."""
    aliases = dict(around.canonical)
    known: list[list[Value]] = []
    numbers: dict[UUID, tuple[int, tuple[int, ...]]] = {}
    by_belief: dict[UUID, int] = {}

    def number(value: Value) -> int:
        for place, values in enumerate(known):
            if any(same_value(value, other, aliases) for other in values):
                values.append(value)
                return place
        known.append([value])
        return len(known) - 1

    ordered = sorted(
        members, key=lambda one: (len(one.reading.value.words) if one.reading else 0, one.belief.statement)
    )
    for one in ordered:
        if one.reading is None:
            continue
        judged = [
            by_belief[other]
            for pair, found in around.judged.items()
            if one.belief.belief_id in pair and found.decided_by is not DecidedBy.RULE
            for other in pair
            if other in by_belief and _is_together(found.relation, one, around.beliefs[other])
        ]
        place = judged[0] if judged else number(one.reading.value)
        if judged:
            known[place].append(one.reading.value)
        by_belief[one.belief.belief_id] = place
    for one in ordered:
        if one.reading is not None:
            numbers[one.belief.belief_id] = (
                by_belief[one.belief.belief_id],
                tuple(number(value) for value in one.reading.ended),
            )
    return numbers


def _is_together(relation: Relation | None, one: Examined, other: Examined) -> bool:
    """Tell whether a judge's or a person's word makes two beliefs speak of one value: one of them may end it."""
    if relation in (Relation.SUCCESSIVE, Relation.INCOMPATIBLE):
        return one.reading is not None and other.reading is not None and one.reading.negative != other.reading.negative
    return relation in (Relation.DUPLICATE, Relation.COEXISTING)
