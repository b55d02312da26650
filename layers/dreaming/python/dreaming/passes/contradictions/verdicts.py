"""A judge's word, held against what the rules know: what of it stands, and what a person must look at. Pure."""

from __future__ import annotations

import re
from uuid import UUID

from dreaming.passes.consolidation.quantities import read_quantities
from dreaming.passes.consolidation.records import Veto
from dreaming.passes.consolidation.wording import stem
from dreaming.passes.contradictions.bearing import FUNCTION_WORDS, SPEAKERS, content, is_guessed, may_conflict
from dreaming.passes.contradictions.belief_readings import Examined
from dreaming.passes.contradictions.lines import Neighbourhood
from dreaming.passes.contradictions.reading import Reading
from dreaming.passes.contradictions.records import Relation
from dreaming.passes.contradictions.relations import objection_to
from dreaming.passes.contradictions.timing import tells_event
from dreaming.passes.contradictions.values import alternatives, same_value
from dreaming.passes.contradictions.vocabulary import attribute_name, is_exclusive, is_known, may_be_one

_NEVER_MERGED = frozenset({"numbers", "dates", "identifiers", "opposites"})
_SAME_WORDS = 0.67
"""From which share on two statements are of the same words, so that a "not" turns one into the other's opposite."""
_SHARED = 0.25
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
    if objection is not None and _keeps_apart(objection, left, right):
        return f"they differ in {objection.guard}"
    if any(one.reading is not None and one.reading.adds for one in (left, right)):
        return "one comes besides the other"
    if _numbered_apart(left, right, around):
        return "their subjects are numbered apart"
    if not may_conflict(around, left, right):
        return "they are about two things"
    return _two_properties(left, right)


def _keeps_apart(objection: Veto, left: Examined, right: Examined) -> bool:
    """Tell whether a guard's objection outweighs a judge who calls two statements one.

    A "not" or "must" may be put another way where the words differ: "never drinks alcohol", "is a teetotaller".
    """
    if objection.guard == "names":
        return bool(objection.left and objection.right)
    told = [found for found in (objection.left, objection.right) if found]
    in_a_word = objection.guard == "numbers" and len(told) == 1 and told[0].isalpha()
    if in_a_word or objection.guard in ("negation", "quantifiers", "swapped"):
        words = [content(each.belief.statement) for each in (left, right)]
        return len(words[0] & words[1]) >= _SAME_WORDS * max(1, min(map(len, words)))
    return objection.guard in _NEVER_MERGED


def _two_properties(left: Examined, right: Examined) -> str | None:
    """Return why two beliefs of one subject cannot be one, with no word in common and two attributes of the table."""
    one, other = left.reading, right.reading
    if one is None or other is None or one.is_opaque or other.is_opaque:
        return None
    names = one.attribute or "", other.attribute or ""
    if names[0] == names[1] or _are_near(*names) or _overlap(left, right, one, other):
        return None
    if any(one.value.kinds) and one.value.kinds == other.value.kinds:
        return None
    nouns = all(name and not name.startswith(_VERBAL) for name in names)
    plain = all(is_known(name) or name.startswith("does ") for name in names) and any(map(is_known, names))
    return "they tell two properties" if nouns or plain else None


_VERBAL = ("does ", "is", "uses", "may", "who")


def _no_conflict(around: Neighbourhood, left: Examined, right: Examined) -> str | None:
    """Return why two beliefs never conflict, if they do not."""
    if not may_conflict(around, left, right):
        return "two subjects"
    if _numbered_apart(left, right, around) and not _of_one_value(left, right, around):
        return "their subjects are numbered apart"
    names = [one.reading.attribute or "" for one in (left, right) if one.reading is not None]
    if names[0] == names[1] and (objection := _hold_both(left, right)):
        return objection
    known = all(is_known(name) for name in names)
    if names[0] == names[1] or _are_near(*names):
        return None
    if is_guessed(left, right) or _is_mentioned(left, right) or _is_mentioned(right, left):
        return None
    return "two attributes" if known or _plainly_two(left, right) else None


def _are_near(attribute: str, other: str) -> bool:
    """Tell whether two attributes are told in words so near that one thing may be meant: "mentor" and "mentors"."""
    if may_be_one(attribute, other):
        return True
    one, two = _stems_of(attribute), _stems_of(other)
    if one & two:
        return True
    names = [{attribute_name(form) for word in found for form in (word, f"{word}s")} for found in (one, two)]
    return other in names[0] or attribute in names[1]


def _stems_of(attribute: str) -> set[str]:
    return {stem(word) for word in attribute.split()} - _OF_NO_MEANING


_OF_NO_MEANING = frozenset(
    map(
        stem,
        """
        does is who may says number of for to at in on with from by favourite favorite preferred best main first last
        """.split(),  # noqa: SIM905 - a list of words reads better than a list of strings
    )
)


def _is_mentioned(left: Examined, right: Examined) -> bool:
    """Tell whether one statement speaks of the other's attribute: "is allergic to eggs", "has outgrown his allergy"."""
    if left.reading is None or right.reading is None:
        return False
    return bool(
        _stems_of(left.reading.attribute or "") & (content(right.belief.statement) - content(right.reading.subject))
    )


def _hold_both(left: Examined, right: Examined) -> str | None:
    """Return why two values of one attribute hold both by their own words: one is added, or each has its own day."""
    one, other = left.reading, right.reading
    if one is None or other is None:
        return None
    if one.adds or other.adds:
        return "one comes besides the other"
    days = [_days(told) for told in (left, right)]
    happens = one.event and other.event and not (one.changes or other.changes)
    return "each is of its own day" if happens and all(days) and days[0] != days[1] else None


def _days(told: Examined) -> frozenset[object]:
    """Return the days that a statement names."""
    read = read_quantities(told.belief.statement)
    return frozenset((*read.dates, *read.weekdays))


def _of_one_value(left: Examined, right: Examined, around: Neighbourhood) -> bool:
    one, other = left.reading, right.reading
    return one is not None and other is not None and same_value(one.value, other.value, around.canonical)


def _numbered_apart(left: Examined, right: Examined, around: Neighbourhood) -> bool:
    """Tell whether two subjects differ in a letter or number alone: "room A" and "room B" are two rooms."""
    one, other = left.reading, right.reading
    if one is None or other is None:
        return False
    if one.is_opaque or other.is_opaque:
        found = [_NUMBERED.match(each.belief.statement) for each in (left, right)]
        names = [(each["name"].lower(), each["number"]) for each in found if each is not None]
        return len(names) == len(found) and names[0][0] == names[1][0] and names[0] != names[1]
    words = [set(around.subject(reading).split()) for reading in (one, other)]
    apart = words[0] ^ words[1]
    return bool(words[0] & words[1]) and bool(apart) and all(len(word) == 1 or word[-1].isdecimal() for word in apart)


_NUMBERED = re.compile(
    r"(?:The |Our )?(?P<name>[A-Za-z]+(?: [a-z]+)?) (?P<number>#?\d[\w.-]*|[A-Z])\b(?! (?:percent|%|euros))"
)


def _plainly_two(left: Examined, right: Examined) -> bool:
    """Tell whether one has an attribute of the table and the other plainly says something else, without any change."""
    readings = [one.reading for one in (left, right) if one.reading is not None]
    if len(readings) == 2 and _overlap(left, right, *readings) >= _SHARED:
        return False
    known = [one for one in readings if is_known(one.attribute or "")]
    others = [one for one in readings if not is_known(one.attribute or "")]
    if len(known) != 1 or len(others) != 1:
        return False
    (other,) = others
    tells_change = any(_tells_change(one.reading, one) for one in (left, right) if one.reading is not None)
    plain = (other.attribute or "").startswith(("does ", "number of "))
    return plain and not tells_change and not known[0].negative and not known[0].changes


def _doubt(left: Examined, right: Examined) -> str | None:
    """Return what the two say by themselves against a conflict; any sign of one property dispels it."""
    one, other = left.reading, right.reading
    if one is None or other is None:
        return None
    shared = _overlap(left, right, one, other) >= _SHARED
    if _are_unlike(one, other) and not shared:
        return "what they tell is of two kinds"
    if _tells_change(one, left) or _tells_change(other, right):
        return None
    if alternatives(one.value, other.value) or same_value(one.value, other.value, {}):
        return None
    several = any(is_exclusive(each.attribute or "") is False for each in (one, other))
    if several and not shared and all(each.belief.multi_valued for each in (left, right)):
        return "several such values may hold at once"
    near = one.attribute == other.attribute or None in (one.attribute, other.attribute)
    near = near or _are_near(one.attribute or "", other.attribute or "")
    acted = _is_acted_on(one, other) or _is_acted_on(other, one)
    return None if near or shared or acted or _are_alike(left, right) else "nothing in them is about one property"


def _is_acted_on(one: Reading, other: Reading) -> bool:
    """Tell whether a speaker tells what was done with the other's subject: "we put Plex on the wall display"."""
    return one.subject in SPEAKERS and f" {other.subject} " in f" {one.value.text} "


def _are_unlike(one: Reading, other: Reading) -> bool:
    """Tell whether one value counts something and the other is a day or a time: nothing has either for the other."""
    sorts = {_sort(one), _sort(other)}
    return "number" in sorts and bool(sorts & {"date", "time"})


def _sort(reading: Reading) -> str | None:
    found = (reading.value.times, "time"), (reading.value.dates or reading.value.weekdays, "date")
    dated = next((name for quantity, name in found if quantity), None)
    counted = any(unit is not None for _, unit in reading.value.numbers)
    return dated or ("number" if counted else None)


def _are_alike(left: Examined, right: Examined) -> bool:
    """Tell whether two values are of one kind, told by a noun and a verb: "her car is a Golf", "drives a Polo".

    Two nouns ("car", "dog") are two properties, and so are two verbs of what one subject does.
    """
    one, other = left.reading, right.reading
    if one is None or other is None:
        return False
    units = [{unit for _, unit in each.value.numbers} for each in (one, other)]
    if units[0] and units[0] == units[1]:
        return True
    verbal = [(each.attribute or "").startswith(_VERBAL) for each in (one, other)]
    return verbal[0] != verbal[1] and all(_names_something(each) for each in (left, right))


def _names_something(told: Examined) -> bool:
    """Tell whether the value is a name: each of its words that says something is written large."""
    if told.reading is None:
        return False
    written = {word.casefold(): word for word in _WORD.findall(told.belief.statement)}
    found = [written.get(word, "") for word in told.reading.value.words if word not in FUNCTION_WORDS]
    return bool(found) and all(word[:1].isupper() or any(map(str.isdecimal, word)) for word in found)


_WORD = re.compile(r"[\w'’.&-]*\w")


def _tells_change(reading: Reading, told: Examined) -> bool:
    flags = reading.changes or reading.event or reading.past or reading.negative or reading.ended
    text = told.belief.statement
    return bool(flags) or tells_event(text) or any(pattern.search(text) for pattern in (_ACTED, _TURNED))


_ACTED = re.compile(
    r"^(?:\w+ said: )?(?:[A-Z][\w'’.-]*|we|they)(?: [A-Z][\w'’.-]*)?(?: (?:have|has|just|finally|then|all))* "
    r"(?:[a-z]{3,}ed|(?:re|un|over|out)?(?:put|set|cut|shut|hit|made|did|gave|found|began|became|came|quit|lost|won|sent"
    r"|wrote|chose|grew|built|kept|held|told|saw|brought|threw|broke|drew|flew|fell|rose|paid|spent|taught|caught|met"
    r"|stood|lent|hung|dug|tore|woke|wore|swore|gone|done|taken|given|grown|chosen|written|broken|drawn|fallen)) "
)
"""Somebody did something: what was before may be over."""
_TURNED = re.compile(
    r"\b(?:only|since|after all|lately|again|up to|down to|back (?:at|in|on|from|home|to)|from today"
    r"|this (?:year|season|term))\b",
    re.IGNORECASE,
)
"""Something is so of late: what was before may be over."""


def _overlap(left: Examined, right: Examined, one: Reading, other: Reading) -> float:
    """Return the share of words that both have of the shorter one's, without what is in both subjects."""
    common = content(one.subject) & content(other.subject) if not (one.is_opaque or other.is_opaque) else set()
    words = [content(each.belief.statement) - common for each in (left, right)]
    return len(words[0] & words[1]) / max(1, min(map(len, words)))
