"""A judge's word, held against what the rules know: what of it stands, and what a person must look at. Pure."""

from __future__ import annotations

from uuid import UUID

from dreaming.beliefs.words import word_set
from dreaming.passes.contradictions.bearing import FUNCTION_WORDS, may_conflict
from dreaming.passes.contradictions.belief_readings import Examined
from dreaming.passes.contradictions.lines import Neighbourhood
from dreaming.passes.contradictions.reading import Reading
from dreaming.passes.contradictions.records import Relation
from dreaming.passes.contradictions.relations import objection_to
from dreaming.passes.contradictions.timing import tells_event
from dreaming.passes.contradictions.values import alternatives, same_value
from dreaming.passes.contradictions.vocabulary import is_exclusive, is_known, may_be_one

_NEVER_MERGED = frozenset({"numbers", "dates", "negation", "identifiers", "swapped", "opposites", "quantifiers"})
_SHARED = 0.34
"""Which share of the shorter one's words both must have, where nothing else says that two are of one property."""


def verdict_stands(
    around: Neighbourhood, one: UUID, other: UUID, relation: Relation
) -> tuple[Relation | None, str | None]:
    """Return a judge's word as far as the rules let it stand, and why not where they do not.

    Only one subject and one attribute ever conflict, and what a guard keeps apart is never merged, whatever a
    judge says. None: the word contradicts what the two say by themselves, and would take one of them out of sight
    on nothing else; a person decides.
    """
    left, right = around.beliefs[one], around.beliefs[other]
    if relation is Relation.DUPLICATE:
        objection = _not_one(around, left, right)
        return (relation, None) if objection is None else (Relation.COEXISTING, f"not merged: {objection}")
    if relation in (Relation.SUCCESSIVE, Relation.INCOMPATIBLE):
        objection = _no_conflict(around, left, right)
        if objection is not None:
            return Relation.UNRELATED, f"no conflict: {objection}"
        doubt = _doubt(left, right)
        if doubt is not None:
            return None, f"a judge calls them {relation.value}, but {doubt}"
    return relation, None


def _not_one(around: Neighbourhood, left: Examined, right: Examined) -> str | None:
    """Return why two beliefs are never merged on a judge's word, if they are not."""
    objection = objection_to(left.belief.statement, right.belief.statement)
    if objection is not None and (
        objection.guard in _NEVER_MERGED or (objection.guard == "names" and objection.left and objection.right)
    ):
        return f"they differ in {objection.guard}"
    if _numbered_apart(left, right, around):
        return "their subjects are numbered apart"
    return None if may_conflict(around, left, right) else "they are about two things"


def _no_conflict(around: Neighbourhood, left: Examined, right: Examined) -> str | None:
    """Return why two beliefs never conflict, if they do not."""
    if not may_conflict(around, left, right):
        return "two subjects"
    names = [one.reading.attribute or "" for one in (left, right) if one.reading is not None]
    known = all(is_known(name) for name in names)
    if names[0] != names[1] and (not may_be_one(*names) if known else _plainly_two(left, right)):
        return "two attributes"
    return None


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


def _doubt(left: Examined, right: Examined) -> str | None:
    """Return what the two say by themselves against a conflict; a word of change, or one property, dispels it."""
    one, other = left.reading, right.reading
    if one is None or other is None or _tells_change(one, left) or _tells_change(other, right):
        return None
    if alternatives(one.value, other.value) or same_value(one.value, other.value, {}):
        return None
    several = any(is_exclusive(each.attribute or "") is False for each in (one, other))
    if several and all(each.belief.multi_valued for each in (left, right)):
        return "several such values may hold at once"
    if one.attribute == other.attribute or None in (one.attribute, other.attribute):
        return None
    return None if _overlap(left, right, one, other) >= _SHARED else "nothing in them is about one property"


def _tells_change(reading: Reading, told: Examined) -> bool:
    flags = reading.changes or reading.event or reading.past or reading.negative or reading.ended
    return bool(flags) or tells_event(told.belief.statement)


def _overlap(left: Examined, right: Examined, one: Reading, other: Reading) -> float:
    """Return the share of words that both have of the shorter one's, without the subjects."""
    subjects = {*one.subject.split(" "), *other.subject.split(" ")} if not (one.is_opaque or other.is_opaque) else set()
    words = [word_set(each.belief.statement) - FUNCTION_WORDS - subjects for each in (left, right)]
    return len(words[0] & words[1]) / max(1, min(map(len, words)))
