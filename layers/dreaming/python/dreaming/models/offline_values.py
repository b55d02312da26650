"""Reads subject, attribute and value out of a few sentence forms in which they are certain."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Triple:
    """What a sentence says of whom; `multi_valued` attributes may hold several values at once."""

    subject: str
    attribute: str
    value: str
    multi_valued: bool = False


_NAME = r"(?P<subject>[A-Z][\w.\-]*(?: [A-Z][\w.\-]*){0,3})"
_VALUE = r"(?P<value>[^,;:()]{1,120}?)(?: since .{1,40}| because .{1,200})?[.!]?\Z"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DATE = (
    r"(?P<value>\d{4}-\d\d-\d\d"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:, \d{{4}})?|{_DAY}s?)"
)

# Verb, attribute, whether it can have several values at once.
_VERBS = (
    (r"(?:now |currently )?works (?:at|for)", "workplace", False),
    (r"(?:now )?works as", "job", False),
    (r"(?:now )?lives in", "residence", False),
    (r"(?:is|was) born (?:in|on)", "birth", False),
    (r"is (?:now )?on (?:the )?project", "project", False),
    (r"is allergic to", "allergy", True),
    (r"prefers|likes|loves|enjoys", "likes", True),
    (r"hates|dislikes|doesn['’]t like|does not like", "dislikes", True),
    (r"plays", "plays", True),
    (r"speaks", "language", True),
    (r"reports to", "manager", False),
)
_BY_VERB = tuple(
    (re.compile(rf"{_NAME} (?:{verb}) {_VALUE}"), attribute, several) for verb, attribute, several in _VERBS
)
# "Mia's cat is called Fig", "Priya's phone number is 555".
_POSSESSIVE = re.compile(rf"{_NAME}['’]s (?P<attribute>[a-z][\w\- ]{{1,40}}?) (?:is|are) (?:called |named )?{_VALUE}")
# "The price of the kiosk is 25 euros".
_OF = re.compile(
    rf"[Tt]he (?P<attribute>[a-z][\w\-]{{1,30}}) (?:of|for) (?P<subject>[\w\- ]{{2,60}}?) (?:is|are) {_VALUE}"
)
# "The boat inspection is (on) 3 March".
_ON_DATE = re.compile(
    rf"[Tt]he (?P<subject>[\w\-]+(?: [\w\-]+){{0,3}}) is (?:on |due on |due )?{_DATE}[.!]?\Z", re.IGNORECASE
)
# The value of a sentence about a state, a plan or an opinion is not a value.
_NO_VALUE = re.compile(
    r"(?:not|no longer|still|very|too|really|always|never|going|being|[a-z]+ing)\b|.* (?:and|but|or|when|than) ",
    re.IGNORECASE,
)


def triple(statement: str) -> Triple | None:
    """Return what `statement` says, or None unless its form leaves no doubt."""
    for pattern, attribute, several in _BY_VERB:
        if (found := pattern.match(statement)) and not _NO_VALUE.match(found["value"]):
            return Triple(found["subject"], attribute, found["value"], several)
    if found := _ON_DATE.match(statement):
        return Triple(found["subject"], "date", found["value"])
    for pattern in (_POSSESSIVE, _OF):
        if (found := pattern.match(statement)) and not _NO_VALUE.match(found["value"]):
            return Triple(found["subject"], found["attribute"], found["value"])
    return None
