"""Extraction is measured over the real path, and its figures move with the model: a perfect one, a lying one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dreaming.database import Database
from dreaming.errors import Hold, MissingKey, Throttled
from dreaming.local.cli import Exit, dream
from dreaming.local.evaluation.dedup import Half
from dreaming.local.evaluation.extraction import Prices, figures, mark_all
from dreaming.local.evaluation.labelled_notes import LabelledNote, half_of, read_notes
from dreaming.local.evaluation.reading import CountedModel, Reading, read_through
from dreaming.models.protocols import ChatRequest, Passage
from dreaming.models.scripted import Reply, ScriptedChatModel
from dreaming.settings.resolution import resolve

SETS = Path(__file__).parents[2] / "evaluation"
NOTES = half_of(read_notes(SETS / "extraction.jsonl"), Half.REPORTED)
BY_TEXT = {note.text: note for note in NOTES}


def claim(passage: Passage, statement: str, quote: str, kind: str = "fact") -> dict[str, Any]:
    return {"note": passage.label, "kind": kind, "statement": statement, "quote": quote, "confidence": 0.9}


def perfect(request: ChatRequest) -> Reply:
    """Say what the labels say."""
    return [
        claim(passage, label.statement, label.quote, label.kind[0].value)
        for passage in request.passages
        for label in BY_TEXT[passage.text].claims
    ]


def lying(request: ChatRequest) -> Reply:
    """Believe every trap, and make up one quote a note."""
    claims = []
    for passage in request.passages:
        claims += [claim(passage, trap.statement, trap.quote) for trap in BY_TEXT[passage.text].traps]
        claims.append(claim(passage, "The author likes figs.", "as for me, I like figs more than anything"))
    return claims


def read(
    database: Database, notes: Sequence[LabelledNote], script: Callable[[ChatRequest], Reply], slept: list[float]
) -> Reading:
    model = CountedModel(ScriptedChatModel(script))
    return read_through(database, notes, model, resolve({}, {}), most_calls=100, sleep=slept.append)


def measured(database: Database, script: Callable[[ChatRequest], Reply]) -> tuple[dict[str, float], Reading]:
    reading = read(database, NOTES, script, [])
    found = figures(mark_all(NOTES, reading.kept), reading, Prices(1.0, 5.0))
    return {name: figure.value for name, figure in found.items()}, reading


def test_a_perfect_model_finds_nearly_everything_and_believes_no_trap(database: Database) -> None:
    found, reading = measured(database, perfect)
    assert found["all.precision"] == 100
    assert found["all.recall"] == 100
    assert (found["all.traps"], found["all.fabricated"], found["all.fabricated_kept"]) == (0, 0, 0)
    assert found["all.silent"] == 100
    assert reading.rejected == {}
    assert 0 < reading.calls < len(NOTES)
    assert found["all.cost"] == pytest.approx(
        1_000 * (reading.input_tokens * 1.0 + reading.output_tokens * 5.0) / 1e6 / len(NOTES), abs=0.01
    )


def test_a_lying_model_shows_and_none_of_its_quotes_is_kept(database: Database) -> None:
    found, reading = measured(database, lying)
    assert reading.rejected["quote_missing"] == len(NOTES)
    assert found["all.fabricated"] > 20
    assert found["all.fabricated_kept"] == 0
    assert found["all.traps"] >= 80  # the claim check refuses some of them
    assert found["all.precision"] <= 1


def test_a_busy_provider_is_waited_for_and_what_it_said_is_not_asked_again(database: Database) -> None:
    answers: list[Reply] = [Throttled("slow down", retry_after=7.0)]
    slept: list[float] = []

    def busy(request: ChatRequest) -> Reply:
        return answers.pop() if answers else perfect(request)

    reading = read(database, NOTES[:3], busy, slept)
    assert slept == [7.0]
    assert len(reading.kept) == 3
    assert any(reading.kept.values())


def test_a_missing_key_ends_it_with_the_reason(database: Database) -> None:
    with pytest.raises(MissingKey, match="no key here"):
        read(database, NOTES[:3], lambda _: MissingKey("no key here"), [])


def test_notes_that_nobody_can_read_are_given_up_and_counted(database: Database) -> None:
    reading = read(database, NOTES[:1], lambda _: "a poem", [])
    assert reading.failed == (NOTES[0].id,)
    assert figures(mark_all(NOTES[:1], reading.kept), reading, None)["all.notes_failed"].value == 1


def test_a_budget_that_ends_is_a_hold(database: Database) -> None:
    model = CountedModel(ScriptedChatModel(perfect))
    with pytest.raises(Hold, match="model_calls_per_day"):
        read_through(database, NOTES[:3], model, resolve({}, {}), most_calls=0, sleep=lambda _: None)


@pytest.fixture
def here(database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A command's evaluation in this test's database, in an empty home."""

    @contextmanager
    def lent() -> Iterator[Database]:
        yield database

    monkeypatch.setattr("dreaming.local.evaluation.contradictions.own_database", lent)
    monkeypatch.setenv("DREAMING_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    return tmp_path


def test_the_command_reads_a_file_writes_everything_and_leaves_no_installation(here: Path) -> None:
    lines = (SETS / "extraction.jsonl").read_text("utf-8").splitlines()[:3]
    file, page, saved = here / "mine.jsonl", here / "page.html", here / "result.json"
    file.write_text("\n".join(lines), "utf-8")
    done = CliRunner().invoke(
        dream, ["evaluate", "extraction", str(file), "--html", str(page), "--save", str(saved), "--wrong"]
    )
    assert done.exit_code in (Exit.DONE, Exit.PROBLEMS_FOUND), done.output
    assert "3 notes (all) of mine.jsonl, offline:rules-1" in done.output
    assert json.loads(saved.read_text("utf-8"))["environment"]["notes"] == 3
    assert "<svg" in page.read_text("utf-8")
    assert not (here / "home").exists()


@pytest.fixture
def paid(here: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first three notes, and a scripted model, which counts as paid, in an installation with a budget."""
    script, file = here / "script.json", here / "mine.jsonl"
    script.write_text('{"rules": []}', "utf-8")
    file.write_text("\n".join((SETS / "extraction.jsonl").read_text("utf-8").splitlines()[:3]), "utf-8")
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("DREAMING_CHAT_PROVIDER", "scripted")
    monkeypatch.setenv("DREAMING_CHAT_SCRIPT", str(script))
    return file


def booked(admin: Any) -> list[tuple[int, bool]]:
    return [
        (calls, tokens > 0)
        for calls, tokens in admin.execute(
            "select calls, input_tokens from usage where org_id = 'local' and pass = 'evaluation'"
        ).fetchall()
    ]


def test_a_paid_model_is_asked_after_a_yes_and_its_calls_are_booked(paid: Path, admin: Any) -> None:
    refused = CliRunner().invoke(dream, ["evaluate", "extraction", str(paid)])
    assert (refused.exit_code, booked(admin)) == (Exit.BAD_INPUT, [])
    assert "will be asked 1 time about 3 notes, at most 5 times" in refused.output
    assert "--yes" in refused.output
    CliRunner().invoke(dream, ["evaluate", "extraction", str(paid), "--yes", "--prices", "1", "5"])
    assert booked(admin) == [(1, True)]


def test_a_budget_too_small_is_told_and_nothing_is_asked(
    paid: Path, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DREAMING_MODEL_CALLS_PER_DAY", "0")
    done = CliRunner().invoke(dream, ["evaluate", "extraction", str(paid), "--yes"])
    assert done.exit_code == Exit.UNAVAILABLE, done.output
    assert "--limit" in done.output
    assert booked(admin) == [(0, False)]
