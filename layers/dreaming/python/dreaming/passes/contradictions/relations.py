"""How beliefs relate, their timelines, and what is left for a judge. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from dreaming.beliefs.records import ArchiveReason
from dreaming.beliefs.words import jaccard, word_set
from dreaming.passes.consolidation.guards import veto
from dreaming.passes.consolidation.records import Veto
from dreaming.passes.contradictions.bearing import content, is_guessed, may_conflict
from dreaming.passes.contradictions.belief_readings import Examined, span_in, timed_claims
from dreaming.passes.contradictions.components import components
from dreaming.passes.contradictions.lines import (
    Group,
    Neighbourhood,
    Pair,
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
from dreaming.passes.contradictions.values import alternatives
from dreaming.passes.contradictions.vocabulary import is_exclusive, is_known, may_be_one

PLAUSIBLE_SIMILARITY = 0.2


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules make of a neighbourhood of beliefs.

    `relations`: pairs with a belief in focus that a rule decides. `open_pairs`: pairs for a judge, the most
    alike first.
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
        if not known and around.in_focus(pair) and all(one in around.beliefs for one in pair):
            homes = {grouped.get(one) for one in pair}
            together = len(homes) == 1 and None not in homes
            relations[pair] = (
                (Relation.COEXISTING, "several values at once")
                if together
                else (Relation.UNRELATED, "another subject or attribute")
            )
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
    by_id = {one.belief.belief_id: one for one in members}
    found: dict[Pair, tuple[Relation, str]] = {}
    for ids in _related(by_id, values, line, around):
        left, right = by_id[ids[0]], by_id[ids[1]]
        one, other = left.reading, right.reading
        if one is None or other is None:
            continue
        if values[ids[0]][0] == values[ids[1]][0] and one.negative == other.negative:
            same = _says_the_same(left, right, around.canonical)
            if not same and ids in around.similar and _each_says_more(left, right):
                continue
            found[ids] = (
                (Relation.DUPLICATE, "same value") if same else (Relation.COEXISTING, "same value, told with more")
            )
        elif not exclusive and one.negative == other.negative:
            found[ids] = Relation.COEXISTING, "several values at once"
        elif {standing.get(each) for each in ids} & {Standing.REVIEW, Standing.REJECTED}:
            found[ids] = Relation.INCOMPATIBLE, f"two values of {line.subject} · {line.attribute}"
        else:
            found[ids] = Relation.SUCCESSIVE, f"two values of {line.subject} · {line.attribute}"
    return found


def _related(
    by_id: Mapping[UUID, Examined],
    values: Mapping[UUID, tuple[int, tuple[int, ...]]],
    line: Line,
    around: Neighbourhood,
) -> set[Pair]:
    """Return the pairs of a line with a belief in focus that are worth a word.

    They are those of one value, those next to each other in time, those in question together, and those that
    something brought up. What lies further apart follows from the line.
    """
    by_value: defaultdict[int, list[UUID]] = defaultdict(list)
    by_start: defaultdict[tuple[object, ...], list[UUID]] = defaultdict(list)
    for one in by_id:
        if one in values:
            by_value[values[one][0]].append(one)
    found: set[Pair] = set()
    for stretch in line.stretches:
        if stretch.successor is not None:
            found.add(pair_of(stretch.belief_id, stretch.successor))
        if stretch.standing is Standing.REVIEW:
            by_start[(stretch.holds_from,)].append(stretch.belief_id)
    for together in (*by_value.values(), *by_start.values()):
        found |= {pair_of(one, other) for one in together if one in around.focus for other in together if other != one}
    found |= {pair for one in by_id for pair in around.brought_up.get(one, ()) if pair[0] in by_id and pair[1] in by_id}
    return {
        pair for pair in found if around.in_focus(pair) and pair[0] != pair[1] and all(one in values for one in pair)
    }


def _each_says_more(left: Examined, right: Examined) -> bool:
    """Tell whether either of two beliefs with one value names something of its own: a form may have cut the value."""
    words = [content(one.belief.statement) for one in (left, right)]
    names = [found - words[1 - place] for place, found in enumerate(words)]
    return (
        all(names)
        and left.reading is not None
        and right.reading is not None
        and (left.reading.past == right.reading.past and left.reading.event == right.reading.event)
    )


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
    quantities = (one.value.quantities and one.value.rest == other.value.rest) or (
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
    if objection.guard == "numbers" and not quantities and texts[0] == texts[1]:
        written = [set(_WRITTEN_NUMBER.findall(each.belief.statement)) for each in (left, right)]
        return bool(written[0]) and written[0] == written[1]
    return objection.guard not in _TELLS_MORE and (quantities or objection.guard not in ("numbers", "dates"))


_WRITTEN_NUMBER = re.compile(r"\d+")
_EVERY_DAY = re.compile(r"\bevery (?=\w+day)")


def objection_to(left: str, right: str) -> Veto | None:
    """Return the guards' first objection; "every Monday" is no more than "on Mondays"."""
    one, other = (_EVERY_DAY.sub("on ", spelled_times(text)) for text in (left, right))
    return veto(_on_one_clock(one, left, other), _on_one_clock(other, right, one))


def _on_one_clock(text: str, written: str, other: str) -> str:
    """Write the "half past five" of a text as 17:30 where the other says so: either half of a day may be meant."""
    if text == written:
        return text
    late = {found.group() for found in _LATE.finditer(other)}
    return _CLOCK.sub(
        lambda found: later if (later := f"{int(found['h']) + 12}:{found['m']}") in late else found.group(), text
    )


_CLOCK = re.compile(r"\b(?P<h>[1-9]|1[01]):(?P<m>[0-5]\d)\b(?! ?[ap]m)")
_LATE = re.compile(r"\b(?:1[3-9]|2[0-3]):[0-5]\d\b")


def _open_pairs(
    around: Neighbourhood, grouped: Mapping[UUID, tuple[str, str]], decided: set[Pair]
) -> tuple[tuple[Pair, str], ...]:
    """Return the pairs that no rule decides and that may yet be one thing said twice, or a contradiction."""
    found: list[tuple[float, Pair, str]] = []
    brought_up = {*around.similar, *(pair for pair, judged in around.judged.items() if judged.relation is None)}
    for pair in brought_up - decided:
        if not around.in_focus(pair) or not all(_in_sight(around.beliefs.get(one)) for one in pair):
            continue
        left, right = around.beliefs[pair[0]], around.beliefs[pair[1]]
        alike = jaccard(word_set(left.belief.statement), word_set(right.belief.statement))
        reason = _question(left, right, around, grouped, alike)
        if reason is not None:
            found.append((alike, pair, reason))
    return tuple((pair, reason) for _, pair, reason in sorted(found, key=lambda one: (-one[0], one[1])))


def _in_sight(one: Examined | None) -> bool:
    return one is not None and counts(one) and one.belief.archive_reason in (None, ArchiveReason.FADED)


def _plainly_several(attribute: str, left: Examined, right: Examined) -> bool:
    """Tell whether two values of an attribute hold at once, by the table, and nothing says that one ends."""
    one, other = left.reading, right.reading
    if is_exclusive(attribute) is not False or one is None or other is None:
        return False
    if not (left.belief.multi_valued and right.belief.multi_valued):
        return False
    ends = any(each.changes or each.negative or each.past or each.ended for each in (one, other))
    part_shared = bool(content(one.value.text) & content(other.value.text))
    return not ends and not part_shared and not alternatives(one.value, other.value)


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
        return "alike in part, perhaps one thing" if likely and may_conflict(around, left, right) else None
    if attribute == other_attribute:
        return None if _plainly_several(attribute, left, right) else "one attribute, perhaps of several values"
    if is_known(attribute) and is_known(other_attribute) and not may_be_one(attribute, other_attribute):
        return "one of them may be told of another attribute" if is_guessed(left, right) else None
    return similar or ("alike in subject" if alike >= PLAUSIBLE_SIMILARITY else None)
