"""Asks the model for the claims of a batch's notes, in parallel, saving each answer as it arrives.

No database connection is held during a call. A call is recorded before it is made, so that a crash
leaves a trace: calls that were in flight together make their notes suspect, suspects run alone, and
only a crash alone costs a note an attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from uuid import UUID

from dreaming.database import Database
from dreaming.errors import (
    BudgetSpent,
    CallCapReached,
    Hold,
    ModelTimeout,
    ProviderUnavailable,
    RefusedAnswer,
    RetireNote,
)
from dreaming.models.protocols import ChatAnswer, ChatModel, ChatRequest, Passage, StopReason
from dreaming.notes.chunking import Chunk, split
from dreaming.notes.records import Note
from dreaming.notes.secrets import masked_note
from dreaming.passes.consolidation import store
from dreaming.passes.consolidation.parsing import parse_answer
from dreaming.passes.consolidation.prompt import build_request
from dreaming.passes.consolidation.records import AttemptRow, ParsedAnswer, SavedAnswer
from dreaming.passes.consolidation.work import (
    MAX_ATTEMPTS,
    SPARE_CALLS,
    Extraction,
    NoteWork,
    chunk_characters,
    phases,
    prompt_version,
)
from dreaming.passes.records import Clock, Deadline, Lease
from dreaming.settings.resolution import Settings

OUTAGE_TIMEOUTS = 3
"""Time-outs on so many different notes in a row are an outage, not the notes' fault."""

LABEL = "n1"
"""How an answer names its only passage."""

_DEADLINE_RESERVE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Call:
    work: NoteWork
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class _Result:
    call: _Call
    parsed: ParsedAnswer | None = None
    answer: ChatAnswer | None = None
    failure: RetireNote | None = None
    hold: Hold | None = None


class Extractor:
    """Extracts the claims of one batch under a lease."""

    def __init__(
        self,
        *,
        database: Database,
        model: ChatModel,
        lease: Lease,
        settings: Settings,
        deadline: Deadline,
        clock: Clock,
    ) -> None:
        """Keep the ports of one batch."""
        self._database = database
        self._model = model
        self._lease = lease
        self._settings = settings
        self._deadline = deadline
        self._clock = clock
        # At most half of what the invocation has, or its first call could never start.
        available = (deadline.remaining() - _DEADLINE_RESERVE_SECONDS) / 2
        self._timeout = min(float(settings.integer("model_timeout_seconds")), available)

    def extract(self, notes: Sequence[Note]) -> Extraction:
        """Return every note with its answers, calling the model for those that are missing."""
        extraction = Extraction(self._load(notes))
        self._settle_crashes(extraction)
        for phase in phases(extraction.works):
            if extraction.hold is None:
                self._run_phase(phase, extraction)
        return extraction

    def _load(self, notes: Sequence[Note]) -> list[NoteWork]:
        ids = [note.note_id for note in notes]
        with self._database.transaction(self._lease.slice.key.tenant) as tx:
            saved = store.saved_answers(tx, self._lease.slice.slice_id, ids, model=self._model.name)
            attempts = store.read_attempts(tx, self._lease.slice.slice_id, ids)
        output_tokens = self._settings.integer("max_output_tokens")
        works = []
        for note in map(masked_note, notes):
            row = attempts.get(note.note_id)
            if row is None or row.version != note.version:
                row = AttemptRow(note.note_id, note.version, 0, 0, None, False, False, None)
            characters = chunk_characters(note.text, self._model.context_tokens, output_tokens)
            work = NoteWork(note, tuple(split(note.text, characters)), row, prompt_version(note.text, characters))
            work.calls_left = len(work.chunks) + SPARE_CALLS - row.calls
            known = {chunk.index for chunk in work.chunks}
            work.answers = {
                answer.chunk: answer
                for answer in saved
                if (answer.note_id, answer.version, answer.prompt_version)
                == (note.note_id, note.version, work.prompt_version)
                and answer.chunk in known
            }
            works.append(work)
        return works

    def _settle_crashes(self, extraction: Extraction) -> None:
        """Turn calls that never returned into suspicion, or into an attempt when they were alone."""
        changed = []
        for work in extraction.works:
            row = work.attempt
            if row.in_flight is None:
                continue
            if row.in_flight_alone:
                work.attempt = replace(row, in_flight=None, attempts=row.attempts + 1, last_failure="crash")
                extraction.attempts_counted += 1
            else:
                work.attempt = replace(row, in_flight=None, suspect=True)
            changed.append(work.attempt)
        if changed:
            with self._database.transaction(self._lease.slice.key.tenant) as tx:
                store.write_attempts(tx, self._lease.slice.slice_id, changed, now=self._clock())

    def _run_phase(self, works: Sequence[NoteWork], extraction: Extraction) -> None:
        calls = [_Call(work, chunk) for work in works for chunk in work.missing[: max(work.calls_left, 0)]]
        for work in works:
            if work.missing and work.calls_left <= 0:
                work.failure = CallCapReached("the note has used up its model calls")
        if calls and not self._has_time():
            return
        granted = self._book(calls) if calls else 0
        if granted < len(calls):
            extraction.hold = BudgetSpent("the budget of model calls for today is used up")
            calls = calls[:granted]
        results = self._call_all(calls, extraction) if calls else []
        self._settle(works, calls, results, extraction)

    def _book(self, calls: Sequence[_Call]) -> int:
        """Book the calls against the budget and record them as in flight, before any is made."""
        key = self._lease.slice.key
        now = self._clock()
        with self._database.transaction(key.tenant) as tx:
            granted = store.reserve_calls(
                tx,
                key.org_id,
                self._lease.pass_name,
                self._model.name,
                wanted=len(calls),
                budget=self._settings.integer("model_calls_per_day") if self._model.metered else None,
                now=now,
            )
            works = _distinct(call.work for call in calls[:granted])
            for work in works:
                booked = sum(call.work is work for call in calls[:granted])
                work.attempt = replace(
                    work.attempt,
                    in_flight=self._lease.holder,
                    in_flight_alone=len(works) == 1,
                    calls=work.attempt.calls + booked,
                )
            store.write_attempts(tx, self._lease.slice.slice_id, [work.attempt for work in works], now=now)
        return granted

    def _call_all(self, calls: Sequence[_Call], extraction: Extraction) -> list[_Result]:
        """Make the calls, a bounded number at once, and save each group of answers as it arrives."""
        results: list[_Result] = []
        queue = iter(calls)
        with ThreadPoolExecutor(self._settings.integer("model_concurrency")) as pool:
            running: set[Future[_Result]] = set()
            stopped = False
            while True:
                while not stopped and len(running) < self._settings.integer("model_concurrency"):
                    call = next(queue, None)
                    if call is None or not self._has_time():
                        stopped = True
                    elif call.work.failure is None:
                        running.add(pool.submit(self._call, call))
                if not running:
                    return results
                done, running = wait(running, return_when=FIRST_COMPLETED)
                arrived = [future.result() for future in done]
                results.extend(arrived)
                for result in arrived:
                    result.call.work.failure = result.failure or result.call.work.failure
                    stopped = stopped or result.hold is not None
                self._save(arrived, extraction)

    def _call(self, call: _Call) -> _Result:
        """Make one call; runs in a thread of the pool and touches no shared state."""
        request = self._request(call)
        try:
            answer = self._model.answer(request)
            if answer.stop_reason is StopReason.REFUSED:
                return _Result(call, answer=answer, failure=RefusedAnswer("the model refused the note"))
            parsed = parse_answer(answer.text, truncated=answer.stop_reason is StopReason.TRUNCATED)
            return _Result(call, parsed=parsed, answer=answer)
        except Hold as hold:
            return _Result(call, hold=hold)
        except RetireNote as failure:
            return _Result(call, failure=failure)

    def _request(self, call: _Call) -> ChatRequest:
        note = call.work.note
        passage = Passage(
            label=LABEL,
            text=call.chunk.text,
            occurred_at=note.occurred_at,
            source=note.source,
            author=note.author,
            participants=note.participants,
        )
        tokens = self._settings.integer("max_output_tokens")
        return build_request([passage], max_tokens=tokens, timeout=self._timeout)

    def _save(self, results: Iterable[_Result], extraction: Extraction) -> None:
        saved = []
        for result in results:
            if result.parsed is not None:
                note = result.call.work.note
                answer = SavedAnswer(
                    note.note_id,
                    note.version,
                    result.call.chunk.index,
                    result.call.work.prompt_version,
                    result.parsed.items,
                    result.parsed.partial,
                )
                result.call.work.answers[answer.chunk] = answer
                saved.append(answer)
        if saved:
            with self._database.transaction(self._lease.slice.key.tenant) as tx:
                store.save_answers(
                    tx,
                    self._lease.slice.slice_id,
                    saved,
                    model=self._model.name,
                    now=self._clock(),
                )
            extraction.answers_saved += len(saved)

    def _settle(
        self, works: Sequence[NoteWork], calls: Sequence[_Call], results: Sequence[_Result], extraction: Extraction
    ) -> None:
        """Count attempts and usage; give back what was booked and not used."""
        hold = next((result.hold for result in results if result.hold is not None), None)
        in_row, last_timeout, outage = self._timeouts(works)
        if outage:
            hold = ProviderUnavailable("the model did not answer for three notes in a row")
        extraction.hold = hold or extraction.hold
        made = [result for result in results if result.hold is None]
        for work in works:
            self._settle_note(work, calls, made, extraction, outage=outage)
        extraction.model_calls += len(made)
        extraction.input_tokens += sum(result.answer.input_tokens for result in results if result.answer)
        extraction.output_tokens += sum(result.answer.output_tokens for result in results if result.answer)
        key = self._lease.slice.key
        with self._database.transaction(key.tenant) as tx:
            rows = [work.attempt for work in works if work.failure or any(call.work is work for call in calls)]
            store.write_attempts(tx, self._lease.slice.slice_id, rows, now=self._clock())
            store.note_timeouts(tx, self._lease, in_row=in_row, last_note_id=last_timeout)
            store.add_usage(
                tx,
                key.org_id,
                self._lease.pass_name,
                self._model.name,
                day=self._clock(),
                calls=len(made) - len(calls),
                failed_calls=sum(result.failure is not None for result in made),
                input_tokens=sum(result.answer.input_tokens for result in made if result.answer),
                output_tokens=sum(result.answer.output_tokens for result in made if result.answer),
            )

    def _settle_note(
        self,
        work: NoteWork,
        calls: Sequence[_Call],
        made: Sequence[_Result],
        extraction: Extraction,
        *,
        outage: bool,
    ) -> None:
        booked = sum(call.work is work for call in calls)
        used = sum(result.call.work is work for result in made)
        row = replace(work.attempt, in_flight=None, calls=work.attempt.calls - booked + used)
        if work.failure is not None and not (outage and isinstance(work.failure, ModelTimeout)):
            final = isinstance(work.failure, RefusedAnswer | CallCapReached)
            attempts = MAX_ATTEMPTS if final else row.attempts + 1
            row = replace(row, attempts=attempts, last_failure=work.failure.reason)
            extraction.attempts_counted += 1
        work.attempt = row

    def _timeouts(self, works: Sequence[NoteWork]) -> tuple[int, UUID | None, bool]:
        """Follow time-outs over the notes in order, from where the last batch left off."""
        with self._database.transaction(self._lease.slice.key.tenant) as tx:
            in_row, last = store.read_timeouts(tx, self._lease)
        for work in works:
            if isinstance(work.failure, ModelTimeout):
                in_row += work.note.note_id != last
                last = work.note.note_id
            elif work.answers and work.extracted:
                in_row, last = 0, None
        return in_row, last, in_row >= OUTAGE_TIMEOUTS

    def _has_time(self) -> bool:
        """Tell whether a call can still take its whole time-out: a hurried one would blame its note."""
        return 0 < self._timeout <= self._deadline.remaining() - _DEADLINE_RESERVE_SECONDS


def _distinct(works: Iterable[NoteWork]) -> list[NoteWork]:
    return list({id(work): work for work in works}.values())
