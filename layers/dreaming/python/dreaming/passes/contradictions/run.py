"""The contradictions pass: one batch examines beliefs that are new or changed, and orders them in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.service import ageing
from dreaming.database import Database, Transaction
from dreaming.identifiers import NewId
from dreaming.models.protocols import ChatModel
from dreaming.models.selection import is_generative
from dreaming.notes.records import Slice
from dreaming.passes import store as passes_store
from dreaming.passes.calls.limits import call_limits
from dreaming.passes.contradictions import store
from dreaming.passes.contradictions.examined import store as examined_store
from dreaming.passes.contradictions.judging import Judge, Judged
from dreaming.passes.contradictions.lines import Pair
from dreaming.passes.contradictions.neighbourhood import survey
from dreaming.passes.contradictions.records import MAX_ATTEMPTS, Judgement
from dreaming.passes.contradictions.relations import rule
from dreaming.passes.contradictions.settling import settle
from dreaming.passes.contradictions.timelines import store as timelines_store
from dreaming.passes.records import CONTRADICTIONS, BatchOutcome, Clock, Deadline, Lease
from dreaming.settings.resolution import Settings
from dreaming.settings.store import read_enrolment

RETRY_AFTER = timedelta(hours=1)
"""How soon the pass comes again to pairs that the judge left open."""

FORGOTTEN_AT_ONCE = 1_000
"""How many rows a batch deletes of pairs that a rule found unrelated, from when those were remembered."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What a batch is about, what is alike, and what the judge makes of the pairs that no rule decides.

    `asked`: how many pairs it was to be asked about.
    """

    focus: tuple[UUID, ...]
    similar: Mapping[Pair, str]
    judged: Judged
    has_judge: bool
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Contradictions:
    """The pass, with its ports: `chat_model` builds an organization's model from its settings."""

    database: Database
    chat_model: Callable[[Settings, str], ChatModel]
    clock: Clock
    new_id: NewId

    @property
    def name(self) -> str:
        """The pass's name."""
        return CONTRADICTIONS

    def due(
        self,
        planner: Transaction,
        settings: Settings,  # noqa: ARG002 - every pass is asked alike
        *,
        now: datetime,
        stalled_after: timedelta,
        only: int | None,
    ) -> Sequence[Slice]:
        """Return the slices with beliefs to examine or pairs to judge."""
        return passes_store.slices_due(planner, CONTRADICTIONS, now=now, stalled_after=stalled_after, only=only)

    def run_batch(self, lease: Lease, settings: Settings, deadline: Deadline) -> BatchOutcome:
        """Examine the next beliefs of the slice; see the design, section 8."""
        look = self._look(lease, settings, deadline)
        return self._apply(lease, settings, look)

    def _look(self, lease: Lease, settings: Settings, deadline: Deadline) -> _Look:
        """Find what to examine, apply the rules in memory, and ask the judge about the rest."""
        now = self.clock()
        with self.database.transaction(lease.slice.key.tenant) as tx:
            passes_store.require_lease(tx, lease)
            consents = read_enrolment(tx, lease.slice.key.org_id).model_consent
            model = self._judge_model(settings, lease.slice.key.org_id) if consents else None
            has_judge = model is not None
            examined_store.list_unexamined(tx, lease.slice.slice_id)
            focus = self._focus(tx, lease, now, settings.integer("contradiction_batch"), has_judge=has_judge)
            if not focus:
                return _Look((), {}, Judged(), has_judge)
            around = survey(tx, lease.slice.slice_id, focus, ageing=ageing(settings), now=now, verdicts={}).around
        pairs = [(pair, why) for pair, why in rule(around).open_pairs if _may_be_asked(around.judged.get(pair), lease)]
        if not pairs or model is None:
            return _Look(tuple(focus), around.similar, Judged(), has_judge)
        judge = Judge(self.database, model, lease, call_limits(settings), deadline, self.clock)
        return _Look(tuple(focus), around.similar, judge.judge(around, pairs), has_judge, len(pairs))

    def _judge_model(self, settings: Settings, org_id: str) -> ChatModel | None:
        """Return the model that judges; the offline one reads words, not meaning, and is never asked."""
        if not settings.flag("contradiction_judge") or not is_generative(settings):
            return None
        return self.chat_model(settings, org_id)

    def _focus(self, tx: Transaction, lease: Lease, now: datetime, limit: int, *, has_judge: bool) -> list[UUID]:
        """Return what a batch examines: what changed, then what time has passed, then pairs still open."""
        slice_id = lease.slice.slice_id
        found = examined_store.unexamined(tx, slice_id, limit)
        if len(found) < limit:
            found += timelines_store.crossed(tx, slice_id, now, limit - len(found))
        if has_judge and len(found) < limit:
            open_pairs = store.open_pairs(
                tx, slice_id, max_attempts=MAX_ATTEMPTS, run_id=lease.run_id, limit=limit - len(found)
            )
            found += [pair[1] for pair in open_pairs]
        return list(dict.fromkeys(found))

    def _apply(self, lease: Lease, settings: Settings, look: _Look) -> BatchOutcome:
        """Write all effects of the batch in one transaction with the run."""
        slice_id, now, judged = lease.slice.slice_id, self.clock(), look.judged
        with self.database.transaction(lease.slice.key.tenant) as tx:
            beliefs_store.lock(tx, slice_id)
            counts = self._settle(tx, lease, settings, look, now) if look.focus else Counter[str]()
            store.forget_unrelated(tx, slice_id, FORGOTTEN_AT_ONCE)
            # A batch either asks about the open pairs before it or drops them; where it could do neither, time is up.
            judging = look.has_judge and judged.hold is None and (judged.calls > 0 or not look.asked)
            remaining = bool(self._focus(tx, lease, now, 1, has_judge=judging))
            passes_store.set_due(tx, slice_id, CONTRADICTIONS, self._next(tx, slice_id, look, now, remaining=remaining))
            outcome = BatchOutcome(
                progressed=bool(look.focus),
                remaining=remaining,
                held=judged.hold.reason if judged.hold else None,
                held_detail=str(judged.hold) if judged.hold else None,
                counts=_counts(counts, judged),
            )
            passes_store.commit_batch(tx, lease, outcome, now=now)
        return outcome

    def _settle(self, tx: Transaction, lease: Lease, settings: Settings, look: _Look, now: datetime) -> Counter[str]:
        return settle(
            tx,
            lease.slice.slice_id,
            look.focus,
            look.judged.verdicts,
            ageing=ageing(settings),
            now=now,
            new_id=self.new_id,
            run_id=lease.run_id,
            similar=look.similar,
        )

    def _next(self, tx: Transaction, slice_id: int, look: _Look, now: datetime, *, remaining: bool) -> datetime | None:
        """Return when the slice has work again: at once, when open pairs may be retried, when a stretch ends."""
        if remaining:
            return now
        moments = [timelines_store.next_boundary(tx, slice_id, now)]
        if look.has_judge and store.open_pairs(tx, slice_id, max_attempts=MAX_ATTEMPTS, run_id=_NO_RUN, limit=1):
            moments.append(now + RETRY_AFTER)
        return min((moment for moment in moments if moment is not None), default=None)


_NO_RUN = UUID(int=0)


def _may_be_asked(judgement: Judgement | None, lease: Lease) -> bool:
    return (
        judgement is None
        or (judgement.attempts < MAX_ATTEMPTS and judgement.run_id != lease.run_id)
        or (judgement.attempts == 0)
    )


def _counts(counts: Counter[str], judged: Judged) -> dict[str, int]:
    found: Mapping[str, int] = {
        **counts,
        "model_calls": judged.calls,
        "input_tokens": judged.input_tokens,
        "output_tokens": judged.output_tokens,
        "verdicts_ignored": sum(judged.ignored.values()),
    }
    return dict(found)
