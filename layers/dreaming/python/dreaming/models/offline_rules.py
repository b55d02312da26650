"""Decides whether a sentence states something durable, and what. English, by word lists, no model.

Precision comes before recall: a sentence is refused at the first sign that it does not hold, does not
stand alone, or is not meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from dreaming.beliefs.records import DecayClass, Importance, Kind
from dreaming.models import offline_cues as cues
from dreaming.models.offline_sentences import Sentence, Voice

_MAX_CHARACTERS = 400
_MAX_WORDS = {Voice.WRITTEN: 45, Voice.SPOKEN: 30, Voice.COMMIT: 30}
_WORD = re.compile(r"\w+(?:['’]\w+)*|['’]\w+")
_SPLIT_CLITIC = re.compile(r"\s+(?=(?:['’](?:s|m|re|ve|ll|d|t|em)|n['’]t)\b)", re.IGNORECASE)
_SPACED_POINT = re.compile(r"\s+([,.;:!?])(?=\s|\Z)")
_OPENER = re.compile(r"[\s,.;:…\-–—]*(['’]?\w+(?:['’]\w+)?)([\s,.;:…\-–—]*)")
_LEADING = re.compile(r"[\s,.;:…\-–—*_]+")
_URL = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+")
_CODE = re.compile(r"::|=>|->|==|!=|&&|\|\||\w\(\w*\)\s*[;{]|</\w|\w+\(.{0,80}=|[{}<>|\\$;~#]{2,}")
_CODE_CHARACTERS = re.compile(r"[{}<>=|\\$~#^\[\]]")
_QUOTATION = re.compile(r"[\"“„«][^\"“”»]*[\"”»]")
_FIRST_PERSON = re.compile(
    r"(?<![\w'’])(?:i|me|my|mine|myself|we|us|our|ours|ourselves)(?:['’](?:m|ve|ll|d|re|s))?(?![\w'’])", re.IGNORECASE
)
_STUTTER = re.compile(r"\b(\w+)[\s,]+\1\b|\b(?!a|i)([a-z]{1,3}) \2[a-z]+", re.IGNORECASE)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_NUMBER = re.compile(
    r"\d|\b(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|percent|euros?|dollars?)\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve) (?:[a-z]+ )?"
    r"(?!minutes|seconds|times|things)[a-z]{3,}s\b",
    re.IGNORECASE,
)
_TASK = re.compile(r"\b(?:i|we) (?:\w+ )?(?:have|need|had) to\b", re.IGNORECASE)
_RELATIVE_DAY = re.compile(
    r"\b(the day before yesterday|the day after tomorrow|yesterday|today|tomorrow)\b(?!['’])", re.IGNORECASE
)
_DAYS_AWAY = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a sentence says, with the span of the passage that says it."""

    kind: Kind
    statement: str
    start: int
    end: int
    confidence: float
    importance: Importance
    decay_class: DecayClass


@dataclass(frozen=True, slots=True)
class _Reading:
    """A sentence made ready for the word lists: clitics joined, words folded, span trimmed."""

    text: str
    words: tuple[str, ...]
    start: int
    end: int
    voice: Voice
    speaker: str | None
    trimmed: bool

    @property
    def first_person(self) -> bool:
        return _FIRST_PERSON.search(self.text) is not None


def judge(sentence: Sentence, day: date) -> Finding | None:
    """Return what `sentence` states, or None when it should not be remembered.

    `day` is the note's own date, against which "yesterday" resolves. Example: `Priya: Well, we decided
    to use Postgres.` gives the decision `Priya said: We decided to use Postgres.`
    """
    if _IDEOGRAPH.search(sentence.text):
        return _judge_unspaced(sentence)
    reading = _read(sentence)
    if not _readable(reading) or cues.JOKE.search(sentence.text) or cues.JOKE.match(sentence.next_text):
        return None
    if reading.voice is Voice.COMMIT:
        trivial = cues.TRIVIAL_COMMIT.search(reading.text)
        finding = None if trivial else _judge_commit(reading)
        if trivial or finding:
            return finding
    if not _meant(reading) or not _stands_alone(reading) or not _lasting(reading):
        return None
    kind = _kind(reading)
    # "Where none is wanted" in a commit tells nobody's taste.
    if kind is None or (kind is Kind.PREFERENCE and reading.voice is Voice.COMMIT):
        return None
    return _finding(reading, kind, day)


def opens_commit(sentence: Sentence) -> bool:
    """Whether a first line reads like a commit subject even though its source does not say "git"."""
    words = _read(sentence).words
    return len(words) >= 3 and _commit_verb(words) in cues.PLAIN_COMMIT_VERBS


def _read(sentence: Sentence) -> _Reading:
    start = sentence.start
    for _ in range(8):
        opener = _OPENER.match(sentence.text, start - sentence.start)
        if not opener or not _is_filler(opener, sentence):
            break
        start = sentence.start + opener.end()
    leading = _LEADING.match(sentence.text, start - sentence.start)
    start = sentence.start + leading.end() if leading else start
    text = sentence.text[start - sentence.start :]
    text = _SPACED_POINT.sub(r"\1", _SPLIT_CLITIC.sub("", " ".join(text.split())))
    words = tuple(word.casefold().replace("’", "'") for word in _WORD.findall(text))
    return _Reading(text, words, start, sentence.end, sentence.voice, sentence.speaker, start > sentence.start)


def _is_filler(opener: re.Match[str], sentence: Sentence) -> bool:
    word, pause = opener[1].casefold().replace("’", "'"), opener[2]
    if opener.end() >= len(sentence.text):
        return False
    if word == "so":
        following = _WORD.match(sentence.text, opener.end())
        return following is None or following.group().casefold() not in cues.AFTER_SO
    if sentence.voice is Voice.SPOKEN and word in ("well", "then"):
        return True
    return word in cues.FILLERS or (word in cues.OPENERS and any(mark in pause for mark in ",.;:…–—"))


def _readable(reading: _Reading) -> bool:
    """Whether it is prose of an acceptable length: no code, no bare address, no noise marks."""
    text, words = reading.text, reading.words
    if not 3 <= len(words) <= _MAX_WORDS[reading.voice] or not 12 <= len(text) <= _MAX_CHARACTERS:
        return False
    if cues.TRANSCRIPT_MARKUP.search(text) or _CODE.search(text):
        return False
    prose = _URL.sub(" ", text)
    return len(_WORD.findall(prose)) >= 3 and len(_CODE_CHARACTERS.findall(prose)) * 25 <= len(prose)


def _meant(reading: _Reading) -> bool:
    """Whether the speaker states it: no question, order, courtesy, guess, or words of somebody else."""
    text, words = reading.text, reading.words
    if text.rstrip("\"'”’)] ").endswith(("?", "…", "...")) or words[0] in cues.AUXILIARIES:
        return False
    if words[0] in cues.ORDERS and words[1] not in cues.VERBS:
        return False
    quoted = any(span.group().count(" ") >= 2 for span in _QUOTATION.finditer(text))
    refused = cues.COURTESY.match(text) or cues.SECOND_PERSON.search(text) or cues.HYPOTHETICAL.search(text)
    others = cues.HEARSAY.search(text) or _foreign(words)
    return not (refused or others or quoted or text[0] in "\"“„«'‘")


def _foreign(words: tuple[str, ...]) -> bool:
    """Whether it is of a language whose words these lists would misread, such as "am" in German."""
    return sum(word in cues.FOREIGN for word in words) >= 2 + sum(word in cues.ENGLISH for word in words)


def _stands_alone(reading: _Reading) -> bool:
    """Whether it can be understood without its neighbours."""
    text, words = reading.text, reading.words
    if words[0] in cues.LEANING_STARTS or words[0].endswith("ed") or not _has_verb(reading):
        return False
    if cues.DANGLING_DEMONSTRATIVE.search(text) or _STUTTER.search(text):
        return False
    if reading.first_person and not reading.speaker and not _shared(reading):
        return False
    if reading.voice is Voice.SPOKEN:
        return _spoken_whole(reading)
    return "here" not in words and not cues.LOOSE_PRONOUNS.search(" ".join(words[:4]))


_SHARED_ACT = re.compile(
    r"we (?:\w+ly |also |now |have |all )*(?:decided (?:to|on|against|that)|agreed (?:to|on|that)"
    r"|chose|use|switched (?:to|from)"
    r"|migrated|adopted|deploy|host|support|standardi[sz]ed on|replaced|settled on|went with|no longer|stopped|dropped"
    r"|upgraded|raised|lowered)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?<![\w'’])(?:i|me|my|mine|myself)(?:['’](?:m|ve|ll|d|re|s))?(?![\w'’])", re.IGNORECASE)


def _shared(reading: _Reading) -> bool:
    """Whether a written sentence tells what "we" do or decided together: that holds for whoever keeps the note."""
    written = reading.voice is Voice.WRITTEN
    return written and _SHARED_ACT.match(reading.text) is not None and _ALONE.search(reading.text) is None


def _spoken_whole(reading: _Reading) -> bool:
    """Whether a spoken sentence was begun and ended, without hesitation or a new start."""
    text, words = reading.text, reading.words
    continues = text[0].islower() and not reading.trimmed and text.endswith(".")
    if continues or text[-1] in ",:;-–—" or words[-1] in cues.BROKEN_ENDS:
        return False
    if any(len(word) == 1 and word.isalpha() and word not in "ai" for word in words):
        return False
    return not (cues.LOOSE_PRONOUNS.search(text) or cues.HESITATION.search(text) or cues.RESTART.search(text))


def _lasting(reading: _Reading) -> bool:
    """Whether it still says something next month."""
    text = reading.text
    if cues.TRANSIENT.search(text) or cues.UNRESOLVED_TIMES.search(_RELATIVE_DAY.sub(" ", text)):
        return False
    return not (reading.voice is Voice.SPOKEN and cues.MEETING_MECHANICS.search(text))


def _has_verb(reading: _Reading) -> bool:
    """Whether a finite verb follows a subject; the first word is never counted as the verb."""
    words = reading.words
    if words[0].endswith(("'re", "'ve", "'m", "'ll")) or _habit(reading):
        return True
    for before, word in pairwise(words):
        if before in ("i", "we", "they") or word.endswith(("n't", "'ll", "'ve", "'re", "'m")):
            return True
        plural = before.endswith("s") or before == "people" or word not in cues.AFTER_PLURAL
        if word in cues.VERBS and before not in cues.NO_VERB_AFTER and plural:
            return True
        if word.endswith("ed") and len(word) >= 5 and before not in cues.NOT_PAST_AFTER:
            return True
    return False


def _habit(reading: _Reading) -> bool:
    """Whether a written name is followed by a verb in the present: "Tom sails on Sundays"."""
    if reading.voice is not Voice.WRITTEN or not reading.text[0].isupper() or reading.words[0] in cues.NOT_A_NAME:
        return False
    for word in _WORD.findall(reading.text)[1:3]:
        if word[0].islower():
            return len(word) >= 4 and word.endswith("s") and not word.endswith("ss")
    return False


_KIND_CUES = (
    (cues.DECISION, Kind.DECISION),
    (cues.PREFERENCE, Kind.PREFERENCE),
    (cues.CONSTRAINT, Kind.CONSTRAINT),
)


def _kind(reading: _Reading) -> Kind | None:
    """Return the kind whose words come first, else fact or observation; None when it is not worth keeping."""
    text = reading.text
    spoken = reading.voice is Voice.SPOKEN
    anchored = _anchored(reading)
    if cues.UNDECIDED.search(text) or (spoken and _TASK.search(text) and not anchored):
        return None
    cued = [(found.start(), kind) for pattern, kind in _KIND_CUES if (found := pattern.search(text))]
    if cued:
        kind = min(cued)[1]
        return kind if len(reading.words) >= (5 if spoken and kind is Kind.CONSTRAINT else 3) else None
    if spoken and (len(reading.words) < 4 or not anchored):
        return None
    stative = any(word in cues.STATES or word.endswith(("'re", "'m", "'ve")) for word in reading.words)
    return Kind.FACT if stative or _habit(reading) else Kind.OBSERVATION


def _anchored(reading: _Reading) -> bool:
    """Whether it names something: a number, or a name past the first word."""
    names = [word for word in _WORD.findall(reading.text)[1:] if word[0].isupper() and word not in ("I", "I'm", "I've")]
    return bool(names) or _NUMBER.search(reading.text) is not None


# Rules read words, not meaning: 0.6 is the most that they ever claim.
_CONFIDENCE = {Kind.DECISION: 0.6, Kind.PREFERENCE: 0.6, Kind.CONSTRAINT: 0.55, Kind.FACT: 0.55}
_SPOKEN_DISCOUNT = 0.05
_OBSERVATION_CONFIDENCE = 0.45


def _finding(reading: _Reading, kind: Kind, day: date) -> Finding:
    capital = reading.trimmed or reading.voice is Voice.COMMIT
    body = reading.text[0].upper() + reading.text[1:] if capital else reading.text
    statement = _resolve_days(body, day)
    if reading.first_person and reading.speaker:
        statement = f"{reading.speaker} said: {statement}"
    confidence = _CONFIDENCE.get(kind, _OBSERVATION_CONFIDENCE)
    confidence -= _SPOKEN_DISCOUNT if reading.voice is Voice.SPOKEN else 0
    high = cues.HIGH_IMPORTANCE.search(reading.text)
    importance = Importance.HIGH if high else Importance.LOW if kind is Kind.OBSERVATION else Importance.NORMAL
    decay_class = DecayClass.FAST if kind is Kind.OBSERVATION else DecayClass.SLOW
    if kind is Kind.FACT and cues.PERMANENT.search(reading.text):
        decay_class = DecayClass.PERMANENT
    return Finding(kind, statement, reading.start, reading.end, round(confidence, 2), importance, decay_class)


def _resolve_days(text: str, day: date) -> str:
    def absolute(found: re.Match[str]) -> str:
        on = "On" if found.group()[0].isupper() else "on"
        return f"{on} {day + timedelta(days=_DAYS_AWAY[found[1].casefold()])}"

    return _RELATIVE_DAY.sub(absolute, text)


def _forms_of(verb: str) -> set[str]:
    """Return the forms in which a regular verb opens a commit subject."""
    stem = verb.removesuffix("e")
    endings = {verb + "s", verb + "es", verb + "ed", verb + "d", verb + "ing", stem + "ing"}
    doubled = {verb + verb[-1] + "ed", verb + verb[-1] + "ing"}
    return {verb} | endings | doubled | {verb[:-1] + "ied", verb[:-1] + "ies"}


_IRREGULAR = {"made": "make", "wrote": "write", "rewrote": "rewrite", "sent": "send", "ran": "run", "kept": "keep"}
_COMMIT_FORMS = {form: verb for verb in sorted(cues.COMMIT_VERBS) for form in _forms_of(verb)} | _IRREGULAR
_CONVENTIONAL = re.compile(r"(?P<type>[a-z]{2,10})(?:\([^)\s]{1,40}\))?!?:\s+")
_REFERENCE = re.compile(r"[\s,.]*(?:\(#\d+\)|(?:(?:closes|fixes|refs|re) )?#\d+)\Z", re.IGNORECASE)


def _commit_verb(words: tuple[str, ...]) -> str | None:
    return _COMMIT_FORMS.get(words[0])


def _judge_commit(reading: _Reading) -> Finding | None:
    text = reading.text
    prefix = _CONVENTIONAL.match(text)
    if prefix and prefix["type"] in cues.DULL_COMMIT_TYPES:
        return None
    begin = prefix.end() if prefix else 0
    reference = _REFERENCE.search(text, begin)
    end = reference.start() if reference else len(text)
    words = tuple(word.casefold() for word in _WORD.findall(text[begin:end]))
    verb = _commit_verb(words) if len(words) >= 3 else None
    if verb not in cues.LASTING_COMMIT and len(words) < 4:
        return None
    if verb is None or cues.HYPOTHETICAL.search(text) or text.endswith("?"):
        return None
    if len(" ".join(words)) < 12 or _FIRST_PERSON.search(text) or cues.LOOSE_PRONOUNS.search(text):
        return None
    lasting = verb in cues.LASTING_COMMIT
    return Finding(
        kind=Kind.FACT if lasting else Kind.OBSERVATION,
        statement=text[begin].upper() + text[begin + 1 : end],
        start=reading.start + begin,
        end=reading.end - (len(text) - end),
        confidence=0.5 if lasting else _OBSERVATION_CONFIDENCE,
        importance=Importance.HIGH if cues.HIGH_IMPORTANCE.search(text) else Importance.NORMAL,
        decay_class=DecayClass.SLOW if lasting else DecayClass.FAST,
    )


def _judge_unspaced(sentence: Sentence) -> Finding | None:
    """Judge Chinese and Japanese by their punctuation and a few words."""
    text = " ".join(sentence.text.split())
    if len(_IDEOGRAPH.findall(text)) < 6 or len(text) > 150 or not text.endswith(("。", "！")):
        return None
    if cues.UNSPACED_SKIP.search(text) or cues.UNSPACED_LEANING.match(text) or _CODE.search(text):
        return None
    first_person = cues.UNSPACED_FIRST_PERSON.search(text)
    if first_person and not sentence.speaker:
        return None
    statement = f"{sentence.speaker}: {text}" if first_person else text
    kind = next((kind for pattern, kind in cues.UNSPACED_KINDS if pattern.search(text)), Kind.OBSERVATION)
    decay_class = DecayClass.FAST if kind is Kind.OBSERVATION else DecayClass.SLOW
    return Finding(kind, statement, sentence.start, sentence.end, 0.4, Importance.NORMAL, decay_class)
