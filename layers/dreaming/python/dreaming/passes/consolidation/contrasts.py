"""What two statements say differently in their words: opposites, order, quantifiers, tense, substitution.

Each function returns what it saw on the left and on the right, or None; each is symmetric.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from dreaming.beliefs.words import is_unspaced
from dreaming.passes.consolidation.lexicon import (
    FUNCTION_WORDS,
    IRREGULAR_PAST,
    MODALITIES,
    MONTHS,
    NUMBER_WORDS,
    OPPOSITES,
    ORDINAL_WORDS,
    QUANTIFIERS,
    REPORTING,
    SCALES,
    STATE_VERBS,
    UNITS,
    WEAK_QUANTIFIERS,
    WEEKDAYS,
)
from dreaming.passes.consolidation.rewordings import SAME_MEANING
from dreaming.passes.consolidation.wording import read_wording, stem


def only_words(left: str, right: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that only the one and only the other statement has."""
    left_words, right_words = read_wording(left).word_set, read_wording(right).word_set
    return left_words - right_words, right_words - left_words


def shown(words: Iterable[str]) -> str:
    """Return words as a veto shows them."""
    return ", ".join(sorted(words))


_OPPOSITE_STEMS = tuple(
    tuple(frozenset(word for word in pole) | frozenset(stem(word) for word in pole) for pole in group)
    for group in OPPOSITES
)


def opposites(left: str, right: str) -> tuple[str, str] | None:
    """Each statement has a word that the other has not, and the two exclude each other."""
    left_words, right_words = only_words(left, right)
    for group in _OPPOSITE_STEMS:
        left_poles = {(at, word) for word in left_words for at, pole in enumerate(group) if {word, stem(word)} & pole}
        right_poles = {(at, word) for word in right_words for at, pole in enumerate(group) if {word, stem(word)} & pole}
        if left_poles and right_poles and not {at for at, _ in left_poles} & {at for at, _ in right_poles}:
            return shown(word for _, word in left_poles), shown(word for _, word in right_poles)
    return None


_HAN_AND = frozenset("和与與及や")
_SYMMETRIC = frozenset(
    {"and", "or", "nor", "with", "&", "und", "oder", "mit", "et", "ou", "avec", "y", "o", "con", "both"} | _HAN_AND
)
_SLIDING = frozenset({"a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "that"})
_ARTICLES = frozenset({"a", "an", "the", "has", "have", "had", "that"})


def swapped(left: str, right: str) -> tuple[str, str] | None:
    """The same words with two parts exchanged around something: Slack to Teams, Teams to Slack."""
    of_left, of_right = read_wording(left), read_wording(right)
    letters, other_letters = (_LETTER_NAME.findall(text) for text in (of_left.text, of_right.text))
    if letters != other_letters and sorted(letters) == sorted(other_letters):
        return " ".join(letters), " ".join(other_letters)
    left_parts, right_parts = _parts(of_left.words), _parts(of_right.words)
    shared = (set(left_parts) & set(right_parts)) - _SLIDING
    left_order = [word for word in left_parts if word in shared]
    right_order = [word for word in right_parts if word in shared]
    if _is_passive(of_left.words) != _is_passive(of_right.words):
        same = left_order == right_order and len(left_order) > 2
        return (" ".join(left_order), " ".join(right_order)) if same else None
    before = ""
    while left_order and right_order and left_order[0] == right_order[0]:
        before = left_order.pop(0)
        del right_order[0]
    while left_order and right_order and left_order[-1] == right_order[-1]:
        del left_order[-1], right_order[-1]
    if sorted(left_order) != sorted(right_order):
        return None
    if _is_exchanged(left_order, right_order, before) or _owner_is_exchanged(left_order, of_left.text, of_right.text):
        return " ".join(left_order), " ".join(right_order)
    return None


_LETTER_NAME = re.compile(r"(?<=\w )[A-Z]\b(?!'|\.\s?\w)(?! (?:and|or|und|et|y) [A-Z]\b)(?<!and [A-Z])(?<!or [A-Z])")


def _parts(words: tuple[str, ...]) -> list[str]:
    """Return words in order, without an English s, runs of scripts without spaces taken apart."""
    return [
        part.removesuffix("s") if len(part) > 3 else part
        for word in words
        for part in (word if is_unspaced(word) else (word,))
    ]


def _is_exchanged(left: list[str], right: list[str], before: str) -> bool:
    """Say whether left is head, middle, tail and right is tail, middle, head, and the order of it matters.

    It does not when the word `before` them is the middle too: in Turin in 1987, in 1987 in Turin.
    """
    size = len(left)
    for first in range(1, size - 1):
        if right[size - first :] != left[:first]:
            continue
        for last in range(first + 1, size):
            middle = left[first:last]
            if right[: size - last] == left[last:] and right[size - last : size - first] == middle:
                joined = set(middle) <= _SYMMETRIC or middle[0] in _HAN_AND
                return not (joined or (middle == [before] and before in FUNCTION_WORDS))
    return False


def _owner_is_exchanged(order: list[str], left: str, right: str) -> bool:
    """Say whether two words change places of which one owns something: A is B's, B is A's; of A is B, of B is A."""
    if len(order) != 2:
        return False
    one, other = map(re.escape, order)
    return any(
        re.search(owner.format(a), left, re.IGNORECASE) and re.search(owner.format(b), right, re.IGNORECASE)
        for owner, a, b in ((r"\b{}\w*'s\b", other, one), (r"\bof {}", one, other), (r"\bof {}", other, one))
    )


def _is_passive(words: tuple[str, ...]) -> bool:
    return any(word in _SLIDING and "by" in words[at:] for at, word in enumerate(words) if word not in _ARTICLES)


_PHRASES = (
    (re.compile(r"\b(?:(?:has|have|had|needs?|needed) to|needs? \w+ing)\b", re.IGNORECASE), "must"),
    (re.compile(r"\b(?:at least|no less than|no fewer than|a minimum of)\b", re.IGNORECASE), "at least"),
    (re.compile(r"\b(?:at most|up to|no more than|a maximum of)\b", re.IGNORECASE), "at most"),
    (re.compile("必须|必須|必需|一定(?!不)|なければならない|なければなりません|必ず|해야|아야|어야"), "must"),
    (re.compile("可能|也许|或许|大概|可以|かもしれ|てもいい|수도? 있"), "may"),
    (
        re.compile(
            r"\b(?:tr(?:y|ies|ied|ying)|attempt(?:s|ed)?|offer(?:s|ed)?|promis(?:es|ed|e)|hop(?:es|ed|e)) to\b",
            re.IGNORECASE,
        ),
        "attempt",
    ),
    (re.compile(r"\bevery (?:second|other|third|fourth|few)\b|\bjede[nrs]? zweite", re.IGNORECASE), "every second"),
    (re.compile("应该|應該|应当|べき"), "should"),
    (re.compile("有些|有的|一些|部分|有时|有時|一部|때때로"), "some"),
    (re.compile("大多|大部分|ほとんど|대부분"), "most"),
    (re.compile("所有|全部|全体|总是|總是|いつも|すべて|모든|항상"), "all"),
    (re.compile("只有|只能|仅|だけ|しか|(?<=[가-힣])만(?= )"), "only"),
    (re.compile(r"(?<!no )\b(?:more than|over (?=\d)|above (?=\d))", re.IGNORECASE), "more than"),
    (re.compile(r"(?<!no )\b(?:less than|fewer than|under (?=\d)|below (?=\d))", re.IGNORECASE), "less than"),
)
_NOT_LIMITING = re.compile(r"\b(?:not (?:only|just)|nicht nur|non seulement|no solo)\b", re.IGNORECASE)
_CLASSES = {
    word: name for table in (QUANTIFIERS, MODALITIES) for name, words in table.items() for word in words.split()
}


def quantifiers(left: str, right: str) -> tuple[str, str] | None:
    """Quantifiers, modal verbs and bounds must be the same; a weak one counts only against another."""
    of_left, of_right = _classes(left), _classes(right)
    lacking_right, lacking_left = of_left - of_right, of_right - of_left
    strong = (lacking_right | lacking_left) - WEAK_QUANTIFIERS
    if strong or (lacking_right and lacking_left):
        return shown(lacking_right), shown(lacking_left)
    return None


def _classes(text: str) -> frozenset[str]:
    wording = read_wording(text)
    counted = _NOT_LIMITING.sub(" ", wording.text)
    classes = {_CLASSES[word] for word in read_wording(counted).words if word in _CLASSES}
    if "may" in wording.words and not re.search(
        r"\b(?:may|might|could|can|optional|possibly|perhaps|maybe|probably)\b", text
    ):
        classes.discard("may")  # it is the month
    return frozenset(classes | {name for pattern, name in _PHRASES if pattern.search(wording.text)})


_ENDED = re.compile(
    r"\b(?:(?<!is )(?<!are )(?<!was )(?<!were )(?<!got )(?<!getting )used to|no longer|not? any ?more|any ?longer"
    r"|formerly|former|previously|ex-\w+|moved (?:away )?from|switched from|left|quit|stopped|ceased|ended"
    r"|discontinued|resigned|retired|cancell?ed|abandoned|ehemals|ehemalige\w*|früher|nicht mehr"
    r"|ne \w+ plus|ancien(?:ne)?|antes|ya no|anterior)\b|不再|曾经|以前|前任",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:will|won't|shall|going to|about to|plans? to|planning to|intends? to|upcoming|soon|wird|werden|va|van a)\b"
    r"|将|打算|计划",
    re.IGNORECASE,
)
_NOW = frozenset({"now", "currently", "nowadays", "presently", "today", "jetzt", "derzeit", "maintenant", "ahora"})
_IS = frozenset({"is", "are", "am"})
_WAS = frozenset({"was", "were"})


def tense(left: str, right: str) -> tuple[str, str] | None:
    """One says that something ended or lies ahead and the other does not; or it was so, and it is so."""
    for pattern in (_ENDED, _AHEAD):
        of_left, of_right = (
            {match.group().casefold() for match in pattern.finditer(read_wording(text).text)} for text in (left, right)
        )
        if bool(of_left) != bool(of_right):
            return shown(of_left), shown(of_right)
    seen = _ended_by_form(left, right)
    if seen:
        return seen
    left_words, right_words = only_words(left, right)
    news = (left_words | right_words) & _NOW
    if news and any(word not in FUNCTION_WORDS for word in (left_words | right_words) - _NOW):
        return shown(left_words & _NOW), shown(right_words & _NOW)
    seen = _past_state(left, left_words, right_words)
    if seen:
        return seen
    seen = _past_state(right, right_words, left_words)
    return (seen[1], seen[0]) if seen else None


_JAPANESE_PAST = re.compile(r"(?:た|んだ)(?:の?です)?[よねわ]?[\W]*$")
_KANA = re.compile("[\u3041-\u309f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KOREAN_NOT_PAST = frozenset("있겠")


def _ended_by_form(left: str, right: str) -> tuple[str, str] | None:
    """The verb that ends a Japanese or Korean sentence says past in only one of two."""
    for script, is_past in ((_KANA, _is_japanese_past), (_HANGUL, _is_korean_past)):
        if script.search(left) and script.search(right) and is_past(left) != is_past(right):
            return ("past", "present") if is_past(left) else ("present", "past")
    return None


def _is_japanese_past(text: str) -> bool:
    return _JAPANESE_PAST.search(text) is not None


def _is_korean_past(text: str) -> bool:
    """Say whether a syllable closes with ㅆ, which marks the past; 있 (be) and 겠 (will) only look so."""
    return any(
        (ord(syllable) - 0xAC00) % 28 == 20 and syllable not in _KOREAN_NOT_PAST for syllable in _HANGUL.findall(text)
    )


def _past_state(text: str, past_words: frozenset[str], present_words: frozenset[str]) -> tuple[str, str] | None:
    """Return the past and the present form of a state that only the one statement puts into the past."""
    if past_words & _WAS and present_words & _IS and not _is_event(read_wording(text).words):
        return shown(past_words & _WAS), shown(present_words & _IS)
    for word in past_words:
        verb = IRREGULAR_PAST.get(word) or (stem(word) if word.endswith("ed") else None)
        for other in present_words - {word}:
            if word == f"{other}e" and word.endswith("te"):
                return word, other  # German: wohnte, wohnt
            present = IRREGULAR_PAST.get(other, stem(other))
            if verb and not other.endswith("ed") and stem(present) == stem(verb) and stem(verb) in _STATES:
                return word, other
    return None


_STATES = frozenset(map(stem, STATE_VERBS))
_PARTICIPLE = re.compile(r".*(?:ed|en|wn|lt|nt|ught|ade|ung|ept|uilt|old|et|ut)")


def _is_event(words: tuple[str, ...]) -> bool:
    """Say whether every "was" is a passive, or stands in reported speech, where it need not mean the past."""
    return all(
        any(earlier in REPORTING for earlier in words[:at])
        or any(_PARTICIPLE.fullmatch(later) for later in words[at + 1 : at + 3])
        for at, word in enumerate(words)
        if word in _WAS
    )


def substitution(left: str, right: str) -> tuple[str, str] | None:
    """One content word stands in the place of another that is no form of it and does not mean the same."""
    left_words, right_words = (
        [
            part
            for word in read_wording(text).words
            for part in (word if is_unspaced(word) else (word,))
            if _is_content(part)
        ]
        for text in (left, right)
    )
    for change, a, b, c, d in SequenceMatcher(None, left_words, right_words, autojunk=False).get_opcodes():
        if change != "replace":
            continue
        if b - a != d - c:
            seen = _replaced(left_words[a:b], right_words[c:d], left_words, right_words)
            if seen:
                return seen
            continue
        for one, other in zip(left_words[a:b], right_words[c:d], strict=True):
            if one not in right_words and other not in left_words and not _is_rewording(one, other):
                return one, other
    return _other_relation(left, right)


_RELATIONS = frozenset(
    """
    to into from until till since before after by with without for against over under above below inside outside
    between near behind beside across opposite through around despite because unless if
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)


def _other_relation(left: str, right: str) -> tuple[str, str] | None:
    """Return what differs when hardly more than a preposition does: until Sunday, by Sunday."""
    sides = only_words(left, right)
    left_relations, right_relations = (side & _RELATIONS for side in sides)
    if left_relations and right_relations and max(map(len, sides)) <= 2:
        return shown(left_relations), shown(right_relations)
    return None


_INFLECTED = re.compile("[\u3041-\u309f\uac00-\ud7a3]")  # Japanese and Korean endings are no words of their own
_MOST_REPLACED = 3  # words in a row; more of them are rather another way to put it


def _replaced(
    left: list[str], right: list[str], left_words: list[str], right_words: list[str]
) -> tuple[str, str] | None:
    """Return two stretches of different length when neither has anything of the other statement."""
    if max(len(left), len(right)) > _MOST_REPLACED or any(_INFLECTED.search(word) for word in (*left, *right)):
        return None
    if any(_occurs(word, right_words) for word in left) or any(_occurs(word, left_words) for word in right):
        return None
    return " ".join(left), " ".join(right)


def _occurs(word: str, words: list[str]) -> bool:
    return any(word == other or _is_rewording(word, other) for other in words)


_HAN_FUNCTION = frozenset("的了着过吧呢啊是在于把被将已经就也都和与跟及很且并地得啦嘛呀之")


def _is_content(word: str) -> bool:
    """Say whether a word carries content that no other guard compares."""
    return not (
        word in FUNCTION_WORDS
        or word in REPORTING
        or word in _HAN_FUNCTION
        or word in _COUNTING
        or not any(map(str.isalpha, word))
        or word[0].isdecimal()
    )


_COUNTING = {
    *NUMBER_WORDS,
    *ORDINAL_WORDS,
    *SCALES,
    *UNITS,
    *MONTHS,
    *WEEKDAYS,
    *"〇零一二三四五六七八九十百千万亿两",
    "am",
    "pm",
}


def _is_rewording(one: str, other: str) -> bool:
    if stem(one) == stem(other) or (one in SAME_MEANING and SAME_MEANING[one] == SAME_MEANING.get(other)):
        return True
    if one.endswith("ed") and other.endswith("ed"):
        return True
    shortest = min(len(one), len(other))
    alike = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return shortest >= 5 and alike >= 0.8
