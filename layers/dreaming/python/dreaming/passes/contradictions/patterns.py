"""The ways of speaking by which a statement is taken apart: endings, changes, nouns with a value, verbs."""

from __future__ import annotations

import re

from dreaming.passes.consolidation.lexicon import IRREGULAR_PAST
from dreaming.passes.contradictions.vocabulary import PERSONS, PLACES, THINGS

SAID = re.compile(
    r"^(?P<who>[\w .'-]{1,60}?) (?:said|says|wrote|writes|mentioned|confirmed|told \w+|reported)(?: that"
    r"|:) (?P<what>.+)$",
    re.DOTALL,
)
LEAD_CUE = re.compile(
    r"^(?P<cue>correction|update|actually|erratum|news|edit|fyi|note|p\.?s\.?)\s*[:,–—-]\s*", re.IGNORECASE
)
_MONTHS = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
_WHEN = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTHS}\b(?:,? \d{{4}})?"
    rf"|{_MONTHS}\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}})?|(?:19|20)\d\d"
    r"|(?:next |last |this )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:next|last|this) (?:week|month|year)"
    r"|tomorrow|today|yesterday)"
)
LEAD_TIME = re.compile(
    r"^(?:(?:as of|as from|since|from|starting|beginning|effective|in|on|by|after|at the (?:start|end"
    r"|beginning) of|until|during|back in)\b[^,]{2,30},"
    r"|(?:since|as of|from|until|in) (?:last|this|next) (?:week|month|year|spring|summer|autumn|winter)\b"
    r"|(?:since|as of|in) (?:(?:January|February|March|April|May|June|July|August|September|October"
    r"|November|December)"
    r"(?: \d{4})?|(?:19|20)\d\d)\b"
    rf"|(?:since|as of|as from|from|starting|beginning|effective|with effect from|until|in|on) (?:on )?{_WHEN}"
    rf"(?: (?:to|until|till|through) {_WHEN})?(?:,|(?= [A-Za-z]))"
    r"|(?:last|this|next|earlier this) \w+,|(?:now|today|yesterday|currently|nowadays|these days|recently"
    r"|meanwhile|at present|lately|finally|since then|from now on|for now)\b,?) +",
    re.IGNORECASE,
)
ADVERBS = re.compile(
    r"(?<=\w) (?:now|currently|nowadays|again|still|already|just|recently|finally|officially|actually"
    r"|instead(?! of)|also|always|usually|mostly|normally|typically|mainly|officially|formally"
    r"|these days|at the moment|right now|at present|from now on|since then|permanently|temporarily|both|all"
    r"|really|has since|have since)(?=[ ,.]|$)",
    re.IGNORECASE,
)
CHANGE_CUE = re.compile(
    r"\b(?:now|no longer|any ?more|any longer|instead|nowadays|these days|since then|from now on|has since"
    r"|finally|meanwhile|as of|effective|correction|update|actually"
    r"|new|changed|became|has become)\b",
    re.IGNORECASE,
)
ADDS = re.compile(
    r"\b(?:also(?! known)|as well(?! as)|too$|in addition|additionally|besides|on top of that|likewise)\b",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"\b(?:no longer|(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|must)(?: not"
    r"|n['’]t)(?: yet)?|cannot|never|not)\b",
    re.IGNORECASE,
)
NOT_ANY_MORE = re.compile(r"\b(?:no longer|any ?more|any longer|ya no)\b", re.IGNORECASE)
MORE = re.compile(r"\b(?:any ?more|any longer)\b", re.IGNORECASE)
MODAL = re.compile(
    r"^(?P<s>.+?) (?:(?P<no>must(?: not|n['’]t| never)|may (?:not|never)|can(?: ?not|['’]t| never)|shall not|shan['’]t"
    r"|should(?: not|n['’]t| never)|(?:is|are) (?:not|no longer) (?:allowed|permitted|supposed) to"
    r"|(?:is|are)n['’]t (?:allowed|permitted|supposed) to|(?:is|are) (?:forbidden|prohibited) to)"
    r"|(?P<yes>must|may|can|shall|should|(?:has|have) to|needs? to"
    r"|(?:is|are) (?:allowed|permitted|required|supposed|obliged) to))"
    r" (?P<v>(?!be (?:done|delivered|submitted|finished|handed)\b|have (?:been|\w+ed)\b|not\b|no\b).+)$",
    re.IGNORECASE,
)
USED_TO = re.compile(r"(?<!is )(?<!are )(?<!was )(?<!got )\bused to\b", re.IGNORECASE)
BEFORE = re.compile(
    r"\b(?:formerly|previously|once(?! (?:an?|every|per|more|again)\b)|in the past|back then|earlier"
    r"|originally|at first|initially|at that time|before that)\b,? ?",
    re.IGNORECASE,
)
STOPPED = re.compile(
    r"\b(?:has |have )?(?:stopped|quit|gave up|given up|ceased|finished|dropped|no longer) (?P<verb>\w{2,})ing\b",
    re.IGNORECASE,
)
LEFT = re.compile(
    r"^(?P<s>.+?) (?:has |have |had )?(?:left|quit|resigned from|retired from|departed from|moved (?:away"
    r"|out) (?:from|of)|dropped out of|was (?:fired|let go|dismissed) (?:from|by)"
    r"|was (?:taken off|removed from)|is off|cancelled|canceled|gave up|sold|lost|parted with|broke up with"
    r"|divorced|stepped down (?:as|from)|dropped|stopped using|got rid of|abandoned|ended)"
    r" (?:her |his |their |its )?(?:job at |job with |position at |role at |role as |job as |the |a |an "
    r"|project )?(?P<v>.+)$",
    re.IGNORECASE,
)
LEFT_SIDE = re.compile(
    r"\b(?:plays?|played|playing|the|on|at|to|turns?|keeps?|far|top|bottom|is|are) left\b", re.IGNORECASE
)
HEDGE = re.compile(
    r"^(?:maybe|perhaps|possibly|probably|apparently|supposedly|allegedly|i (?:think|guess|believe"
    r"|heard)(?: that)?|it seems(?: that)?"
    r"|rumou?r has it(?: that)?|(?:someone|somebody) said(?: that)?|as far as i know|not sure,? but),? ",
    re.IGNORECASE,
)
PERFECT = re.compile(
    r"\b(?:has|have) (?P<verb>been|lived|worked|reported|led|headed|managed|run|chaired|played|belonged|taken"
    r"|owned|resided|served|studied|driven|taught|used|had|spoken|held)\b(?! (?:moved|renamed|changed"
    r"|postponed|rescheduled|replaced|promoted|appointed|raised|increased|lowered|reduced|elected|named|reassigned))"
)
PERFECT_PRESENT = {
    "been": "is",
    "led": "leads",
    "run": "runs",
    "taken": "takes",
    "studied": "studies",
    "driven": "drives",
    "taught": "teaches",
    "had": "has",
    "spoken": "speaks",
    "held": "holds",
}
CHANGED = re.compile(
    r"^(?P<s>.+?) (?:(?:has|have|had) (?:been )?|was |were |is |are |got |will be )?(?:(?:will|(?:is"
    r"|are) going to) (?:move|change|switch|migrate|rise|increase"
    r"|drop|fall|go up|go down|relocate|transfer|shift)|moved|postponed"
    r"|rescheduled|shifted|delayed|brought forward|pushed(?: back)?|changed|switched|migrated|raised|increased"
    r"|lowered|reduced|cut|dropped|risen|rose|reassigned|promoted|seconded|re-?allocated|bumped|adjusted"
    r"|corrected|updated"
    r"|revised|renewed|went up|went down|went|gone|grew|fell|fallen|extended|bumped|transferred|converted"
    r"|relocated|upgraded|downgraded|moving|switching|migrating|ported|slips|slipped|slides|slid|moves|shifts|jumped"
    r"|jumps|rises|falls|drops|increases|grows|climbed|doubled|halved|goes up|goes down|changes|switches|migrates)"
    r"(?: (?P<o>(?!from |to )[\w' -]{1,40}?))??(?: (?:over|away|back|on))?(?: from (?P<f>.+?))? (?:to|onto"
    r"|over to) (?P<v>.+?)(?: from (?P<f2>.+))?$",
    re.IGNORECASE,
)
REPLACED = (
    re.compile(
        r"^(?P<s>.+?) (?:has |have )?(?:replaced|swapped|exchanged|traded"
        r"|substituted)(?: out)? (?P<f>.+?) (?:with|by|for) (?P<v>.+)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<s>.+?) (?:has |have )?(?:dropped|abandoned|ditched|gave up|left|sold|quit"
        r"|resigned from) (?P<f>.+?) (?:for|in favou?r of|and (?:bought|got|adopted|chose|joined|took|uses"
        r"|moved to|went to|started (?:at|with)|now (?:uses|works (?:at|for)))) (?P<v>.+)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<s>.+?) (?:has |have )?(?:chose|chosen|picked|took|went|\w{2,}(?:s|ed)|use|drink|take|play"
        r"|wear) (?P<v>.+?) (?:instead of|rather than|and not|in place of|in preference to) (?P<f>.+)$",
        re.IGNORECASE,
    ),
)
SUCCEEDED = re.compile(
    r"^(?P<v>[A-Z].+?) (?:has )?(?:replaced|replaces|succeeded|succeeds|took over from"
    r"|takes over from) (?P<f>[A-Z].+?) as (?:the )?(?P<a>[\w -]+?)(?: (?:of|for|at) (?P<s>.+))?$"
)
POSSESSIVE = re.compile(
    r"^(?P<s>.+?)['’]s? (?P<a>[A-Za-z][\w-]*(?: [a-z][\w-]*){0,3}?) (?P<t>is|are|was|were|became|will be"
    r"|remains|has become)(?: called| named| set to| set at)? (?P<v>.+)$"
)
OF = re.compile(
    r"^(?:The|the|Our|our|My|A|the new|The new) (?P<a>[A-Za-z][\w-]*(?: [a-z][\w-]*){0,2}?) (?:of"
    r"|for) (?P<s>.+?) (?P<t>is|are|was|were|became|will be|remains|has become)(?: called| named| set to"
    r"| set at)? (?P<v>.+)$"
)
OF_BARE = re.compile(
    r"^(?P<a>[A-Z][a-z-]+(?: [a-z-]+)?) (?:of|for) (?P<s>.+?) (?P<t>is|are|was|were|became|will be|remains"
    r"|has become)"
    r"(?: called| named| set to| set at)? (?P<v>.+)$"
)
NOUN = re.compile(
    r"^(?:The |the |Our |our |My |my )?(?P<s>(?:[\w'’-]+ ){0,4}?)(?P<a>price|deadline|due date|budget|password"
    r"|owner|manager|lead|address|phone number|number|limit|quota|rate limit|timeout|size|version|port"
    r"|name|location|date|time|capital|fee|salary|colou?r|status|venue|room|language|database|provider|host"
    r"|region|rate|target|goal|threshold|interval|schedule|frequency|retention|headcount"
    r"|population|temperature|weight|height|length|width|capacity|theme|password hash|contact|sponsor|captain"
    r"|coach|ceo|cto|cfo|director|maintainer|chair|editor|code|postcode)"
    r" (?P<t>is|are|was|were|became|will be|remains|has become)(?: called| named| set to| set at)? (?P<v>.+)$",
    re.IGNORECASE,
)
IS = re.compile(r"^(?P<s>.+?) (?P<t>is|are|was|were|became|has become|turned|remains|will be|am) (?P<v>.+)$")
HAS_COUNT = re.compile(
    r"^(?P<s>.+?) (?:has|have|had|employs|counts|holds|seats|contains|takes|allows|needs|requires|runs"
    r"|uses) (?:about |around |roughly |nearly |over |almost |some |approximately |at least "
    r"|up to )?(?P<v>(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen"
    r"|\w+ty) (?P<a>(?!percent|euros|dollars)[a-z]+(?: [a-z]+)?))$"
)
PAST = "|".join(sorted(IRREGULAR_PAST, key=len, reverse=True))
IRREGULAR_PARTICIPLE = (
    r"(?:(?:re|un|over)?(?:made|set|cut|put|sold|bought|kept|held|built|brought|sent|lent|spent|left|lost|met|paid|told"
    r"|found|taught|caught|dealt|led|laid|read|hit|split|shut|spread|hung|won|struck|done|gone|dug|bound|drawn|redrawn|shot"
    r"|thrown|torn|worn|sworn|swept|fed|bred|burnt|withdrawn|sung|flown|shown|grown|known|mown|sewn|spun|slain))"
)
PARTICLE = r"(?P<p> (?:at|in|on|for|to|with|as|from|by|about|every|of|up|off|out|through|via|over))?"
VERBS = (
    re.compile(
        rf"^(?P<s>(?!(?:The|Our|My|A|An|All|Every|We|They|I|You"
        rf"|People) )[A-Z][\w.'’-]*(?: (?:and )?[A-Z][\w.'’-]*)*) (?P<verb>[a-z]+(?:[^s]s|ed)"
        rf"|{PAST}){PARTICLE} (?P<v>.+)$"
    ),
    re.compile(
        rf"^(?P<s>(?:The|Our|My|A|An|All|Every) (?:[\w'’.-]+ ){{0,4}}?[\w'’.-]+) (?P<verb>[a-z]+(?:[^s]s|ed)"
        rf"|{PAST}){PARTICLE} (?P<v>.+)$"
    ),
    re.compile(
        rf"^(?P<s>(?:(?:The|Our|My|All) )?(?:[\w'’-]+ ){{0,2}}?(?:[\w'’-]+s|We|They|I|You"
        rf"|People)) (?P<verb>[a-z]{{2,}}){PARTICLE} (?P<v>.+)$"
    ),
)
ALONE = re.compile(
    r"^(?P<s>(?:[A-Z][\w.'’-]*|(?:The|Our|My|A) [\w'’-]+)(?: [\w'’-]+){0,2}?) (?P<verb>[a-z]{2,}(?:s|ed))$"
)
SUBJECTLESS = re.compile(r"^(?P<verb>[A-Z][a-z]+s) (?P<rest>.+)$")
SENSE = re.compile(
    rf"^(?P<s>[A-Z][\w'-]*),? (?:(?:my|our|his|her|their|the|a|an"
    rf"|\w+['’]s) )(?:\w+ ){{0,2}}?(?P<w>{'|'.join(sorted(PERSONS | PLACES | THINGS))})\b,? (?P<rest>.+)$"
)
SENSE_BEFORE = re.compile(
    rf"^(?P<d>(?:My|Our|The|my|our|the|His|Her"
    rf"|A) (?:\w+ )?)?(?P<w>{'|'.join(sorted(PERSONS | PLACES | THINGS))}) (?P<s>[A-Z][\w'-]*) (?P<rest>.+)$",
    re.IGNORECASE,
)
I_AM = (
    (re.compile(r"\b(?:I|we)(?:['’]m| am|['’]re| are)\b", re.IGNORECASE), "is"),
    (re.compile(r"\b(?:I|we)['’]ve\b", re.IGNORECASE), "has"),
)
TAILS = {
    "employer": re.compile(r" (?:as|in) (?:an?|the|its|their|head|chief|lead|senior|junior|our)\b.*$"),
    "uses": re.compile(r" (?:for|as|to) .+$"),
    "place": re.compile(r" with (?:her|his|their|my|our|a|two|three|[A-Z]).*$"),
}
NO_TAIL = re.compile(r"(?!)")
PLACED = re.compile(r"(?:in|on|at|closed|open|to|from|by|due|based|located|owned|led|run|managed)\b")
DOES_NOT = re.compile(r"\b(?:does not|doesn['’]t) (?P<verb>[a-z]+)", re.IGNORECASE)
USED_TO_BE = re.compile(r"\bused to be\b", re.IGNORECASE)
HAS_OF = re.compile(r"^(?P<s>.+?) (?:has|have) (?:an?|the) (?P<a>(?:[a-z-]+ ){0,2}[a-z-]+) of (?P<v>.+)$")
OUR_GROUP = re.compile(
    r"\b[Oo]ur (?:team|company|group|organi[sz]ation|startup|firm)\b(?= [a-z])(?! (?:is|has been|was|lead"
    r"|name|size)\b)"
)
IS_THE = re.compile(
    r"^(?P<v>(?!The |Our |My |It |This )[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*)"
    r" (?:is|became|was (?:named|appointed|elected)|has become) (?:the|our) (?:new |current |acting )?"
    r"(?P<s>(?:[a-z]+[ -]){0,3}(?i:ceo|cto|cfo|coo|president|mayor|treasurer|secretary|manager|lead|leader|owner"
    r"|head|director|coordinator|captain|chair|chairman|chairwoman|head chef|scrum master|landlord|landlady"
    r"|goalkeeper|conductor|coach|maintainer|moderator|supervisor|editor|editor-in-chief|principal))$"
)
WHO = re.compile(
    r"^(?:The|Our|My) (?!(?:\w+ )*(?:friend|colleague|neighbou?r|cousin|brother|sister|uncle|aunt|child|son|daughter"
    r"|customer|client|supplier|partner|member|guest|student) is)(?:[\w-]+ ){1,3}is (?:[A-Z][a-z]+\.? )?[A-Z][\w'-]*"
)
THE_OF = re.compile(
    r"^(?P<v>(?!The |Our |My |It |This )[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*)"
    r" (?:is|became|was (?:named|appointed|elected)) the (?:new )?"
    r"(?P<a>(?!best|worst|kind|part|rest|end|start|name|one|only|most|same|author|result|cause)"
    r"[a-z][a-z-]+(?: [a-z-]+)?) (?:of|for|at) (?P<s>.+)$"
)
