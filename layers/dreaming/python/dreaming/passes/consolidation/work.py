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
"""Model calls that a note may cost beyond one for each chunk, over all attempts."""

_HEADER_TOKENS = 500


@dataclass(slots=True)
class NoteWork:
    """One note on its way through extraction."""

    note: Note
    chunks: tuple[Chunk, ...]
    attempt: AttemptRow
    prompt_version: str
    answers: dict[int, SavedAnswer] = field(default_factory=dict)
    failure: RetireNote | None = None
    calls_left: int = 0

    @property
    def missing(self) -> list[Chunk]:
        """The chunks without an answer."""
        return [chunk for chunk in self.chunks if chunk.index not in self.answers]

    @property
    def extracted(self) -> bool:
        """Whether every chunk has its answer."""
        return len(self.answers) == len(self.chunks)

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
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def progressed(self) -> bool:
        """Whether an answer was saved or an attempt counted."""
        return bool(self.answers_saved or self.attempts_counted)


def chunk_characters(text: str, context_tokens: int, max_output_tokens: int) -> int:
    """Return how long a chunk of `text` may be: what the window leaves after instructions and answer.

    The text's own rate of characters to tokens, as estimated, less a fifth for the error of it.
    """
    tokens = context_tokens - max_output_tokens - estimate_tokens(INSTRUCTIONS) - _HEADER_TOKENS
    rate = len(text) / max(estimate_tokens(text), 1)
    return max(500, int(tokens * rate * 0.8))


def prompt_version(text: str, chunk_length: int) -> str:
    """Name the prompt and, for a text of several chunks, how it was cut: answers to another cut do not fit."""
    return PROMPT_VERSION if len(text) <= chunk_length else f"{PROMPT_VERSION}/{chunk_length}"


def phases(works: Sequence[NoteWork]) -> Iterator[list[NoteWork]]:
    """Yield the notes that may run together, then each suspect alone."""
    open_works = [work for work in works if work.missing and not work.retired]
    together = [work for work in open_works if not work.attempt.suspect]
    if together:
        yield together
    for work in open_works:
        if work.attempt.suspect:
            yield [work]
