"""The claim check: a statement may say only what its note can bear, and must be one.

Numbers and proper names of the statement must occur in the note or its metadata. Dates are the
exception, because the model resolves them: a date is fine when its parts occur, when it is the note's
own, or when the note speaks of time in relation to itself ("yesterday", "in two weeks", "on Friday",
"3 March") and the date lies within a year of the note.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from datetime import date, datetime
from functools import cached_property, lru_cache

from dreaming.beliefs.words import fold, is_unspaced, tokens
from dreaming.errors import RejectClaim
from dreaming.notes.records import Note
from dreaming.passes.consolidation.quantities import DateParts, Quantities, plain, read_quantities
from dreaming.passes.consolidation.records import Claim
from dreaming.passes.consolidation.wording import identifiers, names, stem

MAX_STATEMENT = 500
"""The longest statement, in characters."""

_RESOLVABLE_DAYS = 366
_SHARED_BIGRAMS = 0.25  # of a statement in a script without spaces or capitals, at least in the note


def check_statement(claim: Claim, *, note: Note, forbidden: Collection[str] = ()) -> str:
    """Return the claim's statement, cleaned (NFC, white space collapsed), if the note bears it.

    `forbidden` are internal identifiers; one that stands in the note's own text or metadata is no
    secret and may be used.

    Raises:
        RejectClaim: rule `statement_empty`, `statement_long`, `statement_placeholder`,
            `statement_unfinished`, `statement_repeats`, `statement_instructs`, `statement_internal`,
            `statement_number`, `statement_name`, or `statement_unfounded` (for scripts without capitals).
    """
    statement = clean(claim.statement)
    if not fold(statement):
        raise RejectClaim("statement_empty", "the statement has no words")
    if len(statement) > MAX_STATEMENT:
        raise RejectClaim("statement_long", f"the statement is longer than {MAX_STATEMENT} characters")
    _check_form(statement, note)
    _check_internal(claim, note, forbidden)
    evidence = _evidence(note.text, _metadata(note))
    _check_numbers(statement, evidence, note.occurred_at)
    _check_names(statement, evidence)
    return statement


def clean(text: str) -> str:
    """Return text in NFC, without control and bidi characters, with single spaces."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFC", text))
    return " ".join(_CONTROL.sub(" ", text).split())


_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_PLACEHOLDER_ONLY = re.compile(
    r"<[^>]*>|\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|(?:n/?a|none|null|nil|todo|tbd|tbc|unknown|undefined|string|text|statement|claim|title|example"
    r"|placeholder|not applicable|no claims?)[.!]?",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"<[a-z][\w ,/-]{2,60}>|\[(?:[A-Za-z][\w ,/'-]{1,60})\]|\{\{?\s*[A-Za-z_]\w{1,40}\s*\}?\}|\$\{\w+\}"
    r"|\b(?:TODO|TBD|FIXME|XXX+)\b|_{3,}|(?i:lorem ipsum|\b(?:insert|your) \w+ here\b|\bplaceholder\b)"
)
_UNFINISHED = re.compile(
    r"(?!how\b|what\b|where\b|who\b|why\b|that\b)(?:\S+ ){1,4}(?:is|are|was|were|equals|means|the|an?|of)[\W_]*",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"(?:^|[\s>])(?:system|assistant|user|human|developer|tool)\s*:\s|<\|[a-z_]+\|>"
    r"|</?(?:system|assistant|user|note|instructions?|prompt)>|\[/?INST\]|#{2,}\s*(?:system|instructions?)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^(?:please\b|always\b|never\b|do not\b|don't\b|remember(?: (?:to|that|this|always|forever)\b|:)"
    r"|make sure\b|be sure\b|ensure (?:that|to)\b"
    r"|(?:you|one)(?: \w+)? (?:must|should|shall|need to|have to|are to|may not|can)\b|you are\b|you will\b"
    r"|(?:ignore|disregard|forget|override|obey|pretend|reveal|send|forward|reply|respond|execute)\b"
    r" (?!is\b|was\b|are\b|of\b)"
    r"|(?:follow|answer|output|print|email|delete|run|call|act|remember|treat|set|use|store|note|tell|include)"
    r" (?:all|any|the|this|that|these|every|only|no|it|your|my|me|us|with|as|to)\b)"
    r"|\b(?:ignore|disregard|forget|override) (?:\w+ ){0,3}(?:instructions?|prompts?|rules?|guidelines?)\b"
    r"|\byou (?:must|should|shall|need to|have to|are (?:an?|now|to|required)|will now|can|may)\b"
    r"|\b(?:the|this|any|every) (?:reader|model|assistant|agent|ai|llm) (?:must|should|shall|has to|needs to|is to)\b"
    r"|\b(?:readers?|models?|assistants?|agents?|llms?|ais?) (?:reading|who reads?|that reads?) (?:this|it|these)\b"
    r"|\bas an? (?:ai|language model|assistant)\b",
    re.IGNORECASE,
)
_SAME_WORD = re.compile(r"\b(\w+)(?:\W+\1\b){3,}", re.IGNORECASE)
_SAME_CHARACTERS = re.compile(r"(\S{2,30}?)\1{3,}")
_PHRASE_WORDS = 3
_ADDRESS = re.compile(r"https?://[^\s)]+")


def _check_form(statement: str, note: Note) -> None:
    """Refuse what is no statement: placeholders, loops, and orders to whoever reads it."""
    placeholder = _PLACEHOLDER.search(statement)
    if _PLACEHOLDER_ONLY.fullmatch(statement) or (placeholder and placeholder.group() not in note.text):
        raise RejectClaim("statement_placeholder", "the statement holds a placeholder")
    if _UNFINISHED.fullmatch(statement):
        raise RejectClaim("statement_unfinished", "the statement ends before it says anything")
    if _repeats(statement):
        raise RejectClaim("statement_repeats", "the statement repeats a phrase")
    if _ROLE.search(statement) or _INSTRUCTION.search(statement):
        raise RejectClaim("statement_instructs", "the statement addresses its reader")


def _repeats(statement: str) -> bool:
    """Say whether a word stands four times in a row, three words twice in a row, or four words three times."""
    words = list(tokens(_ADDRESS.sub(" ", statement)))
    if _SAME_WORD.search(statement) or _SAME_CHARACTERS.search(statement):
        return True
    seen: dict[tuple[str, ...], int] = {}
    for at in range(len(words)):
        phrase = tuple(words[at : at + _PHRASE_WORDS + 1])
        seen[phrase] = seen.get(phrase, 0) + 1
        for size in range(_PHRASE_WORDS, (len(words) - at) // 2 + 1):
            if words[at : at + size] == words[at + size : at + 2 * size]:
                return True
    return any(count > 2 and len(phrase) > _PHRASE_WORDS for phrase, count in seen.items())


def _metadata(note: Note) -> tuple[str, ...]:
    return tuple(filter(None, (note.author, *note.participants, note.source)))


def _check_internal(claim: Claim, note: Note, forbidden: Collection[str]) -> None:
    """Refuse an internal identifier anywhere in the claim, unless the note itself uses it."""
    said = " \n ".join(
        filter(
            None, (claim.statement, claim.subject, claim.attribute, claim.value, *(r.target for r in claim.relations))
        )
    ).casefold()
    known = " \n ".join((note.text, *_metadata(note))).casefold()
    for identifier in filter(None, map(str.casefold, forbidden)):
        pattern = re.compile(rf"(?<!\w){re.escape(identifier)}(?!\w)")
        if pattern.search(said) and not pattern.search(known):
            raise RejectClaim("statement_internal", "the claim names an internal identifier")


class _Evidence:
    """What a note and its metadata offer: its words and their stems, its digits, and on demand its quantities."""

    def __init__(self, text: str, metadata: tuple[str, ...]) -> None:
        """Read them once for all claims of the note."""
        self._text = plain("\n".join((text, *metadata)))
        self.folded = self._text.casefold()
        self.digits = frozenset(digits.lstrip("0") or "0" for digits in re.findall(r"\d+", self._text))
        found = set(re.findall(r"\w+", self.folded))
        self.words = frozenset(found | {stem(word) for word in found})

    @cached_property
    def quantities(self) -> Quantities:
        """Everything of the text that counts or dates."""
        return read_quantities(self._text)

    @cached_property
    def values(self) -> frozenset[str]:
        """The values of the text's numbers, and all its digits as they stand."""
        read = (number.value.lstrip("-") for number in self.quantities.numbers)
        return self.digits.union(read, re.findall(r"(?<!\d)\d+(?:[.,]\d+)+", self._text))

    @cached_property
    def relative(self) -> bool:
        """Whether the text speaks of time in a way that a date can come of."""
        return self.reach > 0

    @cached_property
    def reach(self) -> int:
        """How many days from the note's own date a date may lie that comes of what the text says of time."""
        found = {match.group().lower() for match in _RELATIVE.finditer(self._text)}
        if found and found <= _NEAR and not (self.quantities.weekdays or self.quantities.dates):
            return _NEAR_DAYS
        return _RESOLVABLE_DAYS if found or self.quantities.weekdays or self.quantities.dates else 0

    @cached_property
    def years_apart(self) -> frozenset[int]:
        """The small numbers of the text, which may count the years to or from a year."""
        return frozenset(int(value) for value in self.values if value.isdecimal() and len(value) < 3)


@lru_cache(maxsize=1)  # the claims of one note come in a row
def _evidence(text: str, metadata: tuple[str, ...]) -> _Evidence:
    return _Evidence(text, metadata)


_RELATIVE = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|now|ago|from now|later|earlier|recently|since|until"
    r"|this (?:morning|afternoon|evening|week|month|year|quarter|spring|summer|autumn|fall|winter)"
    r"|(?:last|next|past|previous|coming|following) \w+|in (?:a|an|one|two|three|four|five|six|\d+) \w+"
    r"|the \d{1,2}(?:st|nd|rd|th)|days?|weeks?|months?|years?"
    r"|heute|gestern|morgen|vorgestern|übermorgen|letzte\w*|nächste\w*|vor|seit"
    r"|hier|aujourd'hui|demain|dernier\w*|prochaine?|depuis|hoy|ayer|mañana|pasad[oa]|próxim[oa]|hace|desde)\b"
    r"|今天|昨天|明天|前天|后天|上周|下周|上个|下个|去年|明年|今年|本周|今日|昨日|明日|来週|先週",
    re.IGNORECASE,
)


_NEAR_WORDS = (
    "today|tonight|yesterday|tomorrow|day|this morning|this afternoon|this evening|heute|gestern|morgen|vorgestern"
    "|übermorgen|aujourd'hui|hier|demain|hoy|ayer|mañana|今天|昨天|明天|前天|后天|今日|昨日|明日"
)
_NEAR = frozenset(_NEAR_WORDS.split("|"))
"""What names a day at most two from the note's own; "the day before yesterday" is read as its parts."""

_NEAR_DAYS = 7


def _check_numbers(statement: str, evidence: _Evidence, occurred_at: datetime) -> None:
    """Refuse a number, a date or a time of day that neither note nor metadata can have given."""
    said = read_quantities(statement)
    for number in said.numbers:
        if not number.weak and not _has_number(number.value.lstrip("-"), evidence, occurred_at):
            raise RejectClaim("statement_number", "the statement has a number that the note has not")
    for moment in said.dates:
        if not any(_can_mean(reading, evidence, occurred_at) for reading in moment.readings):
            raise RejectClaim("statement_number", "the statement has a date that the note does not give")
    for time in said.times:
        known = any(time.readings & other.readings for other in evidence.quantities.times)
        hours = {str(reading // 60 % 12 or 12) for reading in time.readings}
        if not known and not (hours & evidence.values or occurred_at.hour * 60 + occurred_at.minute in time.readings):
            raise RejectClaim("statement_number", "the statement has a time of day that the note does not give")


def _has_number(value: str, evidence: _Evidence, occurred_at: datetime) -> bool:
    """Say whether a number occurs, or is part of the note's own date, or a year reckoned from it."""
    if value in evidence.digits or value in map(str, (occurred_at.year, occurred_at.month, occurred_at.day)):
        return True
    if value in evidence.values:
        return True
    apart = abs(int(value) - occurred_at.year) if value.isdecimal() and len(value) == 4 else None
    return apart is not None and (apart in evidence.years_apart or (apart == 1 and evidence.relative))


def _can_mean(reading: DateParts, evidence: _Evidence, occurred_at: datetime) -> bool:
    """Say whether the note can have given a date: by its parts, as its own date, or by date arithmetic."""
    year, month, day = reading
    for moment in evidence.quantities.dates:
        for known in moment.readings:
            if known[1] == month and known[2] in (day, None) and year in (known[0], None):
                return True
    if year in (occurred_at.year, None) and month == occurred_at.month and day in (occurred_at.day, None):
        return True
    try:
        moment_date = date(year or occurred_at.year, month, day or 1)
    except ValueError:
        return False
    return evidence.relative and abs((moment_date - occurred_at.date()).days) <= evidence.reach


def _check_names(statement: str, evidence: _Evidence) -> None:
    """Refuse a proper name or an identifier that neither note nor metadata has."""
    text = plain(statement)
    for identifier in identifiers(text):
        if identifier not in evidence.folded:
            raise RejectClaim("statement_name", "the statement has an identifier that the note has not")
    for name in names(text):
        if name.certain and not _is_known(name.word, evidence):
            raise RejectClaim("statement_name", "the statement has a name that the note has not")
    unspaced = [token for token in tokens(text) if is_unspaced(token)]
    bigrams = [run[at : at + 2] for run in unspaced for at in range(len(run) - 1)]
    if bigrams and sum(bigram in evidence.folded for bigram in bigrams) < _SHARED_BIGRAMS * len(bigrams):
        raise RejectClaim("statement_unfounded", "the statement shares next to nothing with the note")


def _is_known(name: str, evidence: _Evidence) -> bool:
    """Say whether a name occurs, also inflected: Norwegian for Norway, Peters for Peter."""
    if name in evidence.words or stem(name) in evidence.words:
        return True
    parts = re.findall(r"\w+", name)
    if len(parts) > 1 and (name in evidence.folded or all(part in evidence.words for part in parts)):
        return True
    beginning = name[: max(4, len(name) - 5 if len(name) > 8 else len(name) - 2)]
    return len(name) > 4 and any(word.startswith(beginning) for word in evidence.words)
