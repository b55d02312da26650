"""A note's way through extraction: its chunks, its saved answers, its attempts; and a batch's together. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dreaming.errors import Hold, RetireNote
from dreaming.notes.chunking import Chunk
from dreaming.notes.records import Note
from dreaming.passes.consolidation.prompt import INSTRUCTIONS, PROMPT_VERSION, estimate_tokens
from dreaming.passes.consolidation.records import AttemptRow, SavedAnswer

MAX_ATTEMPTS = 3
"""A note is retired at its third failed attempt."""

SPARE_CALLS = 6
"""Model calls that a note may cost beyond one for each chunk, over all attempts, shared ones counted.

With `packing.MOST_NOTES` = 16 a short note shares at most four calls (16, 8, 4 and 2 notes) before it is
alone, and then has its three attempts: seven, which is this bound for a note of one chunk.
"""

_HEADER_TOKENS = 500


@dataclass(slots=True, eq=False)
class NoteWork:
    """One note on its way through extraction; `timed_out` tells that a call which it led did not return."""

    note: Note
    chunks: tuple[Chunk, ...]
    attempt: AttemptRow
    prompt_version: str
    answers: dict[int, SavedAnswer] = field(default_factory=dict)
    failure: RetireNote | None = None
    timed_out: bool = False

    @property
    def missing(self) -> list[Chunk]:
        """The chunks without an answer."""
        return [chunk for chunk in self.chunks if chunk.index not in self.answers]

    @property
    def extracted(self) -> bool:
        """Whether every chunk has its answer."""
        return len(self.answers) == len(self.chunks)

    @property
    def calls_left(self) -> int:
        """How many calls the note may still cost."""
        return max(0, len(self.chunks) + SPARE_CALLS - self.attempt.calls)

    @property
    def retired(self) -> bool:
        """Whether the note has used up its attempts without all of its answers."""
        return self.attempt.attempts >= MAX_ATTEMPTS and not self.extracted


@dataclass(slots=True)
class Extraction:
    """What extraction came to: the work of each note in order, and why it stopped early, if it did."""

    works: list[NoteWork]
    hold: Hold | None = None
    answers_saved: int = 0
    attempts_counted: int = 0
    calls_halved: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def booked(self) -> dict[str, int]:
        """What the run's record has already, by its columns; nothing where no call was made."""
        counts = {
            "model_calls": self.model_calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }
        return {name: count for name, count in counts.items() if count}

    @property
    def progressed(self) -> bool:
        """Whether an answer was saved, an attempt counted, or a shared call halved."""
        return bool(self.answers_saved or self.attempts_counted or self.calls_halved)


def content_tokens(context_tokens: int, max_output_tokens: int) -> int:
    """Return what a model's window leaves for passages after instructions and answer; it may be negative."""
    return context_tokens - max_output_tokens - estimate_tokens(INSTRUCTIONS) - _HEADER_TOKENS


def chunk_characters(text: str, context_tokens: int, max_output_tokens: int) -> int:
    """Return how long a chunk of `text` may be.

    The text's own rate of characters to tokens, as estimated, less a fifth for the error of it.
    """
    tokens = content_tokens(context_tokens, max_output_tokens)
    rate = len(text) / max(estimate_tokens(text), 1)
    return max(500, int(tokens * rate * 0.8))


def prompt_version(text: str, chunk_length: int) -> str:
    """Name the prompt and, for a text of several chunks, how it was cut: answers to another cut do not fit."""
    return PROMPT_VERSION if len(text) <= chunk_length else f"{PROMPT_VERSION}/{chunk_length}"


def phases(works: Sequence[NoteWork]) -> Iterator[list[NoteWork]]:
    """Yield the notes that may run together, then each suspect alone, the least burdened first.

    So a note that killed its invocation does not keep the others waiting, and chance does not hit the
    same one each time.
    """
    open_works = [work for work in works if work.missing and not work.retired]
    together = [work for work in open_works if not work.attempt.suspect]
    if together:
        yield together
    for work in sorted(open_works, key=lambda work: work.attempt.attempts):
        if work.attempt.suspect:
            yield [work]
