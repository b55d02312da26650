"""Running the passes that follow consolidation, and saying in a line what each came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.output import counted
from dreaming.passes.records import CONSOLIDATION, PASS_FUNCTIONS

if TYPE_CHECKING:
    from dreaming.local.runtime import BatchEvent, LocalRuntime

OTHER_PASSES = tuple(name for name in PASS_FUNCTIONS if name != CONSOLIDATION)


@dataclass(frozen=True)
class PassDrained:
    """What draining one pass came to in the slices that the caller sees.

    `counts` sums what its runs counted; `held` names each reason why one did not go on.
    """

    pass_name: str
    runs: int
    batches: int
    dead: int
    counts: dict[str, int]
    held: tuple[str, ...]


def own_slices(session: Session, runtime: LocalRuntime) -> frozenset[int]:
    """Return the slices of the session's organization, those of all its users."""
    from dreaming.erasure.store import slices_of_organization

    with runtime.database.planner() as planner:
        return frozenset(found.slice_id for found in slices_of_organization(planner, session.org))


def own_refusals(answer: Mapping[str, Any], slice_ids: Collection[int] | None) -> tuple[tuple[int, str], ...]:
    """Return the slices that a tick refused, with the reasons, out of `slice_ids` or of all."""
    return tuple((id_, reason) for id_, reason in answer["refused"] if slice_ids is None or id_ in slice_ids)


def drain_pass(session: Session, runtime: LocalRuntime, pass_name: str, *, everyone: bool = False) -> PassDrained:
    """Tick a pass once and process its queue to the end, for the session's organization or for `everyone`."""
    reader = session.reader(runtime.database)
    earlier = reader.running(pass_name)
    before = _counts(session, runtime, earlier)
    answer = runtime.tick(pass_name)
    slice_ids = None if everyone else own_slices(session, runtime)
    with session.output.working(pass_name) as show:
        done = 0

        def on_batch(event: BatchEvent) -> None:
            nonlocal done
            done += 1
            show("a batch failed, trying again" if event.failed else counted(done, "batch", "batches"))

        report = runtime.drain(pass_name, on_batch, slice_ids=slice_ids)
    run_ids = sorted({*earlier, *(UUID(message["run_id"]) for message in answer["started"])})
    after = _counts(session, runtime, run_ids)
    reasons = [answer["reason"], *(reason for _, reason in own_refusals(answer, slice_ids))]
    reasons += [run.held_reason for run in reader.runs(run_ids)]
    return PassDrained(
        pass_name=pass_name,
        runs=len(run_ids),
        batches=report.batches,
        dead=report.dead,
        counts={name: count for name, count in sorted((after - before).items()) if count},
        held=tuple(sorted({reason for reason in reasons if reason})),
    )


def show_pass_drained(session: Session, drained: PassDrained, *, told: Collection[str] = ()) -> None:
    """Print what a pass did; one that had nothing to do says nothing. Reasons in `told` were printed before."""
    if drained.batches:
        found = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in drained.counts.items())
        session.output.line(f"{drained.pass_name}: {found or 'nothing changed'}")
    for reason in sorted(set(drained.held) - set(told)):
        session.output.line(f"Stopped: {drained.pass_name} {reason}", "yellow")
        session.output.line(f"  {remedy(session, reason, drained.pass_name)}")
    if drained.dead:
        again = f"{session.invocation} drain {drained.pass_name} --redrive"
        session.output.line(f"{counted(drained.dead, 'message')} of {drained.pass_name} set aside: {again}", "red")


def _counts(session: Session, runtime: LocalRuntime, run_ids: list[UUID]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for run in session.reader(runtime.database).runs(run_ids):
        counts.update(run.pass_counts)
        counts["model_calls"] += run.model_calls
        counts["beliefs_archived"] += run.beliefs_archived
    return counts
