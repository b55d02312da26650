"""The stories of the evaluation can be read, and some of each kind come out right with a judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.local.evaluation.contradictions import figures, tell
from dreaming.local.evaluation.stories import Row, read_stories

SETS = Path(__file__).parents[2] / "evaluation"
STORY = {
    "id": "s",
    "kind": "k",
    "notes": [{"occurred_at": "2025-01-01T09:00:00+00:00", "text": "Lena works at the mill."}],
    "expect": {"current": ["works at the mill"]},
}


def test_one_story_of_each_kind_comes_out_right(database: Database) -> None:
    stories = {story.kind: story for story in read_stories(SETS / "contradictions.jsonl")}
    told = tell(database, list(stories.values()), Row.JUDGE)
    assert {one.story.id: one.problems for one in told if one.problems} == {}
    found = figures({Row.JUDGE: told})
    assert (found["judge.answers"].value, found["judge.retired"].value) == (100.0, 0.0)


def test_every_list_of_stories_can_be_read() -> None:
    lists = sorted(SETS.glob("contradictions*.jsonl"))
    stories = [story for path in lists for story in read_stories(path)]
    assert len(stories) >= 150
    assert len({story.id for story in stories}) == len(stories)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no story"),
        ("not json", "line 1"),
        (json.dumps(STORY | {"notes": []}), "notes"),
        (json.dumps(STORY | {"expects": {}}), "expects"),
        (f"{json.dumps(STORY)}\n{json.dumps(STORY)}", "same id"),
    ],
)
def test_a_file_that_holds_no_stories_is_refused_with_the_place(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=problem):
        read_stories(path)
