"""The sentence forms in which an attribute is told by its verb."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dreaming.passes.contradictions.values import read_value
from dreaming.passes.contradictions.vocabulary import category


@dataclass(frozen=True, slots=True)
class Form:
    """A pattern with the groups `s` (subject) and `v` (value), and what it tells.

    `inverse`: the grammatical subject is the value ("Nils leads the kitchen" tells who leads it).
    `value` stands for what the sentence says in other words. `accepts` looks at the match once more.
    """

    attribute: str
    pattern: re.Pattern[str]
    exclusive: bool | None = None
    past: bool = False
    inverse: bool = False
    value: str | None = None
    accepts: Callable[[re.Match[str]], bool] | None = None


_SUBJECT = r"^(?P<s>(?:(?!\bthat\b|\bwhich\b|\bwho\b|\bbecause\b).){1,70}?)"
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATE = (
    rf"(?P<v>(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|{_MONTH}\b(?: \d{{1,2}})?|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|\d{1,2}/\d{1,2}(?:/\d{2,4})?|the \d{1,2}(?:st|nd|rd|th)(?! (?!of\b|at\b|from\b|in\b|until\b)[a-z]))\b.*)$"
)
_TIME = r"(?P<v>(?:\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m\.|p\.m\.|o'clock)?|noon|midnight|midday|half past \w+)\b.*)$"
_THING = re.compile(r"(?:the |our |my |all |team |project |group |[A-Z])")
_GROUP = re.compile(
    r"\b(?:team|squad|crew|department|guild|tribe|committee|association|federation|project|club|choir|band"
    r"|group|league|orchestra|army|gym|course|class|union|party|board|council"
    r"|call|meeting)\b",
    re.IGNORECASE,
)


_MACHINES = frozenset({"database", "cloud", "ci", "host", "queue", "editor"})


def _person_leads(found: re.Match[str]) -> bool:
    """Whether somebody leads something, rather than a program running somewhere."""
    value = found["v"]
    return bool(
        re.match(r"(?!(?:The|Our|A|An|It|This) )[A-Z]", found["s"])
        and _THING.match(value)
        and not re.match(r"(?:on|at|every|in|from|for|to|by|with|marathons?) ", value)
        and len(value.split()) <= 7
        and category(read_value(value).text) not in _MACHINES
    )


_DUTY = re.compile(r"(?:the |our |this |class |year |group |grade |room )")


def _has_charge(found: re.Match[str]) -> bool:
    """Whether a person has a duty to some one thing: "teaches class 4b", not "teaches physics"."""
    named = re.match(r"(?!(?:The|Our|A|An|It|This) )[A-Z]", found["s"]) is not None
    return named and len(found["v"].split()) <= 6 and category(read_value(found["v"]).text) not in _MACHINES


def _teaches(found: re.Match[str]) -> bool:
    return _has_charge(found) and _DUTY.match(found["v"]) is not None


def _is_company(found: re.Match[str]) -> bool:
    return not _GROUP.search(found["v"])


def _is_thing(found: re.Match[str]) -> bool:
    """Whether what is somewhere is a thing with a place, not a person who is there for a while."""
    return re.match(r"(?:[Tt]he|[Oo]ur|[Mm]y|[Ii]ts|[Tt]heir|[\w.]+['’]s) ", found["s"]) is not None and not re.match(
        r"(?:progress|use|production|place|charge|danger|love|good|trouble|order|review|beta|bad|need|stock"
        r"|time|step|favou?r)\b",
        found["v"],
    )


def _is_year(found: re.Match[str]) -> bool:
    return re.match(r"(?:\d{4}|\d{1,2} [A-Z]|[A-Z][a-z]+ \d)", found["v"]) is not None


def _is_no_year(found: re.Match[str]) -> bool:
    return not _is_year(found)


def _form(attribute: str, verbs: str, tail: str = r"(?P<v>.+)$", **options: object) -> Form:
    return Form(attribute, re.compile(rf"{_SUBJECT} (?:{verbs}) {tail}"), **options)  # type: ignore[arg-type]


_OCCUPATION = (
    "engineer|teacher|nurse|doctor|chef|cook|pilot|lawyer|baker|carpenter|plumber|electrician"
    "|developer|designer|architect|accountant|analyst|consultant|manager|librarian|journalist|editor"
    "|writer|scientist|researcher|professor|lecturer|student|intern|apprentice|dentist|pharmacist"
    "|paramedic|firefighter|gardener|farmer|barista|waiter|driver|mechanic|photographer"
)
_ROLES = (
    r"head|lead|leader|manager|director|owner|maintainer|captain|coach|chair|chairman|chairwoman"
    r"|principal|organi[sz]er|coordinator|person in charge"
)
_OFFICES = (
    r"ceo|cto|cfo|coo|president|mayor|treasurer|secretary|editor|goalkeeper|host|landlord"
    r"|prime minister|chancellor|tech lead|product owner|product manager|scrum master|head chef|conductor"
)
_DUTIES = (
    ("teacher", "teaches", "taught"),
    ("handled by", "handles|covers|is on duty for|takes care of", "handled|covered"),
    ("moderator", "moderates|hosts", "moderated|hosted"),
    ("edited by", "edits", "edited"),
    ("cleaned by", "cleans", "cleaned"),
    ("overseen by", "oversees|administers", "overseen|administered"),
)
_BECAME = (
    r"is|became|has become|was (?:appointed|named|elected|made|promoted to)|has been (?:appointed|named"
    r"|elected|made)|took over as|takes over as|serves as|will be"
)

FORMS: tuple[Form, ...] = (
    _form("birthplace", r"(?:was|is) born in", accepts=_is_no_year),
    _form("birthday", r"(?:was|is) born (?:on|in)"),
    _form("birthday", r"(?:has|celebrates) (?:(?:his|her|their|a) )?birthday on"),
    _form("founded", r"was (?:founded|established|started) (?:in|on)", accepts=_is_year),
    _form(
        "employer",
        r"works? (?:at|for)|is (?:employed|working) (?:at|by|for|with)|(?:has )?(?:started|begun"
        r"|began)(?: work| working| a (?:new )?(?:job|role|position))? (?:at|with)"
        r"|(?:has )?(?:took|taken|accepted|got|found) (?:a|the) (?:new )?(?:job|position|role) (?:at|with)"
        r"|has a (?:new )?job (?:at|with)|has an? (?:\w+ )?job (?:at|with)|earns (?:her|his|a) living at",
    ),
    _form("employer", r"worked (?:at|for)|was employed (?:at|by)|had a job (?:at|with)", past=True),
    _form("employer", r"(?:has )?joined", accepts=_is_company),
    _form("team", r"(?:is|works) (?:in|on) (?:the )?", r"(?P<v>[\w -]+?) team$"),
    _form("team", r"(?:has )?joined (?:the )?", r"(?P<v>[\w -]+?) team$"),
    _form("team", r"(?:is|works) (?:in|on)|(?:has )?joined", r"(?:the )?team (?P<v>[A-Z]\w+.*)$"),
    _form(
        "project",
        r"is on|is assigned to|was assigned to|(?:has )?joined",
        r"(?:the )?project (?P<v>.+)$",
        exclusive=True,
    ),
    _form(
        "project",
        r"is on|is assigned to|was assigned to|(?:has )?joined",
        r"(?:the )?(?P<v>[\w-]+) project$",
        exclusive=True,
    ),
    _form("does work on", r"works on|is working on", r"(?:the )?project (?P<v>.+)$"),
    _form("does work on", r"works on|is working on", r"(?:the )?(?P<v>[\w-]+) project$"),
    _form("project", r"was on|worked on", r"(?:the )?project (?P<v>.+)$", past=True),
    _form(
        "job",
        r"works? as|is working as|was promoted to|was appointed(?: as)?|is employed as|started as|got promoted to",
    ),
    _form("job", r"worked as", past=True),
    _form("employer", rf"(?:is|became) (?:an?|the) (?:[\w-]+ ){{0,3}}?(?:{_OCCUPATION}) (?:at|for|with)"),
    _form("employer", r"is an? [a-z-]+(?: [a-z-]+){0,2} (?:at|for|with)", r"(?P<v>(?:the )?[A-Z].*)$"),
    _form("spouse", r"is|became|is now|remains|got", r"(?P<v>single|divorced|widowed|unmarried)$"),
    _form("marital status", r"is|got|are|is now", r"(?P<v>married|engaged)$"),
    _form("job", r"is an?|became an?|has become an?", rf"(?P<v>(?:[\w-]+ ){{0,2}}(?:{_OCCUPATION}))$"),
    _form(
        "place",
        r"lives?(?: together| alone| with (?:[a-z]+ ){1,3}?[a-z]+)?"
        r"(?: in| at| on| near)|resides? (?:in|at)|is living (?:in|at)"
        r"|is based (?:in|at)|are based (?:in|at)|(?:has )?settled (?:in|down in)|rents (?:a \w+ )?in|has (?:a"
        r"|her|his) (?:flat|home|house) in",
    ),
    _form("place", r"lived (?:in|at|on|near)|resided in|was living in|was based in", past=True),
    _form(
        "place",
        r"(?:is|are) (?:located|situated|housed|hosted|held|kept|stored|parked) (?:in|at|on)|stands in"
        r"|is headquartered in|takes place (?:in|at)(?! \d)|will be held (?:in|at)(?! \d)|sits in|can be found in",
        accepts=_is_thing,
    ),
    _form("place", r"is in|are in|is at(?= the [A-Z]| [A-Z])|are at(?= the [A-Z]| [A-Z])", accepts=_is_thing),
    _form(
        "lead", r"reports? to|(?:is|are) (?:managed|led|headed|run|chaired|supervised|coached|directed|organi[sz]ed) by"
    ),
    _form("lead", r"reported to", past=True),
    _form("owner", r"(?:is|are) (?:owned|maintained) by|belongs? to"),
    _form(
        "owner",
        r"(?:owns|maintains)",
        inverse=True,
        accepts=lambda found: re.match(r"(?:the|this) ", found["v"]) is not None and _person_leads(found),
    ),
    _form(
        "lead",
        r"leads?|heads?|runs|manages|chairs|directs|coaches|supervises|is in charge of|is responsible for"
        r"|is running|is leading|took over|takes over|has taken over|(?:now )?looks after",
        inverse=True,
        accepts=_person_leads,
    ),
    _form("lead", rf"(?:{_BECAME}) (?:the |our )?(?:new )?(?:{_ROLES}) (?:of|for)", inverse=True),
    *(
        _form(office, rf"(?:{_BECAME}) (?:the |our )?(?:new )?(?i:{office}) (?:of|at|for)", inverse=True)
        for office in _OFFICES.split("|")
    ),
    *(
        _form(office, rf"was (?:the |our )?(?:former )?(?i:{office}) (?:of|at|for)", inverse=True, past=True)
        for office in _OFFICES.split("|")
    ),
    _form("lead", rf"was (?:the |our )?(?:former )?(?:{_ROLES}) (?:of|for)", inverse=True, past=True),
    *(
        form
        for attribute, active, passive in _DUTIES
        for form in (
            _form(attribute, active, inverse=True, accepts=_teaches if attribute == "teacher" else _has_charge),
            _form(attribute, rf"(?:is|are) (?:{passive}) by", exclusive=True),
        )
    ),
    _form("lead", r"led|headed|ran|managed|chaired", inverse=True, past=True, accepts=_person_leads),
    _form(
        "price", r"costs?|is priced at|sells for|goes for|charges|is charged at|now costs|comes to", r"(?P<v>.*\d.*)$"
    ),
    _form("price", r"cost", r"(?P<v>.*\d.*)$", past=True),
    _form("spouse", r"is married to|(?:has )?married"),
    _form("spouse", r"is", r"(?P<v>(?:engaged to|dating|in a relationship with|together with) .+)$"),
    _form(
        "age",
        r"is|turned|is now",
        r"(?P<v>\d{1,3})(?: years old)?$",
        accepts=lambda found: re.match(r"[A-Z]", found["s"]) is not None and not found["s"].startswith("The "),
    ),
    Form(
        "diet",
        re.compile(
            rf"{_SUBJECT} (?:is|became|went|has become|has gone|turned|eats|stays)(?: an?"
            rf"| strictly)? (?P<v>vegan|vegetarian|pescatarian|omnivore)\b"
        ),
        exclusive=True,
    ),
    Form("diet", re.compile(rf"{_SUBJECT} eats? (?P<v>meat|everything)$"), exclusive=True, value="omnivore"),
    Form(
        "commute",
        re.compile(
            r"^(?:(?P<s>.+?) )?(?:[Tt]akes?|[Rr]ides?|[Uu]ses?|[Cc]atches) (?:the |a |her |his "
            r"|their )?(?P<v>[\w -]+?) to (?:work|school|the office|the lab|university|campus)\b.*$"
        ),
        exclusive=True,
    ),
    Form(
        "commute",
        re.compile(
            r"^(?:(?P<s>.+?) )?(?:(?:goes|gets|travels|commutes|comes) to (?:work|school|the office) (?:by|on)"
            r"|[Cc]ommutes by) (?P<v>[\w -]+)$"
        ),
        exclusive=True,
    ),
    Form(
        "commute",
        re.compile(
            r"^(?:(?P<s>.+?) )?(?P<v>[Cc]ycles?|[Ww]alks?|[Dd]rives?|[Bb]ikes?|[Rr]uns|[Ss]cooters"
            r"|[Rr]ollerblades) to (?:work|school|the office|the lab|university|campus)\b.*$"
        ),
        exclusive=True,
    ),
    _form(
        "deadline",
        r"(?:is|are|was|will be|falls) due(?: on| by)?|must be (?:done|delivered|submitted|handed in"
        r"|finished) (?:by|on)",
    ),
    _form(
        "date",
        r"(?:is|are|takes? place|happens?|is held|are held|will be|will be held|will take place|meets?"
        r"|is scheduled|are scheduled|is planned|is set|was set|has been set|falls|runs?|starts?|begins?"
        r"|launches|ships|is happening)(?: for| on| every| each)?",
        _DATE,
        exclusive=True,
    ),
    _form(
        "time",
        r"(?:is|are|takes? place|happens?|will be|meets?|is scheduled|are scheduled|is set|starts?|begins?"
        r"|runs?|leaves?|departs?|kicks off)(?: for| at)",
        _TIME,
        exclusive=True,
    ),
    _form(
        "hours",
        r"(?:is|are|opens?)(?: open)?(?: daily)?(?: from| between)?",
        r"(?P<v>\d{1,2}(?::\d\d)? ?(?:am|pm)? ?(?:to|until|till|and|-|–) ?\d{1,2}(?::\d\d)? ?(?:am|pm|h|o'clock)?)$",
        exclusive=True,
    ),
    _form("port", r"listens on|is exposed on|is reachable on|runs on", r"port (?P<v>\d+)$", exclusive=True),
    _form(
        "origin",
        r"(?:is|are|was)(?: originally)? from|comes? from|hails? from|grew up in",
        accepts=lambda found: (
            re.match(r"(?:the )?[A-Z]", found["v"]) is not None and found["s"][:4] not in ("The ", "Our ")
        ),
    ),
    _form("opening", r"opens? at", _TIME, exclusive=True),
    _form("closing", r"closes? at", _TIME, exclusive=True),
    _form(
        "name",
        r"is called|is named|(?:has )?rebranded (?:as|to)|was renamed(?: to| as)?|has been renamed(?: to| as)?"
        r"|was rebranded (?:to|as)"
        r"|changed (?:its|her|his|their) (?:\w+ )?name to|goes by the name of|renamed itself(?: to)?",
    ),
    _form("database", r"(?:stores (?:its|all|the|their) data in|keeps (?:its|all|the) data in|runs on top of)"),
    _form(
        "uses",
        r"uses?|is using|are using|decided to use|decided on|chose|adopted|selected|picked|went with"
        r"|settled on|standardi[sz]ed on|(?:has )?(?:migrated|switched|moved over) to|runs on|run on|relies on"
        r"|is built on|writes code in|edits in",
    ),
    _form(
        "prefers",
        r"prefers?|would rather have|always orders",
        accepts=lambda found: category(read_value(found["v"]).text) is not None,
    ),
)
"""Every form; the one that leaves the shortest subject wins, then the first."""
