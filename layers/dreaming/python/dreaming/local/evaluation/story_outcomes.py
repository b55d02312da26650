"""What became of a story's beliefs, held against what the story expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from dreaming.api.timelines.store import read_standings
from dreaming.beliefs.words import fold
from dreaming.database import Transaction
from dreaming.local.evaluation.stories import Expected, Story

_OUT_OF_SIGHT = ("superseded", "rejected", "merged", "person", "sourceless")
_RETIRED = ("superseded", "rejected", "merged")


@dataclass(frozen=True, slots=True)
class Held:
    """A belief in the end: every wording of its sources, why it is out of sight, and when it held."""

    belief_id: UUID
    statements: tuple[str, ...]
    archive_reason: str | None
    stretches: tuple[tuple[datetime, datetime | None, str], ...]

    @property
    def visible(self) -> bool:
        """Whether it is believed; what has only faded was not retired by anything."""
        return self.archive_reason not in _OUT_OF_SIGHT

    @property
    def in_review(self) -> bool:
        """Whether a person is asked about it."""
        return any(standing == "review" for _, _, standing in self.stretches)


def read_outcome(tx: Transaction, slice_id: int) -> tuple[Held, ...]:
    """Return every belief of a slice."""
    return tuple(
        Held(one.belief_id, tuple(one.statements), one.archive_reason, tuple(one.stretches))
        for one in read_standings(tx, slice_id)
    )


def check(story: Story, held: Sequence[Held]) -> tuple[bool, int, bool | None, tuple[str, ...]]:
    """Return whether the answer is right, how many were wrongly retired, whether intervals are, and what is wrong."""
    kept, retired = _check_kept(story, held)
    problems = kept + _check_current(story, held) + _check_out_of_sight(story, held) + _counts(story, held)
    sides = _check_sides(story, held)
    has_sides = bool(story.expect.past or story.expect.rejected or story.expect.review)
    right = not problems
    return right, retired, (right and not sides if has_sides else None), (*problems, *sides)


def _check_kept(story: Story, held: Sequence[Held]) -> tuple[list[str], int]:
    """What has nothing to do with anything must be untouched; where nothing conflicts, so must the current."""
    expect, problems, retired = story.expect, [], 0
    peaceful = not (expect.past or expect.rejected or expect.review)
    for one in (*expect.kept, *(expect.current if peaceful else ())):
        found = _find(held, one, story)
        if found is None:
            problems.append(f"not found: {one.statement}")
        elif found.archive_reason in _RETIRED and not (one in expect.current and expect.same):
            retired += 1
            problems.append(f"retired without reason ({found.archive_reason}): {one.statement}")
    return problems, retired


def _check_current(story: Story, held: Sequence[Held]) -> list[str]:
    problems = []
    for one in story.expect.current:
        found = _find(held, one, story)
        if found is None or not found.visible:
            problems.append(f"not current ({found.archive_reason if found else 'not found'}): {one.statement}")
        elif found.in_review and not story.expect.review:
            problems.append(f"left to review: {one.statement}")
    return problems


def _check_out_of_sight(story: Story, held: Sequence[Held]) -> list[str]:
    """What is past or rejected must not be believed, what is in review must be, with the question."""
    problems = []
    for one in (*story.expect.past, *story.expect.rejected):
        found = _find(held, one, story)
        if found is not None and found.visible and not _tells_of_past(found):
            problems.append(f"still current: {one.statement}")
    for one in story.expect.review:
        found = _find(held, one, story)
        if found is None or not (found.visible and found.in_review):
            problems.append(f"not in review: {one.statement}")
    return problems


def _check_sides(story: Story, held: Sequence[Held]) -> list[str]:
    """Both sides must be readable, with their intervals."""
    expect, problems = story.expect, []
    dated = [one for one in expect.current if one.holds_from or one.holds_until]
    for one in (*expect.past, *expect.rejected, *expect.review, *dated):
        found = _find(held, one, story)
        if found is None:
            problems.append(f"not readable: {one.statement}")
        elif (one in expect.past or one in dated) and not _fits(found, one, story):
            problems.append(f"interval {_shown(found)}: {one.statement}")
    return problems


def _counts(story: Story, held: Sequence[Held]) -> list[str]:
    problems = []
    visible = sum(one.visible for one in held)
    if story.expect.beliefs is not None and visible != story.expect.beliefs:
        problems.append(f"{visible} beliefs in sight, not {story.expect.beliefs}")
    for group in story.expect.same:
        homes = {_home(held, part) for part in group}
        if len(homes) != 1 or None in homes:
            problems.append(f"not one belief: {' / '.join(group)}")
    return problems


def _home(held: Sequence[Held], part: str) -> UUID | None:
    found = [
        one
        for one in held
        if one.archive_reason != "merged" and any(fold(part) in fold(text) for text in one.statements)
    ]
    return found[0].belief_id if found else None


def _find(held: Sequence[Held], expected: Expected, story: Story) -> Held | None:
    """Return the belief that is meant: of the same words, else one that has them.

    First those that nothing else that is expected means ("eats fish" beside "no longer eats fish"), then visible ones.
    """
    wanted = fold(expected.statement)
    expect = story.expect
    named = (*expect.current, *expect.past, *expect.rejected, *expect.review, *expect.kept)
    others = [fold(one.statement) for one in named if one is not expected and fold(one.statement) != wanted]
    found = [
        (fold(text) != wanted, any(other in fold(text) for other in others), not one.visible, place, one)
        for place, one in enumerate(held)
        for text in one.statements
        if wanted in fold(text) and one.statements
    ]
    return min(found, key=lambda entry: entry[:4])[4] if found else None


def _tells_of_past(found: Held) -> bool:
    return bool(found.stretches) and all(standing == "past" for _, _, standing in found.stretches)


def _fits(found: Held, expected: Expected, story: Story) -> bool:
    """Whether one of its stretches is the expected one; without dates, whether it has an end."""
    offset = story.notes[-1].occurred_at.tzinfo or UTC
    for start, end, _ in found.stretches:
        begins, ends = start.astimezone(offset).date().isoformat(), end and end.astimezone(offset).date().isoformat()
        fits_start = expected.holds_from is None or begins == expected.holds_from[:10]
        fits_end = (
            ends == expected.holds_until[:10]
            if expected.holds_until
            else (ends is not None or bool(expected.holds_from))
        )
        if fits_start and fits_end:
            return True
    return False


def _shown(found: Held) -> str:
    return (
        ", ".join(f"{start.date()}..{end.date() if end else ''} {standing}" for start, end, standing in found.stretches)
        or "none"
    )
