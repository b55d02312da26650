"""How agents' scores look on a terminal: the table, one agent in full, the log, and the score over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from dreaming.autonomy.outlook import next_step, outlook
from dreaming.autonomy.records import Action, ChangeKind, DeadLetter, Risk, ScoreChange, Scoring
from dreaming.autonomy.rules import FLOORS, JUDGED, START_SCORE, BlockKind, Policy, band, rise_blocks
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, minute, one_line, short_id, styled, table
from dreaming.notes.secrets import mask, shortened

if TYPE_CHECKING:
    from dreaming.autonomy.service import Standing

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_BAR = 20
_CHANGES_SHOWN = 50
_COLOURS = {
    "full": "bold green",
    "spot-check": "green",
    "approval-required": "yellow",
    "draft-only": "bold yellow",
    "restricted": "bold red",
}


def standing_document(standing: Standing, given: Policy, why_no_judge: str | None, now: datetime) -> dict[str, Any]:
    """Return an agent's standing as JSON shows it."""
    agent, assessment = standing.agent, standing.assessment
    return {
        "agent": agent.agent_id,
        "score": agent.score,
        "band": standing.band,
        "may_do": _allowed(agent.score),
        "capability": assessment.capability,
        "error_rate": assessment.error_rate,
        "calibration": assessment.calibration,
        "factual_error_at": assessment.factual_error_at,
        "wanted": assessment.wanted,
        "next_adjustment": assessment.adjustment,
        "next_step": next_step(agent, assessment, now),
        "blocks": assessment.blocks,
        "what_would_change_it": outlook(assessment, standing.evidence, given, now),
        "outcomes": [
            {"outcome": outcome, "scoring": scoring, "count": count} for outcome, scoring, count in standing.outcomes
        ],
        "unjudged": _unjudged(standing),
        "why_unjudged": why_no_judge if _unjudged(standing) else None,
        "manual_at": agent.manual_at,
        "changes": standing.changes,
    }


def show_standings(session: Session, standings: Sequence[Standing], now: datetime) -> None:
    """Print a line for each agent."""
    right = {"justify": "right"}
    made = table("agent", ("score", right), "", "band", ("scored", right), ("waiting", right), "next")
    for one in standings:
        made.add_row(
            styled(one_line(one.agent.agent_id, 32)),
            str(one.agent.score),
            bar(one.agent.score / 100, 10),
            styled(one.band.value, _COLOURS[one.band.value]),
            f"{one.count(Scoring.SCORED):,}",
            f"{one.count(Scoring.WAITING):,}",
            styled(_in_short(one, now)),
        )
    session.output.show(made)
    session.output.line(f"Why, for one of them: {session.invocation} autonomy why AGENT")


def show_standing(session: Session, one: Standing, given: Policy, why_no_judge: str | None, now: datetime) -> None:
    """Print all that there is to say of one agent."""
    output, agent, assessment = session.output, one.agent, one.assessment
    output.line(f"{one_line(agent.agent_id, 60)}  {agent.score}  {one.band.value}", _COLOURS[one.band.value])
    allowed = _allowed(agent.score)
    denied = [f"{risk} ({FLOORS[risk]})" for risk in Risk if risk.value not in allowed]
    output.line(f"may do    {', '.join(allowed)} risk" + (f"; not {', '.join(denied)}" if denied else ""), "dim")
    output.line(f"next      {next_step(agent, assessment, now)}")
    _show_evidence(session, one, given)
    blocks = [*assessment.blocks]
    if assessment.wanted > 0:
        blocks += [block for block in rise_blocks(assessment, now) if block not in blocks]
    if blocks:
        output.line("\nWhat blocks it", "bold")
        for block in blocks:
            output.line(f"  {block.sentence}" + (f", until {minute(block.until)}" if block.until else ""), "yellow")
    changes = outlook(assessment, one.evidence, given, now)
    if changes:
        output.line("\nWhat would change it", "bold")
        for sentence in changes:
            output.line(f"  {sentence}")
    _show_log_counts(session, one, why_no_judge)
    output.line("\nScore over time", "bold")
    show_plot(session, one.changes, since=agent.created_at, now=now)


def show_plot(session: Session, changes: Sequence[ScoreChange], *, since: datetime, now: datetime) -> None:
    """Print the score over time, with the bands at the side."""
    for line in plot(changes, since=since, now=now, width=max(20, min(72, session.output.width - 28))):
        session.output.line(f"  {line}")


def show_changes(session: Session, changes: Sequence[ScoreChange]) -> None:
    """Print an agent's audit record, the oldest first."""
    made = table(("no", {"justify": "right"}), "when", ("score", {"no_wrap": True}), "by", "reason")
    for one in changes[-_CHANGES_SHOWN:]:
        made.add_row(
            str(one.change_no),
            minute(one.happened_at),
            f"{one.old_score} → {one.new_score}",
            styled(one_line(one.actor, 24)),
            styled(one_line(one.reason, 200)),
        )
    session.output.show(made)
    if len(changes) > _CHANGES_SHOWN:
        session.output.line(f"{len(changes) - _CHANGES_SHOWN:,} earlier ones; --json lists all")


def show_actions(session: Session, actions: Sequence[Action]) -> None:
    """Print logged actions, secrets in them hidden."""
    made = table("id", "done", "agent", "risk", "outcome", "flags", "what")
    for one in actions:
        made.add_row(
            styled(one_line(one.external_id, 20)),
            minute(one.acted_at),
            styled(one_line(one.agent_id, 20)),
            one.risk.value,
            one.outcome.value,
            _flags(one),
            styled(one_line(hidden(f"{one.tool}: {one.summary}"), 60)),
        )
    session.output.show(made)
    session.output.line(
        "flags: competence, commitment, compatibility; 1 good, 0 bad, – not known; ! factual error", "dim"
    )


def show_dead(session: Session, letters: Sequence[DeadLetter]) -> None:
    """Print the actions that the judge could not score."""
    made = table("action", "given up", "agent", "outcome", ("tries", {"justify": "right"}), "why", "what")
    for one in letters:
        made.add_row(
            short_id(one.action.action_id),
            minute(one.dead_at),
            styled(one_line(one.action.agent_id, 20)),
            one.action.outcome.value,
            str(one.attempts),
            styled(one.reason),
            styled(one_line(hidden(one.action.summary), 40)),
        )
    session.output.show(made)
    session.output.line(f"Judge again: {session.invocation} autonomy retry ID, or --all")


def action_document(action: Action) -> dict[str, Any]:
    """Return a logged action as JSON shows it, secrets in it hidden."""
    from dreaming.local.output import to_json

    document = dict(to_json(action))  # type: ignore[arg-type]
    return document | {"tool": hidden(action.tool), "summary": hidden(action.summary)}


def hidden(text: str) -> str:
    """Return a text without its secrets."""
    return shortened(mask(text).text)


def bar(share: float, width: int = _BAR) -> str:
    """Return a bar that fills a share of its width."""
    full = round(share * width)
    return "█" * full + "░" * (width - full)


def plot(changes: Sequence[ScoreChange], *, since: datetime, now: datetime, width: int) -> list[str]:
    """Return lines that draw the score from `since` to `now` in columns of equal time.

    A column shows the score at its end, a line stands for ten points. Below, `^` marks columns in
    which a person set the score.
    """
    since = min([since, *(change.happened_at for change in changes)])
    step = max((now - since) / width, (now - since) * 0)
    ends = [since + step * (column + 1) for column in range(width - 1)] + [max(now, since)]
    scores, marks, place, score = [], [], 0, START_SCORE
    for end in ends:
        mark = " "
        while place < len(changes) and changes[place].happened_at <= end:
            score = changes[place].new_score
            mark = "^" if changes[place].action is ChangeKind.SET else mark
            place += 1
        scores.append(score)
        marks.append(mark)
    lowest = max(0, min(min(scores) // 10 * 10 - 10, 60))
    lines = []
    for base in range(90, lowest - 1, -10):
        cells = "".join(_EIGHTHS[max(0, min(8, round((one - base) / 10 * 8)))] for one in scores)
        lines.append(f"{base:>3} {band(base).value if base >= 50 else '':<17} ┤{cells}")
    if "^" in marks:
        lines.append(f"{'':22} {''.join(marks)}  ^ set by a person".rstrip())
    written = "%Y-%m-%d" if now - since > timedelta(days=2) else "%d %b %H:%M"
    begin = since.strftime(written)
    lines.append(f"{'':23}{begin}{now.strftime(written).rjust(width - len(begin))}")
    return lines


def _show_evidence(session: Session, one: Standing, given: Policy) -> None:
    output, found = session.output, one.assessment.capability
    output.line("\nEvidence", "bold")
    if found.value is None:
        output.line("  no action is scored yet")
        return
    days = given.half_life.total_seconds() / 86_400
    output.line(
        f"  {counted(found.actions, 'scored action')}, half as heavy every {days:g} days: "
        f"capability {found.value:.3f}, which asks for {round(100 * found.value)}"
    )
    right = {"justify": "right"}
    made = table("  dimension", ("weight", right), ("value", right), "", ("good", right))
    for dimension in found.dimensions:
        known = dimension.value is not None
        made.add_row(
            f"  {dimension.name}",
            f"{dimension.weight:.2f}" if known else "–",
            f"{dimension.value:.3f}" if known else "no data",
            bar(dimension.value or 0.0) if known else "",
            f"{dimension.good} of {dimension.actions}" if known else "",
        )
    output.show(made)
    rate, calibration = one.assessment.error_rate, one.assessment.calibration
    if rate.actions:
        share = rate.errors / rate.actions
        output.line(f"  errors    {rate.errors} of the last {rate.actions} ({share:.2f}); a rise needs 0.20 or less")
    if calibration.rated:
        output.line(
            f"  said      {calibration.stated:.2f} on average over {counted(calibration.rated, 'rated action')}, "
            f"succeeded {calibration.succeeded:.2f}"
        )


def _show_log_counts(session: Session, one: Standing, why_no_judge: str | None) -> None:
    output = session.output
    output.line("\nActions", "bold")
    totals: dict[str, int] = {}
    for outcome, _, count in one.outcomes:
        totals[outcome.value] = totals.get(outcome.value, 0) + count
    output.line("  " + (", ".join(f"{count:,} {name}" for name, count in totals.items()) or "none is logged"))
    unjudged, dead = _unjudged(one), one.count(Scoring.DEAD)
    waiting = one.count(Scoring.WAITING) - unjudged
    if waiting:
        output.line(f"  {waiting:,} wait for the next run: {session.invocation} drain autonomy")
    if unjudged:
        reason = why_no_judge or f"the next run asks: {session.invocation} drain autonomy"
        output.line(f"  {unjudged:,} wait for a model's judgement: {reason}", "yellow")
    if dead:
        output.line(f"  {dead:,} given up: {session.invocation} autonomy log --dead", "red")


def _unjudged(one: Standing) -> int:
    return sum(count for outcome, state, count in one.outcomes if state is Scoring.WAITING and outcome in JUDGED)


def _in_short(one: Standing, now: datetime) -> str:
    if one.assessment.adjustment:
        return f"{one.assessment.adjustment:+d}"
    kinds = [block.kind for block in one.assessment.blocks]
    if BlockKind.TOO_FEW_ACTIONS in kinds:
        return "too few actions"
    if not one.assessment.wanted:
        return next_step(one.agent, one.assessment, now)
    found = [*kinds, *(block.kind for block in rise_blocks(one.assessment, now) if one.assessment.wanted > 0)]
    named = dict.fromkeys(kind.value.replace("_", " ") for kind in found if kind is not BlockKind.NO_NEWS)
    return f"blocked: {', '.join(named)}" if named else "waits for news"


def _allowed(score: int) -> list[str]:
    return [risk.value for risk in Risk if score >= FLOORS[risk]]


def _flags(action: Action) -> str:
    if action.scoring is not Scoring.SCORED:
        return {Scoring.NONE: "pending", Scoring.WAITING: "waiting", Scoring.DEAD: "given up"}[action.scoring]
    flags = (action.flags.competence, action.flags.commitment, action.flags.compatibility)
    shown = " ".join("–" if flag is None else str(flag) for flag in flags)
    return shown + (" !" if action.flags.factual_error else "")
