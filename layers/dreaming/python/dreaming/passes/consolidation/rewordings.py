"""What may differ between two statements that say the same: words that say nothing, loose ones, and forms of one word.

Everything that is not listed here counts: a word of an unknown language, a name, a particle.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dreaming.passes.consolidation.lexicon import QUANTIFIERS, STATE_VERBS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


SAME_MEANING = {
    word: group
    for group, words in enumerate(
        (
            "painted coloured colored",
            "use uses using used utilize utilizes utilizing employs",
            "choose chose chooses chosen pick picks picked select selects selected opted",
            "start starts started begin begins began begun",
            "finish finishes finished complete completes completed",
            "buy buys bought purchase purchases purchased",
            "big large",
            "small little",
            "quick fast rapid",
            "fix fixes fixed repair repairs repaired",
            "need needs require requires",
            "get gets got receive receives received",
            "live lives reside resides",
            "job work works",
            "car automobile",
            "phone telephone",
            "photo picture photograph",
            "kid child",
            "kids children",
            "movie film",
            "migrate migrated migrates move moved moves switch switched switches relocate relocated relocates",
            "company firm",
            "want wants wish wishes",
            "like likes enjoy enjoys",
            "help helps assist assists helped assisted",
            "show shows showed display displays displayed",
            "make makes made create creates created",
            "delete deletes deleted remove removes removed",
            "database datastore db",
            "afraid fear fears",
            "allergic allergy",
            "end ends expire expires",
            "answer answers answered reply replies replied respond responds",
            "keep keeps kept retain retains retained",
            "close closes shut shuts",
            "allow allows allowed permit permits permitted",
            "located situated based lies",
            "liegt befindet",
            "doctor physician",
            "bike bicycle",
            "sofa couch",
            "trash garbage rubbish",
            "holiday vacation",
            "lift elevator",
            "flat apartment",
            "client customer",
            "employee worker",
            "lawyer attorney",
            "lorry truck",
            "petrol gasoline gas",
            "mom mum",
            "cab taxi",
            "tv television",
            "fridge refrigerator",
            "website site",
            "app application",
            "repo repository",
            "config configuration",
            "docs documentation",
            "admin administrator",
            "postpone postpones postponed delay delays delayed",
            "inform informs informed notify notifies notified",
            "own owns possess possesses",
            "include includes contain contains comprise comprises",
            "speak speaks talk talks",
            "ill sick",
            "happy glad",
            "favourite favorite preferred",
        )
    )
    for word in words.split()
}
"""Words near enough in meaning that one for the other is a rewording."""

EMPTY = _set(
    """
    a an the is are am be been do does it its that which who whom there so any also very really actually indeed
    der das dem des ein eine einen einem einer eines ist sind le la les l un une est el los las una es il lo gli
    """
)
"""Words that add nothing by which two statements could differ."""

LOOSE_KINDS = {
    "relation": "in on at for to by with of and as into within inside or"
    " und mit von vom im am zu zum zur auf für bei et à au aux de du avec dans sur pour y con en por del di da e",
    "moment": "again already still now currently presently nowadays recently yet",
    "person": "he him his she her hers they them their theirs we us our ours i me my mine you your yours",
}
"""Words that may be missing on one side, but must not stand against another of their kind."""

LOOSE = {word: kind for kind, words in LOOSE_KINDS.items() for word in words.split()}

_SAYING = """
confirm confirms confirmed say says said state states stated mention mentions mentioned noted
remarks remarked tells told explains explained announces announced reaffirm reaffirms reaffirmed
affirms affirmed verified observed repeats repeated reported
"""
ALIKE = {
    word: f"={words.split()[0]}"
    for words in (
        "in at within inside",
        "to into",
        "he him his",
        "she her hers",
        "they them their theirs",
        "we us our ours",
        "i me my mine",
        "you your yours",
        "not no never",
        "may might perhaps maybe possibly",
        "now currently presently nowadays",
        "until till",
        "about around roughly approximately circa",
        "because since",
        _SAYING,
    )
    for word in words.split()
}
"""Words that stand for each other."""

REPORT = "=confirm"
"""What the words for saying have in common."""

for _name, _words in QUANTIFIERS.items():
    ALIKE.update(dict.fromkeys(_words.split(), f"={_name}"))

WHEN = _set("in on at for of am im um en le el a")
"""Words that lead a number or a date and add nothing to it."""

ADVERBIAL = _set(
    """
    in on at for with by from to during before after since until till every each within via inside while because
    instead despite without unless if when as im am seit um bei mit jeden jede jedes en dans depuis pendant chaque
    a desde durante con cada в во на после до с у в في منذ
    """
)
"""Words that lead a statement of place, time, cause or condition, which may stand first or last."""

AMOUNTS = _set("few little bit lot number couple")
"""Words that mean another amount with an article before them."""

BE = _set("is are am was were be been being get gets got")
HAVE = _set("has have had having")
ARTICLES = _set("a an the")

_IRREGULAR = """
be was|were; have had; do did done; go went gone; say said; make made; take took taken; come came; see saw seen;
know knew known; get got gotten; give gave given; find found; think thought; tell told; become became; show showed
shown; leave left; feel felt; put put; bring brought; begin began begun; keep kept; hold held; write wrote written;
stand stood; hear heard; let let; mean meant; set set; meet met; run ran; pay paid; sit sat; speak spoke spoken;
lead led; read read; grow grew grown; lose lost; fall fell fallen; send sent; build built; understand understood;
draw drew drawn; break broke broken; spend spent; cut cut; rise rose risen; drive drove driven; buy bought; wear
wore worn; choose chose chosen; sell sold; teach taught; catch caught; fight fought; sing sang sung; drink drank
drunk; eat ate eaten; swim swam swum; win won; throw threw thrown; fly flew flown; forget forgot forgotten; sleep
slept; lend lent; steal stole stolen; ring rang rung; shut shut; hit hit; hurt hurt; cost cost; bind bound; hide
hid hidden; ride rode ridden; wake woke woken
"""
PAST: dict[str, str] = {}
"""Irregular past forms and participles to the verb."""
for _entry in _IRREGULAR.replace("\n", " ").split(";"):
    _verb, *_forms = _entry.split()
    PAST.update({form: _verb for forms in _forms for form in forms.split("|") if form != _verb})

VERBS = (
    STATE_VERBS
    | frozenset(PAST.values())
    | {word for word in SAME_MEANING if {f"{word}s", f"{word}ed"} <= SAME_MEANING.keys() or f"{word}d" in SAME_MEANING}
    | {word for word in SAME_MEANING if word in PAST.values()}
    | _set("use start stop open close pass meet call ask answer like love help visit plan try wait walk travel move")
)
"""Verbs of which the form with an s is the third person, where no article says that it is a noun."""

_BRITISH = (
    (re.compile(r"(?<=\w{2})our(?=s?$|ed$|ing$|ite|able)"), "or"),
    (re.compile(r"is(?=e[sd]?$|ing$|ation)(?<=\w{4})"), "iz"),
    (re.compile(r"(?<=\w{2}[tb])re$"), "er"),
    (re.compile(r"ll(?=ed$|ing$)"), "l"),
)


@lru_cache(maxsize=8192)
def bases(word: str) -> frozenset[str]:
    """Return the words of which `word` may be a form, itself included, in American spelling."""
    found = {word}
    if word in PAST:
        found.add(PAST[word])
    if word.isascii() and len(word) > 3:
        found.update(_regular(word))
    meanings = {f"={SAME_MEANING[base]}" for base in found if base in SAME_MEANING}
    return frozenset(
        {_american(base) for base in found} | meanings | {ALIKE[word]}
        if word in ALIKE
        else {_american(base) for base in found} | meanings
    )


def _regular(word: str) -> set[str]:
    """Return what is left of an English word without the endings of number, person, tense and aspect."""
    if word.endswith(("ies", "ied")):
        return {word[:-3] + "y", word[:-1]}
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return {word[:-1], word[:-2]} if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")) else {word[:-1]}
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            doubled = len(stem) > 3 and stem[-1] == stem[-2]
            return {stem, stem + "e"} | ({stem[:-1]} if doubled else set())
    return set()


def _american(word: str) -> str:
    for pattern, spelling in _BRITISH:
        word = pattern.sub(spelling, word)
    return word


def is_past(word: str) -> bool:
    """Say whether the word is a past form or a participle of an English verb."""
    return word in PAST or (word.isascii() and len(word) > 4 and word.endswith("ed") and not word.endswith("eed"))


_I_TO_U = str.maketrans("いきぎしちにびみり", "うくぐすつぬぶむる")
_POLITE = re.compile("([いきぎしちにびみり]|[えけげせてねべめれ])ます(?=$|[^\u3041-\u309f])")
_SOFTENED = re.compile("[よねわ]+(?=[\\s。.!！]*$)")
_COPULA = re.compile("(?:です|である)(?=$|[^\u3041-\u309f])")


def plain_japanese(text: str) -> str:
    """Return a Japanese text with the polite endings of the present made plain."""
    text = _POLITE.sub(
        lambda match: (
            match[1].translate(_I_TO_U)
            if match[1] in "いきぎしちにびみり" and match.start() and text[match.start() - 1] not in "てで"
            else match[1] + "る"
        ),
        text,
    )
    return _COPULA.sub("だ", _SOFTENED.sub("", text))
