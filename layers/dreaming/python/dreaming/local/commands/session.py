"""What one invocation of `dream` works with: its installation, its slice, its output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from getpass import getuser
from pathlib import Path
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING, Any

from dreaming.errors import InvalidInput
from dreaming.local.home import deployment_environment, home_folder, make_home
from dreaming.local.logs import log_into
from dreaming.local.output import Output

if TYPE_CHECKING:
    from dreaming.api.paging import Listing
    from dreaming.api.service import Reader
    from dreaming.database import Database
    from dreaming.local.runtime import LocalRuntime
    from dreaming.models.protocols import ChatModel
    from dreaming.notes.records import SliceKey, Tenant
    from dreaming.settings.records import Enrolment
    from dreaming.settings.resolution import Settings

DATABASE_URL = "DATABASE_URL"
DEFAULT_ORG = "local"
DEMO = "demo"
WAIT_SECONDS = 30.0

_DEPLOYMENT = ("DREAMING_", "QUOXDREAM_", "QM_LTM_")


def program() -> str:
    """Return how the shell finds this program: by name, or by the path under which it runs."""
    if which("dream"):
        return "dream"
    path = Path(sys.argv[0])
    if path.name != "dream":
        return "dream"
    return quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


@dataclass(frozen=True)
class Session:
    """The installation in `home`, seen by `user` of the organization `org`.

    `environment` is the process's; `variables` adds those kept in the home folder. Modules that cost
    time to import are imported where they are used, so that help and errors come at once.
    """

    home: Path
    environment: Mapping[str, str]
    org: str
    scope: str
    user: str | None
    is_demo: bool
    given_home: str | None
    wait_seconds: float
    output: Output

    @cached_property
    def variables(self) -> dict[str, str]:
        """The deployment's variables: kept ones, and the process's own winning over them."""
        return deployment_environment(self.home, self.environment)

    @property
    def other_database(self) -> str | None:
        """The URL of another database than the embedded one, when one is named."""
        return self.variables.get(DATABASE_URL) or None

    @cached_property
    def key(self) -> SliceKey:
        """The slice that is meant."""
        from dreaming.notes.records import Scope, SliceKey

        scope = Scope(self.scope)
        self.check_owner()
        try:
            return SliceKey(self.org, scope, self.user if scope is Scope.PRIVATE else None)
        except ValueError as error:
            raise InvalidInput("--org or --user", str(error), "use a plain name") from error

    def check_owner(self) -> None:
        """Refuse a private slice of nobody: raises `InvalidInput`."""
        if self.scope == "private" and not self.user:
            raise InvalidInput("--user", "is missing", "a private slice has an owner: add --user ID")

    @property
    def tenant(self) -> Tenant:
        """Who is asking."""
        from dreaming.notes.records import Tenant

        return Tenant(self.org, self.user)

    @property
    def actor(self) -> str:
        """Who is named in the audit of changes."""
        try:
            return f"dream:{self.user or getuser()}"
        except (OSError, KeyError):  # a container's user may have no name
            return "dream"

    @property
    def invocation(self) -> str:
        """How commands on the same installation begin, for hints."""
        parts = [program()]
        parts += ["--home", quote(self.given_home)] if self.given_home else []
        parts += ["--demo"] if self.is_demo else []
        parts += ["--org", quote(self.org)] if self.org != (DEMO if self.is_demo else DEFAULT_ORG) else []
        parts += ["--scope", self.scope] if self.scope != "org" else []
        parts += ["--user", quote(self.user)] if self.user else []
        return " ".join(parts)

    def tell_more(self, next_cursor: str | None) -> None:
        """Say how the list goes on, if it does."""
        if next_cursor is not None:
            self.output.whole(f"More: the same command with --cursor {next_cursor}")

    def now(self) -> datetime:
        """Return the time of day, in UTC."""
        return datetime.now(UTC)

    def listing(self, name: str, **filters: object) -> Listing:
        """Return a list as it is asked for, which its cursors are bound to."""
        from dreaming.api.paging import Listing

        return Listing(name, self.tenant, {"scope": self.scope, **filters})

    def reader(self, database: Database) -> Reader:
        """Return what reads for the one who is asking, as of now."""
        from dreaming.api.service import Reader

        return Reader(database, self.tenant, self.variables, self.now())

    def settings(self, database: Database) -> Settings:
        """Return the settings in force for the organization."""
        from dreaming.settings.service import load_settings

        with database.transaction(self.tenant) as tx:
            return load_settings(tx, self.org, self.variables)

    def organization(self, database: Database) -> tuple[Settings, Enrolment]:
        """Return the settings in force for the organization and what it has agreed to."""
        from dreaming.settings.service import load_organization

        with database.transaction(self.tenant) as tx:
            return load_organization(tx, self.org, self.variables)

    def longest_note(self, database: Database) -> int:
        """Return how many code points a note may have."""
        from dreaming.notes.service import longest_note

        return longest_note(self.settings(database))

    def chat_model(self, database: Database) -> ChatModel:
        """Return the chat model that reads the organization's notes; it is not called."""
        from time import monotonic

        from dreaming.models.keys import EnvironmentKeys, KeyResolver
        from dreaming.models.selection import chat_model

        keys = KeyResolver(EnvironmentKeys(self.variables), clock=monotonic)
        return chat_model(self.settings(database), self.org, keys)

    def database_url(self) -> str:
        """Return the database's URL; the embedded server is started for it, unless another is named."""
        self.make_home()
        if self.other_database:
            return self.other_database
        from dreaming.local.postgres import ensure_running

        return ensure_running(self.home, keep=False)

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open the database for a command that only needs rows.

        The embedded one is migrated on the way; another one is left to `dream migrate`.
        """
        from dreaming.database import Database, check_schema, migrate

        url = self.database_url()
        if self.other_database:
            check_schema(url, wait_seconds=self.wait_seconds)
        else:
            migrate(url)
        database = Database(url, wait_seconds=self.wait_seconds)
        try:
            yield database
        finally:
            database.close()

    @contextmanager
    def runtime(self) -> Iterator[LocalRuntime]:
        """Open the whole local system: the database, the queue and the handlers."""
        self.make_home()
        if self.other_database:
            from dreaming.database import status

            # The runtime waits long for a database that is waking up; here the caller says how long.
            status(self.other_database, wait_seconds=self.wait_seconds)
        from dreaming.local.runtime import LocalRuntime

        with LocalRuntime.open(self.home, self.environment) as runtime:
            yield runtime

    def make_home(self) -> None:
        """Make the home folder where it is missing."""
        make_home(self.home)


def open_session(given: Mapping[str, Any], environment: Mapping[str, str]) -> Session:
    """Return the session of the shared options as they were given.

    Raises `InvalidInput` for an empty one: an unset variable of a script must not become the default organization.
    """
    for name in ("home", "org", "user"):
        if given.get(name) == "":
            raise InvalidInput(f"--{name}", "is empty", "give a value, or leave the option out")
    is_demo = bool(given.get("demo"))
    home = Path(given["home"]).expanduser().resolve() if given.get("home") else home_folder(environment)
    if is_demo:
        # The demo must neither follow nor change what this deployment has set.
        environment = {name: value for name, value in environment.items() if not name.startswith(_DEPLOYMENT)}
    home = home / DEMO if is_demo else home
    log_into(home)
    return Session(
        home=home,
        environment=dict(environment),
        org=DEMO if is_demo else given.get("org") or DEFAULT_ORG,
        scope=given.get("scope") or "org",
        user=given.get("user"),
        is_demo=is_demo,
        given_home=given.get("home"),
        wait_seconds=given.get("wait", WAIT_SECONDS),
        output=Output(as_json=bool(given.get("as_json"))),
    )
