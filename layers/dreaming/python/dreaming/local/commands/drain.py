"""`dream run` and `dream drain`: what the schedule starts, and working through it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.other_passes import (
    OTHER_PASSES,
    PassDrained,
    Stopped,
    drain_pass,
    hidden_batches,
    own_refusals,
    own_slices,
    refusals_of_tick,
    show_held,
    show_hidden,
    show_pass_drained,
    stopped_passes,
)
from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.commands.waiting_conversations import told as told_waiting
from dreaming.local.commands.waiting_conversations import waiting_conversations
from dreaming.local.occupation import DRAIN, beside_others
from dreaming.local.output import counted
from dreaming.passes.records import CONSOLIDATION, PASS_FUNCTIONS, RUN_COUNTS, SYNTHESIS, message_group

if TYPE_CHECKING:
    from dreaming.api.records import RunReading, SliceStatus
    from dreaming.local.runtime import BatchEvent, DrainReport, LocalRuntime

_ALL = "all"

_UNAVAILABLE = 4


@dataclass(frozen=True)
class Drained:
    """What a drain did in the slices that the caller sees; `hidden` counts the batches of others."""

    report: DrainReport
    totals: dict[str, int]
    rejected_by_rule: dict[str, int]
    waiting: int
    stopped: tuple[Stopped, ...]
    hidden: int = 0


_which_pass = click.argument(
    "pass_name", metavar="[PASS]", type=click.Choice([_ALL, CONSOLIDATION, *OTHER_PASSES]), default=_ALL
)


@click.command(
    cls=DreamCommand,
    examples="""
    dream run                          # what the schedules do
    dream run decay                    # one pass
    dream run --json
    """,
)
@_which_pass
@with_session
def run(session: Session, pass_name: str) -> int:
    """Start a run of PASS (all) for each slice that is due, once, as its schedule does.

    The runs' first messages are queued; `dream drain` works through them.
    """
    with session.runtime() as runtime:
        others = {name: runtime.tick(name) for name in _others(pass_name)}
        if pass_name not in (_ALL, CONSOLIDATION):
            return _show_ticks(session, runtime, others)
        answer = runtime.tick()
        stopped = stopped_by_tick(session, runtime, answer)
        statuses = session.reader(runtime.database).status(CONSOLIDATION, runs=0)
        conversations = waiting_conversations(session, runtime.database) if pass_name == _ALL else None
    running = sum(status.cursor.running for status in statuses)
    if session.output.as_json:
        passes = {name: other["started"] for name, other in others.items()}
        document = {"started": answer["started"], "running": running, "stopped": stopped, "passes": passes}
        document |= {"waiting_conversations": conversations} if conversations else {}
        session.output.document(document)
    else:
        _show_tick(session, answer, running, stopped, statuses, told_waiting(conversations))
        for name, other in others.items():
            _show_started(session, name, other)
    return _UNAVAILABLE if stopped and not answer["started"] else 0


@click.command(
    cls=DreamCommand,
    examples="""
    dream drain                        # everything that waits, in every pass
    dream drain consolidation          # one pass
    dream drain --all                  # of every organization here
    dream drain --redrive              # and try its messages again that failed too often
    dream drain --redrive --all        # those of every organization here
    dream drain --json
    """,
)
@click.option("--redrive", is_flag=True, help="Queue the messages again that failed too often.")
@click.option(
    "--all", "--all-orgs", "everyone", is_flag=True, help="Work for every organization here, not for --org alone."
)
@_which_pass
@with_session
def drain(session: Session, redrive: bool, everyone: bool, pass_name: str) -> int:
    """Start what is due in PASS (all), then work until nothing of the organization waits; say what came of it.

    Whatever is interrupted is taken up by the next `dream drain`.
    """
    drained = None
    others: list[PassDrained] = []
    session.make_home()
    with beside_others(session.home, DRAIN) as company, session.runtime() as runtime:
        for one in company:
            session.output.notice(f"{one} is at work here too; each takes its own batches")
        passes = tuple(PASS_FUNCTIONS) if pass_name == _ALL else (pass_name,)
        redriven = _redrive(session, runtime, passes, everyone=everyone) if redrive else {}
        for name in passes:
            if name == CONSOLIDATION:
                drained = drain_all(session, runtime, everyone=everyone)
            else:
                others.append(drain_pass(session, runtime, name, everyone=everyone, alone=pass_name != _ALL))
        conversations = waiting_conversations(session, runtime.database) if SYNTHESIS in passes else None
    stopped = [*(drained.stopped if drained else ())]
    stopped += stopped_passes(session, {other.pass_name: other.held for other in others})
    if session.output.as_json:
        document = {**(vars(drained) if drained else {}), "stopped": stopped, "redriven": redriven}
        document |= {"waiting_conversations": conversations} if conversations else {}
        session.output.document({**document, "passes": {other.pass_name: other for other in others}})
    else:
        if redrive:
            _show_redriven(session, redriven, everyone=everyone)
        told = {one.reason for one in drained.stopped} if drained else set()
        if drained:
            show_drained(session, drained)
        for other in others:
            show_pass_drained(session, other, told=told)
            told |= set(other.held)
        _show_waiting(session, told_waiting(conversations), idle=_is_idle(drained, others, stopped))
    dead = any(other.dead for other in others) or (drained is not None and drained.report.dead)
    return _UNAVAILABLE if stopped or dead else 0


def _is_idle(drained: Drained | None, others: Sequence[PassDrained], stopped: Sequence[Stopped]) -> bool:
    """Tell whether nothing was done, and nothing stopped it."""
    return not (drained and drained.report.batches) and not any(other.batches for other in others) and not stopped


def _show_waiting(session: Session, waiting: str | None, *, idle: bool) -> None:
    if waiting is not None:
        session.output.line(waiting)
    elif idle:
        session.output.line("Nothing was waiting.")


def _redrive(session: Session, runtime: LocalRuntime, passes: Sequence[str], *, everyone: bool) -> dict[str, int]:
    """Queue the organization's messages again that failed too often, or those of everyone; count them by pass."""
    groups = None if everyone else [message_group(slice_id) for slice_id in own_slices(session, runtime)]
    counts = {name: runtime.queue(name).redrive(groups) for name in passes}
    return {name: count for name, count in counts.items() if count}


def _show_redriven(session: Session, redriven: Mapping[str, int], *, everyone: bool) -> None:
    whose = "every organization" if everyone else repr(session.org)
    told = ", ".join(f"{count:,} of {name}" for name, count in redriven.items())
    number = counted(sum(redriven.values()), "message")
    session.output.line(f"Queued again for {whose}: {number}{f' ({told})' if told else ''}")


def _others(pass_name: str) -> tuple[str, ...]:
    return OTHER_PASSES if pass_name == _ALL else tuple(name for name in OTHER_PASSES if name == pass_name)


def _show_ticks(session: Session, runtime: LocalRuntime, answers: Mapping[str, Mapping[str, Any]]) -> int:
    slice_ids = own_slices(session, runtime)
    held = {
        name: refusals_of_tick(session, runtime, name, answer, slice_ids, alone=True)
        for name, answer in answers.items()
    }
    conversations = waiting_conversations(session, runtime.database) if SYNTHESIS in answers else None
    if session.output.as_json:
        document: dict[str, Any] = {"passes": {name: answer["started"] for name, answer in answers.items()}}
        document |= {"waiting_conversations": conversations} if conversations else {}
        session.output.document({**document, "stopped": stopped_passes(session, held)})
    else:
        for name, answer in answers.items():
            _show_started(session, name, answer)
            if not answer["started"] and not held[name]:
                session.output.line(f"{name}: nothing is due")
            show_held(session, name, held[name])
        _show_waiting(session, told_waiting(conversations), idle=False)
    started = any(answer["started"] for answer in answers.values())
    return _UNAVAILABLE if any(held.values()) and not started else 0


def _show_started(session: Session, pass_name: str, answer: Mapping[str, Any]) -> None:
    for message in answer["started"]:
        session.output.line(f"Started run {message['run_id']} of {pass_name} in slice {message['slice_id']}")


def drain_all(session: Session, runtime: LocalRuntime, *, only: int | None = None, everyone: bool = False) -> Drained:
    """Tick once and process what is queued for the organization, with progress by notes.

    `only` ticks for one slice; with `everyone` the queue is processed for all organizations.
    """
    reader = session.reader(runtime.database)
    earlier = reader.running(CONSOLIDATION)
    before = reader.runs(earlier)
    answer = runtime.tick(only=only)
    slice_ids = None if everyone else own_slices(session, runtime)
    answer["refused"] = own_refusals(answer, slice_ids)
    worked: Counter[int | None] = Counter()
    total = _waiting(_meant(session, reader.status(CONSOLIDATION, runs=0)))
    with session.output.progress("consolidate", total, "notes") as show:

        def on_batch(event: BatchEvent) -> None:
            worked[event.slice_id] += 1
            statuses = _meant(session, reader.status(CONSOLIDATION, runs=0))
            beliefs = sum(status.beliefs.live for status in statuses)
            detail = "a batch failed, trying again" if event.failed else counted(beliefs, "belief")
            if total:
                show(max(0, total - _waiting(statuses)), detail=detail)

        report = runtime.drain(on_batch=on_batch, slice_ids=slice_ids)
    run_ids = {*earlier, *(UUID(message["run_id"]) for message in answer["started"])}
    after = reader.runs(sorted(run_ids))
    statuses = reader.status(CONSOLIDATION, runs=0)
    stopped = stopped_by_tick(session, runtime, answer) or _held(session, statuses)
    return Drained(
        report=report,
        totals={name: _sum(after, name) - _sum(before, name) for name in RUN_COUNTS},
        rejected_by_rule=dict(sorted((_by_rule(after) - _by_rule(before)).items())),
        waiting=_waiting(statuses),
        stopped=stopped,
        hidden=hidden_batches(worked, statuses),
    )


def _meant(session: Session, statuses: Sequence[SliceStatus]) -> list[SliceStatus]:
    """Return the slices whose progress is shown: all that the caller sees, or the one that --scope names."""
    return [one for one in statuses if session.scope == "org" or one.slice.key == session.key]


def stopped_by_tick(session: Session, runtime: LocalRuntime, answer: dict[str, Any]) -> tuple[Stopped, ...]:
    """Return why a tick did not start what waits: the switch, enrolment, consent, or a refusal."""
    if answer["reason"]:
        return (Stopped(None, answer["reason"], None, remedy(session, answer["reason"])),)
    refused = tuple(Stopped(slice_id, reason, None, remedy(session, reason)) for slice_id, reason in answer["refused"])
    return refused or _not_planned(session, runtime)


def show_drained(session: Session, drained: Drained) -> None:
    """Print what a drain did."""
    output, totals = session.output, drained.totals
    if drained.report.batches > drained.hidden:
        output.line(
            f"{counted(totals['notes_consolidated'], 'note')} consolidated, "
            f"{totals['notes_empty']:,} empty, {totals['notes_retired']:,} retired, {drained.waiting:,} waiting"
        )
        output.line(
            f"{counted(totals['beliefs_created'], 'belief')} created, "
            f"{counted(totals['beliefs_corroborated'], 'corroboration')}, "
            f"{totals['beliefs_restored']:,} restored, {totals['beliefs_archived']:,} archived, "
            f"{counted(totals['conflict_candidates'], 'conflict candidate')}"
        )
        if totals["beliefs_archived"]:
            output.line("  archived: faded already, because their notes are old, or left without a source")
        rules = ", ".join(f"{rule} {count:,}" for rule, count in drained.rejected_by_rule.items())
        output.line(
            f"{counted(totals['claims_extracted'], 'claim')} extracted, {totals['claims_rejected']:,} rejected"
            + (f" ({rules})" if rules else "")
        )
        output.line(
            f"{counted(totals['model_calls'], 'model call')}, {totals['input_tokens']:,} tokens in, "
            f"{totals['output_tokens']:,} out"
        )
    show_hidden(session, CONSOLIDATION, drained.hidden)
    if totals["notes_retired"]:
        output.line(f"Retired notes: {session.invocation} retired", "yellow")
    if drained.report.dead:
        output.line(
            f"{counted(drained.report.dead, 'message')} failed too often and set aside: "
            f"see {session.home / 'handlers.log'}, then {session.invocation} drain --redrive",
            "red",
        )
    show_stopped(session, drained.stopped)


def show_stopped(session: Session, stopped: Sequence[Stopped]) -> None:
    """Print why slices do not go on, and the commands that change it."""
    for one in stopped:
        where = "" if one.slice_id is None else f"slice {one.slice_id} "
        session.output.line(f"Stopped: {where}{one.reason}{f' ({one.detail})' if one.detail else ''}", "yellow")
        session.output.line(f"  {one.remedy}")


def _show_tick(
    session: Session,
    answer: dict[str, Any],
    running: int,
    stopped: Sequence[Stopped],
    statuses: Sequence[SliceStatus],
    conversations: str | None,
) -> None:
    output = session.output
    for message in answer["started"]:
        output.line(f"Started run {message['run_id']} of slice {message['slice_id']}")
    if running:
        output.line(f"{counted(running, 'run')} under way; work through with: {session.invocation} drain")
    elif not stopped and not _waiting(statuses):
        output.line("Nothing started: no note is waiting.")
        if conversations is None:
            output.line(f"  Bring some in: {session.invocation} ingest --help")
    if conversations is not None:
        output.line(conversations)
    show_stopped(session, stopped)


def _not_planned(session: Session, runtime: LocalRuntime) -> tuple[Stopped, ...]:
    """A tick passes over organizations that are not enrolled or do not consent: say so for the caller's."""
    from dreaming.passes.rules import why_not

    if not _waiting(session.reader(runtime.database).status(CONSOLIDATION, runs=0)):
        return ()
    reasons = why_not(CONSOLIDATION, *session.organization(runtime.database))
    return tuple(Stopped(None, reason, None, remedy(session, reason)) for reason in reasons)


def _held(session: Session, statuses: Sequence[SliceStatus]) -> tuple[Stopped, ...]:
    return tuple(
        Stopped(
            status.slice.slice_id,
            status.cursor.held_reason,
            status.cursor.held_detail,
            remedy(session, status.cursor.held_reason),
        )
        for status in statuses
        if status.cursor.held_reason is not None
    )


def _waiting(statuses: Sequence[SliceStatus]) -> int:
    return sum(status.notes.waiting for status in statuses)


def _sum(runs: Sequence[RunReading], name: str) -> int:
    return sum(getattr(run, name) for run in runs)


def _by_rule(runs: Sequence[RunReading]) -> Counter[str]:
    return sum((Counter(run.claims_rejected_by_rule) for run in runs), Counter())
