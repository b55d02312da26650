"""A real browser before the real page: the API's handler behind the local server, over a month that was lived.

`make browser-test` drives Debian's Chromium, or the one that DREAMING_TEST_CHROMIUM names. Otherwise these
tests are skipped, since no package that a test run installs brings a browser.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.local.functions import Function
from dreaming.local.web import LocalApi
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from tests.browser.month import CALLER, ENVIRONMENT, live_a_month
from tests.databases import at_database, created_database
from tests.world import NOON

TOKEN = "a-token-of-this-test"
WITHIN = 60_000
"""Milliseconds until something that should come about has not: a busy machine is no fault of the page."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

expect.set_options(timeout=WITHIN)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless browser; each test has contexts of its own in it."""
    asked = os.environ.get("DREAMING_TEST_CHROMIUM")
    if not asked:
        pytest.skip("`make browser-test` drives a browser; it names the program in DREAMING_TEST_CHROMIUM")
    program = next(filter(None, map(shutil.which, NAMES)), None) if asked == "found" else asked
    if program is None:
        pytest.skip("there is no Chromium here: apt-get install chromium, or name one in DREAMING_TEST_CHROMIUM")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield started
        started.close()


@pytest.fixture(scope="session")
def month(server_url: str, template_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database in which a month was lived; tests work on copies of it."""
    with created_database(server_url, template=template_database) as name:
        database = Database(at_database(server_url, name))
        live_a_month(database, tmp_path_factory.mktemp("month"))
        database.close()
        yield name


@dataclass
class Site:
    """The API and its page at an address of this machine, and everything that the browser said meanwhile."""

    url: str
    database: Database
    environment: dict[str, str]
    context: BrowserContext
    complaints: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    def page(self) -> Page:
        """A page of nothing, whose requests, errors and console are kept."""
        page = self.context.new_page()
        page.on("request", lambda request: self.addresses.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in {"error", "warning"} else None
        )
        return page

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type in {"error", "warning"}:
            self.complaints.append(said.text)

    def open(self, view: str = "overview") -> Page:
        """The page at a view, signed in as `dream dashboard` does it."""
        page = self.page()
        page.goto(f"{self.url}/brain/dashboard#token={TOKEN}")
        page.wait_for_url("**/brain/dashboard#/overview")
        if view != "overview":
            page.evaluate("view => { location.hash = `#/${view}`; }", view)
        settle(page)
        return page

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What the database has for the caller."""
        with self.database.transaction(CALLER) as tx:
            return list(tx.execute(query, parameters).fetchall())


def settle(page: Page) -> None:
    """Wait until nothing is loading."""
    page.wait_for_load_state("networkidle")
    expect(page.locator(".loading")).to_have_count(0)


@contextmanager
def opened_site(
    database: Database,
    browser: Browser,
    folder: Path,
    environment: dict[str, str],
    *,
    now: datetime | None = NOON,
    **look: Any,
) -> Iterator[Site]:
    """Serve the API over a database; the clocks of both sides stand at `now`."""
    keys = KeyResolver(EnvironmentKeys(environment), clock=lambda: 0.0)
    moment = NOON if now is None else now
    wiring.install(Resources(database, lambda _: None, keys, environment, lambda: moment, uuid7))
    function = Function("api", log=folder / "handlers.log", timeout_seconds=29)
    api = LocalApi(function, tenant=CALLER, token=TOKEN, environment=environment, port=0)
    api.start()
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", **look})
    context.set_default_timeout(WITHIN)
    if now is not None:
        context.clock.set_fixed_time(now)
    try:
        yield Site(api.url, database, environment, context)
    finally:
        context.close()
        api.stop()
        function.close()


@pytest.fixture
def database_of_month(server_url: str, month: str) -> Iterator[Database]:
    """A copy of the month."""
    with created_database(server_url, template=month) as name:
        database = Database(at_database(server_url, name))
        yield database
        database.close()


Visit = Callable[..., AbstractContextManager[Site]]
"""Opens the page over a copy of the month; keywords are those of a browser context."""


@pytest.fixture
def visit(database_of_month: Database, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """How a test opens the page with a look of its own."""
    monkeypatch.setattr(wiring, "_installed", [])
    return partial(opened_site, database_of_month, browser, tmp_path, {"DREAMING_ENABLED": "true", **ENVIRONMENT})


@pytest.fixture
def site(visit: Visit) -> Iterator[Site]:
    """The page over a copy of the month, at 1,440 pixels."""
    with visit() as opened:
        yield opened


@pytest.fixture
def empty_site(database: Database, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The page over a database in which nothing has happened yet."""
    monkeypatch.setattr(wiring, "_installed", [])
    with opened_site(database, browser, tmp_path, {}) as opened:
        yield opened
