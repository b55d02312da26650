"""What reading labelled notes will take, told before any call is paid: calls as they will be packed, and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from dreaming.local.evaluation.labelled_notes import LabelledNote
from dreaming.models.protocols import ChatModel
from dreaming.notes.chunking import split
from dreaming.notes.records import Note, NoteState
from dreaming.passes.calls.limits import call_limits
from dreaming.passes.consolidation.extraction import packing_tokens
from dreaming.passes.consolidation.packing import calls_of
from dreaming.passes.consolidation.prompt import INSTRUCTIONS, estimate_tokens, passage_tokens
from dreaming.passes.consolidation.records import AttemptRow
from dreaming.passes.consolidation.run import batch_notes
from dreaming.passes.consolidation.work import NoteWork, chunk_characters, prompt_version
from dreaming.settings.resolution import Settings

_SPARE_CALLS = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls when none fails, and the tokens that they send; `most_calls` is what may be used where some fail."""

    calls: int
    tokens_in: int

    @property
    def most_calls(self) -> int:
        """Half as many again: what fails as a whole is asked in halves."""
        return self.calls + max(_SPARE_CALLS, self.calls // 2)


def estimate(notes: Sequence[LabelledNote], model: ChatModel, settings: Settings) -> Estimate:
    """Return what the pass will ask, batch by batch, with its own packing."""
    output_tokens = call_limits(settings).output_tokens
    packing, size = packing_tokens(model, settings), batch_notes(settings)
    calls = tokens_in = 0
    for start in range(0, len(notes), size):
        works = [_work(note, model, output_tokens) for note in notes[start : start + size]]
        for call in calls_of(works, tokens=packing):
            calls += 1
            tokens_in += estimate_tokens(INSTRUCTIONS) + sum(map(passage_tokens, call.passages()))
    return Estimate(calls, tokens_in)


def _work(labelled: LabelledNote, model: ChatModel, output_tokens: int) -> NoteWork:
    incoming, nobody = labelled.incoming(), UUID(int=0)
    note = Note(
        note_id=nobody,
        slice_id=0,
        external_id=incoming.external_id,
        source=incoming.source,
        origin=incoming.source,
        version=1,
        sequence=1,
        state=NoteState.WAITING,
        text=incoming.text,
        occurred_at=incoming.occurred_at,
        author=incoming.author,
        participants=incoming.participants,
        trust=incoming.trust,
    )
    characters = chunk_characters(note.text, model.context_tokens, output_tokens)
    attempt = AttemptRow(nobody, 1, 0, 0, None, False, False, None)
    return NoteWork(note, tuple(split(note.text, characters)), attempt, prompt_version(note.text, characters))
