"""Asks the model for the claims of a batch's notes, in parallel, saving the answers as they arrive.

No database connection is held during a call. Calls are recorded before they are made, so that a crash
leaves a trace: calls that were in flight together make their notes suspect, suspects run alone, and
only a crash alone costs a note an attempt. Short notes share calls; what fails as a whole is halved.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from uuid import UUID

from dreaming.database import Database, Transaction
from dreaming.errors import (
    CallCapReached,
    Hold,
    ModelTimeout,
    ProviderUnavailable,
    RefusedAnswer,
    RetireNote,
)
from dreaming.models.protocols import ChatAnswer, ChatModel, StopReason
from dreaming.notes.chunking import split
from dreaming.notes.records import Note
from dreaming.notes.secrets import masked_note
from dreaming.passes import store as passes_store
from dreaming.passes.calls import store as calls_store
from dreaming.passes.calls.limits import call_limits
from dreaming.passes.consolidation import store
from dreaming.passes.consolidation.packing import Call, calls_of
from dreaming.passes.consolidation.parsing import parse_answer
from dreaming.passes.consolidation.prompt import build_request
from dreaming.passes.consolidation.records import AttemptRow, SavedAnswer
from dreaming.passes.consolidation.work import (
    MAX_ATTEMPTS,
    Extraction,
    NoteWork,
    chunk_characters,
    content_tokens,
    phases,
    prompt_version,
)
from dreaming.passes.records import Clock, Deadline, Lease
from dreaming.settings.resolution import Settings

OUTAGE_TIMEOUTS = 3
"""Time-outs on so many different notes in a row are an outage, not the notes' fault."""

WAVES = 4
"""Bookings and savings of a batch at most, besides one saving a second: statements do not grow with notes."""

SAVE_AFTER_SECONDS = 1.0
"""How long an answer may wait for others before it is saved."""

_DEADLINE_RESERVE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Result:
    call: Call
    answers: tuple[SavedAnswer, ...] = ()
    answer: ChatAnswer | None = None
    failure: RetireNote | None = None
    hold: Hold | None = None


@dataclass(slots=True)
class _Phase:
    """Notes that run together: their calls on the way, and what came back and is not yet recorded.

    `wave` is how many calls are booked at once; `unreturned` counts the booked calls of each note that
    have not come back, `slow` those that timed out; `leads` are the first notes of the calls that timed
    out since the last answer; `stopped` means that no further call starts.
    """

    works: Sequence[NoteWork]
    waiting: deque[Call]
    wave: int
    booked: deque[Call] = field(default_factory=deque)
    unreturned: Counter[NoteWork] = field(default_factory=Counter)
    slow: Counter[NoteWork] = field(default_factory=Counter)
    leads: set[UUID] = field(default_factory=set)
    unsaved: list[SavedAnswer] = field(default_factory=list)
    answers: list[ChatAnswer] = field(default_factory=list)
    calls_booked: int = 0
    calls_made: int = 0
    calls_failed: int = 0
    halved: int = 0
    hold: Hold | None = None
    stopped: bool = False

    def take(self, result: _Result) -> None:
        """Note what a call came to; one that several notes share is halved when it failed."""
        if result.hold is not None:
            self.hold = self.hold or result.hold
            self.stopped = True
            return
        self.calls_made += 1
        self.unreturned.subtract(result.call.works)
        if result.answer is not None:
            self.answers.append(result.answer)
            self.leads.clear()
        for part, saved in zip(result.call.parts, result.answers, strict=False):
            part.work.answers[saved.chunk] = saved
        self.unsaved += result.answers
        if result.failure is not None:
            self._fail(result.call, result.failure)

    def _fail(self, call: Call, failure: RetireNote) -> None:
        self.calls_failed += 1
        first = call.parts[0].work
        if isinstance(failure, ModelTimeout):
            first.timed_out = True
            self.slow.update(call.works)
            self.leads.add(first.note.note_id)
            self.stopped = self.stopped or len(self.leads) >= OUTAGE_TIMEOUTS
        if call.shared:
            self.halved += 1
            self.waiting.extendleft(reversed(call.halves()))
        else:
            first.failure = failure


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
        on_extracted: Callable[[NoteWork], None],
    ) -> None:
        """Keep the ports of one batch; `on_extracted` is given whole notes while there is nothing but to wait."""
        self._database = database
        self._model = model
        self._lease = lease
        self._limits = call_limits(settings)
        self._deadline = deadline
        self._clock = clock
        self._on_extracted = on_extracted
        self._extracted: deque[NoteWork] = deque()
        self._packing_tokens = packing_tokens(model, settings)
        # At most half of what the invocation has, or its first call could never start.
        available = (deadline.remaining() - _DEADLINE_RESERVE_SECONDS) / 2
        self._timeout = min(self._limits.timeout_seconds, available)

    def extract(self, notes: Sequence[Note]) -> Extraction:
        """Return every note with its answers, calling the model for those that are missing."""
        extraction = Extraction(self._load(notes))
        self._settle_crashes(extraction)
        for works in phases(extraction.works):
            if extraction.hold is None:
                self._run_phase(works, extraction)
        return extraction

    def _load(self, notes: Sequence[Note]) -> list[NoteWork]:
        ids = [note.note_id for note in notes]
        with self._transaction() as tx:
            saved = store.saved_answers(tx, self._lease.slice.slice_id, ids, model=self._model.name)
            attempts = store.read_attempts(tx, self._lease.slice.slice_id, ids)
        works = []
        for note in map(masked_note, notes):
            row = attempts.get(note.note_id)
            if row is None or row.version != note.version:
                row = AttemptRow(note.note_id, note.version, 0, 0, None, False, False, None)
            characters = chunk_characters(note.text, self._model.context_tokens, self._limits.output_tokens)
            work = NoteWork(note, tuple(split(note.text, characters)), row, prompt_version(note.text, characters))
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
            if work.extracted:  # its answer was saved: it was not its call that died
                work.attempt = replace(row, in_flight=None)
            elif row.in_flight_alone:
                work.attempt = replace(row, in_flight=None, attempts=row.attempts + 1, last_failure="crash")
                extraction.attempts_counted += 1
            else:
                work.attempt = replace(row, in_flight=None, suspect=True)
            changed.append(work.attempt)
        if changed:
            with self._transaction() as tx:
                store.write_attempts(tx, self._lease.slice.slice_id, changed, now=self._clock())

    def _run_phase(self, works: Sequence[NoteWork], extraction: Extraction) -> None:
        calls = calls_of(works, tokens=self._packing_tokens)
        for work in works:
            if work.missing and not work.calls_left:
                work.failure = CallCapReached("the note has used up its model calls")
        phase = _Phase(works, calls, wave=max(2 * self._limits.concurrency, -(-len(calls) // WAVES)))
        with ThreadPoolExecutor(self._limits.concurrency) as pool:
            self._make_calls(pool, phase, extraction)
        if phase.calls_booked or phase.hold or any(work.failure for work in works):
            self._settle(phase, extraction)

    def _make_calls(self, pool: ThreadPoolExecutor, phase: _Phase, extraction: Extraction) -> None:
        """Make the phase's calls, a bounded number at once; each answer is saved soon after it arrived."""
        running: set[Future[_Result]] = set()
        saved_at = self._deadline.remaining()
        while True:
            self._start(pool, phase, running, extraction)
            if not running:
                return
            longest = SAVE_AFTER_SECONDS if phase.unsaved else None
            done, running = wait(running, 0.0 if self._extracted else longest, FIRST_COMPLETED)
            if self._extracted and not done:
                self._on_extracted(self._extracted.popleft())
            if not phase.unsaved:
                saved_at = self._deadline.remaining()
            for future in done:
                result = future.result()
                phase.take(result)
                self._extracted.extend(work for work in result.call.works if work.extracted)
            waited = saved_at - self._deadline.remaining()
            if phase.unsaved and (len(phase.unsaved) >= phase.wave or waited >= SAVE_AFTER_SECONDS):
                with self._transaction() as tx:
                    self._record(tx, phase, extraction)

    def _start(
        self, pool: ThreadPoolExecutor, phase: _Phase, running: set[Future[_Result]], extraction: Extraction
    ) -> None:
        """Fill the pool with booked calls, booking more where there are none."""
        while len(running) < self._limits.concurrency and not phase.stopped:
            if not self._has_time():
                phase.stopped = True
            elif phase.booked:
                call = phase.booked.popleft()
                # A note that failed at one chunk needs no answer about the others in this batch.
                if call.parts[0].work.failure is None:
                    running.add(pool.submit(self._call, call))
            elif phase.waiting and phase.hold is None:
                self._book(phase, extraction)
            else:
                return

    def _book(self, phase: _Phase, extraction: Extraction) -> None:
        """Book the next calls against the budget and record them as in flight, before any is made."""
        wave = [phase.waiting.popleft() for _ in range(min(phase.wave, len(phase.waiting)))]
        key = self._lease.slice.key
        now = self._clock()
        with self._transaction() as tx:
            granted = calls_store.reserve_calls(
                tx,
                key.org_id,
                self._lease.pass_name,
                self._model.name,
                wanted=len(wave),
                budget=self._limits.per_day if self._model.metered else None,
                now=now,
            )
            phase.booked.extend(wave[:granted])
            phase.calls_booked += granted
            booked = Counter(work for call in phase.booked for work in call.works)
            phase.unreturned.update(booked)
            for work, count in booked.items():
                work.attempt = replace(
                    work.attempt,
                    in_flight=self._lease.holder,
                    in_flight_alone=len(phase.works) == 1,
                    calls=work.attempt.calls + count,
                )
            store.write_attempts(tx, self._lease.slice.slice_id, [work.attempt for work in booked], now=now)
            self._record(tx, phase, extraction, booked=granted)
        if granted < len(wave):
            phase.hold = self._limits.spent()

    def _call(self, call: Call) -> _Result:
        """Make one call; runs in a thread of the pool and touches no shared state."""
        request = build_request(call.passages(), max_tokens=self._limits.output_tokens, timeout=self._timeout)
        answer: ChatAnswer | None = None
        try:
            answer = self._model.answer(request)
            if answer.stop_reason is StopReason.REFUSED:
                return _Result(call, answer=answer, failure=RefusedAnswer("the model refused the note"))
            parsed = parse_answer(answer.text, truncated=answer.stop_reason is StopReason.TRUNCATED)
            return _Result(call, tuple(call.answers(parsed)), answer)
        except Hold as hold:
            return _Result(call, hold=hold)
        except RetireNote as failure:
            return _Result(call, answer=answer, failure=failure)

    def _record(
        self, tx: Transaction, phase: _Phase, extraction: Extraction, *, booked: int = 0, failed: int = 0
    ) -> None:
        """Save the answers that arrived; add their tokens, and the calls booked, to the run's record alike."""
        now = self._clock()
        store.save_answers(tx, self._lease.slice.slice_id, phase.unsaved, model=self._model.name, now=now)
        input_tokens = sum(answer.input_tokens for answer in phase.answers)
        output_tokens = sum(answer.output_tokens for answer in phase.answers)
        if phase.answers or failed or booked < 0:
            calls_store.add_usage(
                tx,
                self._lease.slice.key.org_id,
                self._lease.pass_name,
                self._model.name,
                day=now,
                calls=min(booked, 0),  # what is booked was added to the usage by its reservation
                failed_calls=failed,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
            )
        counts = {"model_calls": booked, "input_tokens": input_tokens, "output_tokens": output_tokens}
        if any(counts.values()):
            passes_store.add_to_run(tx, self._lease, counts, now=now)
        extraction.answers_saved += len(phase.unsaved)
        extraction.input_tokens += input_tokens
        extraction.output_tokens += output_tokens
        phase.unsaved, phase.answers = [], []

    def _settle(self, phase: _Phase, extraction: Extraction) -> None:
        """Save what is left, count attempts, and give back what was booked and not used."""
        with self._transaction() as tx:
            in_row, last, outage = _follow_timeouts(phase.works, *store.read_timeouts(tx, self._lease))
            rows = []
            for work in phase.works:
                if work.failure or work in phase.unreturned:
                    work.attempt = self._settled(work, phase, extraction, outage=outage)
                    rows.append(work.attempt)
            store.write_attempts(tx, self._lease.slice.slice_id, rows, now=self._clock())
            store.note_timeouts(tx, self._lease, in_row=in_row, last_note_id=last)
            unused = phase.calls_booked - phase.calls_made
            self._record(tx, phase, extraction, booked=-unused, failed=phase.calls_failed)
        extraction.model_calls += phase.calls_made
        extraction.calls_halved += phase.halved
        extraction.hold = phase.hold or extraction.hold
        if outage:
            extraction.hold = ProviderUnavailable("the model did not answer for three notes in a row")

    def _settled(self, work: NoteWork, phase: _Phase, extraction: Extraction, *, outage: bool) -> AttemptRow:
        row = replace(work.attempt, in_flight=None, calls=work.attempt.calls - phase.unreturned[work])
        if outage:
            row = replace(row, calls=row.calls - phase.slow[work])  # or an outage of hours would use up its calls
        if work.failure is None or (outage and isinstance(work.failure, ModelTimeout)):
            return row
        final = isinstance(work.failure, RefusedAnswer | CallCapReached)
        extraction.attempts_counted += 1
        attempts = MAX_ATTEMPTS if final else row.attempts + 1
        return replace(row, attempts=attempts, last_failure=work.failure.reason)

    def _has_time(self) -> bool:
        """Tell whether a call can still take its whole time-out: a hurried one would blame its note."""
        return 0 < self._timeout <= self._deadline.remaining() - _DEADLINE_RESERVE_SECONDS

    def _transaction(self) -> AbstractContextManager[Transaction]:
        return self._database.transaction(self._lease.slice.key.tenant)


def packing_tokens(model: ChatModel, settings: Settings) -> int:
    """Return how many tokens of passages short notes may share a call up to; 0 packs nothing."""
    room = content_tokens(model.context_tokens, call_limits(settings).output_tokens)
    return max(0, min(settings.integer("packing_tokens"), room)) if settings.flag("packing") else 0


def _follow_timeouts(works: Sequence[NoteWork], in_row: int, last: UUID | None) -> tuple[int, UUID | None, bool]:
    """Follow time-outs over the notes in order, from where the last batch left off; tell an outage.

    A call that several notes share counts as one note: the first in it.
    """
    for work in works:
        if work.extracted:
            in_row, last = 0, None
        elif work.timed_out:
            in_row += work.note.note_id != last
            last = work.note.note_id
    return in_row, last, in_row >= OUTAGE_TIMEOUTS
