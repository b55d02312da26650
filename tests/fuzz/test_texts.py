"""Quotes, secrets, words and sentence forms over any text: no crash, no hang, and what each promises."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.api.paging import Kind, read_cursor, write_cursor
from dreaming.beliefs.terms.words import looked_up
from dreaming.beliefs.terms.words import terms as belief_terms
from dreaming.beliefs.words import fold, jaccard, tokens, word_set
from dreaming.errors import InvalidInput, RejectClaim
from dreaming.notes.chunking import split
from dreaming.notes.cleaning import clean, is_empty
from dreaming.notes.connectors.front_matter import split_front_matter
from dreaming.notes.connectors.html_text import html_to_text
from dreaming.notes.echo import mark, strip
from dreaming.notes.secrets import MASK, mask
from dreaming.passes.consolidation.claims import check_statement
from dreaming.passes.consolidation.compounds import remainder_of
from dreaming.passes.consolidation.guards import veto
from dreaming.passes.consolidation.quantities import read_quantities
from dreaming.passes.consolidation.quotes import locate_quote
from dreaming.passes.consolidation.wording import read_wording
from dreaming.passes.contradictions.aliases import told_aliases
from dreaming.passes.contradictions.reading import read_statement
from dreaming.passes.contradictions.timing import span_of
from dreaming.recall.words import query_terms
from dreaming.recall.words import terms as recall_terms
from tests.fuzz.endurance import any_text, fuzzed, keep_going, mosaic, no_hang

pytestmark = pytest.mark.fuzz

WORDS = (
    *(
        "Ada ",
        "Lovelace ",
        "sails ",
        "on ",
        "Sundays",
        ". ",
        ", ",
        "and ",
        "not ",
        "no longer ",
        "3 March ",
        "2024-02-30 ",
    ),
    *("10:61 ", "1,000.5 ", "-", "‑", "…", "...", "“", "”", "'", "’", "\n\n", "\t", "I ", "is ", "was ", "moved from "),
    *(
        "also known as ",
        "(aka ",
        ")",
        "every Monday ",
        "the day before yesterday ",
        "艾达",
        "每周日",
        "が",
        "กข",
        "하다 ",
    ),
    *("running", "studies ", "Straße ", "and/or ", "#", "*", "_", "http://x.test/?a=", "$5 ", "50 % ", "twenty-one "),
)
SECRET_TOKENS = (
    *("password: ", "passwort=", "密码是", "AKIA", "sk-", "ghp_", "-----BEGIN PRIVATE KEY-----", "-----END", "Bearer "),
    *("aB3dE5fG7hJ9kL1mN3pQ", "0a1b2c3d", "://", "user:", "@host", "4111 1111 1111 1111", "eyJ", ".", "=", "PIN is "),
    *("{", '"', "\\n", "token", "key", "secret", "İ", "is ", ": ", "; "),
)
MARKS = (
    '<dreaming-recall id="r1">',
    "</dreaming-recall>",
    "<dreaming-recall",
    "</ dreaming-recall>",
    "<DREAMING-RECALL>",
)
HTML = (
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<td",
    "&#0;",
    "&#x110000;",
    "&amp",
    "<",
    ">",
    "<![CDATA[",
)
YAML = (
    "---\n",
    "...\n",
    "title: ",
    "date: ",
    "- ",
    "&a ",
    "*a",
    "{",
    "[",
    "!!python/object:os.system ",
    "<<: ",
    "? ",
    "|\n",
)

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_a_quote_is_found_as_it_stands_or_rejected() -> None:
    @fuzzed()
    @given(
        note=mosaic(WORDS),
        quote=mosaic(WORDS, most=6, longest_run=50),
        cut=st.tuples(st.integers(0, 400), st.integers(0, 400)),
    )
    def check(note: str, quote: str, cut: tuple[int, int]) -> None:
        note = clean(note)
        for wanted in (quote, note[cut[0] : cut[0] + cut[1]]):
            with no_hang():
                try:
                    span = locate_quote(wanted, note)
                except RejectClaim:
                    continue
                assert note[span.start : span.end] == span.text
                assert 0 < span.end - span.start <= 600

    keep_going(check, "quote check")


def test_a_statement_is_one_short_line_or_rejected() -> None:
    from dreaming.notes.records import Note, NoteState, Trust
    from dreaming.passes.consolidation.parsing import to_claim

    @fuzzed()
    @given(text=mosaic(WORDS), statement=mosaic(WORDS, most=8, longest_run=30))
    def check(text: str, statement: str) -> None:
        note = Note(
            uuid4(), 1, "e", "s", "o", 1, 1, NoteState.WAITING, clean(text), NOON, "Ada", ("Bo",), Trust.TRUSTED
        )
        try:
            claim = to_claim({"kind": "fact", "statement": statement, "quote": "a b c", "confidence": 0.5})
        except RejectClaim:
            return
        with no_hang():
            try:
                said = check_statement(claim, note=note, forbidden=("u::77",))
            except RejectClaim:
                return
            assert 0 < len(said) <= 500
            assert "\n" not in said

    keep_going(check, "claim check")


def test_masking_keeps_the_length_and_is_done_once() -> None:
    @fuzzed()
    @given(text=mosaic((*SECRET_TOKENS, *WORDS)))
    def check(text: str) -> None:
        with no_hang():
            masked = mask(text)
            assert len(masked.text) == len(text)
            assert all(one in (MASK, other) for one, other in zip(masked.text, text, strict=True))
            assert mask(masked.text).text == masked.text

    keep_going(check, "masking")


def test_any_text_has_words_terms_and_stems() -> None:
    @fuzzed()
    @given(left=mosaic(WORDS), right=mosaic(WORDS, most=6))
    def check(left: str, right: str) -> None:
        with no_hang():
            for text in (left, right):
                assert "\n" not in fold(text)
                list(tokens(text))
                belief_terms(text)
                looked_up(text)
                recall_terms(text)
                query_terms(text)
            assert 0 <= jaccard(word_set(left), word_set(right)) <= 1

    keep_going(check, "words, terms and stems")


def test_any_statement_is_read_in_time() -> None:
    @fuzzed()
    @given(left=mosaic(WORDS, most=10, longest_run=40), right=mosaic(WORDS, most=10, longest_run=40))
    def check(left: str, right: str) -> None:
        # A statement has at most 500 characters when it comes here.
        left, right = clean(left)[:500], clean(right)[:500]
        with no_hang():
            for text in (left, right):
                read_statement(text)
                told_aliases(text)
                read_quantities(text)
                read_wording(text)
                span_of(text, NOON, dated_value=False)
            veto(left, right)
            remainder_of(left, right)

    keep_going(check, "sentence forms")


def test_cleaning_is_done_once_chunks_are_parts_and_marks_are_stripped() -> None:
    @fuzzed()
    @given(text=mosaic((*MARKS, *WORDS)), characters=st.integers(1, 500))
    def check(text: str, characters: int) -> None:
        with no_hang():
            cleaned = clean(text)
            assert clean(cleaned) == cleaned
            is_empty(text)
            parts = split(cleaned, characters)
            assert "".join(part.text for part in parts) in {cleaned, ""} or all(
                cleaned[part.start : part.start + len(part.text)] == part.text for part in parts
            )
            strip(cleaned)
            assert strip(f"before\n\n{mark(text, 'r1')}\n\nafter").split() == ["before", "after"]

    keep_going(check, "cleaning, chunks and recall marks")


def test_front_matter_and_html_are_read_in_time() -> None:
    @fuzzed()
    @given(text=mosaic((*YAML, *WORDS), longest_run=300), html=mosaic((*HTML, *WORDS), longest_run=1_000))
    def check(text: str, html: str) -> None:
        with no_hang():
            _, body = split_front_matter(f"---\n{text}", UTC)
            assert body in f"---\n{text}"
            html_to_text(html)

    keep_going(check, "front matter and HTML")


def test_cursors_are_read_or_refused_in_words() -> None:
    kinds = st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=4)

    @fuzzed()
    @given(
        cursor=st.one_of(
            any_text(),
            mosaic(("W10", "=", "-", "_", "eyJ", "WzEsMl0", "A" * 64)),
            st.lists(st.integers() | st.floats() | any_text(), max_size=4).map(lambda one: write_cursor(*one)),
        ),
        kinds=kinds,
    )
    def check(cursor: str, kinds: list[Kind]) -> None:
        with no_hang():
            try:
                parts = read_cursor(cursor, kinds)
            except InvalidInput:
                return
            assert len(parts) == len(kinds)

    keep_going(check, "cursors")
