"""Splits the beliefs about one subject and attribute into lines: those that bear upon each other. Pure.

Only beliefs that share a key are compared, so that the work grows with how many are alike, not with their
square: whatever has a bond shares one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from uuid import UUID

from dreaming.passes.consolidation.wording import stem
from dreaming.passes.contradictions.belief_readings import Examined
from dreaming.passes.contradictions.lines import Group, Neighbourhood, is_bound, is_trusted, pair_of
from dreaming.passes.contradictions.reading import Reading
from dreaming.passes.contradictions.records import DecidedBy, Relation
from dreaming.passes.contradictions.setting import may_be_one_setting
from dreaming.passes.contradictions.values import alternatives, keys_of, likeness_keys, same_value
from dreaming.passes.contradictions.vocabulary import is_exclusive


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
        home = next(
            (
                line
                for line, exclusive in lines
                if (exclusive and any(may_be_one_setting(one.setting, member.setting) for member in line))
                or _has_bond(one, line, around)
            ),
            None,
        )
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
            return [(line, True) for line in _by_setting(members, around)]
        single = True
    else:
        single = False
    together = _Joined(one.belief.belief_id for one in members)
    exclusive: set[UUID] = set()
    for left, right in _comparable(members, around, single=single):
        ids = left.belief.belief_id, right.belief.belief_id
        added = any(one.reading and one.reading.adds for one in (left, right))
        bond = True if single and not added else _bond(left, right, around)
        if added and bond and not _ends(left, right, around):
            bond = None
        if bond is not None:
            together.join(*ids)
            if bond:
                exclusive |= set(ids)
    found: defaultdict[UUID, list[Examined]] = defaultdict(list)
    for one in members:
        found[together.root(one.belief.belief_id)].append(one)
    return [(line, any(one.belief.belief_id in exclusive for one in line)) for line in found.values()]


def _by_setting(members: list[Examined], around: Neighbourhood) -> list[list[Examined]]:
    """Part beliefs that name no subject by what surrounds them, but for those that a judge or person joined."""
    together = _Joined(one.belief.belief_id for one in members)
    settings: dict[frozenset[str], UUID] = {}
    for one in members:
        first = settings.setdefault(one.setting, one.belief.belief_id)
        together.join(one.belief.belief_id, first)
    # Where nothing is told around one of them it may be any of the others', so it must not join those to each other.
    told = [setting for setting in settings if setting]
    for setting, other in combinations(told, 2):
        if may_be_one_setting(setting, other):
            together.join(settings[setting], settings[other])
    if len({together.root(settings[setting]) for setting in told}) == 1:
        together.join(settings[told[0]], settings.get(frozenset(), settings[told[0]]))
    ids = {one.belief.belief_id for one in members}
    for belief_id in ids:
        for partner, judged in around.judged_of.get(belief_id, ()):
            if partner in ids and is_bound(judged):
                together.join(belief_id, partner)
    found: defaultdict[UUID, list[Examined]] = defaultdict(list)
    for one in members:
        found[together.root(one.belief.belief_id)].append(one)
    return list(found.values())


class _Joined:
    """Which ids have been brought together, in near constant time for each."""

    def __init__(self, ids: Iterable[UUID]) -> None:
        self._parent = {one: one for one in ids}

    def root(self, one: UUID) -> UUID:
        """Return the id that stands for all that are together with this one."""
        while self._parent[one] != one:
            self._parent[one] = self._parent[self._parent[one]]
            one = self._parent[one]
        return one

    def join(self, one: UUID, other: UUID) -> None:
        """Bring two together, with all that each is together with."""
        self._parent[self.root(one)] = self.root(other)


def _comparable(
    members: Sequence[Examined], around: Neighbourhood, *, single: bool
) -> Iterator[tuple[Examined, Examined]]:
    """Yield pairs among which are all that may have a bond, or of those that are alike enough to join them all.

    `single`: whoever adds nothing has a bond with all who add nothing either.
    """
    by_id = {one.belief.belief_id: one for one in members}
    for one in members:
        for other, judged in around.judged_of.get(one.belief.belief_id, ()):
            if other in by_id and is_bound(judged):
                yield one, by_id[other]
    yield from _of_one_value(members, around.canonical)
    if single:
        plain = [one for one in members if not (one.reading and one.reading.adds)]
        yield from pairwise(plain)
        return
    for alike in _alike(members).values():
        related = [one for one in alike if around.judged_of.get(one.belief.belief_id)]
        for hub in (*_hubs(alike), *related):
            yield from ((hub, one) for one in alike if one is not hub)


def _of_one_value(members: Sequence[Examined], aliases: Mapping[str, str]) -> Iterator[tuple[Examined, Examined]]:
    """Yield pairs of which one has, or ends, a value that may be the other's."""
    filed: defaultdict[tuple[object, ...], list[Examined]] = defaultdict(list)
    for one in members:
        if one.reading is None:
            continue
        keys = [keys_of(value, aliases) for value in (one.reading.value, *one.reading.ended)]
        near = {other.belief.belief_id: other for _, wanted in keys for key in wanted for other in filed.get(key, ())}
        yield from ((one, other) for other in near.values())
        for key in dict.fromkeys(key for filing, _ in keys for key in filing):
            filed[key].append(one)


def _alike(members: Sequence[Examined]) -> dict[tuple[object, ...], list[Examined]]:
    """Return those that may answer one question, by what makes them alike."""
    found: defaultdict[tuple[object, ...], list[Examined]] = defaultdict(list)
    for one in members:
        reading = one.reading
        if reading is None or is_exclusive(reading.attribute or "") is False:
            continue
        if reading.past or reading.negative or reading.event or reading.adds:
            continue
        keys = likeness_keys(reading.value)
        if _may_turn(reading.attribute or ""):
            keys = [*keys, ("verb",)]
        for key in keys:
            found[key].append(one)
    return {key: alike for key, alike in found.items() if len(alike) > 1}


def _hubs(alike: Sequence[Examined]) -> list[Examined]:
    """Return a few beliefs with which each of the others has a bond, if it has one with any of them.

    What is alike in a way differs in value, and in whether it speaks of a change: two values of either sort are enough.
    """
    hubs: defaultdict[bool, list[Examined]] = defaultdict(list)
    for one in alike:
        known = hubs[one.reading is not None and one.reading.changes]
        if len(known) < _HUBS and all(
            one.reading and other.reading and one.reading.value != other.reading.value for other in known
        ):
            known.append(one)
    return [one for found in hubs.values() for one in found]


_HUBS = 3


def _ends(left: Examined, right: Examined, around: Neighbourhood) -> bool:
    """Tell whether one of two beliefs says that it ends the other's value, or a judge or person that they conflict."""
    judged = around.judged.get(pair_of(left.belief.belief_id, right.belief.belief_id))
    if judged is not None and is_bound(judged):
        return True
    one, other = left.reading, right.reading
    aliases = around.canonical
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
    return None if one is None or other is None else _told_bond(one, other, around.canonical)


_JUDGED_BOND = {Relation.SUCCESSIVE: True, Relation.INCOMPATIBLE: True, Relation.DUPLICATE: False}


def _told_bond(one: Reading, other: Reading, aliases: Mapping[str, str]) -> bool | None:
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
    return one.changes != other.changes and verb == other.attribute and _may_turn(verb)


def _may_turn(verb: str) -> bool:
    return verb in _TURNS or verb.endswith(_PLACED)
