"""Asks the judge about open pairs: one call for a belief and its candidates, within the budget, no connection held."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from uuid import UUID

from dreaming.database import Database
from dreaming.errors import BudgetSpent, Hold, MalformedAnswer, RefusedAnswer, RetireNote
from dreaming.models.protocols import ChatAnswer, ChatModel, StopReason
from dreaming.passes.calls import store as calls_store
from dreaming.passes.calls.limits import CallLimits
from dreaming.passes.contradictions.belief_readings import Examined
from dreaming.passes.contradictions.lines import Neighbourhood, Pair, is_trusted
from dreaming.passes.contradictions.parsing import Verdicts, parse_verdicts
from dreaming.passes.contradictions.prompt import build_request
from dreaming.passes.contradictions.records import MAX_ATTEMPTS, DecidedBy, Judgement, Relation
from dreaming.passes.contradictions.verdicts import verdict_stands
from dreaming.passes.records import Clock, Deadline, Lease

CANDIDATES_PER_CALL = 10
_RESERVE_SECONDS = 10.0


@dataclass(slots=True)
class Judged:
    """What the calls came to."""

    verdicts: dict[Pair, Judgement] = field(default_factory=dict)
    hold: Hold | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    ignored: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Call:
    belief_id: UUID
    candidates: tuple[UUID, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Result:
    call: _Call
    verdicts: Verdicts | None = None
    answer: ChatAnswer | None = None
    failure: RetireNote | None = None
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Puts pairs to a model for one batch under a lease."""

    database: Database
    model: ChatModel
    lease: Lease
    limits: CallLimits
    deadline: Deadline
    clock: Clock

    def judge(self, around: Neighbourhood, pairs: Sequence[tuple[Pair, str]]) -> Judged:
        """Return what the model says of the pairs; one that it does not settle stays open, with an attempt more."""
        judged = Judged()
        calls = _calls(around, pairs)
        timeout = min(self.limits.timeout_seconds, (self.deadline.remaining() - _RESERVE_SECONDS) / 2)
        if not calls or timeout <= 0:
            return judged
        granted = self._book(len(calls))
        if granted < len(calls):
            judged.hold = self.limits.spent()
        results: list[_Result] = []
        with ThreadPoolExecutor(self.limits.concurrency) as pool:
            for start in range(0, granted, self.limits.concurrency):
                if judged.hold and judged.hold.reason != BudgetSpent.reason:
                    break
                if self.deadline.remaining() - _RESERVE_SECONDS < timeout:
                    break
                group = calls[start : min(start + self.limits.concurrency, granted)]
                arrived = list(pool.map(lambda call: self._ask(around, call, timeout), group))
                results += arrived
                judged.hold = next((result.hold for result in arrived if result.hold), judged.hold)
        for result in results:
            self._take(around, result, judged)
        self._settle(granted, results)
        return judged

    def _book(self, wanted: int) -> int:
        key = self.lease.slice.key
        with self.database.transaction(key.tenant) as tx:
            return calls_store.reserve_calls(
                tx,
                key.org_id,
                self.lease.pass_name,
                self.model.name,
                wanted=wanted,
                budget=self.limits.per_day if self.model.metered else None,
                now=self.clock(),
            )

    def _ask(self, around: Neighbourhood, call: _Call, timeout: float) -> _Result:
        """Make one call; runs in a thread of the pool."""
        subject = _shown(around.beliefs[call.belief_id])
        candidates = [_shown(around.beliefs[one]) for one in call.candidates]
        request = build_request(subject, candidates, max_tokens=self.limits.output_tokens, timeout=timeout)
        try:
            answer = self.model.answer(request)
            if answer.stop_reason is StopReason.REFUSED:
                return _Result(call, answer=answer, failure=RefusedAnswer("the model refused the pairs"))
            offered = [f"c{place}" for place in range(1, len(call.candidates) + 1)]
            return _Result(call, verdicts=parse_verdicts(answer.text, offered), answer=answer)
        except Hold as hold:
            return _Result(call, hold=hold)
        except RetireNote as failure:
            return _Result(call, failure=failure)

    def _take(self, around: Neighbourhood, result: _Result, judged: Judged) -> None:
        if result.hold is not None:
            return
        judged.calls += 1
        if result.answer is not None:
            judged.input_tokens += result.answer.input_tokens
            judged.output_tokens += result.answer.output_tokens
        said = result.verdicts.relations if result.verdicts else {}
        if result.verdicts:
            judged.ignored.update(result.verdicts.ignored)
        failure = result.failure.reason if result.failure else MalformedAnswer.reason
        for place, other in enumerate(result.call.candidates, 1):
            reason = result.call.reasons[place - 1]
            relation = said.get(f"c{place}")
            if relation is not None:
                stands, why = verdict_stands(around, result.call.belief_id, other, relation)
                judged.ignored["against_a_rule"] += stands is not relation
                judgement = self._judgement(around, result.call.belief_id, other, stands, why or reason)
                if stands is None:
                    judgement = replace(judgement, attempts=MAX_ATTEMPTS, last_failure="against_the_evidence")
            else:
                judgement = self._judgement(around, result.call.belief_id, other, None, reason, failure)
            judged.verdicts[judgement.pair] = judgement

    def _judgement(
        self,
        around: Neighbourhood,
        one: UUID,
        other: UUID,
        relation: Relation | None,
        reason: str,
        failure: str | None = None,
    ) -> Judgement:
        left, right = (one, other) if one < other else (other, one)
        before = around.judged.get((left, right))
        attempts = (before.attempts if before else 0) + (relation is None)
        if attempts >= MAX_ATTEMPTS and relation is None:
            reason = f"no answer decides it: {reason}"
        return Judgement(
            left=left,
            right=right,
            relation=relation,
            decided_by=DecidedBy.MODEL if relation is not None else None,
            reason=reason,
            left_fingerprint=around.beliefs[left].fingerprint,
            right_fingerprint=around.beliefs[right].fingerprint,
            model=self.model.name,
            attempts=attempts,
            last_failure=failure,
            run_id=self.lease.run_id,
        )

    def _settle(self, granted: int, results: Sequence[_Result]) -> None:
        """Book what the calls cost, and give back those that were not made."""
        made = [result for result in results if result.hold is None]
        key = self.lease.slice.key
        with self.database.transaction(key.tenant) as tx:
            calls_store.add_usage(
                tx,
                key.org_id,
                self.lease.pass_name,
                self.model.name,
                day=self.clock(),
                calls=len(made) - granted,
                failed_calls=sum(result.failure is not None for result in made),
                input_tokens=sum(result.answer.input_tokens for result in made if result.answer),
                output_tokens=sum(result.answer.output_tokens for result in made if result.answer),
            )


def _calls(around: Neighbourhood, pairs: Sequence[tuple[Pair, str]]) -> list[_Call]:
    """Group pairs into calls, each about one belief in focus and pairs of equal trust; the most alike come first."""
    by_belief: defaultdict[tuple[UUID, bool], list[tuple[UUID, str]]] = defaultdict(list)
    for pair, reason in pairs:
        one = max(pair, key=lambda belief_id: (belief_id in around.focus, belief_id))
        other = pair[0] if one == pair[1] else pair[1]
        # What an untrusted statement tells the judge must not reach a call about two trusted ones.
        trusted = all(is_trusted(around.beliefs[belief_id]) for belief_id in pair)
        if len(by_belief[one, trusted]) < CANDIDATES_PER_CALL:
            by_belief[one, trusted].append((other, reason))
    return [
        _Call(one, tuple(other for other, _ in found), tuple(reason for _, reason in found))
        for (one, _), found in by_belief.items()
        if found
    ]


def _shown(one: Examined):  # type: ignore[no-untyped-def]
    return one.belief.statement, one.belief.first_seen_at
