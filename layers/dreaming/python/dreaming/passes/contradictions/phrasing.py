"""Brings a statement into the plain form that the sentence forms expect: who speaks, leads, labels, passives. Pure."""

from __future__ import annotations

import re

from dreaming.passes.contradictions import patterns
from dreaming.passes.contradictions.vocabulary import PERSONS, PLACES, attribute_name, is_known

_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|dear|morning|good morning)(?: (?:all|everyone|everybody|team|folks|there|[A-Z]\w+))?"
    r"|ps|btw|by the way|quick (?:update|note|reminder)|heads[- ]up|just so you know|for the record|as discussed"
    r"|just to confirm|to confirm|small correction|one correction)\s*[,:!–—-]\s*"
    r"|^(?:btw|fyi|psa|nb|ps|ok(?:ay)?|so|hey|hm+|oh|yeah|well|right|anyway)\b[,:!–—-]*\s+(?=\S+ \S+ \S)",
    re.IGNORECASE,
)
_CHAT_END = re.compile(
    r"(?:[,;]? (?:fyi|btw|lol|haha|tho|though|tbh|imo|ftr|pls|please|everyone|folks|guys|:\)|😀))+$", re.IGNORECASE
)
_TURNS_OUT = re.compile(
    r"^(?:(?:as )?it )?(?:turns|turned) out(?: that)?,? |^(?:i was wrong|we were wrong|my mistake|scratch that"
    r"|sorry|oops)\s*[,:;.–—-]+\s*|^(?:in fact|in truth|contrary to what \w+ (?:said|wrote)),? ",
    re.IGNORECASE,
)
_DAY_OR_TIME = (
    r"(?:[0-3]?\d(?:st|nd|rd|th)?|\d{4}(?:-\d\d){0,2}|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?|\d{1,2}:\d\d(?:am|pm)?"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"|[Ww]eek|of|the|,|#\d+|\d+)"
)
_SHEET = (
    r"(?:minutes|meeting|notes?|update|timetable|schedule|notice|memo|log|report|recap|summary|standup|sync|reminder"
    r"|announcement|bulletin|newsletter|rota|roster|agenda|entry|record|protocol|changelog|release notes|journal|diary"
    r"|status|news|plan|thread|message|email|call|chat|transcript|handover|debrief|retro|retrospective)"
)
_SHEET_LABEL = re.compile(
    rf"^(?:(?:new|updated|revised|latest|today['’]s|weekly|monthly|daily|board|team|staff|club|group|lab|status|shift"
    rf"|field|project|from|the|our) )*{_SHEET}(?: (?:from|for|{_DAY_OR_TIME}))*\s*[:–—]\s+(?=\S+ \S+ \S)",
    re.IGNORECASE,
)
_STAMP = re.compile(
    r"^[\[(]?(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?[,:]? +(?=\S+ \S+ )", re.IGNORECASE
)
_SPEAKER = re.compile(
    r"^<?(?P<who>[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)?)>?(?: \(\d{1,2}:\d\d\))?: "
    r"(?P<what>.*\b(?:I|[Mm]y|[Ww]e|I['’](?:m|ve|ll|d))\b.*)$",
    re.DOTALL,
)
_TOPIC = re.compile(
    r"^(?:minutes|meeting|todo|info|reminder|retro|standup|note to self|log|status|decision|decided|agreed|outcome"
    r"|memo|summary|announcement|important|chore|feat|fix|docs|ops|infra)(?:\([\w-]+\))?\s*:\s*(?=\S+ \S+ \S)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?P<label>(?:[A-Za-z][\w'’.-]*)(?: [\w'’.()-]+){0,6}) ?: (?P<v>\S.*)$")
_CLAUSE = re.compile(r"\b(?:is|are|was|were|has|have|had|will|moved|changed|said|works?|lives?|uses?)\b")
_HALF = re.compile(
    r"\b(?P<how>half past|quarter past|quarter to|a quarter past|a quarter to) (?P<h>\d{1,2}|one|two|three"
    r"|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve)\b(?! (?:hundred|thousand))",
    re.IGNORECASE,
)
_DAYTIME = re.compile(
    r"\b(?P<at>(?:1[0-2]|[1-9])(?::\d\d)?)(?: o['’]clock)? in the (?P<when>morning|afternoon|evening)\b", re.IGNORECASE
)
_HOURS = dict(
    zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)  # noqa: SIM905
)
_TITLES = (
    (re.compile(r"\bProf(?:essor)?\.? (?=[A-Z])"), "Prof. "),
    (re.compile(r"\bD(?:octo)?r\.? (?=[A-Z])"), "Dr. "),
)

_ROLE = re.compile(
    r"\b(?:officer|manager|lead|leader|head|director|coordinator|captain|chair|chairman|chairwoman|coach|maintainer"
    r"|editor|contact|treasurer|secretary|president|mayor|caretaker|representative|supervisor|principal|conductor|ceo|cto|cfo|coo)$",
    re.IGNORECASE,
)
_LONG_TITLES = {
    "chief executive officer": "CEO", "chief technology officer": "CTO", "chief financial officer": "CFO",
    "chief operating officer": "COO", "point of contact": "contact", "POC": "contact",
}  # fmt: skip
_LONG_TITLE = re.compile(rf"\b(?:{'|'.join(_LONG_TITLES)})\b")
_AGENTLESS = re.compile(
    r"^(?=(?:moved|postponed|rescheduled|raised|increased|lowered|reduced|bumped|upgraded|downgraded"
    r"|migrated|switched"
    r"|changed|renamed|extended|shifted|relocated|adjusted)\b (?!to\b|from\b|by\b|in\b))",
    re.IGNORECASE,
)
_AGENT = r"(?:[Ww]e|I|[Tt]hey|[Ss]omebody|[Ss]omeone|(?!The |Our |My |A |An )[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)?)"
_KEPT = re.compile(
    rf"^(?P<who>{_AGENT}) (?:(?:now|always|still|usually|currently) )?"
    r"(?P<verb>keep|keeps|store|stores|host|hosts|park|parks|put|puts|house|houses|hold|holds) "
    r"(?P<o>(?:the|our|all|all our|all the) [\w' -]{2,40}?) (?P<v>(?:in|on|at|under|behind) .+)$"
)
_ACTED = re.compile(
    rf"^(?P<who>{_AGENT}) (?:(?:have|has|had|just|finally|also|now|then) )*"
    r"(?P<verb>moved|postponed|rescheduled|shifted|delayed|pushed|changed|switched|migrated|raised|increased|lowered"
    r"|reduced|cut|bumped|adjusted|corrected|updated|revised|extended|transferred|converted|relocated|upgraded"
    r"|downgraded|ported|set|renamed|dropped|reassigned|capped)"
    r" (?P<o>[\w'’ .-]{2,50}?)(?P<p> (?:over|back|up|down))? (?P<v>(?:from .+? )?(?:to|at|onto) .+)$"
)
_TOGETHER = re.compile(
    r"^(?P<who>[A-Z][\w'’-]*) (?:and|with) (?:his|her|their) (?:[a-z]+ ){1,3}?"
    r"(?P<verb>live|lives|moved|move|moves|are|have|work|works|own|bought|sold|rent|stay)\b"
)
_OWN = re.compile(
    r"^(?:my|his|her|their|its|from|to|back|over|jobs?|careers?|sides?|houses?|flats?|over|away)\b", re.IGNORECASE
)
_DEFINITE = re.compile(r"^(?:the|our|all|this|that) ", re.IGNORECASE)

_AUXILIARIES = {"have": "has", "am": "is", "do": "does", "don't": "doesn't", "don’t": "doesn't", "haven't": "hasn't"}
_UNCHANGED = frozenset(
    """
    is was had has will would can could should must might may shall did cannot can't won't didn't wasn't hadn't ate
    drank drove ran led taught knew spoke got took went left met made bought sold gave found began became came quit
    put set cut let read lost won sent wrote chose grew built kept held told felt saw swam sang never not just only
    """.split()  # noqa: SIM905
)
_FIRST = re.compile(
    r"\bI (?P<adverb>(?:[a-z]+ly|also|still|now|just|always|never|often|sometimes) )?(?P<verb>[a-z][a-z'’]*)"
)
_SHARED_ACT = re.compile(
    r"^(?:[Ww]e) (?:\w+ly |also |now |have |all )*(?:decided|agreed|chose|use|used|switched|migrated"
    r"|adopted|deploy\w*"
    r"|run|host|ship|release|support|standardi[sz]ed|moved (?:the|our|from|to)|upgraded|bumped|raised|lowered|changed"
    r"|set|keep|store|dropped|replaced|picked|went with|settled on|will use|are using|no longer|stopped"
    r"|do not|don't)\b"
)
_PRIVATE = PERSONS | frozenset(
    """
    dog dogs cat cats pet kids kid children child baby parents family flat apartment house home car bike garden landlord
    landlady wedding anniversary holiday holidays honeymoon rent mortgage name birthday grandmother grandfather mum dad
    """.split()  # noqa: SIM905
)


_ONE = {"are": "is"}


def phrased(text: str) -> tuple[str, bool]:
    """Return a statement in plain form, and whether it says of itself that it corrects something."""
    text, corrects = _led(text)
    said = patterns.SAID.match(text) or _SPEAKER.match(text)
    if said:
        what, also = _led(said["what"])
        text, corrects = _told_by(said["who"], patterns.HEDGE.sub("", what)), corrects or also
    text = _labelled(_LONG_TITLE.sub(lambda found: _LONG_TITLES[found.group()], text))
    for pattern, short in _TITLES:
        text = pattern.sub(short, text)
    text = _TOGETHER.sub(lambda found: f"{found['who']} {_agreeing(_ONE.get(found['verb'], found['verb']))}", text)
    text = spelled_times(text)
    return _as_passive(text), corrects


def spelled_times(text: str) -> str:
    """Write "half past nine in the evening" as 9:30 pm."""
    text = _HALF.sub(_clock, text)
    return _DAYTIME.sub(lambda found: f"{found['at']} {'am' if found['when'].lower() == 'morning' else 'pm'}", text)


def _clock(found: re.Match[str]) -> str:
    hour = _HOURS.get(found["h"].lower()) or int(found["h"])
    how = found["how"].lower().removeprefix("a ")
    minutes = hour * 60 + {"half past": 30, "quarter past": 15, "quarter to": -15}[how]
    return f"{minutes // 60}:{minutes % 60:02d}"


def _led(text: str) -> tuple[str, bool]:
    """Take off greetings, topics and words of correction before what is said."""
    corrects = False
    for _ in range(4):
        before = text
        text = _CHAT_END.sub("", _SHEET_LABEL.sub("", _TOPIC.sub("", _GREETING.sub("", _STAMP.sub("", text)))))
        turned = _TURNS_OUT.match(text)
        cue = patterns.LEAD_CUE.match(text)
        if turned:
            text, corrects = text[turned.end() :], True
        elif cue:
            text = text[cue.end() :]
            corrects = corrects or cue["cue"].lower() in ("correction", "update", "actually", "erratum", "edit")
        if text == before:
            return text, corrects
        text = text[:1].upper() + text[1:]
    return text, corrects


def _told_by(who: str, what: str) -> str:
    """Let the speaker stand for I; what "we" do together stays everybody's."""
    for pattern, verb in patterns.I_AM:
        what = pattern.sub(f"{who} {verb}", what)
    what = _FIRST.sub(lambda found: f"{who} {found['adverb'] or ''}{_agreeing(found['verb'])}", what)
    what = re.sub(r"\b(?:I|me)\b", who, what)
    if not _SHARED_ACT.match(what):
        what = re.sub(r"\b[Ww]e\b", who, what)
    what = re.sub(r"\b[Mm]y\b", f"{who}'s", what)
    return re.sub(
        r"\b[Oo]ur (?P<noun>[a-z-]+)",
        lambda found: f"{who}'s {found['noun']}" if found["noun"] in _PRIVATE else found.group(),
        what,
    )


def _agreeing(verb: str) -> str:
    if verb in _AUXILIARIES:
        return _AUXILIARIES[verb]
    return verb if verb in _UNCHANGED or verb.endswith(("ed", "es", "ks")) else third_person(verb)


def third_person(verb: str) -> str:
    """Return "does" for "do"."""
    if verb == "have":
        return "has"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"


def _labelled(text: str) -> str:
    """Write "Owner of the billing service: Tariq" as a sentence."""
    found = _LABEL.match(text)
    if found is None or _CLAUSE.search(found["label"]) or _CLAUSE.search(found["v"]):
        return text
    head = re.split(r" (?:of|for|at|in) ", found["label"], maxsplit=1)[0]
    last = re.sub(r"^(?:the|new|our|current) ", "", head, flags=re.IGNORECASE)
    known = is_known(attribute_name(last)) or is_known(attribute_name(last.rsplit(" ", 1)[-1]))
    if not known and _ROLE.search(last) is None:
        return text
    label = re.sub(r"^(?:(?:the|our|new|current) )+", "", found["label"], flags=re.IGNORECASE)
    return f"The {label[:1].lower()}{label[1:]} is {found['v']}"


def _as_passive(text: str) -> str:
    """Turn what somebody does to a thing into what is so of the thing: "we bumped the limit to 5"."""
    if _AGENTLESS.match(text):
        text = f"We {text[:1].lower()}{text[1:]}"
    kept = _KEPT.match(text)
    if kept:
        return f"{_capital(kept['o'])} is kept {kept['v']}"
    found = _ACTED.match(text)
    if found is None or _OWN.match(found["o"]) or " to " in f" {found['o']} ":
        return text
    speaker = found["who"].lower() in ("we", "i", "they", "somebody", "someone")
    what = re.sub(r"^(?:the|our) ", "", found["o"], flags=re.IGNORECASE)
    plainly_its_own = is_known(attribute_name(what))
    if not (speaker or (_DEFINITE.match(found["o"]) and not plainly_its_own)):
        return text
    verb = "changed" if found["verb"] in ("set", "capped") else found["verb"]
    value = re.sub(r"^at ", "to ", found["v"])
    return f"{_capital(found['o'])} was {verb}{found['p'] or ''} {value}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sort_of(word: str) -> str:
    word = word.lower()
    return "person" if word in PERSONS else "place" if word in PLACES else word


def sense_of(text: str) -> tuple[str | None, str]:
    """Return which sort of thing a sentence calls its subject, if any, and the sentence without that."""
    found = patterns.SENSE.match(text)
    if found and not found["rest"].startswith(("of ",)):
        return _sort_of(found["w"]), f"{found['s']} {found['rest']}"
    found = patterns.SENSE_BEFORE.match(text)
    if found and found["s"][0].isupper():
        return _sort_of(found["w"]), f"{found['s']} {found['rest']}"
    return None, text
