"""Asks the model to judge a batch's actions, in parallel, one action a call.

No database connection is held during a call. An answer that cannot be read is the action's own failure;
a call that did not come through is nobody's, and the action simply waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from dreaming.autonomy.records import Action, Flags
from dreaming.database import Database
from dreaming.errors import (
    DreamingError,
    Hold,
    ModelTimeout,
    ProviderMisconfigured,
    ProviderUnavailable,
    RetireNote,
)
from dreaming.models.protocols import ChatAnswer, ChatModel, StopReason
from dreaming.models.selection import is_generative
from dreaming.passes.autonomy.prompt import build_request
from dreaming.passes.autonomy.rules import UnreadableJudgement, parse_judgement
from dreaming.passes.calls import store as calls_store
from dreaming.passes.calls.limits import CallLimits
from dreaming.passes.records import Clock, Deadline, Lease
from dreaming.settings.records import Enrolment
from dreaming.settings.resolution import Settings

OUTAGE_FAILURES = 3
"""So many calls in a row that did not come through are an outage: the others are not tried."""

_DEADLINE_RESERVE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to: flags, or why the answer cannot be read, or why there is none.

    `made` tells whether the provider took the call, and so whether it counts.
    """

    action: Action
    flags: Flags | None = None
    unreadable: str | None = None
    failure: Hold | None = None
    answer: ChatAnswer | None = None
    made: bool = True


@dataclass(slots=True)
class Judgements:
    """The results of a batch; `hold` is why no more were asked for, `booked` how many calls the budget granted."""

    results: list[Result] = field(default_factory=list)
    hold: Hold | None = None
    booked: int = 0

    @property
    def calls(self) -> int:
        """How many calls the provider took."""
        return sum(result.made for result in self.results)

    @property
    def input_tokens(self) -> int:
        """What the answers cost."""
        return sum(result.answer.input_tokens for result in self.results if result.answer)

    @property
    def output_tokens(self) -> int:
        """What the answers cost."""
        return sum(result.answer.output_tokens for result in self.results if result.answer)


def why_no_judge(settings: Settings, enrolment: Enrolment) -> str | None:
    """Return why successes and failures stay unscored in the organization, or None where a model judges them."""
    if not enrolment.model_consent:
        return "the organization does not consent to sending text to the model"
    if not is_generative(settings):
        return "the offline provider has no model that can judge"
    return None


class Judge:
    """Judges the actions of one batch under a lease."""

    def __init__(
        self,
        *,
        database: Database,
        model: ChatModel,
        lease: Lease,
        limits: CallLimits,
        deadline: Deadline,
        clock: Clock,
    ) -> None:
        """Keep the ports of one batch."""
        self._database = database
        self._model = model
        self._lease = lease
        self._limits = limits
        self._deadline = deadline
        self._clock = clock
        # At most half of what the invocation has, or its first call could never start.
        available = (deadline.remaining() - _DEADLINE_RESERVE_SECONDS) / 2
        self._timeout = min(limits.timeout_seconds, available)

    def judge(self, actions: Sequence[Action]) -> Judgements:
        """Return a result for each action that was tried; the others wait for another batch."""
        judgements = Judgements()
        if not actions or not self._has_time():
            return judgements
        judgements.booked = self._book(len(actions))
        if judgements.booked < len(actions):
            judgements.hold = self._limits.spent()
        self._call_all(actions[: judgements.booked], judgements)
        failures = [result.failure for result in judgements.results]
        if judgements.hold is None and failures and all(failures):
            judgements.hold = failures[-1]
        return judgements

    def _book(self, wanted: int) -> int:
        key = self._lease.slice.key
        with self._database.transaction(key.tenant) as tx:
            return calls_store.reserve_calls(
                tx,
                key.org_id,
                self._lease.pass_name,
                self._model.name,
                wanted=wanted,
                budget=self._limits.per_day if self._model.metered else None,
                now=self._clock(),
            )

    def _call_all(self, actions: Sequence[Action], judgements: Judgements) -> None:
        """Make the calls, a bounded number at once; one that fails does not stop the others, an outage does."""
        queue = iter(actions)
        in_row = 0
        stop: Hold | None = None
        with ThreadPoolExecutor(self._limits.concurrency) as pool:
            running: set[Future[Result]] = set()
            while True:
                while stop is None and len(running) < self._limits.concurrency and self._has_time():
                    action = next(queue, None)
                    if action is None:
                        break
                    running.add(pool.submit(self._call, action))
                if not running:
                    break
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for result in (future.result() for future in done):
                    judgements.results.append(result)
                    in_row = in_row + 1 if result.failure is not None else 0
                    if in_row >= OUTAGE_FAILURES:
                        stop = result.failure
        judgements.hold = stop or judgements.hold

    def _call(self, action: Action) -> Result:
        """Make one call; runs in a thread of the pool and touches no shared state."""
        request = build_request(action, max_tokens=self._limits.output_tokens, timeout=self._timeout)
        try:
            answer = self._model.answer(request)
        except Hold as hold:
            return Result(action, failure=hold, made=False)
        except ModelTimeout:
            return Result(action, failure=ProviderUnavailable("the judge did not answer in time"))
        except RetireNote as problem:
            return Result(action, unreadable=f"the provider's answer is {problem.reason}")
        except DreamingError as error:
            return Result(action, failure=ProviderMisconfigured(str(error)), made=False)
        return _read(action, answer)

    def _has_time(self) -> bool:
        return 0 < self._timeout <= self._deadline.remaining() - _DEADLINE_RESERVE_SECONDS


def _read(action: Action, answer: ChatAnswer) -> Result:
    if answer.stop_reason is StopReason.REFUSED:
        return Result(action, unreadable="the model refused to judge", answer=answer)
    try:
        return Result(action, flags=parse_judgement(answer.text), answer=answer)
    except UnreadableJudgement as problem:
        cut = "the answer was cut off; " if answer.stop_reason is StopReason.TRUNCATED else ""
        return Result(action, unreadable=f"{cut}{problem}", answer=answer)
