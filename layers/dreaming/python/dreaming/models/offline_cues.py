"""Word lists of the offline extractor; each list says why its words are in it.

English only. A sentence in another language finds no verb here and is skipped, which is the wanted
behaviour: no claim is better than a wrong one.
"""

from __future__ import annotations

import re

from dreaming.beliefs.records import Kind


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> re.Pattern[str]:
    """Match any of the phrases, separated by commas, as whole words; each is a regular expression."""
    return re.compile(r"(?<![\w'’])(?:" + "|".join(text.split(", ")) + r")(?!\w)", re.IGNORECASE)


# Labels before a colon that say who or what speaks when no person is named.
ASSISTANT_ROLES = _words("assistant ai bot chatbot model claude chatgpt gpt gemini copilot agent tool function")
SYSTEM_ROLES = _words("system developer instructions prompt")
USER_ROLES = _words("user human customer client me")

# Labels of fields and sections: "Deadline: Friday" is not spoken by somebody called Deadline.
FIELD_LABELS = _words(
    "note notes todo summary decision decisions decided action actions agenda date time subject from to cc bcc "
    "re attendees participants present absent location deadline budget owner status risk risks issue issues "
    "question questions answer warning caution important info tip example examples update updates background "
    "context goal goals result results conclusion next steps follow-up reference references see url link links "
    "title author version changes fixed added removed changed fixes closes refs requirement requirements price "
    "cost total name address phone email day monday tuesday wednesday thursday friday saturday sunday ps pros "
    "cons error step correction corrections erratum edit minutes reminder fyi memo announcement retro standup"
)

# Openers that never carry content; the span of a sentence starts after them.
FILLERS = _words("okay ok 'kay so um uh er erm hmm mm yeah yes yep yup and but also oh ah alright")

# Openers that carry no content when a comma follows: "No, we use Go", but not "No refunds are given".
OPENERS = FILLERS | _words(
    "well right no nope now anyway actually basically great good fine sure exactly correct cool perfect then "
    "again first firstly second secondly third finally lastly however therefore thus"
)

# What makes "so" part of the sentence.
AFTER_SO = _words("far that many much few long called on")

# Spoken hesitation inside a sentence: what follows is rarely a clean statement.
HESITATION = _phrases(r"um+, uh+, erm?, hmm+, mm, you know, i mean, sort of, kind of, kinda, sorta")

# Transcribers' marks of noise, broken-off words and pauses.
TRANSCRIPT_MARKUP = re.compile(
    r"\{[a-z]{2,20}\}|\[(?:laugh\w*|inaudible|crosstalk|noise|pause|music|applause)\]|@ ?@", re.IGNORECASE
)

# A sentence that starts here leans on an earlier one, so it does not stand alone.
LEANING_STARTS = _words(
    "it it's it’s its that that's that’s they they're they’re they've they’ve they'll their theirs them this "
    "these those he he's he’s she she's she’s him her hers his here here's such both neither either one ones "
    "another others same which who whose whom what what's when where why how because 'cause cuz since although "
    "though while whereas unless until if whether so thus therefore hence otherwise instead however or nor than "
    "as like not just even still besides apart some someone somebody something anything nothing everything "
    "anyone mine yours let let's maybe perhaps"
)

# Pronouns whose meaning is outside a spoken sentence.
LOOSE_PRONOUNS = re.compile(
    r"(?<![\w'’])(?:it|it's|it’s|they|they're|they’re|them|he|he's|he’s|she|she's|she’s|him|something|stuff|"
    r"thing|things|somewhere|somehow|someone|these|those|'em|here)(?![\w])",
    re.IGNORECASE,
)
DANGLING_DEMONSTRATIVE = re.compile(
    r"(?<![\w'’])(?:this|that|these|those)(?:['’]s)?\s*(?:is|was|are|were|will|would|one|ones|way|[,.;]|$)",
    re.IGNORECASE,
)

# Speech that is polite, empty, or about the conversation itself.
COURTESY = re.compile(
    r"(?:thanks?|thank you|hello|hi|hey|sorry|please|welcome|bye|goodbye|cheers|congrat\w+|good (?:morning|afternoon|"
    r"evening|night|luck)|dear|regards|best|sincerely|nice|see you|talk soon|excuse me|ping|lol|haha\w*|wow|agreed)\b",
    re.IGNORECASE,
)

# Possibility, opinion and hearsay: not something that holds.
HYPOTHETICAL = _phrases(
    r"could, would, might, (?-i:may), maybe, perhaps, possibly, probably, presumably, likely, unlikely, "
    r"apparently, supposedly, allegedly, should, shouldn['’]t, wouldn['’]t, couldn['’]t, ought to, if, whether, "
    r"what if, suppose, supposing, supposed to, imagine, assuming, hypothetically, in theory, wish, hope, "
    r"hopefully, wonder, wondering, guess, seems?, seemed, looks like, sounds like, feels like, think, thought, "
    r"thinking, believe, reckon, suspect, suggest\w*, propos\w+, recommend\w*, consider\w*, considering, not "
    r"sure, unsure, no idea, don['’]t know, doesn['’]t know, dunno, how about, what about, why not, why "
    r"don['’]t, let['’]s, let us, ['’]d, or something, or whatever, [a-z]+['’]d, rumou?rs?, potentially, "
    r"theoretically, try to, trying to, tentative\w*, it depends, depending on, i said, you said, whatever"
)

# Somebody else's words, doubts, and plans that are told because nothing came of them.
HEARSAY = _phrases(
    r"told (?:me|us|him|her|them), (?:my|his|her|our|their|an?) [\w-]+ (?:always )?(?:says?|said|claims?|claimed), "
    r"(?:people|they|some) say, (?:claims|claimed|joked|jokes|asks|asked) (?:that|whether|if|for|the|about), "
    r"have (?:my|our|some|no) doubts, there were plans, (?:had|was|were) planned, (?:had|have) plans to, "
    r"(?:wanted|hoped|planned|intended|meant) to, hoped for, take it up, no decision was"
)

# The sentence itself says that it is not meant.
JOKE = re.compile(
    r"\b(?:just )?(?:kidding|joking)\b|\bjust a joke\b|\b(?:lol|lmao|rofl|haha\w*|hehe\w*)\b|(?:^|\s)/s(?=\s|$|\.)|"
    r"[;:]-?[)D](?=\s|$)|[😂🤣😉😜]",
    re.IGNORECASE,
)

# Addressed to the reader: an instruction, an offer or small talk.
SECOND_PERSON = re.compile(
    r"(?<![\w'’])(?:you|your|yours|yourself|yourselves|y'all)(?:['’]\w+)?(?![\w])", re.IGNORECASE
)

# Text that drives a language model. One such mark makes its whole paragraph instructions.
PROMPT_MARKS = re.compile(
    r"\byou are (?:an?|the|now)\b|\byour (?:task|role|job|goal) is\b|\bact as\b|\bas an ai\b|\blanguage model\b|"
    r"\bsystem prompt\b|"
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|all|these)\b"
    r"|\b(?:helpful|harmless) assistant\b|"
    r"\bthe assistant (?:is|must|should|will|can|may|has|answers|responds|never|always)\b|"
    r"\bthe (?:end )?user (?:asks|wants|says|will|is asking)\b|"
    r"<\|?(?:im_start|im_end|system|endoftext)|\[/?INST\]|</?(?:note|system|prompt|instructions?|user|assistant)>|"
    r"\bknowledge cutoff\b|\bSYSTEM:|\bremember:|\bdo not reveal\b|"
    r"\b(?:assistants?|agents?|ais?|models?|bots?)\b[^.\n]{0,30}\breading (?:this|these)\b",
    re.IGNORECASE,
)

# At the start of a note: everything up to the next speaker is a system prompt.
PROMPT_OPENING = re.compile(
    r"\s*(?:you are\b|your (?:task|role|job) is\b|act as\b|<\|?(?:im_start|system))", re.IGNORECASE
)

# Base forms that open an order; a plain sentence has its subject first.
ORDERS = _words(
    "accept act add always answer ask assume avoid be bring build buy call cancel change check choose clean "
    "click close come complete compare confirm consider contact continue copy create delete describe disable "
    "discuss do don't don’t download draw email enable ensure enter execute explain fetch file fill find finish "
    "fix follow forget get give go grab have help hold ignore imagine include insert install keep learn leave "
    "list listen load look mail make mark mention move never note notice open order output pay pick pretend "
    "print provide pull push put read recall refer reject remember remind remove repeat replace reply report "
    "respond return review run save say schedule search see select send set share show sign skip start stay "
    "stop submit summarise summarize switch take tell test think translate treat try turn type update upload "
    "use verify visit wait watch write"
)

# Of the moment: no longer true, or no longer of interest, a day later.
TRANSIENT = _phrases(
    r"right now, at the moment, just now, currently, a moment, a second, a minute, in a bit, for now, on "
    r"(?:my|our|his|her|the) way, running late, hang on, hold on, gonna, going to, be right back, brb, still "
    r"(?:waiting|working|loading), here we go, there we go, there you go, good point"
)

# Running the meeting: slides, equipment and the order of speakers.
MEETING_MECHANICS = _phrases(
    r"slides?, powerpoint, whiteboard, microphones?, mikes?, mics?, headsets?, laptops?, next meeting, this "
    r"meeting, last meeting, kick-off, minutes of, individual work, minutes? (?:left|to|in|before), presenters?, "
    r"we only have, presentations?, questionnaires?, agenda, recording, my turn, your turn, digits, screen "
    r"share, shared folder, project folder, the folder, draw\w*, the pen, last time, next time, evaluation "
    r"criteri\w+, we(?:['’]ll| will)(?! "
    r"(?:use|adopt|keep|drop|ship|launch|support|replace|stick|switch|migrate|move to|go with|not)), i(?:['’]ll| "
    r"will), (?:i|we)(?:['’]m|['’]re| am| are) (?:just |also |now |all |still )?\w+ing, in closing, the meeting "
    r"(?:is|will), what (?:i|we) want, that (?:idea|shape|point|way|one|question)[.,]?, i['’]m afraid, move on, "
    r"other stuff, i have to go, go ahead"
)

# Times that only the day of speaking resolves and that the extractor does not resolve.
UNRESOLVED_TIMES = _phrases(
    r"(?:last|next|this|coming|past|previous) "
    r"(?:night|morning|afternoon|evening|days?|weeks?|weekend|months?|quarter|years?|time|one), "
    r"(?:last|next|this|coming|past|previous) (?:spring|summer|autumn|fall|winter|few "
    r"\w+|mon\w*|tue\w*|wed\w*|thu\w*|fri\w*|sat\w*|sun\w*), (?:last|next|this|coming|past) "
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*, tonight, soon, later, earlier, recently, lately, "
    r"(?<!is )(?<!are )now(?! "
    r"(?:is|are|works?|lives?|uses?|runs?|owns?|leads?|has|requires?|supports?|belongs?)\b), nowadays, shortly, "
    r"eventually, sometime, someday, already, (?:weeks?|months?|years?|hours?|minutes?|while|long time) ago, the "
    r"other day, in (?:a|an|two|three|a few|\d+) (?:minutes?|hours?|days?|weeks?|months?|years?)"
)

# Something was settled.
DECISION = _phrases(
    r"decided, decides, agreed (?:to|that|on), agrees to, chose, chosen, settled on, approved, signed off, "
    r"opted, selected, concluded, committed to, resolved to, switched (?:to|from), migrated, adopted, dropped "
    r"support, standardi[sz]ed on, the decision (?:is|was), the plan is, going with, went with, signed, "
    r"cancelled, canceled, rejected, we(?:['’]ll| will) "
    r"(?:use|adopt|keep|drop|ship|launch|support|replace|stick|switch|migrate|move to|go with|not)"
)

# A choice still open: the words of a decision without one.
UNDECIDED = _phrases(
    r"undecided, (?:not|never|yet|to be|haven['’]t|hasn['’]t|hadn['’]t|have to|has to|need to|needs to|to) "
    r"(?:been |yet |be )?(?:decided?|agreed?|chosen?|settled|approved?|selected)"
)

# Somebody wants or avoids something. Base forms need their subject beside them: "like" is mostly a filler.
PREFERENCE = _phrases(
    r"prefers?, preferred, likes, liked, loves, loved, hates, dislikes?, enjoys?, favou?rites?, can['’]t stand, "
    r"doesn['’]t like, don['’]t (?:like|want), wants, wanted(?! to\b), fond of, allergic to, vegetarian, vegan, "
    r"(?:i|we|they|people|users|customers|\w+ers) (?:really |all |also |both )?(?:like|love|want|hate)"
)

# Something is demanded, forbidden or bounded.
CONSTRAINT = _phrases(
    r"must, mustn['’]t, shall, cannot, can not, can['’]t, has to, have to, had to, needs? to, required, "
    r"requires?, mandatory, forbidden, prohibited, not allowed, only allowed, at most, at least, no more than, "
    r"no less than, limited to, never (?!seen|been|had|heard|really|mind), "
    r"(?:budget|deadline|limit|maximum|minimum|requirements?|constraints?) (?:is|are|was|of), deadline:, "
    r"compliance, not permitted, is due, are due"
)

# Reasons to rank a claim higher.
HIGH_IMPORTANCE = _phrases(
    r"critical\w*, security, breach, outage, deadline, budget, legal\w*, contract, urgent\w*, allergic, allergy, "
    r"must, mandatory, data loss, vulnerabilit\w+, production, incident"
)

# Facts that do not age.
PERMANENT = _phrases(
    r"was born, born (?:in|on), birthday, is called, is named, native language, founded in, was founded"
)

# Finite verbs. Without one of them, or a regular past tense, a string of words is a heading or a fragment.
AUXILIARIES = _words(
    "is are was were am be been has have had do does did will won't can can't cannot must shall isn't aren't "
    "wasn't weren't hasn't haven't hadn't doesn't don't didn't"
)
VERBS = AUXILIARIES | _words(
    "accepts accept adds agree agrees aims allows allow answers appears applies approves arrives asks became "
    "become becomes began begins begin believes belongs belong blocks bought brings brought breaks broke builds "
    "built buys calls came carries causes caught changes charges chose closes comes concerns consists consist "
    "contains contain controls costs cost covers cover creates cuts cycles decides defines delivers depends "
    "disallows drinks drives drops drew drove eats emits enables enforces ends enjoys enjoy ensures exists "
    "expects expect expires explains exports extends failed fails falls feels fell finds fits fixes flies "
    "follows forbids found gave gets gives goes got grew grows handles happens hates hate helps held hires "
    "holds hosts hurts identifies implements improves includes include inherits involves joins keeps keep kept "
    "knew knows leads leaves led left let lets lies likes like limits links lists lives live loads looks lost "
    "loves love made maintains makes make manages matches means mean measures meets met mentions moves needs "
    "need offers opens operates owes owns own paid passes pays performs plans plays points prefers prefer "
    "prevents prints produces provides provide puts raises ran reaches reads receives refuses registers relies "
    "remains removes renders replaces reports represents requires require returns rose runs run said sails sat "
    "saved saves saw says schedules sells sell sends sent serves sets shares ships shows sits sleeps sold "
    "solves speaks spent spoke stands started starts stays stood stops stores studies studied suffers supports "
    "support takes taught teaches tells tests threw told took tracks travels treats tries turns understands "
    "updates uses use used visits wants want warns wears went wins won works work wrote writes yields"
)
STATES = AUXILIARIES | _words(
    "lives works plays speaks owns uses runs costs contains consists belongs supports includes keeps means "
    "hosts holds leads manages reports relies provides offers opens closes lies stands"
)
NO_VERB_AFTER = _words("the a an my our your his her their its this that these those no some any of to")
NOT_PAST_AFTER = _words(
    "the a an his her their our my its this that these those of in on at by for with and or to very"
)

# Capitalised first words after which a plural noun is no verb: "Two buttons", "All rooms".
NOT_A_NAME = _words(
    "one two three four five six seven eight nine ten all most many few several both no our my the these those "
    "some any other new old there"
)

# Base forms that are verbs only after a plural: "users like", but not "a budget like twelve euros".
AFTER_PLURAL = _words("like love hate need want work use")

# Interjections inside a spoken sentence mark a new start.
RESTART = re.compile(r"\S\s+(?:oh|yeah|woah|okay|wait|hang on|sorry|'cause|cuz|no,|well,)(?!\w)", re.IGNORECASE)

# A spoken sentence that ends here was broken off.
BROKEN_ENDS = _words("and but or so the a an of to with for in on at by that which because if um uh is are was")

# Verbs that open a commit subject, in base form; past and third-person forms are derived from them.
COMMIT_VERBS = _words(
    "add allow avoid backport bound cache catch change check clarify convert correct create deprecate "
    "detect disable disallow don't drop emit enable enforce ensure expand expose extend extract fix forbid "
    "guard handle honor honour hide ignore implement improve include increase inherit inline introduce isolate "
    "keep limit link load lock log make mark mask merge migrate move note open optimise optimize parse pass "
    "patch phase pin prefer prevent print protect provide raise read record redirect reduce refactor refuse "
    "register reject release remove rename render reorder replace report require reset resolve restore restrict "
    "return rewrite run send separate serve set show simplify skip sort speed split stop store strip support "
    "suppress switch test throw track treat trim truncate turn unify unpin upgrade use validate verify warn "
    "wrap write"
)
# Without a source that says "git", only verbs that nobody writes on a shopping list open a commit subject.
PLAIN_COMMIT_VERBS = _words(
    "backport deprecate disallow expose fix guard handle implement improve introduce migrate optimise optimize "
    "parse refactor rename rewrite simplify support suppress validate"
)
# Commits that change nothing anybody would ask about.
TRIVIAL_COMMIT = _phrases(
    r"typos?, docs?, documentation, documents?, documented, documenting, tutorials?, quickstart, tests?, "
    r"testsuite, testing, tested, \w+\.(?:rst|md|txt|yml|yaml|toml|cfg|ini|lock), actions?, workflows?, "
    r"makefile, gitignore, updates?, updated, advertisement, duplicates?, pkg, whitespaces?, white space, "
    r"spelling, grammar, wording, formatting, reformat\w*, lint\w*, cleanups?, clean up, cleaned up, cosmetics?, "
    r"indentation, changelog, change log, pep ?8, flake8, black, isort, pre-commit, bump\w*, wip, version "
    r"number, copyright, years?, readme, docstrings?, comments?, merge (?:branch|pull|remote)\w*, revert\w*, "
    r"release(?:d|s)? (?:version )?v?\d[\w.]*, next version, dependenc(?:y|ies), minor, again, some, stuff, "
    r"more, other, several, various, few, tweak\w*, badges?, links?, authors?, contributors?, requirements?, "
    r"lock ?file, another, things?, missing, accidental\w*, oops, ci, travis, appveyor, cross linking, font, "
    r"logo, website, faq, news, import, imports, unused, sphinx, theme, section, sentence, paragraph, page, "
    r"words?"
)
# Types of a conventional commit that leave the software as it was.
DULL_COMMIT_TYPES = _words("docs doc test tests chore style ci build lint release deps")
# Lasting changes of what the software is; other commits are events that age.
LASTING_COMMIT = _words(
    "add allow change deprecate disallow drop enforce forbid implement introduce migrate move remove rename "
    "replace require support switch use"
)

# Grammar words of other languages that are no English ones, and the English ones that outweigh them.
FOREIGN = _words(
    "der das und ist nicht ein eine einen dem den des im zum zur mit auf für von bei nach wir ihr sie er es ich auch "
    "aber wird werden haben sind noch nur sich el la los las una unos del al que y de en por para con se su sus son "
    "está están fue lo como más pero muy ya si usted le les du et est dans une pas avec elle nous vous sont gli di "
    "che è non della sono het een niet zijn voor os um uma não com"
)
ENGLISH = _words("the a of to and in is are was were for on with that it has have by at from")

# Marks that end a question in scripts without spaces, and words there that address, lean or ask.
UNSPACED_SKIP = re.compile(
    r"[?？]|吗|呢|か[。！]?$|ですか|你|您|请|請|ください|也许|可能|かもしれ|如果|もし|たぶん|でしょう|昨天|今天|明天|昨日|今日|明日|上周|下周|"
    r"现在|刚才|先週|来週|今週|谢谢|ありがとう|"
    # Agreeing and teasing, others' words, what nothing came of, courtesy.
    r"[ねよ][。！]?$|と(?:よく|いつも)?言[っいわう]|言われ|冗談|ていれば|予定でした|かどうか|見送った|検討(?:する|します)|楽しみに|"
    r"おはよう|こんにちは|こんばんは|お疲れ|また後で|特にありません|同じです|相談です"
)
UNSPACED_LEANING = re.compile(r"^(?:它|这|那|他|她|這|其|これ|それ|あれ|彼|그|이것)")
UNSPACED_FIRST_PERSON = re.compile(r"我|私|僕|俺|咱")
UNSPACED_KINDS = (
    (re.compile(r"决定|決定|決め|同意"), Kind.DECISION),
    (re.compile(r"喜欢|喜歡|好き|偏好|讨厌|嫌い"), Kind.PREFERENCE),
    (re.compile(r"必须|必須|不能|禁止|不得"), Kind.CONSTRAINT),
)
