"""Quotes: honest ones are found however they are spelt, others are rejected by the right rule."""

import re
import unicodedata
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.errors import RejectClaim
from dreaming.passes.consolidation.prompt import INSTRUCTIONS
from dreaming.passes.consolidation.quotes import MAX_CHARACTERS, FoldedText, locate_quote
from tests.fuzz.endurance import no_hang

NOTE = "Hi. On Tuesday we agreed that Lena keeps the spare keys. Tom waters the plants… twice a week, he said."
PARTS = st.sampled_from(
    [
        "the",
        "Lena’s",
        "shed",
        "it's",
        "three-day",
        "co\u2011op",
        "3-4",
        "3–4",
        "well…",
        "wait...",
        "“green”",
        "«oui»",
        "cafe\u0301",
        "café",
        "ﬁne",
        "gar\u00adden",
        "zero\u200bwidth",
        "花园小屋漆成绿色",
        "ｶﾞｰﾃﾞﾝ",
        "हिन्दी",
        "x\ufe0f",
        "\U0001f600",
        "--",
        "a\u0323\u0301b",
        "(maybe)",
        "50%",
        "한국어",
        "\u1112\u1161\u11ab",
        "½",
        "end.",
        "-",
        "no-",
        "\u202eabc\u202c",
    ]
)
SPACES = st.sampled_from([" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", " \u200b "])


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """Draw words and the spaces between them, in turn."""
    words = draw(
        st.lists(
            st.one_of(PARTS, st.text(min_size=1, max_size=6).filter(lambda t: not t.isspace())), min_size=4, max_size=12
        )
    )
    pieces = [words[0]]
    for word in words[1:]:
        pieces += [draw(SPACES), word]
    return pieces


def rule_of(quote: str, note: str) -> str:
    with pytest.raises(RejectClaim) as rejection:
        locate_quote(quote, note)
    assert note[:20] not in str(rejection.value)
    return rejection.value.rule


@given(texts(), st.data())
def test_any_run_of_words_is_found_in_its_text(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    first = 2 * data.draw(st.integers(0, len(pieces) // 2 - 1))
    quote = "".join(pieces[first : first + 2 * data.draw(st.integers(1, 5)) + 1])
    span, rule = None, None
    try:
        span = locate_quote(quote, text)
    except RejectClaim as rejection:
        rule = rejection.rule
    if span is None:
        assert rule == "quote_short"
    else:
        assert text[span.start : span.end] == span.text
        edges = " '-.,;:!?()[]{}*_#>|\u3002\u3001"
        assert FoldedText(span.text).folded.strip(edges) == FoldedText(quote).folded.strip(edges)


def disguise(text: str, chance: Random) -> str:
    """Respell a text in ways that folding takes for the same."""
    swaps = {
        " ": [" ", "\n", "\u00a0", "  ", "\t"],
        "'": ["'", "’", "‘", "\u201b"],
        "-": ["-", "\u2010", "\u2011", "–", "-\n"],
        '"': ['"', "“", "”", "„", "'"],
        "...": ["...", "…"],
        "a": ["a", "a\u200b", "a\u00ad"],
        "e": ["e", "ｅ", "\u2060e"],
    }
    out = []
    position = 0
    while position < len(text):
        unit = "..." if text.startswith("...", position) else text[position]
        out.append(chance.choice(swaps.get(unit, [unit])))
        position += len(unit)
    return unicodedata.normalize(chance.choice(["NFC", "NFD"]), "".join(out))


PLAIN = re.findall(
    r"\S+", 'He said "the café-owner\'s three-day trip... was fine" and left the well-known garden shed open'
)


@given(st.integers(0, len(PLAIN) - 5), st.integers(4, len(PLAIN)), st.randoms())
def test_a_quote_is_found_under_any_spelling_of_either_side(first: int, count: int, chance: Random) -> None:
    quote = " ".join(PLAIN[first : first + count])
    before, after = " ".join(PLAIN[:first]), " ".join(PLAIN[first + count :])
    source = disguise(quote, chance)
    text = f"{before} {source} {after}"
    span = locate_quote(disguise(quote, chance), text)
    assert text[span.start : span.end] == span.text
    assert span.text.strip("\u200b\u2060\u00ad'\"“”„ \n") in source


@pytest.mark.parametrize(
    ("quote", "text", "expected"),
    [
        ("it's 3-day", "So “it’s 3‑day” they say", "it’s 3‑day"),
        ("it’s 3‑day", "So it's 3-day, they say", "it's 3-day"),
        ("international growth rate", "the inter-\n  national growth\n\nrate is", "inter-\n  national growth\n\nrate"),
        ("waters the plants... twice", NOTE, "waters the plants… twice"),
        ("…Lena keeps the spare keys…", NOTE, "Lena keeps the spare keys"),
        ('"Lena keeps the spare keys"', NOTE, "Lena keeps the spare keys"),
        ("café is open", "The cafe\u0301 is open", "cafe\u0301 is open"),
        ("Rent due Monday", "Rent\u200b due\u202a Monday", "Rent\u200b due\u202a Monday"),
        ("the shed is green", "the shed is greenish but the shed is green", "the shed is green"),
        ("花园小屋漆成", "他说花园小屋漆成了绿色", "花园小屋漆成"),
        ("ab cd ef", "xab cd ef ab cd ef", "ab cd ef"),
    ],
)
def test_honest_quotes_are_found_and_kept_as_the_note_has_them(quote: str, text: str, expected: str) -> None:
    span = locate_quote(quote, text)
    assert span.text == expected == text[span.start : span.end]


def test_nul_in_the_models_quote_does_not_hide_it() -> None:
    assert locate_quote("Rent\x00 due Monday", "Rent due Monday").text == "Rent due Monday"


@pytest.mark.parametrize(
    ("quote", "rule"),
    [
        ("On Tuesday we agreed that Lena keeps the spare cats", "quote_missing"),
        ("on tuesday we agreed that lena keeps", "quote_missing"),
        ("a", "quote_short"),
        ("", "quote_short"),
        ("… - … - … - … -", "quote_short"),
        ("spare keys", "quote_short"),
        ("uesday we agreed that Lena", "quote_missing"),
        ("On Tuesday we agreed that Len", "quote_missing"),
        ("On Tuesday we agreed … Tom waters the plants", "quote_spliced"),
        ("On Tuesday we agreed [...] Tom waters the plants", "quote_spliced"),
        ("On Tuesday we agreed ... nobody waters the plants", "quote_missing"),
        ("On Tuesday we agreed Tom waters the plants", "quote_missing"),
    ],
)
def test_altered_clipped_short_and_spliced_quotes_are_rejected(quote: str, rule: str) -> None:
    assert rule_of(quote, NOTE) == rule


def test_a_three_page_note_is_no_quote() -> None:
    pages = "The garden needs water every day. " * 200
    assert rule_of(pages, pages) == "quote_long"
    assert rule_of("x" * (MAX_CHARACTERS + 1), pages) == "quote_long"
    wide = "word" + " " * 700 + "another word"
    assert rule_of("word another word", wide) == "quote_long"


def test_a_short_note_may_be_quoted_whole() -> None:
    assert locate_quote(NOTE, NOTE).text == NOTE


def test_our_own_instructions_are_no_quote() -> None:
    sentence = "One claim says one thing. Split sentences that say several."
    assert sentence in INSTRUCTIONS
    assert rule_of(sentence, NOTE) == "quote_prompt"
    assert rule_of(sentence, f"They sent me this: {sentence} Odd.") == "quote_prompt"


def test_a_quote_is_looked_for_only_within_its_chunk() -> None:
    text = "the shed is green. " * 3
    assert locate_quote("the shed is green", text, start=1).start == 19
    assert locate_quote("the shed is green", text, start=19, end=36).end == 36
    with pytest.raises(RejectClaim):
        locate_quote("the shed is green", text, start=20, end=50)


@given(texts(), st.data())
def test_offsets_survive_the_way_into_the_folded_text_and_back(pieces: list[str], data: st.DataObject) -> None:
    folded = FoldedText("".join(pieces))
    offset = data.draw(st.integers(0, len(folded.source)))
    position = folded.folded_from(offset)
    assert 0 <= position <= len(folded.folded)
    if position < len(folded.folded):
        assert folded.source_start(position) >= offset
    if position:
        assert folded.source_start(position - 1) <= offset


@pytest.mark.parametrize("unit", ["-\n", "a-\n\n", "\n", "-", "the shed ", "e\u0301", "花。", "“x”…", "\u200b"])
def test_megabytes_are_folded_in_one_sweep(unit: str) -> None:
    text = unit * (500_000 // len(unit)) + " the blue shed"
    assert locate_quote("the blue shed", FoldedText(text)).end == len(text)


def test_a_long_run_of_marks_takes_no_longer_than_other_text() -> None:
    marks = "The backup must run every night. a" + "\u0301\u0323" * 150_000 + " end."
    assert locate_quote("The backup must run every night.", marks).text == "The backup must run every night."
    with pytest.raises(RejectClaim, match="longer"):
        locate_quote("a" + "\u0301\u0323" * 200_000, marks)


@pytest.mark.parametrize(
    "run",
    ["\xad" * 200_000, "\xad" * 200_000 + "\u0301", "\u200b\xad" * 100_000, "-\xad" * 100_000, "-" + " " * 200_000],
    ids=["soft hyphens", "soft hyphens and a mark", "with invisible ones", "with dashes", "a dash and spaces"],
)
def test_a_long_run_of_hyphens_and_what_cannot_be_seen_is_folded_at_once(run: str) -> None:
    """Two parts of a pattern that may divide such a run take hours over it."""
    with no_hang():
        assert locate_quote("Ada keeps the key.", f"Ada keeps the key. x{run}y").start == 0
