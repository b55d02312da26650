"""Labelled notes: what is refused with its place, how claims are held against labels, and how often that errs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dreaming.beliefs.records import Kind
from dreaming.errors import InvalidInput
from dreaming.local.evaluation.dedup import Half
from dreaming.local.evaluation.estimate import estimate
from dreaming.local.evaluation.extraction import Prices, figures, mark, mark_all
from dreaming.local.evaluation.labelled_notes import LabelledNote, half_of, read_notes
from dreaming.local.evaluation.matching import Kept, content_words, overlaps, share
from dreaming.local.evaluation.reading import Reading
from dreaming.models.offline import OfflineExtractor
from dreaming.passes.consolidation.quotes import FoldedText, locate_quote
from dreaming.settings.resolution import resolve

SETS = Path(__file__).parents[2] / "evaluation"
TEXT = "Lena starts at the bike shop on 16 March. Marek might buy a boat."
NOTE: dict[str, Any] = {
    "id": "n",
    "form": "dialogue",
    "language": "en",
    "text": TEXT,
    "occurred_at": "2026-03-03T18:20:00+00:00",
    "participants": ["Lena", "Marek"],
    "claims": [
        {
            "statement": "Lena starts at the bike shop on 16 March.",
            "quote": "Lena starts at the bike shop on 16 March",
            "kind": "fact",
        }
    ],
    "traps": [{"statement": "Marek buys a boat.", "quote": "Marek might buy a boat", "why": "hypothetical"}],
}


def written(folder: Path, *lines: object) -> Path:
    path = folder / "notes.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


def kept(statement: str, quote: str, kind: Kind = Kind.FACT) -> Kept:
    start = TEXT.index(quote)
    return Kept(statement, start, start + len(quote), kind)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2: is not JSON"),
        ("[1]", "line 2: note: "),
        (NOTE | {"id": "m", "language": None}, "line 2: language"),
        (NOTE | {"id": "m", "occurred_at": "2026-03-03T18:20:00"}, "line 2: occurred_at"),
        (NOTE | {"id": "m", "mood": "good"}, "line 2: mood"),
        (NOTE | {"id": "m", "traps": [{"statement": "Abc", "quote": "Marek"}]}, "line 2: traps.0.why"),
        (NOTE | {"id": "m", "claims": [NOTE["claims"][0] | {"kind": "rumour"}]}, "line 2: claims.0.kind"),
        (
            NOTE | {"id": "m", "claims": [NOTE["claims"][0] | {"quote": "elsewhere"}]},
            "claims.0.quote: 'elsewhere' is not",
        ),
        (
            NOTE | {"id": "m", "claims": [NOTE["claims"][0] | {"quote": "Mar"}]},
            "claims.0.quote: 'Mar' is in the text 2",
        ),
        (NOTE, "line 2: id: 'n' is that of line 1 too"),
    ],
)
def test_a_line_that_is_no_note_is_refused_with_line_and_field(line: object, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_notes(written(tmp_path, NOTE, line))
    assert problem in str(refused.value)
    assert "docs/evaluation.md" in str(refused.value) or "its own" in str(refused.value)


def test_a_file_without_notes_and_one_that_is_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no note"):
        read_notes(written(tmp_path, ""))
    (tmp_path / "notes.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="UTF-8"):
        read_notes(tmp_path / "notes.jsonl")


def test_the_set_is_of_the_size_and_variety_that_is_claimed() -> None:
    notes = read_notes(SETS / "extraction.jsonl")
    halves = half_of(notes, Half.DEVELOPMENT), half_of(notes, Half.REPORTED)
    assert [len(half) for half in halves] == [40, 40]
    assert {note.id for note in halves[0]}.isdisjoint(note.id for note in halves[1])
    assert set(Counter(note.language for note in notes)) == {"en", "de", "es", "ja"}
    assert set(Counter(note.form for note in notes)) == {"dialogue", "minutes", "commit", "mail"}
    whys = Counter(trap.why for note in notes for trap in note.traps)
    assert {"hypothetical", "joke", "quote", "suggestion", "negation", "question", "dropped", "sarcasm"} < set(whys)
    assert sum(not note.claims for note in notes) >= 10


@pytest.mark.parametrize(
    ("statement", "quote", "right", "sprung"),
    [
        ("Lena begins at the bike shop on 16 March 2026.", "Lena starts at the bike shop on 16 March", 1, 0),
        ("Lena does not start at the bike shop on 16 March.", "Lena starts at the bike shop on 16 March", 0, 0),
        ("Lena starts at the bike shop on 17 March.", "Lena starts at the bike shop on 16 March", 0, 0),
        ("Lena starts at the bike shop on 16 May.", "Lena starts at the bike shop on 16 March", 0, 0),
        ("Marek starts at the bike shop on 16 March.", "Lena starts at the bike shop on 16 March", 0, 0),
        ("Lena might start at the bike shop on 16 March.", "Lena starts at the bike shop on 16 March", 0, 0),
        ("Lena starts at the bike shop on 16 March.", "Marek might buy a boat", 0, 0),
        ("Marek buys a boat.", "Marek might buy a boat", 0, 1),
        ("Marek might buy a boat.", "Marek might buy a boat", 0, 0),
        ("Marek considers buying a boat.", "Marek might buy a boat", 0, 0),
        ("Marek does not buy a boat.", "Marek might buy a boat", 0, 0),
    ],
)
def test_a_claim_counts_by_place_words_numbers_people_negation_and_modality(
    statement: str, quote: str, right: int, sprung: int
) -> None:
    marked = mark(LabelledNote.model_validate(NOTE), [kept(statement, quote)])
    assert (len(marked.right), len(marked.sprung)) == (right, sprung)
    assert len(marked.missed) == 1 - right


def test_a_statement_nearer_to_the_trap_than_to_the_label_believes_the_trap() -> None:
    both = LabelledNote.model_validate(
        NOTE
        | {
            "text": "Carla prefers mail, not phone.",
            "participants": [],
            "claims": [
                {
                    "statement": "Carla prefers mail, not phone.",
                    "also": ["Carla prefers mail."],
                    "quote": "Carla prefers mail, not phone",
                    "kind": "preference",
                }
            ],
            "traps": [
                {"statement": "Carla prefers phone.", "quote": "Carla prefers mail, not phone", "why": "negation"}
            ],
        }
    )
    told = {
        said: mark(both, [Kept(said, 0, 29, Kind.PREFERENCE)])
        for said in ("Carla prefers mail.", "Carla prefers phone.", "Carla prefers mail, not phone.")
    }
    assert [bool(one.right) for one in told.values()] == [True, False, True]
    assert [bool(one.sprung) for one in told.values()] == [False, True, False]


def test_the_rule_errs_on_pairs_labelled_by_hand_as_often_as_the_documentation_says() -> None:
    notes = {note.id: note for note in read_notes(SETS / "extraction.jsonl")}
    wrong = []
    pairs = [json.loads(line) for line in (SETS / "extraction-matching.jsonl").read_text("utf-8").splitlines()]
    for pair in pairs:
        note = notes[pair["note"]]
        span = locate_quote(pair["quote"], FoldedText(note.text), start=0, end=len(note.text))
        marked = mark(note, [Kept(pair["statement"], span.start, span.end, Kind.FACT)])
        found = [place for place, label in enumerate(note.claims) if label in marked.found]
        if (found, bool(marked.sprung)) != (pair["claims"], bool(pair["traps"])):
            wrong.append(pair["statement"])
    assert len(pairs) == 87
    assert len(wrong) == 7, wrong


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [((0, 10), (5, 40), True), ((0, 10), (6, 40), False), ((0, 10), (2, 5), True), ((0, 10), (10, 20), False)],
)
def test_half_of_the_shorter_quote_must_be_common(left: tuple[int, int], right: tuple[int, int], same: bool) -> None:
    assert overlaps(left, right) is overlaps(right, left) is same


def test_words_are_compared_by_form_without_grammar_and_without_spaces() -> None:
    assert share("Lena moved the boats", "She is moving a boat, Lena") == 1
    assert content_words("合宿は箱根で行います") == {"合", "宿", "箱", "根", "行"}
    assert share("Er zieht nach Leipzig", "Wir ziehen nach Leipzig") == 1
    assert share("the of", "a b") == 0


def test_the_figures_are_shares_of_what_they_say() -> None:
    note = LabelledNote.model_validate(NOTE)
    quiet = LabelledNote.model_validate(NOTE | {"id": "q", "text": "Morning!", "claims": [], "traps": []})
    claims = {
        "n": (
            kept("Lena starts at the bike shop on 16 March.", "Lena starts at the bike shop", Kind.OBSERVATION),
            kept("Marek buys a boat.", "Marek might buy a boat"),
        ),
        "q": (Kept("It is morning.", 0, 7, Kind.FACT),),
    }
    reading = Reading(claims, 8, {"quote_missing": 2, "shape": 1}, 0, (), 2, 4_000, 400)
    found = {
        name: figure.value
        for name, figure in figures(mark_all([note, quiet], claims), reading, Prices(1.0, 5.0)).items()
    }
    assert (found["all.precision"], found["all.recall"], found["all.traps"]) == (33.33, 100, 100)
    assert (found["all.kinds"], found["all.silent"], found["all.claims"]) == (0, 0, 1.5)
    assert (found["all.fabricated"], found["all.rejected"], found["all.fabricated_kept"]) == (25, 37.5, 0)
    assert (found["all.calls"], found["all.tokens_in"], found["all.cost"]) == (1, 2_000, 3.0)
    assert (found["kind.fact.recall"], found["trap.hypothetical.traps"]) == (100, 100)
    assert "all.cost" not in figures(mark_all([note], claims), reading, None)


def test_the_calls_are_estimated_as_they_will_be_packed() -> None:
    notes = read_notes(SETS / "extraction.jsonl")
    packed = estimate(notes, OfflineExtractor(), resolve({}, {}))
    alone = estimate(notes, OfflineExtractor(), resolve({"DREAMING_PACKING": "false"}, {}))
    assert alone.calls == len(notes) > 4 * packed.calls
    assert alone.tokens_in > packed.tokens_in
    assert packed.most_calls > packed.calls


def test_the_price_that_is_known_is_that_of_the_page_on_cost() -> None:
    from dreaming.local.commands.evaluate_extraction import _KNOWN_PRICES

    page = (SETS.parents[1] / "docs" / "cost.md").read_text("utf-8")
    known = _KNOWN_PRICES["claude-haiku-4-5"]
    assert f"| model, a million tokens in | {known[0]:.2f} |" in page
    assert f"| model, a million tokens out | {known[1]:.2f} |" in page
