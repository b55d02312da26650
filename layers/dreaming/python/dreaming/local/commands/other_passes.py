"""Running the passes that follow consolidation, and saying in a line what each came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from dreaming.errors import DreamingError
from dreaming.local.commands.embeddings import configured_space
from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.commands.waiting_conversations import waiting_conversations
from dreaming.local.output import counted
from dreaming.passes.records import CONSOLIDATION, EMBEDDING, PASS_FUNCTIONS, SYNTHESIS

if TYPE_CHECKING:
    from dreaming.api.records import SliceStatus
    from dreaming.local.runtime import BatchEvent, LocalRuntime

OTHER_PASSES = tuple(name for name in PASS_FUNCTIONS if name != CONSOLIDATION)


@dataclass(frozen=True)
class Stopped:
    """Why a pass, or one slice of it, does not go on, and the command that changes it."""

    slice_id: int | None
    reason: str
    detail: str | None
    remedy: str
    pass_name: str = CONSOLIDATION


@dataclass(frozen=True)
class PassDrained:
    """What draining one pass came to in the slices that the caller sees.

    `counts` sums what its runs counted; `held` names each reason why one did not go on. `hidden` counts the
    batches of slices that the caller does not see.
    """

    pass_name: str
    runs: int
    batches: int
    dead: int
    counts: dict[str, int]
    held: tuple[str, ...]
    hidden: int = 0


def own_slices(session: Session, runtime: LocalRuntime) -> frozenset[int]:
    """Return the slices of the session's organization, those of all its users."""
    from dreaming.erasure.store import slices_of_organization

    with runtime.database.planner() as planner:
        return frozenset(found.slice_id for found in slices_of_organization(planner, session.org))


def own_refusals(answer: Mapping[str, Any], slice_ids: Collection[int] | None) -> tuple[tuple[int, str], ...]:
    """Return the slices that a tick refused, with the reasons, out of `slice_ids` or of all."""
    return tuple((id_, reason) for id_, reason in answer["refused"] if slice_ids is None or id_ in slice_ids)


def drain_pass(
    session: Session, runtime: LocalRuntime, pass_name: str, *, everyone: bool = False, alone: bool = False
) -> PassDrained:
    """Tick a pass once and process its queue to the end, for the session's organization or for `everyone`.

    `alone`: it is the one pass that was asked for, so it says why it does nothing for the organization.
    """
    reader = session.reader(runtime.database)
    earlier = reader.running(pass_name)
    before = _counts(session, runtime, earlier)
    answer = runtime.tick(pass_name)
    slice_ids = None if everyone else own_slices(session, runtime)
    worked: Counter[int | None] = Counter()
    with _progress(session, runtime, pass_name) as show:

        def on_batch(event: BatchEvent) -> None:
            worked[event.slice_id] += 1
            show("a batch failed, trying again" if event.failed else counted(worked.total(), "batch", "batches"))

        report = runtime.drain(pass_name, on_batch, slice_ids=slice_ids)
    run_ids = sorted({*earlier, *(UUID(message["run_id"]) for message in answer["started"])})
    after = _counts(session, runtime, run_ids)
    reasons = [*refusals_of_tick(session, runtime, pass_name, answer, slice_ids, alone=alone and not report.batches)]
    reasons += [run.held_reason for run in reader.runs(run_ids) if run.held_reason]
    return PassDrained(
        pass_name=pass_name,
        runs=len(run_ids),
        batches=report.batches,
        dead=report.dead,
        counts={name: count for name, count in sorted((after - before).items()) if count},
        held=tuple(sorted(set(reasons))),
        hidden=hidden_batches(worked, reader.status(pass_name, runs=0)),
    )


def refusals_of_tick(
    session: Session,
    runtime: LocalRuntime,
    pass_name: str,
    answer: Mapping[str, Any],
    slice_ids: Collection[int] | None,
    *,
    alone: bool,
) -> list[str]:
    """Return why a tick of a pass started nothing, or not in all of `slice_ids`.

    A tick passes over organizations for which the pass does nothing; asked for `alone`, that is told as well.
    """
    from dreaming.passes.rules import why_not
    from dreaming.recall.switch import is_on

    reasons = [answer["reason"], *(reason for _, reason in own_refusals(answer, slice_ids))]
    if alone and not any(slice_ids is None or message["slice_id"] in slice_ids for message in answer["started"]):
        reasons += why_not(pass_name, *session.organization(runtime.database))
        reasons += ["off"] if pass_name == SYNTHESIS and not is_on(session.variables) else []
    return sorted({reason for reason in reasons if reason})


def stopped_passes(session: Session, held: Mapping[str, Collection[str]]) -> list[Stopped]:
    """Return the reasons of each pass as documents have them."""
    return [
        Stopped(None, reason, None, remedy(session, reason, pass_name), pass_name)
        for pass_name, reasons in held.items()
        for reason in sorted(reasons)
    ]


def hidden_batches(worked: Mapping[int | None, int], visible: Sequence[SliceStatus]) -> int:
    """Count the batches of slices that are not among the visible ones; `worked` holds those of each slice."""
    seen = {None, *(one.slice.slice_id for one in visible)}
    return sum(count for slice_id, count in worked.items() if slice_id not in seen)


def show_hidden(session: Session, pass_name: str, batches: int) -> None:
    """Say that there was work in slices that the caller does not see, such as users' private ones."""
    if batches:
        number = counted(batches, "batch", "batches")
        session.output.line(f"{pass_name}: work of scopes that you do not see was done and is not shown ({number})")


def show_held(session: Session, pass_name: str, held: Collection[str]) -> None:
    """Print why a pass does not go on, and the commands that change it."""
    for reason in sorted(held):
        session.output.line(f"Stopped: {pass_name} {reason}", "yellow")
        session.output.line(f"  {remedy(session, reason, pass_name)}")


def show_pass_drained(session: Session, drained: PassDrained, *, told: Collection[str] = ()) -> None:
    """Print what a pass did; one that had nothing to do says nothing. Reasons in `told` were printed before."""
    if drained.batches > drained.hidden or drained.counts:
        found = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in drained.counts.items())
        session.output.line(f"{drained.pass_name}: {found or 'nothing changed'}")
    show_hidden(session, drained.pass_name, drained.hidden)
    show_held(session, drained.pass_name, set(drained.held) - set(told))
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


@contextmanager
def _progress(session: Session, runtime: LocalRuntime, pass_name: str) -> Iterator[Callable[[str], None]]:
    """Show how far a pass has come where that can be counted, else on a terminal that it is at work."""
    total = _left(session, runtime, pass_name)
    if not total:
        with session.output.working(pass_name) as say:
            yield say
        return
    with session.output.progress(pass_name, total, _UNITS[pass_name]) as show:
        yield lambda detail: show(max(0, total - _left(session, runtime, pass_name)), detail=detail)


_UNITS = {EMBEDDING: "texts", SYNTHESIS: "conversations"}


def _left(session: Session, runtime: LocalRuntime, pass_name: str) -> int:
    """Count what a pass has still to do in the slices that the caller sees; 0 where it is not counted."""
    if pass_name == SYNTHESIS:
        waiting = waiting_conversations(session, runtime.database)
        return waiting.due if waiting else 0
    if pass_name != EMBEDDING:
        return 0
    from dreaming.passes.embedding.run import read_progress

    try:
        configured = configured_space(session.settings(runtime.database))
    except DreamingError:  # the pass itself holds and says what does not fit
        return 0
    if configured is None:
        return 0
    slices = [one.slice.slice_id for one in session.reader(runtime.database).status(EMBEDDING, runs=0)]
    with runtime.database.transaction(session.tenant) as tx:
        found = [read_progress(tx, slice_id, configured).by_source.values() for slice_id in slices]
    return sum(counts.missing for sources in found for counts in sources)
