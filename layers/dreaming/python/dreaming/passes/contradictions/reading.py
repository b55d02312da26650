"""What a statement says of what: subject, attribute, value, and whether it ends, denies or changes one. Pure.

English, by sentence forms. A statement without a known form still gives the words around its verb, so
that two of them can be compared; what the forms cannot tell stays open for a judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from dreaming.passes.consolidation.lexicon import IRREGULAR_PAST
from dreaming.passes.consolidation.wording import stem
from dreaming.passes.contradictions import patterns
from dreaming.passes.contradictions.forms import FORMS, Form
from dreaming.passes.contradictions.phrasing import phrased, sense_of, third_person
from dreaming.passes.contradictions.values import Value, read_value, text_key, without_times
from dreaming.passes.contradictions.vocabulary import (
    FIXED,
    attribute_name,
    category,
    is_exclusive,
    is_known,
    state_of,
)

OPAQUE = "says"
"""The attribute of a statement that no form takes apart; its subject is its own text."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing said: `subject` · `attribute` = `value`.

    Without an attribute the value alone tells which one is meant ("left the bakery"). `negative`: the
    value does not hold, or no longer. `past`: it held before the time of speaking. `ended`: values that
    it replaces. `exclusive`: whether a subject has one such value at a time; None when that is unknown.
    `changes`: it says itself that something changed. `sense`: which sort of thing the subject is called.
    `event`: it tells what happened once, in a verb that the forms do not know.
    `adds`: it says that it comes besides what held before ("also").
    """

    subject: str
    attribute: str | None
    value: Value
    negative: bool = False
    past: bool = False
    ended: tuple[Value, ...] = ()
    exclusive: bool | None = None
    changes: bool = False
    sense: str | None = None
    adds: bool = False
    event: bool = False

    @property
    def is_opaque(self) -> bool:
        """Whether the statement could not be taken apart, so that it stands for itself."""
        return self.attribute == OPAQUE

    @property
    def fixed(self) -> bool:
        """Whether the attribute never changes."""
        return self.attribute in FIXED


@lru_cache(maxsize=8192)
def read_statement(statement: str) -> Reading | None:
    """Return what a statement says, or None when it has no subject and verb that can be told apart."""
    text = " ".join(statement.split()).rstrip(" .!;")
    text, changes = phrased(text)
    changes = bool(patterns.CHANGE_CUE.search(text)) or changes
    text = patterns.OUR_GROUP.sub(lambda found: "We" if found.start() == 0 else "we", text)
    text = patterns.HEDGE.sub("", patterns.LEAD_TIME.sub("", text))
    text = text[:1].upper() + text[1:]
    text = patterns.PERFECT.sub(
        lambda found: patterns.PERFECT_PRESENT.get(
            found["verb"],
            re.sub(
                r"e?d$", "s" if not found["verb"].endswith("ed") or found["verb"][-3] != "v" else "es", found["verb"]
            ),
        ),
        text,
    )
    sense, text = sense_of(text)
    found = _ending(text) or _replacing(text) or _stating(text, changes=changes)
    if found is None or not (found.value.words or found.value.numbers):
        return None
    if found.attribute in ("is", "who") and category(found.value.text) in _CHOICES and text.startswith(("Our ", "My ")):
        found = replace(found, subject="we" if text.startswith("Our ") else "author", attribute="uses")
    if found.attribute == "lead" and " " in found.subject:
        found = replace(found, subject=found.subject.removesuffix(" team"))
    adds = patterns.ADDS.search(text) is not None and not found.ended and not found.negative
    return replace(_by_category(found), changes=found.changes or changes, sense=sense, adds=adds)


_CHOICES = frozenset({"database", "cloud", "editor", "chat", "tracker", "ci", "host", "queue"})
_COMMUTES = {
    "cycles": "bike",
    "cycle": "bike",
    "bikes": "bike",
    "bicycle": "bike",
    "walks": "foot",
    "drives": "car",
    "own car": "car",
}


def _by_category(found: Reading) -> Reading:
    """Name an attribute by the kind of choice its value is: what uses Postgres has it for its database."""
    kind = category(found.value.text) or next((kind for old in found.ended if (kind := category(old.text))), None)
    if found.attribute is None and kind in ("mode", "seat"):
        return replace(found, attribute=f"preferred {kind}", exclusive=True)
    deploys = (found.attribute or "").startswith("does ") and (found.attribute or "").endswith(
        (" to", " on", " in", " with", " through", " via")
    )
    if (found.attribute in (None, "uses", "does run") or deploys) and kind in _CHOICES and not found.past:
        return replace(found, attribute=kind, exclusive=True)
    if found.attribute == "is" and (state := state_of(found.value.text)):
        return replace(found, attribute=state, exclusive=True)
    if found.attribute == "prefers":
        return replace(found, attribute=f"preferred {kind}", exclusive=True)
    if found.attribute == "commute":
        way = _COMMUTES.get(found.value.text)
        return replace(found, value=read_value(way)) if way else found
    return found


def _plain(text: str) -> str:
    return patterns.ADVERBS.sub("", text)


def _ending(text: str) -> Reading | None:
    """Read "Lena left the bakery": the value that ends, of an attribute that it alone tells."""
    if patterns.LEFT_SIDE.search(text) or patterns.REPLACED[1].match(_plain(text)):
        return None
    found = patterns.LEFT.match(_plain(text))
    if (
        found is None
        or re.match(
            r"(?:\w+ )?\w{2,}ing(?:$| (?:at|in|on|for|to|as|with|from|the|an?|his|her|their|its)\b)", found["v"]
        )
        or patterns.NEGATION.search(found["s"])
        or re.search(r"\bto\b", found["v"])
    ):
        return None
    return Reading(text_key(found["s"]), None, read_value(found["v"]), negative=True, changes=True)


def _replacing(text: str) -> Reading | None:
    """A sentence about a change: the new value, and the old one where it is told."""
    plain = _plain(text)
    if patterns.NEGATION.search(plain) or patterns.LEFT_SIDE.search(plain):
        return None
    found = patterns.SUCCEEDED.match(plain)
    if found:
        return Reading(
            text_key(found["s"] or ""),
            attribute_name(found["a"]),
            read_value(found["v"]),
            ended=(read_value(found["f"]),),
            exclusive=True,
            changes=True,
        )
    for pattern in patterns.REPLACED:
        found = pattern.match(plain)
        if found:
            return Reading(
                text_key(found["s"]), None, read_value(found["v"]), ended=(read_value(found["f"]),), changes=True
            )
    found = patterns.CHANGED.match(plain)
    if found is None:
        return None
    subject, noun = _subject_and_noun(found["s"], found["o"])
    attribute: str | None = noun
    old = found["f"] or found["f2"]
    value = read_value(found["v"])
    moves_home = (
        attribute is None
        and value.sort is None
        and re.search(r"\b(?:mov(?:ed|es?|ing)|relocat(?:ed|es?))\b", text) is not None
    )
    if moves_home and not old and found["o"] is None and category(value.text) is None:
        attribute = "place"
    if attribute is None and value.sort:
        attribute = value.sort
    ended = (read_value(old),) if old else ()
    return Reading(subject, attribute, value, ended=ended, exclusive=bool(attribute) or None, changes=True)


def _subject_and_noun(subject: str, owned: str | None) -> tuple[str, str | None]:
    """Split "the price of the kiosk", "Priya's phone number", "its datastore" into subject and attribute."""
    if owned:
        name = re.sub(r"^(?:its|their|his|her|the|our)\s+", "", owned)
        return text_key(subject), attribute_name(name)
    for pattern in (patterns.POSSESSIVE, patterns.OF, patterns.NOUN):
        found = pattern.match(f"{subject} is x")
        if found:
            return text_key(found["s"]), attribute_name(found["a"])
    return text_key(subject), None


def _stating(text: str, *, changes: bool) -> Reading | None:
    """A sentence that says what is, was or is not."""
    past = bool(patterns.USED_TO.search(text) or patterns.BEFORE.search(text))
    ended = patterns.NOT_ANY_MORE.search(text) is not None
    text = " ".join(patterns.MORE.sub("", text).split())
    text = patterns.USED_TO_BE.sub("was", text)
    plain = _plain(patterns.BEFORE.sub("", patterns.USED_TO.sub("", text)))
    plain = " ".join(plain.split())
    told = plain
    stopped = patterns.STOPPED.search(plain)
    negative = bool(stopped) or patterns.NEGATION.search(plain) is not None or ended
    if stopped:
        plain = plain[: stopped.start()] + _present(stopped["verb"]) + plain[stopped.end() :]
    elif negative:
        plain = _affirmed(plain)
    modal = _modal(" ".join(patterns.NOT_ANY_MORE.sub("", told).split()), ended=ended)
    ends = negative and (bool(stopped) or ended)
    plain = patterns.NOT_ANY_MORE.sub("", plain).strip()
    found = modal if negative and modal else _by_noun(plain) or _by_form(plain) or modal or _by_verb(plain)
    if found is None:
        return None
    if found is modal:
        return replace(found, past=past and not found.negative, changes=changes or ended)
    past = (past or found.past) and not negative
    return replace(found, negative=negative, past=past, changes=changes or ends)


def _modal(text: str, *, ended: bool) -> Reading | None:
    """Read "visitors must not sign in": what somebody may do, or may not; who must do a thing may do it."""
    found = patterns.MODAL.match(text)
    if (
        found is None
        or len(found["s"].split()) > _LONGEST_ACTOR
        or re.search(r"\b(?:that|which|who|if|when)\b", found["s"])
    ):
        return None
    return Reading(text_key(found["s"]), "may", read_value(found["v"]), negative=bool(found["no"]) != ended)


_LONGEST_ACTOR = 7


def _affirmed(text: str) -> str:
    """Return the sentence without its negation: "does not work" gives "works"."""
    text = patterns.DOES_NOT.sub(lambda found: third_person(found["verb"]), text)

    def kept(match: re.Match[str]) -> str:
        word = re.sub(r"(?: not| yet|n['’]t)", "", match.group(), flags=re.IGNORECASE).lower()
        return word if word in ("is", "are", "was", "were", "has", "have", "had") else ""

    return " ".join(patterns.NEGATION.sub(kept, text).split())


def _present(participle: str) -> str:
    if len(participle) > 3 and participle[-1] == participle[-2] and participle[-1] not in "ls":
        participle = participle[:-1]
    return participle + "s"


def _by_form(text: str) -> Reading | None:
    best: tuple[int, int] | None = None
    chosen: tuple[Form, re.Match[str]] | None = None
    for order, form in enumerate(FORMS):
        found = form.pattern.match(text)
        if found and (best is None or (found.start("v"), order) < best):
            if form.accepts and not form.accepts(found):
                continue
            best, chosen = (len(found["s"] or "") if "s" in form.pattern.groupindex else 0, order), (form, found)
    if chosen is None:
        return None
    form, found = chosen
    subject = text_key(
        _OF_VERB.sub("", without_times(found["s"] if "s" in form.pattern.groupindex else "")) or "author"
    )
    value = read_value(form.value or patterns.TAILS.get(form.attribute, patterns.NO_TAIL).sub("", found["v"]))
    if form.inverse:
        return Reading(
            text_key(without_times(found["v"])), form.attribute, read_value(found["s"]), past=form.past, exclusive=True
        )
    attribute = form.attribute
    exclusive = form.exclusive if form.exclusive is not None else is_exclusive(attribute)
    return Reading(subject, attribute, value, past=form.past, exclusive=exclusive)


_OF_VERB = re.compile(r"(?<=\w)(?: (?:got|has|have|was|is|will|just|finally|then|and))+$")


def _by_noun(text: str) -> Reading | None:
    for pattern in (patterns.POSSESSIVE, patterns.OF, patterns.OF_BARE, patterns.NOUN):
        found = pattern.match(text)
        if found is None:
            continue
        attribute = attribute_name(found["a"])
        if pattern is patterns.OF_BARE and not is_known(attribute):
            continue
        plural = found["t"] in ("are", "were")
        known = is_exclusive(attribute)
        exclusive = known if known is not None else (None if plural else True)
        value = read_value(found["v"])
        if not is_known(attribute) and pattern is not patterns.NOUN and patterns.PLACED.match(found["v"]):
            continue
        if (
            pattern is patterns.POSSESSIVE
            and not is_known(attribute)
            and _is_name(found["v"])
            and re.search(r"(?:called|named) ", text)
        ):
            return Reading(text_key(f"{found['s']} {found['a']}"), "name", value, exclusive=True)
        if _describes(found["v"]):
            return Reading(text_key(f"{found['s']} {found['a']}"), *_typed(value))
        past = found["t"] in ("was", "were") and not _is_participle(found["v"])
        return Reading(text_key(found["s"]), attribute, value, exclusive=exclusive, past=past)
    return None


def _is_participle(value: str) -> bool:
    """Tell whether "was" before a value tells what was done: "was reset to 4 %", "was made head"."""
    return re.match(rf"(?:\w+ed|\w+en|{patterns.IRREGULAR_PARTICIPLE})\b", value) is not None


def _is_name(value: str) -> bool:
    return value[:1].isupper()


def _describes(value: str) -> bool:
    """Tell whether a value says how something is, not what: "very old", "running late"."""
    return re.match(r"(?:very|too|really|so|quite|rather|always|never|going|being|\w+ing)\b", value) is not None


def _typed(value: Value) -> tuple[str, Value]:
    return value.sort or "is", value


_PLURALS = {"children": "child", "people": stem("people"), "men": "man", "women": "woman", "mice": "mouse"}
_PEOPLE = frozenset(map(stem, ("employees", "people", "staff", "members", "workers", "persons", "colleagues")))


def _by_verb(text: str) -> Reading | None:
    found = patterns.HAS_COUNT.match(text)
    if found:
        noun = _PLURALS.get(found["a"], stem(found["a"]))
        counted = "size" if noun in _PEOPLE else f"number of {noun}"
        return Reading(text_key(found["s"]), counted, read_value(found["v"].split(" ")[0]), exclusive=True)
    owned = patterns.HAS_OF.match(text)
    if owned and is_exclusive(attribute_name(owned["a"])):
        return Reading(text_key(owned["s"]), attribute_name(owned["a"]), read_value(owned["v"]), exclusive=True)
    return _by_being(text) or _by_doing(text)


def _by_being(text: str) -> Reading | None:
    """Read "the shed is painted green", "the boat inspection is on 3 March"."""
    holder = patterns.THE_OF.match(text)
    if holder and is_exclusive(attribute_name(holder["a"])) is not False:
        return Reading(
            text_key(without_times(holder["s"])), attribute_name(holder["a"]), read_value(holder["v"]), exclusive=True
        )
    office = patterns.IS_THE.match(text)
    if office:
        flipped = f"The {office['s'].lower()} is {office['v']}"
        return _by_noun(flipped) or Reading(text_key(office["s"]), "who", read_value(office["v"]), exclusive=True)
    found = patterns.IS.match(text)
    if found and len(found["s"].split()) <= 7 and not re.search(r"\b(?:that|which|who|because|when|if)\b", found["s"]):
        value = read_value(re.sub(r"^(?:on|at|due on|due|set for|set to|scheduled for|for) ", "", found["v"]))
        state = found["t"] in ("was", "were") and not _is_participle(found["v"])
        if value.sort:
            return Reading(text_key(found["s"]), value.sort, value, exclusive=True, past=state)
        if not state and patterns.WHO.match(text):
            return Reading(text_key(found["s"]), "who", value, exclusive=True)
        return Reading(text_key(found["s"]), "is", value, past=state)
    return None


def _by_doing(text: str) -> Reading | None:
    """Read any other verb: its stem and particle are the attribute, what follows is the value."""
    found = next((match for pattern in patterns.VERBS if (match := pattern.match(text))), None)
    alone = patterns.ALONE.match(text) if found is None else None
    if alone is not None:
        return Reading(text_key(alone["s"]), "does", read_value(stem(alone["verb"])))
    if found is None:
        found = patterns.SUBJECTLESS.match(text)
        return (
            None
            if found is None
            else Reading("author", f"does {stem(found['verb'].lower())}", read_value(found["rest"]))
        )
    verb = found["verb"]
    attribute = attribute_name(verb)
    base = IRREGULAR_PAST.get(verb, verb)
    if is_exclusive(attribute) is not False and attribute != "weight":
        attribute = f"does {stem(base)}{found['p'] or ''}"
    return Reading(
        text_key(found["s"]),
        attribute,
        read_value(found["v"]),
        exclusive=is_exclusive(attribute),
        event=verb.endswith("ed") or (verb in IRREGULAR_PAST and verb not in ("has", "does", "is")),
    )
