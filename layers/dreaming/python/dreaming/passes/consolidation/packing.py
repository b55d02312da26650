"""Which chunks share a model call, and whose claims an answer's items are. Pure.

The fixed instructions cost about 1,300 tokens a call, a chat line 20: short notes of equal trust go
together. A claim of a shared call counts only for the note whose label it names, and that label holds a
code which no text in the call can know. What fails as a whole is halved until single notes remain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from dreaming.errors import MalformedAnswer
from dreaming.models.protocols import Passage
from dreaming.notes.chunking import Chunk
from dreaming.notes.records import Trust
from dreaming.passes.consolidation.prompt import passage_tokens
from dreaming.passes.consolidation.records import ParsedAnswer, SavedAnswer
from dreaming.passes.consolidation.work import NoteWork

LABEL = "n1"
"""How a saved item names the note it is saved with, whatever the call named it."""

UNKNOWN = "?"
"""How a saved item says that it named no note of its call; it is rejected and counted when applied."""

MOST_NOTES = 16
"""Notes in one call at most: a power of two, for the halving; more would crowd the answer's length."""


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk of a note as one passage of a call."""

    work: NoteWork
    chunk: Chunk

    def passage(self, label: str = LABEL) -> Passage:
        """The chunk as a passage named `label`."""
        note = self.work.note
        return Passage(
            label=label,
            text=self.chunk.text,
            occurred_at=note.occurred_at,
            source=note.source,
            author=note.author,
            participants=note.participants,
        )

    def answer(self, items: Iterable[dict[str, Any]], *, partial: bool) -> SavedAnswer:
        """The items as they are saved for this chunk."""
        note = self.work.note
        return SavedAnswer(
            note.note_id, note.version, self.chunk.index, self.work.prompt_version, tuple(items), partial
        )


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One model call: a chunk of a note, or several notes of one chunk each."""

    parts: tuple[Part, ...]

    @property
    def shared(self) -> bool:
        """Whether several notes are in it, so that its failure is none of theirs."""
        return len(self.parts) > 1

    @property
    def works(self) -> Iterator[NoteWork]:
        """The notes in it."""
        return (part.work for part in self.parts)

    def passages(self) -> list[Passage]:
        """Its passages; in a shared call the labels hold a code that depends on all the texts."""
        if not self.shared:
            return [self.parts[0].passage()]
        whole = "\0".join(part.chunk.text for part in self.parts)
        code = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:4]
        return [part.passage(f"n{number}-{code}") for number, part in enumerate(self.parts, start=1)]

    def halves(self) -> tuple[Call, Call]:
        """The two calls to make when this one failed as a whole."""
        middle = (len(self.parts) + 1) // 2
        return Call(self.parts[:middle]), Call(self.parts[middle:])

    def answers(self, parsed: ParsedAnswer) -> list[SavedAnswer]:
        """Give each chunk its items, also when it has none.

        Raises:
            MalformedAnswer: the call is shared, and the answer is cut off or names none of its notes.
        """
        if not self.shared:
            return [self.parts[0].answer(parsed.items, partial=parsed.partial)]
        if parsed.partial:
            raise MalformedAnswer("the answer about several notes is cut off")
        by_label: dict[str, list[dict[str, Any]]] = {passage.label: [] for passage in self.passages()}
        strays = []
        for item in parsed.items:
            named = by_label.get(str(item.get("note")).strip())
            if named is None:
                strays.append({**item, "note": UNKNOWN})
            else:
                named.append({**item, "note": LABEL})
        if strays and not any(by_label.values()):
            raise MalformedAnswer("the answer about several notes names none of them")
        # Saved with the first note, so that they are counted once, with what becomes of it.
        groups = [items + (strays if place == 0 else []) for place, items in enumerate(by_label.values())]
        return [part.answer(items, partial=False) for part, items in zip(self.parts, groups, strict=True)]


def calls_of(works: Sequence[NoteWork], *, tokens: int) -> deque[Call]:
    """Return the calls for every chunk without an answer that its note may still pay for, in order.

    Notes of one chunk share calls of at most `tokens` of passages, with others of equal trust; 0 packs
    nothing. A suspect, a note that has failed alone, and one that has shared its share of calls is alone.
    """
    calls: list[Call] = []
    open_packs: dict[Trust, _Pack] = {}
    for work in works:
        parts = [Part(work, chunk) for chunk in work.missing[: work.calls_left]]
        size = passage_tokens(parts[0].passage()) if tokens and len(work.chunks) == len(parts) == 1 else None
        if size is None or size * 2 > tokens or _most(work) == 1:
            calls += [Call((part,)) for part in parts]
            continue
        pack = open_packs.get(work.note.trust)
        if pack is None or not pack.takes(size, _most(work)):
            pack = open_packs[work.note.trust] = _Pack(len(calls), tokens)
            calls.append(Call(()))
        pack.add(parts[0], size, _most(work))
        calls[pack.place] = Call(tuple(pack.parts))
    return deque(calls)


def _most(work: NoteWork) -> int:
    """How many notes may share the next call of this one; it halves with each call that came to nothing."""
    alone = work.attempt.suspect or work.attempt.attempts
    return 1 if alone else max(1, MOST_NOTES >> work.attempt.calls)


class _Pack:
    """A shared call that is being filled."""

    def __init__(self, place: int, tokens: int) -> None:
        self.place = place
        self.parts: list[Part] = []
        self._tokens_left = tokens
        self._most = MOST_NOTES

    def takes(self, size: int, most: int) -> bool:
        return size <= self._tokens_left and len(self.parts) < min(self._most, most)

    def add(self, part: Part, size: int, most: int) -> None:
        self.parts.append(part)
        self._tokens_left -= size
        self._most = min(self._most, most)
