"""Closed word lists behind the guards and the claim check, by language where it matters."""

from __future__ import annotations


def _numbered(*rows: str, first: int = 1) -> dict[str, int]:
    """Map the words of each row, given as `a|b|c`, to the row's number."""
    return {word: number for number, row in enumerate(rows, first) for word in row.split("|")}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MONTHS = _numbered(
    "january|jan|januar|jänner|janvier|enero|gennaio|janeiro|januari",
    "february|feb|februar|février|febrero|febbraio|fevereiro|februari",
    "march|mar|märz|mars|marzo|março|maart",
    "april|apr|avril|abril|aprile",
    "may|mai|mayo|maggio|maio|mei",
    "june|jun|juni|juin|junio|giugno|junho",
    "july|jul|juli|juillet|julio|luglio|julho",
    "august|aug|août|agosto|augustus",
    "september|sept|sep|septembre|septiembre|settembre|setembro",
    "october|oct|oktober|okt|octobre|octubre|ottobre|outubro",
    "november|nov|novembre|noviembre|novembro",
    "december|dec|dezember|dez|décembre|diciembre|dicembre|dezembro",
)
"""Month names in seven languages, folded, to 1..12."""

WORDS_AND_MONTHS = frozenset({"may", "march", "mar", "mai", "mars", "august", "dec", "jan", "sep", "mei", "nov"})
"""Month names that are also other words; alone they count only when written as names."""

WEEKDAYS = _numbered(
    "monday|mondays|montag|montags|lundi|lundis|lunes|lunedì|segunda-feira|maandag",
    "tuesday|tuesdays|dienstag|dienstags|mardi|mardis|martes|martedì|terça-feira|dinsdag",
    "wednesday|wednesdays|mittwoch|mittwochs|mercredi|mercredis|miércoles|mercoledì|quarta-feira|woensdag",
    "thursday|thursdays|donnerstag|donnerstags|jeudi|jeudis|jueves|giovedì|quinta-feira|donderdag",
    "friday|fridays|freitag|freitags|vendredi|vendredis|viernes|venerdì|sexta-feira|vrijdag",
    "saturday|saturdays|samstag|samstags|sonnabend|samedi|samedis|sábado|sábados|sabato|zaterdag",
    "sunday|sundays|sonntag|sonntags|dimanche|dimanches|domingo|domingos|domenica|zondag",
)
"""Weekday names, folded, to 1 (Monday) .. 7."""

SHORT_WEEKDAYS = _numbered("Mon", "Tue|Tues", "Wed", "Thu|Thur|Thurs", "Fri", "Sat", "Sun")

NUMBER_WORDS = {
    **_numbered(
        "zero|null|cero|zéro",
        "one",
        "two|zwei|deux|dos|due|twee",
        "three|drei|trois|tres|tre|drie",
        "four|vier|quatre|cuatro|quattro",
        "five|fünf|cinq|cinco|cinque|vijf",
        "six|sechs|seis|sei|zes",
        "seven|sieben|sept|siete|sette|zeven",
        "eight|acht|huit|ocho|otto",
        "nine|neun|neuf|nueve|nove|negen",
        "ten|zehn|dix|diez|dieci|tien",
        "eleven|elf|onze|undici",
        "twelve|zwölf|douze|doce|dodici|twaalf",
        "thirteen|dreizehn|treize|trece",
        "fourteen|vierzehn|quatorze|catorce",
        "fifteen|fünfzehn|quinze|quince",
        "sixteen|sechzehn|seize|dieciséis",
        "seventeen|siebzehn|dix-sept|diecisiete",
        "eighteen|achtzehn|dix-huit|dieciocho",
        "nineteen|neunzehn|dix-neuf|diecinueve",
        first=0,
    ),
    **{
        word: 10 * number
        for word, number in _numbered(
            "twenty|zwanzig|vingt|veinte",
            "thirty|dreißig|trente|treinta",
            "forty|fourty|vierzig|quarante|cuarenta",
            "fifty|fünfzig|cinquante|cincuenta",
            "sixty|sechzig|soixante|sesenta",
            "seventy|siebzig|soixante-dix|setenta",
            "eighty|achtzig|quatre-vingts|ochenta",
            "ninety|neunzig|quatre-vingt-dix|noventa",
            first=2,
        ).items()
    },
}
ORDINAL_WORDS = {
    **_numbered(
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
        "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
        "twentieth",
    ),
    "thirtieth": 30,
}  # fmt: skip
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "k": 1_000, "million": 10**6, "millions": 10**6, "mio": 10**6,
          "mn": 10**6, "billion": 10**9, "billions": 10**9, "bn": 10**9, "trillion": 10**12, "tausend": 1_000,
          "millionen": 10**6, "mille": 1_000, "mil": 1_000, "hundert": 100, "cent": 100}  # fmt: skip
WEAK_NUMBERS = frozenset(
    {"one", "first", "second", "half", "twice", "null", "sept", "sei", "due", "mil", "cent", "elf"}
)
"""Words that are often no numbers; they count only against a number on the other side."""

UNITS = {
    word: unit
    for unit, words in {
        "%": "% percent pct prozent procent pourcent",
        "‰": "‰ permille promille",
        "usd": "$ usd dollar dollars bucks",
        "eur": "€ eur euro euros",
        "gbp": "£ gbp pound pounds quid",
        "jpy": "¥ jpy yen",
        "inr": "₹ inr rupee rupees",
        "chf": "chf franc francs franken",
        "mm": "mm millimetre millimetres millimeter millimeters",
        "cm": "cm centimetre centimetres centimeter centimeters zentimeter",
        "m": "m metre metres meter meters mètre mètres metro metros",
        "km": "km kilometre kilometres kilometer kilometers kilomètre kilomètres",
        "mile": "mile miles mi",
        "foot": "ft foot feet",
        "inch": "in. inch inches",
        "yard": "yd yard yards",
        "mg": "mg milligram milligrams",
        "g": "g gram grams gramm grammes",
        "kg": "kg kilo kilos kilogram kilograms",
        "lb": "lb lbs",
        "tonne": "t ton tons tonne tonnes",
        "ml": "ml millilitre millilitres milliliter milliliters",
        "l": "l litre litres liter liters",
        "gallon": "gallon gallons gal",
        "ms": "ms millisecond milliseconds",
        "s": "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos",
        "min": "min mins minute minutes minuten minuto minutos",
        "h": "h hr hrs hour hours stunde stunden heure heures hora horas",
        "day": "d day days tag tage tagen jour jours día días",
        "week": "wk week weeks woche wochen semaine semaines semana semanas",
        "month": "month months monat monate monaten mois mes meses",
        "quarter": "quarter quarters",
        "year": "yr yrs year years jahr jahre jahren an ans année années año años",
        "kb": "kb kib kilobyte kilobytes",
        "mb": "mb mib megabyte megabytes",
        "gb": "gb gib gigabyte gigabytes",
        "tb": "tb tib terabyte terabytes",
        "c": "°c celsius",
        "f": "°f fahrenheit",
        "degree": "° degree degrees grad",
        "kmh": "km/h kph",
        "mph": "mph",
        "kw": "kw kilowatt kilowatts",
        "kwh": "kwh",
        "w": "w watt watts",
        "v": "v volt volts",
    }.items()
    for word in words.split()
}
"""Words of units to the unit they name; units are compared, never converted."""

FUNCTION_WORDS = _set(
    """
    a an the this that these those some any it its he she they them their his her him i me my mine we us our ours you
    your yours who whom whose which what when where why how there here and or but nor so yet if then than as of in on at
    by for with to from into onto upon about over under is are was were be been being am has have had having do does did
    done will would shall should can could may might must also too very just still already even only not no yes both
    each every all there's one user author everyone everybody nobody after before during while because since until
    although though however moreover der die das den dem des ein eine einen einem einer eines und oder ist sind war
    waren hat haben im am zu zum zur von vom mit auf für le la les un une des du de et ou est sont el los las una y o es
    son en al del que se lo il gli di da e
    """
)
"""Words that carry grammar rather than content, also where a sentence begins with them."""

REPORTING = _set(
    """
    confirm confirms confirmed confirming say says said state states stated mention mentions mentioned note notes noted
    report reports reported tell tells told explain explains explained announce announces announced claim claims claimed
    write writes wrote written describe describes described reaffirm reaffirms reaffirmed affirm affirms affirmed verify
    verifies verified agree agrees agreed remark remarks remarked add adds added according again recently indeed
    repeat repeats repeated observe observes observed that
    """
)
"""Words that say who said it, not what is so."""

NEGATORS = _set(
    """
    not no never none nobody nothing nowhere neither nor cannot without lack lacks lacked lacking unable dont doesnt
    didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt hasnt havent hadnt hardly barely scarcely
    refuse refuses refused fail fails failed deny denies denied avoid avoids avoided
    nicht kein keine keinen keiner keinem keines nie niemals niemand nichts nirgends ohne weder nein
    ne pas jamais rien aucun aucune sans non ni
    nunca jamás nada nadie ningún ninguno ninguna sin tampoco
    mai nessuno nessuna senza não nem sem niet geen nooit zonder
    değil yok не нет ни без никогда نе ليس ليست لا لم لن नहीं ไม่ 안 못 않다 없다
    """
) - {"mai"}
"""Words that turn a statement round."""

NOT_NEGATING = (
    ("not", "only"),
    ("not", "just"),
    ("no", "doubt"),
    ("nicht", "nur"),
    ("non", "seulement"),
    ("no", "matter"),
)
"""Pairs of words in which the first negates nothing."""

_OPPOSITES = """
increase rise grow grew growth up|decrease fall fell shrink drop decline down
before earlier prior until till|after later following since from
to into towards|from
start begin began begun|stop end finish cease
open|close closed shut
offen auf geöffnet|geschlossen zu
on|off
enable activate|disable deactivate
allow permit|forbid prohibit ban block disallow
accept approve|reject deny decline refuse
like love enjoy adore|dislike hate detest
agree|disagree
high higher highest|low lower lowest
hot warm|cold cool
old older oldest|new newer newest
young|old
buy bought purchase|sell sold
win won|lose lost
more|less fewer
most|least
maximum max|minimum min
first|last final
ground|first|second|third|fourth|fifth|top
early|late
true|false
yes|no
succeed success pass|fail failure
alive|dead
married|single divorced unmarried
hire|fire dismiss
join|leave left quit
add|remove
create|delete destroy
include|exclude
public|private
internal|external
import|export
upgrade|downgrade
inside indoors|outside outdoors
above over|below under beneath
left|right
front|back rear
full|empty
sun sunny|shade shady
light|dark|heavy
fast quick|slow
long longer|short shorter
big large|small little|medium
easy simple|hard difficult
cheap|expensive
safe|dangerous unsafe
good better best|bad worse worst
strong|weak
rich|poor
same identical|different
always|never|sometimes|often|rarely seldom|usually
present|absent
push|pull
send sent|receive
lend lent|borrow
teach taught|learn
arrive|depart
morning mornings|afternoon afternoons|evening evenings|night nights
spring|summer|autumn|winter
north northern|south southern|east eastern|west western
red|green|blue|yellow|black|white|brown|grey gray|orange|purple|pink|silver|gold
mother|father
brother|sister
son|daughter
husband|wife
aunt|uncle
male man boy|female woman girl
breakfast|lunch|dinner
daily day days|weekly week weeks|monthly month months|quarterly|yearly annually annual year years|hourly hour hours
double doubled|triple tripled|quadruple quadrupled|halve halved
today|tomorrow|yesterday
won|lost
positive|negative
vegan vegetarian|meat
with|without
for|against
"""
OPPOSITES = tuple(
    tuple(frozenset(pole.split()) for pole in line.split("|")) for line in _OPPOSITES.strip().splitlines()
)
"""Groups of words of which at most one pole holds; each pole is a set of words."""

QUANTIFIERS = {
    "all": "all every each everyone everybody everything entire always alle jeder jede tous"
    " toutes todos todas tutti все всегда",
    "none": "none nobody",
    "some": "some several sometimes occasionally partly someone somebody something einige quelques"
    " algunos algunas alcuni некоторые иногда",
    "most": "most mostly usually majority meisten plupart mayoría",
    "few": "few rarely seldom wenige peu pocos",
    "many": "many often frequently viele beaucoup muchos",
    "only": "only solely exclusively nur seulement solamente",
    "half": "half",
}
MODALITIES = {
    "must": "must shall required mandatory obligatory muss müssen doit doivent debe deben"
    " deve devono должен должна должны обязан",
    "may": "may might could can optional possibly perhaps maybe probably kann können peut peuvent"
    " puede pueden può possono может могут возможно",
    "should": "should ought recommended sollte sollten devrait debería",
    "wish": "wants hopes would considering considers",
}
WEAK_QUANTIFIERS = frozenset({"some", "many", "most"})
"""Classes that count only against another quantifier on the other side."""

STATE_VERBS = _set(
    """
    live work use own like love prefer want need have know play study drive run lead manage teach believe hope hate
    enjoy belong cost contain support require maintain operate serve represent speak smoke drink eat attend rent
    """
)
"""Verbs whose past tense says that something was so and may have ended."""

IRREGULAR_PAST = {"had": "have", "knew": "know", "drove": "drive", "ran": "run", "led": "lead", "taught": "teach",
                  "spoke": "speak", "drank": "drink", "ate": "eat", "has": "have"}  # fmt: skip
