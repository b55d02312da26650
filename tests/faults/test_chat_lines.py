"""What reading a chat costs: lines share calls, whoever wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.database import Database
from tests.benchmarks.consolidation import MOST_CALLS, CountedExtractor, drained, irc_notes
from tests.benchmarks.ingest import lines


def test_made_up_chat_lines_cost_few_calls(database: Database, tmp_path: Path) -> None:
    model = CountedExtractor()
    drained(database, tmp_path, "chat", lines(120), model, DREAMING_PACKING="true")
    assert 0 < model.calls <= MOST_CALLS * 120


@pytest.mark.corpora
def test_lines_of_irc_cost_few_calls(database: Database, tmp_path: Path) -> None:
    notes = irc_notes()[:400]
    if not notes:
        pytest.skip("the corpora are not beside the repository")
    model = CountedExtractor()
    drained(database, tmp_path, "irc", notes, model, DREAMING_PACKING="true")
    assert 0 < model.calls <= MOST_CALLS * len(notes)
