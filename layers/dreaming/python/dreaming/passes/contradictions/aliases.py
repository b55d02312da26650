"""Which names are one thing, as statements tell it: other names, nicknames, short forms, renames. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dreaming.beliefs.records import ArchiveReason
from dreaming.notes.records import Trust
from dreaming.passes.contradictions.values import text_key


@dataclass(frozen=True, slots=True)
class Alias:
    """Two folded names of one thing, the lower one first, and the form that tells it."""

    name: str
    other_name: str
    form: str


def may_name(sources: int, trust: Trust, archive_reason: ArchiveReason | None) -> bool:
    """Tell whether a belief with so many sources may say that two names are one thing's.

    Only a trusted one: who sends mail must not make two people one. None that a person put out of sight.
    """
    return sources > 0 and trust is Trust.TRUSTED and archive_reason is not ArchiveReason.PERSON


_N = r"[A-Z][\w&.'’+-]*(?: (?:[A-Z0-9][\w&.'’+-]*|of|de|van|der)){0,4}"
_ID = r"[a-zA-Z][a-zA-Z0-9]*(?:[-_./][a-zA-Z0-9]+)*"
_OLD_ID = (
    r"(?:(?:(?<=repo )|(?<=repository )|(?<=service )|(?<=package )|(?<=library )|(?<=module )|(?<=branch )"
    r"|(?<=server )"
    r"|(?<=project ))[a-zA-Z][\w-]*|[a-zA-Z][a-zA-Z0-9]*(?:[-_][a-zA-Z0-9]+)+)"
)
# Between a name and its verb; a noun there would make it another thing's name ("the Lisbon office is called Harbor").
_ASIDE = r"(?: (?:also|always|mostly|often|usually|sometimes|now|just|simply|still|who|which|[a-z]+ly)){0,3}"
_MARRIED = r"(?: (?:has |is )?(?:got |just )?married,?(?: \w+){0,2} and)?"
_Q = r"[\"“'‘]?"
_FORMS = tuple(
    (form, re.compile(pattern))
    for form, pattern in (
        (
            "known as",
            (
                rf"(?P<a>{_N}),? (?:is |are |was )?(?:also |better |commonly |otherwise |usually "
                rf"|generally )?(?:known|referred to)(?: to (?:everyone|everybody|friends|all))? as {_Q}(?P<b>{_N})"
            ),
        ),
        ("aka", rf"(?P<a>{_N}),? \(?(?:aka|a\.k\.a\.|alias) {_Q}(?P<b>{_N})"),
        (
            "called",
            (
                rf"(?P<a>{_N}),? (?:whom|who|which|that) (?:everyone|everybody|we|they|people|friends|most people"
                rf"|the team|all|(?:his|her|their) friends|colleagues)(?: \w+)? (?:calls?|knows? as"
                rf"|nicknames?) {_Q}(?P<b>{_N})"
            ),
        ),
        (
            "called",
            (
                rf"(?:[Ee]veryone|[Ee]verybody|[Ww]e|[Tt]hey|[Pp]eople|[Ff]riends|[Cc]olleagues|[Tt]he team"
                rf"|[Mm]ost people|(?:[Hh]is|[Hh]er"
                rf"|[Tt]heir) friends)(?: \w+)? calls? (?P<a>{_N}?) {_Q}(?P<b>[A-Z][\w&.'’+-]*)"
            ),
        ),
        (
            "called",
            (
                rf"(?P<a>{_N}),? [(–—-] ?(?:everyone|everybody|we|they|people|friends"
                rf"|all)(?: \w+)? calls? (?:him|her|it|them) "
                rf"{_Q}(?P<b>{_N})"
            ),
        ),
        (
            "goes by",
            (
                rf"(?<![\w-])(?P<a>{_N}){_MARRIED}{_ASIDE} (?:goes by|answers to|is called|is nicknamed|is now called"
                rf"|is now known as)(?: the (?:nick)?name(?: of)?)? {_Q}(?P<b>{_N})(?! (?:in|by) )"
            ),
        ),
        (
            "short for",
            (
                rf"(?P<a>{_N}) is (?:short|the short form|an abbreviation|an acronym|another name|a nickname"
                rf"|the nickname|our name|the code ?name|code ?name) (?:for|of) {_Q}(?:the )?(?P<b>{_N})"
            ),
        ),
        (
            "the same as",
            (
                rf"(?P<a>{_N}) (?:is|are) (?:the same (?:person|thing|company|project|team|place|product|one) as"
                rf"|identical (?:to|with)) {_Q}(?P<b>{_N})"
            ),
        ),
        (
            "renamed",
            (
                rf"(?P<a>{_N}) (?:was|has been|is being|got|is) (?:renamed|rebranded|retitled|relabell?ed)(?: (?:to|as"
                rf"|into))? {_Q}(?P<b>{_N})"
            ),
        ),
        (
            "renamed",
            rf"(?P<a>{_N}) (?:has )?(?:changed|changes) (?:its|her|his|their) (?:\w+ )?name to {_Q}(?P<b>{_N})",
        ),
        (
            "renamed",
            (
                rf"(?P<a>{_N}) (?:has )?(?:(?:renamed|rebranded) itself(?: (?:to|as))?|rebranded (?:to"
                rf"|as)) {_Q}(?P<b>{_N})"
            ),
        ),
        ("renamed", rf"[Ww]e (?:have )?renamed (?:the )?(?:[a-z]+ )?(?P<a>{_N}) (?:to|into) {_Q}(?P<b>{_N})"),
        (
            "renamed",
            (
                rf"(?P<a>{_OLD_ID}) (?:was|has been|is being|got|is) (?:now )?(?:renamed|rebranded|retitled|called)"
                rf"(?: (?:to|as|into))? {_Q}(?P<b>{_ID})\b(?! [a-z])"
            ),
        ),
        (
            "renamed",
            (
                rf"\b[Rr]enam(?:ed|e|es|ing) (?:the )?(?:\w+ )?(?P<a>{_OLD_ID}) (?:to|into|as|->|→) "
                rf"{_Q}(?P<b>{_ID})\b(?! [a-z])"
            ),
        ),
        (
            "renamed",
            rf"(?P<a>{_N}) (?:is|trades) now (?:as )?(?P<b>{_N} (?:AB|AG|GmbH|Inc|Ltd|LLC|plc|SA|Oy|BV|Corp|Group)\b)",
        ),
        (
            "formerly",
            (
                rf"(?P<a>{_N}),? \(?(?:formerly|previously|once|née|nee|born|then)(?: known as| called"
                rf"| named)? {_Q}(?P<b>{_N})"
            ),
        ),
        (
            "in brackets",
            (
                r"(?P<a>[A-Z][\w.+-]*(?: [A-Z][\w.+-]*){0,4}) \((?:or |the |also "
                r"|our )?[\"“'‘]?(?P<b>[A-Z][\w.+-]*)[\"”'’]?\)"
            ),
        ),
    )
)
_NO_NAME = frozenset({"the", "a", "i", "he", "she", "it", "we", "they", "this", "that", "everyone", "on", "in"})


def told_aliases(statement: str) -> tuple[Alias, ...]:
    """Return the names that a statement says are one thing's.

    A name in brackets counts only when it is a short form of the name before: its beginning, its
    initials, or the same letters in order. "Berlin (Germany)" tells no alias.
    """
    found: dict[tuple[str, str], Alias] = {}
    for form, pattern in _FORMS:
        for match in pattern.finditer(statement):
            left, right = text_key(match["a"]), text_key(match["b"])
            if left == right or not left or not right or {left, right} & _NO_NAME:
                continue
            if form == "in brackets" and not _is_short_form(left, right):
                continue
            for one, other in ((left, right), *_with_sort(match["a"], left, right)):
                low, high = sorted((one, other))
                found.setdefault((low, high), Alias(low, high, form))
    return tuple(found.values())


_SORTED = re.compile(r"(?P<sort>[A-Z][a-z]+) (?=[A-Z0-9][\w-]*\d|[A-Z]{2,}\b)")


def _with_sort(written: str, left: str, right: str) -> list[tuple[str, str]]:
    """Let "Sample KX-4" that is now "AL-4" be "Sample AL-4" as well."""
    sort = _SORTED.match(written)
    head = sort["sort"].lower() if sort else left.partition(" ")[0]
    if not (sort or head in _HEADS) or right.partition(" ")[0] == head:
        return []
    return [(left, f"{head} {right}")]


def _is_short_form(long: str, short: str) -> bool:
    if len(short) >= len(long):
        return False
    initials = "".join(word[0] for word in long.split())
    letters = iter(long.replace(" ", ""))
    return long.startswith(short) or short == initials or (long[0] == short[0] and all(one in letters for one in short))


_HEADS = frozenset(
    {"project", "team", "company", "app", "service", "product", "repo", "repository", "library", "module"}
)


def without_head(name: str) -> str:
    """Return "fern" for "project fern": a name may stand with or without the sort of thing that it names."""
    first, _, rest = name.partition(" ")
    return rest if rest and first in _HEADS else name


def canonical_names(aliases: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return for each name the one that stands for all its like: the first in the order of letters.

    The outcome depends on the set of pairs alone, not on their order.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    pairs = list(aliases)
    heads = {(name, bare) for pair in pairs for name in pair if (bare := without_head(name)) != name}
    for left, right in (*pairs, *sorted(heads)):
        low, high = sorted((root(left), root(right)))
        parent[high] = low
    return {name: root(name) for name in parent}


def resolve(subject: str, canonical: Mapping[str, str]) -> str:
    """Return a subject under its canonical name; one at either end of it counts too ("bob phone", "gym orbit")."""
    if not canonical:
        return subject
    if subject in canonical:
        return canonical[subject]
    if (bare := without_head(subject)) in canonical:
        return canonical[bare]
    words = subject.split(" ")
    for size in range(len(words) - 1, 0, -1):
        name = " ".join(words[:size])
        if name in canonical:
            rest = " ".join(words[size:])
            return canonical[name] if canonical.get(rest) == canonical[name] else f"{canonical[name]} {rest}"
        name = " ".join(words[-size:])
        if name in canonical:
            return " ".join((*words[:-size], canonical[name]))
    return subject
