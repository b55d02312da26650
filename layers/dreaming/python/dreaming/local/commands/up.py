"""`dream up` and `dream dashboard`: the whole system on this machine, and the page that shows it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.occupation import DRAIN, UP, Occupation, occupant, occupied
from dreaming.passes.records import CONSOLIDATION

if TYPE_CHECKING:
    from dreaming.local.functions import Function
    from dreaming.local.runtime import LocalRuntime
    from dreaming.local.web import LocalApi

_RESTART_SECONDS = 5.0
_STOP_SECONDS = 60.0

_port = click.option("--port", type=click.IntRange(0, 65_535), default=8377, help="Where the API listens; 0: any.")
_open = click.option("--open", "open_page", is_flag=True, help="Open the page in your browser.")


@click.command(
    cls=DreamCommand,
    examples="""
    dream up                           # database, passes on their schedules, API and page
    dream up --every 10 --open         # look for work every ten seconds, open the page
    """,
)
@_port
@_open
@click.option(
    "--every", type=click.FloatRange(0.1, 86_400), default=60.0, help="Seconds between two ticks of every pass."
)
@with_session
def up(session: Session, port: int, open_page: bool, every: float) -> int:
    """Run the whole system here until it is interrupted; what it stored stays.

    Every pass ticks and drains again and again, in a process of its own.
    """
    session.make_home()
    with occupied(session.home, UP) as occupation:
        if drain := occupant(session.home, DRAIN):
            session.output.notice(f"{drain} is at work here too; both go on, each takes its own batches")
        return _up(session, occupation, port, open_page, every)


def _up(session: Session, occupation: Occupation, port: int, open_page: bool, every: float) -> int:
    with _api(session, port) as api, _passes(session, every):
        occupation.tell(api.url)
        _tell(session, api, open_page, passes=f"every pass looks for work each {every:g} s")
        _tell_stopped(session)
        _wait()
    session.output.notice("stopped; the same command goes on")
    return 0


@click.command(
    cls=DreamCommand,
    examples="""
    dream dashboard --open             # look at the memory, without running the passes
    """,
)
@_port
@_open
@with_session
def dashboard(session: Session, port: int, open_page: bool) -> int:
    """Serve the page and the API of this installation until it is interrupted; no pass runs.

    Where the usual port is taken, another is.
    """
    other = occupant(session.home, UP)
    if other:
        session.output.notice(f"{other} serves the page already; this one is beside it, for {session.org!r}")
    with _api(session, port, announce=other is None, another_port=not _is_given("port")) as api:
        if port and api.port != port:
            session.output.notice(f"port {port} is taken; this is served at {api.port}")
        _tell(session, api, open_page, passes="no pass runs; `dream up` runs them")
        _wait()
    return 0


def _is_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _served(function: Function, session: Session, runtime: LocalRuntime, port: int, *, another_port: bool) -> LocalApi:
    """Serve at a port, or at a free one where that is taken and another will do."""
    from dreaming.local.web import LocalApi, api_token

    def at(chosen: int) -> LocalApi:
        token = api_token(session.home)
        return LocalApi(function, tenant=session.tenant, token=token, environment=runtime.environment, port=chosen)

    try:
        return at(port)
    except InvalidInput:
        if not another_port:
            raise
        return at(0)


@contextmanager
def _api(session: Session, port: int, *, announce: bool = True, another_port: bool = False) -> Iterator[LocalApi]:
    """Serve the API; clients on this machine find it where it is `announce`d, which one of several is."""
    from dreaming.local.functions import Function
    from dreaming.local.web import TIMEOUT_SECONDS, announced

    with session.runtime() as runtime:
        function = Function("api", log=session.home / "handlers.log", timeout_seconds=TIMEOUT_SECONDS)
        api = _served(function, session, runtime, port, another_port=another_port)
        api.start()
        try:
            with announced(session.home, api.url) if announce else nullcontext():
                yield api
        finally:
            api.stop()
            function.close()


@contextmanager
def _passes(session: Session, every: float) -> Iterator[None]:
    """Keep the process of the passes alive."""
    stopping = threading.Event()

    def watch() -> None:
        while not stopping.is_set():
            process = subprocess.Popen(
                [sys.executable, "-m", "dreaming.local.schedule", str(session.home), str(every), str(os.getpid())],
                env=dict(session.environment),
                stdin=subprocess.DEVNULL,
                # A group of its own: an interrupt of the terminal comes to us, and we ask it to finish its batch.
                start_new_session=True,
            )
            while process.poll() is None and not stopping.wait(0.2):
                pass
            if process.poll() is None:
                _end(process)
            elif process.returncode and not stopping.wait(_RESTART_SECONDS):
                session.output.notice(f"the passes ended with {process.returncode}; starting them again")

    watcher = threading.Thread(target=watch, name="passes", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stopping.set()
        watcher.join()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tell(session: Session, api: LocalApi, open_page: bool, *, passes: str) -> None:
    from dreaming.local.web import api_token

    page = f"{api.url}/brain/dashboard#token={api_token(session.home)}"
    if session.output.as_json:
        session.output.document({"api": api.url, "page": page, "token_file": str(session.home / "api-token")})
    else:
        session.output.whole(f"page  {page}")
        session.output.whole(f"api   {api.url}   (Authorization: Bearer <{session.home / 'api-token'}>)")
        session.output.line(f"{passes}; log: {session.home / 'handlers.log'}; Ctrl-C stops")
    sys.stdout.flush()
    if open_page:
        import webbrowser

        webbrowser.open(page)


def _tell_stopped(session: Session) -> None:
    """Say what a person has to agree to before a pass reads anything."""
    with session.database() as database:
        stopped = session.reader(database).progress(CONSOLIDATION, runs=0).stopped
    for reason in stopped:
        session.output.notice(f"no note is read yet: {reason.replace('_', ' ')}; {remedy(session, reason)}")


def _wait() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return
