"""How beliefs relate, their timelines, and what is left for a judge. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

from dreaming.beliefs.records import ArchiveReason
from dreaming.beliefs.words import jaccard, word_set
from dreaming.passes.consolidation.guards import veto
from dreaming.passes.consolidation.records import Veto
from dreaming.passes.contradictions.bearing import may_be_one_thing
from dreaming.passes.contradictions.belief_readings import Examined, span_in, timed_claims
from dreaming.passes.contradictions.lines import (
    Group,
    Neighbourhood,
    Pair,
    components,
    counts,
    groups_of,
    kept_over,
    number_values,
    pair_of,
    tells_time,
)
from dreaming.passes.contradictions.phrasing import spelled_times
from dreaming.passes.contradictions.records import DecidedBy, Line, Relation, Standing
from dreaming.passes.contradictions.timeline import derive, overall
from dreaming.passes.contradictions.vocabulary import is_known

PLAUSIBLE_SIMILARITY = 0.2


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules make of a neighbourhood of beliefs.

    `relations`: pairs that a rule decides. `open_pairs`: pairs for a judge, the most alike first.
    """

    lines: tuple[Line, ...]
    relations: Mapping[Pair, tuple[Relation, str]]
    open_pairs: tuple[tuple[Pair, str], ...]


def rule(around: Neighbourhood) -> Ruling:
    """Decide what rules can decide: lines with their timelines, relations, and the pairs left for a judge."""
    groups = [group for group in groups_of(around) if group.members]
    relations: dict[Pair, tuple[Relation, str]] = {}
    lines: list[Line] = []
    for group in groups:
        if not any(one.reading and around.is_complete(one.reading) for one in group.members):
            continue
        for members, exclusive in components(group, around):
            line, found = _line(group, members, around, exclusive=exclusive)
            relations |= found
            if line is not None:
                lines.append(line)
    for pair, judged in around.judged.items():
        if judged.relation is not None and judged.decided_by is not DecidedBy.RULE:
            relations.pop(pair, None)
    decided = {
        pair
        for pair, judged in around.judged.items()
        if judged.relation is not None and judged.decided_by is not DecidedBy.RULE
    }
    grouped = {one.belief.belief_id: (group.subject, group.attribute) for group in groups for one in group.members}
    open_pairs = _open_pairs(around, grouped, decided | set(relations))
    asked = {pair for pair, _ in open_pairs}
    for pair in around.similar:
        known = pair in relations or pair in decided or pair in asked
        if not known and around.focus & set(pair) and all(one in around.beliefs for one in pair):
            relations[pair] = (Relation.UNRELATED, "another subject or attribute")
    return Ruling(tuple(lines), relations, open_pairs)


def _line(
    group: Group, members: list[Examined], around: Neighbourhood, *, exclusive: bool
) -> tuple[Line | None, dict[Pair, tuple[Relation, str]]]:
    """Derive a line's timeline, and name how its beliefs relate by it."""
    if len(members) < 2 and not tells_time(members[0]):
        return None, {}
    values = number_values(members, around)
    claims = [claim for one in members for claim in timed_claims(one, values, around.ageing)]
    fixed = any(one.reading is not None and one.reading.fixed for one in members)
    stretches = derive(claims, exclusive=exclusive, fixed=fixed, now=around.now, kept_over=kept_over(members, around))
    line = Line(group.subject, group.attribute, tuple(one.belief.belief_id for one in members), stretches)
    return line, _relations(members, values, line, around, exclusive=exclusive)


def _relations(
    members: list[Examined],
    values: Mapping[UUID, tuple[int, tuple[int, ...]]],
    line: Line,
    around: Neighbourhood,
    *,
    exclusive: bool,
) -> dict[Pair, tuple[Relation, str]]:
    """Name how each two beliefs of a line relate; only the pairs of values that were compared."""
    standing = overall(line.stretches)
    found: dict[Pair, tuple[Relation, str]] = {}
    for left, right in combinations(members, 2):
        ids = left.belief.belief_id, right.belief.belief_id
        one, other = left.reading, right.reading
        if one is None or other is None or any(each not in values for each in ids):
            continue
        if values[ids[0]][0] == values[ids[1]][0] and one.negative == other.negative:
            same = _says_the_same(left, right, dict(around.canonical))
            found[pair_of(*ids)] = (
                (Relation.DUPLICATE, "same value") if same else (Relation.COEXISTING, "same value, told with more")
            )
        elif not exclusive and one.negative == other.negative:
            found[pair_of(*ids)] = Relation.COEXISTING, "several values at once"
        elif {standing.get(each) for each in ids} & {Standing.REVIEW, Standing.REJECTED}:
            found[pair_of(*ids)] = Relation.INCOMPATIBLE, f"two values of {line.subject} · {line.attribute}"
        else:
            found[pair_of(*ids)] = Relation.SUCCESSIVE, f"two values of {line.subject} · {line.attribute}"
    return found


_TELLS_MORE = frozenset({"negation", "quantifiers", "opposites"})


def _says_the_same(left: Examined, right: Examined, aliases: Mapping[str, str]) -> bool:
    """Tell whether two beliefs with equal readings say nothing besides, so that one can stand for both."""
    one, other = left.reading, right.reading
    if (
        one is None
        or other is None
        or one.past != other.past
        or one.event != other.event
        or bool(one.ended) != bool(other.ended)
        or one.sense != other.sense
    ):
        return False
    # Two renames along one chain of names are two statements, though each name stands for the same thing.
    known = {} if one.attribute == "name" else aliases
    texts = [known.get(reading.value.text, reading.value.text) for reading in (one, other)]
    quantities = (
        one.value.sort is not None and one.value.sort == other.value.sort and one.value.weekdays == other.value.weekdays
    )
    if texts[0] != texts[1] and not quantities:
        return False
    spans = [span_in(each, each.sources[0]) if each.sources else None for each in (left, right)]
    if spans[0] != spans[1] and any(span and (span.start or span.end) for span in spans):
        return False
    objection = objection_to(left.belief.statement, right.belief.statement)
    if objection is None:
        return True
    return objection.guard not in _TELLS_MORE and (quantities or objection.guard not in ("numbers", "dates"))


_EVERY_DAY = re.compile(r"\bevery (?=\w+day)")


def objection_to(left: str, right: str) -> Veto | None:
    """Return the guards' first objection; "every Monday" is no more than "on Mondays"."""
    one, other = (_EVERY_DAY.sub("on ", spelled_times(text)) for text in (left, right))
    return veto(one, other)


def _open_pairs(
    around: Neighbourhood, grouped: Mapping[UUID, tuple[str, str]], decided: set[Pair]
) -> tuple[tuple[Pair, str], ...]:
    """Return the pairs that no rule decides and that may yet be one thing said twice, or a contradiction."""
    found: list[tuple[float, Pair, str]] = []
    live = [
        one
        for one in around.beliefs.values()
        if counts(one) and one.belief.archive_reason in (None, ArchiveReason.FADED)
    ]
    words = {one.belief.belief_id: word_set(one.belief.statement) for one in live}
    for left, right in combinations(live, 2):
        pair = pair_of(left.belief.belief_id, right.belief.belief_id)
        if pair in decided or not around.focus & set(pair):
            continue
        alike = jaccard(words[pair[0]], words[pair[1]])
        reason = _question(left, right, around, grouped, alike)
        if reason is not None:
            found.append((alike, pair, reason))
    return tuple((pair, reason) for _, pair, reason in sorted(found, key=lambda one: (-one[0], one[1])))


def _question(
    left: Examined, right: Examined, around: Neighbourhood, grouped: Mapping[UUID, tuple[str, str]], alike: float
) -> str | None:
    """Return why a judge should look at two beliefs, or None."""
    ids = left.belief.belief_id, right.belief.belief_id
    homes = [grouped.get(one) for one in ids]
    similar = around.similar.get(pair_of(*ids))
    if homes[0] is None or homes[1] is None:
        return similar or ("alike in words" if alike >= 2 * PLAUSIBLE_SIMILARITY else None)
    (subject, attribute), (other_subject, other_attribute) = homes[0], homes[1]
    if subject != other_subject:
        if similar == "grey_band":
            return similar
        likely = similar is not None or alike >= PLAUSIBLE_SIMILARITY
        return "one thing in other words" if likely and may_conflict(around, left, right) else None
    if attribute == other_attribute:
        return "one attribute, perhaps of several values"
    if is_known(attribute) and is_known(other_attribute):
        return None
    return similar or ("one subject" if alike >= PLAUSIBLE_SIMILARITY else None)


def _numbered_apart(left: Examined, right: Examined, around: Neighbourhood) -> bool:
    """Tell whether two subjects differ in a letter or number alone: "room A" and "room B" are two rooms."""
    one, other = left.reading, right.reading
    if one is None or other is None:
        return False
    words = [set(around.subject(reading).split()) for reading in (one, other)]
    apart = words[0] ^ words[1]
    return bool(words[0] & words[1]) and bool(apart) and all(len(word) == 1 or word[-1].isdecimal() for word in apart)


def _plainly_two(left: Examined, right: Examined) -> bool:
    """Tell whether one has an attribute of the table and the other plainly says something else, without any change."""
    readings = [one.reading for one in (left, right) if one.reading is not None]
    known = [one for one in readings if is_known(one.attribute or "")]
    others = [one for one in readings if not is_known(one.attribute or "")]
    if len(known) != 1 or len(others) != 1:
        return False
    (other,) = others
    tells_change = other.changes or other.event or other.past or other.ended or known[0].ended
    plain = (other.attribute or "").startswith(("does ", "number of "))
    return plain and not tells_change and not known[0].negative and not known[0].changes


def may_conflict(around: Neighbourhood, left: Examined, right: Examined) -> bool:
    """Tell whether two beliefs may be about one thing, so that a judge may set them against each other."""
    one, other = left.reading, right.reading
    if one is None or other is None:
        return False
    statements = left.belief.statement, right.belief.statement
    return may_be_one_thing(one, other, statements, (around.subject(one), around.subject(other)))


_NEVER_MERGED = frozenset({"numbers", "dates", "negation", "identifiers", "swapped", "opposites", "quantifiers"})


def verdict_stands(around: Neighbourhood, one: UUID, other: UUID, relation: Relation) -> tuple[Relation, str | None]:
    """Return a judge's word as far as the rules let it stand, and why not where they do not.

    Only one subject and one attribute ever conflict, and what a guard keeps apart is never merged,
    whatever a judge says.
    """
    left, right = around.beliefs[one], around.beliefs[other]
    if relation is Relation.DUPLICATE:
        objection = objection_to(left.belief.statement, right.belief.statement)
        if objection is not None and (
            objection.guard in _NEVER_MERGED or (objection.guard == "names" and objection.left and objection.right)
        ):
            return Relation.COEXISTING, f"not merged: they differ in {objection.guard}"
        if _numbered_apart(left, right, around):
            return Relation.COEXISTING, "not merged: their subjects are numbered apart"
        return relation, None
    if relation in (Relation.SUCCESSIVE, Relation.INCOMPATIBLE):
        if not may_conflict(around, left, right):
            return Relation.UNRELATED, "no conflict: two subjects"
        names = [one.reading.attribute or "" for one in (left, right) if one.reading is not None]
        if names[0] != names[1] and (all(is_known(name) for name in names) or _plainly_two(left, right)):
            return Relation.UNRELATED, "no conflict: two attributes"
    return relation, None
