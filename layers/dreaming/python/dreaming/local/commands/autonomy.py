"""`dream autonomy`: agents' scores and why, the log of their actions, and what they may do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import IO, TYPE_CHECKING
from uuid import UUID

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, DreamFamily, cursor_option, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import counted

if TYPE_CHECKING:
    from dreaming.autonomy.records import LogCounts
    from dreaming.autonomy.rules import Policy
    from dreaming.database import Database

RISKS = ("none", "low", "medium", "high", "critical")
OUTCOMES = ("approved", "denied", "rejected", "expired", "resolved_externally", "success", "failure")

DENIED = 5
"""The exit code of `check` when the answer is no."""

_AT_ONCE = 500
_SHORTEST_ID = 4
_MOST = 999


@click.group(
    cls=DreamFamily,
    invoke_without_command=True,
    examples="""
    dream autonomy                              # every agent's score, or why the only one has its
    dream autonomy record actions.jsonl         # log what agents did
    dream autonomy outcome mail-bot a17 approved
    dream drain autonomy                        # score what waits, move scores
    dream autonomy why mail-bot                 # the evidence, what blocks it, what would change it
    dream autonomy check mail-bot high          # may it do this now? exit code 5 when not
    """,
)
@click.pass_context
def autonomy(ctx: click.Context) -> None:
    """Show what agents have earned, and why; log their actions; ask what they may do."""
    if ctx.invoked_subcommand is None:
        list_agents()


@with_session
def list_agents(session: Session) -> None:
    """Print every agent's standing, or all of it where there is one agent only."""
    from dreaming.autonomy.service import read_standings
    from dreaming.local.commands.autonomy_view import show_standings, standing_document

    now = session.now()
    with session.database() as database:
        settings = session.settings(database)
        standings = read_standings(database, session.org, settings, now=now)
        if len(standings) == 1 and not session.output.as_json:
            _show_one(session, database, standings[0].agent.agent_id, now)
            return
        given, no_judge = _policy_and_judge(session, database)
    if session.output.as_json:
        agents = [standing_document(one, given, no_judge, now) for one in standings]
        session.output.document({"agents": agents})
    elif standings:
        show_standings(session, standings, now)
    else:
        session.output.line("No agent has a record yet.")
        session.output.line(f"Log what one did: {session.invocation} autonomy record FILE.jsonl (see --help)")


@autonomy.command(name="why", cls=DreamCommand, examples="dream autonomy why mail-bot")
@click.argument("agent")
@with_session
def show_why(session: Session, agent: str) -> None:
    """Show why an agent has its score: the evidence, what blocks it, what would change it."""
    with session.database() as database:
        _show_one(session, database, agent, session.now())


@autonomy.command(
    cls=DreamCommand,
    examples="""
    dream autonomy log --agent mail-bot
    dream autonomy log --waiting
    dream autonomy log --dead                # what the judge could not score, and why
    """,
)
@click.option("--agent", metavar="AGENT", help="Only this agent's.")
@click.option("--waiting", is_flag=True, help="Only actions that wait to be scored.")
@click.option("--dead", is_flag=True, help="Only actions that were given up.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=30, show_default=True, help="How many.")
@cursor_option
@with_session
def log(session: Session, agent: str | None, waiting: bool, dead: bool, limit: int, cursor: str | None) -> None:
    """List the actions that are logged, the latest first."""
    from dreaming.api.paging import moment_and_id, page_of
    from dreaming.autonomy.records import Scoring
    from dreaming.autonomy.service import read_dead_letters, read_log
    from dreaming.local.commands.autonomy_view import action_document, show_actions, show_dead

    if waiting and dead:
        raise InvalidInput("--waiting", "is given with --dead", "give one of them")
    listing = session.listing("dead actions" if dead else "actions", agent=agent, waiting=waiting)
    after = moment_and_id(listing.open(cursor))
    with session.database() as database:
        if dead:
            given_up = read_dead_letters(database, session.org, agent_id=agent, limit=limit + 1, after=after)
            letters = page_of(given_up, limit, lambda one: (one.dead_at, one.action.action_id))
            more = listing.close(letters.next_cursor)
            if session.output.as_json:
                fields = ("reason", "attempts", "first_unreadable_at", "dead_at")
                session.output.document(
                    {
                        "dead": [
                            {"action": action_document(one.action)} | {name: getattr(one, name) for name in fields}
                            for one in letters.items
                        ],
                        "next_cursor": more,
                    }
                )
            elif letters.items:
                show_dead(session, letters.items)
                session.tell_more(more)
            else:
                session.output.line("No action was given up.")
            return
        scoring = Scoring.WAITING if waiting else None
        found = read_log(database, session.org, agent_id=agent, scoring=scoring, limit=limit + 1, after=after)
    actions = page_of(found, limit, lambda one: (one.acted_at, one.action_id))
    more = listing.close(actions.next_cursor)
    if session.output.as_json:
        session.output.document({"actions": [action_document(one) for one in actions.items], "next_cursor": more})
    elif actions.items:
        show_actions(session, actions.items)
        session.tell_more(more)
    else:
        session.output.line("No action waits." if waiting else "No action is logged.")


@autonomy.command(cls=DreamCommand, examples="dream autonomy history mail-bot")
@click.argument("agent")
@with_session
def history(session: Session, agent: str) -> None:
    """List every change of an agent's score with its reason, and draw it over time."""
    from dreaming.autonomy.service import read_standings
    from dreaming.local.commands.autonomy_view import show_changes, show_plot

    now = session.now()
    with session.database() as database:
        settings = session.settings(database)
        (one,) = read_standings(database, session.org, settings, agent_id=agent, now=now)
    if session.output.as_json:
        session.output.document({"agent": agent, "score": one.agent.score, "changes": one.changes})
        return
    if one.changes:
        show_changes(session, one.changes)
        session.output.line()
    else:
        session.output.line(f"The score never changed: {one.agent.score}.")
    show_plot(session, one.changes, since=one.agent.created_at, now=now)


@autonomy.command(
    name="set", cls=DreamCommand, examples='dream autonomy set mail-bot 60 --reason "wrote to a customer"'
)
@click.argument("agent")
@click.argument("score", type=click.IntRange(0, 100))
@click.option("--reason", required=True, help="Why; it goes to the audit record.")
@click.option("--new", is_flag=True, help="The agent has no record yet.")
@with_session
def set_by_hand(session: Session, agent: str, score: int, reason: str, new: bool) -> None:
    """Set an agent's score by hand; evidence moves it again after the cool-down."""
    from dreaming.autonomy.service import set_score

    with session.database() as database:
        change = set_score(
            database, session.org, agent, score, reason=reason, actor=session.actor, now=session.now(), new=new
        )
        given, _ = _policy_and_judge(session, database)
    if session.output.as_json:
        session.output.document(change)
        return
    days = given.cool_down.total_seconds() / 86_400
    session.output.line(f"{change.agent_id}: {change.old_score} → {change.new_score}; it stays so for {days:g} days")


@autonomy.command(
    cls=DreamCommand,
    examples="""
    dream autonomy check mail-bot high && deploy
    dream autonomy check mail-bot low --json
    """,
)
@click.argument("agent")
@click.argument("risk", type=click.Choice(RISKS))
@with_session
def check(session: Session, agent: str, risk: str) -> int | None:
    """Tell whether an agent may do an action of a risk now; exit code 5 when not."""
    from dreaming.autonomy.records import Risk
    from dreaming.autonomy.service import may_act

    with session.database() as database:
        found = may_act(database, session.org, agent, Risk(risk))
    if session.output.as_json:
        session.output.document(found)
    else:
        session.output.line(f"{'yes' if found.allowed else 'no'}: {found.reason}", "green" if found.allowed else "red")
    return None if found.allowed else DENIED


@autonomy.command(
    cls=DreamCommand,
    examples="""
    dream autonomy record actions.jsonl
    tail -n 100 agent.jsonl | dream autonomy record -
    """,
)
@click.argument("file", type=click.File("r", encoding="utf-8-sig"))
@with_session
def record(session: Session, file: IO[str]) -> None:
    """Log actions from JSON lines; `-` reads standard input. Logging a line again changes nothing.

    Fields: agent_id, external_id, tool, summary, risk (none, low, medium, high, critical), acted_at;
    and where known outcome, outcome_at, stated_confidence (0 to 1), conversation_id,
    approval_requested_at. Times are ISO 8601 with an offset.
    """
    from dreaming.autonomy.records import LogCounts
    from dreaming.autonomy.service import log_actions
    from dreaming.identifiers import uuid7
    from dreaming.local.commands.action_lines import of_lines, read_actions

    total = LogCounts()
    read = list(read_actions(file))  # all lines are right before the first is logged
    with session.database() as database:
        for start in range(0, len(read), _AT_ONCE):
            part = read[start : start + _AT_ONCE]
            with of_lines([number for number, _ in part]):
                counts = log_actions(
                    database, session.org, [action for _, action in part], now=session.now(), new_id=uuid7
                )
            total = _sum(total, counts)
    if session.output.as_json:
        session.output.document(total)
        return
    session.output.line(
        f"{counted(total.logged, 'action')} logged, {total.changed:,} with another outcome, {total.unchanged:,} known"
    )
    session.output.line(f"Next: {session.invocation} drain autonomy")


@autonomy.command(cls=DreamCommand, examples="dream autonomy outcome mail-bot a17 denied --at 2026-03-01T12:00:00Z")
@click.argument("agent")
@click.argument("external_id")
@click.argument("outcome", type=click.Choice(OUTCOMES))
@click.option("--at", metavar="TIME", help="When it came about, ISO 8601 with an offset; now by default.")
@with_session
def outcome(session: Session, agent: str, external_id: str, outcome: str, at: str | None) -> None:
    """Record what became of a logged action; it is then scored anew."""
    from dreaming.autonomy.records import Outcome
    from dreaming.autonomy.service import record_outcome

    now = session.now()
    with session.database() as database:
        changed = record_outcome(
            database, session.org, agent, external_id, Outcome(outcome), at=_time(at) if at else now, now=now
        )
    if session.output.as_json:
        session.output.document({"changed": changed})
    elif changed:
        session.output.line(f"{outcome}. Next: {session.invocation} drain autonomy")
    else:
        session.output.line("That is known, or a later outcome is.")


@autonomy.command(cls=DreamCommand, examples="dream autonomy retry --all && dream drain autonomy")
@click.argument("action_ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every action that was given up.")
@with_session
def retry(session: Session, action_ids: Sequence[str], everything: bool) -> None:
    """Let actions that were given up be judged again; the beginning or end of an id is enough."""
    from dreaming.autonomy.service import read_dead_letters, retry_dead_letters

    if bool(action_ids) == everything:
        problem = "is given with --all" if action_ids else "is missing"
        raise InvalidInput("ID", problem, "name actions, or give --all")
    with session.database() as database:
        known = [one.action.action_id for one in read_dead_letters(database, session.org, limit=_MOST)]
        chosen = None if everything else [_find(given, known) for given in action_ids]
        count = retry_dead_letters(database, session.org, chosen, now=session.now())
    if session.output.as_json:
        session.output.document({"retried": count})
    else:
        session.output.line(f"{counted(count, 'action')} waiting again. Next: {session.invocation} drain autonomy")


def _show_one(session: Session, database: Database, agent: str, now: datetime) -> None:
    from dreaming.autonomy.service import read_standings
    from dreaming.local.commands.autonomy_view import show_standing, standing_document

    (one,) = read_standings(database, session.org, session.settings(database), agent_id=agent, now=now)
    given, no_judge = _policy_and_judge(session, database)
    if session.output.as_json:
        session.output.document(standing_document(one, given, no_judge, now))
    else:
        show_standing(session, one, given, no_judge, now)


def _policy_and_judge(session: Session, database: Database) -> tuple[Policy, str | None]:
    """Return the organization's policy, and why nothing is judged where nothing is."""
    from dreaming.autonomy.service import policy
    from dreaming.passes.autonomy.judge import why_no_judge

    settings, enrolment = session.organization(database)
    return policy(settings), why_no_judge(settings, enrolment)


def _sum(one: LogCounts, other: LogCounts) -> LogCounts:
    return type(one)(one.logged + other.logged, one.changed + other.changed, one.unchanged + other.unchanged)


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput("--at", f"{text[:60]!r} is no time with an offset", "write it like 2026-03-01T12:00:00Z")
    return found


def _find(given: str, known: Sequence[UUID]) -> UUID:
    part = given.strip().lower().replace("-", "")
    found = [one for one in known if part and (one.hex.startswith(part) or one.hex.endswith(part))]
    if len(part) < _SHORTEST_ID or len(found) != 1:
        problem = f"{given[:60]!r} names {len(found)} of the actions given up" if found else f"no action {given[:60]!r}"
        raise InvalidInput("ID", problem, "see `dream autonomy log --dead`, and use more characters of the id")
    return found[0]
