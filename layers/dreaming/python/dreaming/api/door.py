"""The door of the API: who calls, on what database, and how a post is done once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic import BaseModel

from dreaming.api.idempotency.service import HEADER, once
from dreaming.api.identity import Identity, IdentityRules, NotAllowed, identify
from dreaming.api.overview.service import Overview
from dreaming.api.paging import Listing
from dreaming.api.service import Reader
from dreaming.database import Database, Role, Transaction
from dreaming.errors import InvalidInput, Misconfigured
from dreaming.identifiers import NewId
from dreaming.models.keys import KeyResolver
from dreaming.notes.records import Scope, SliceKey, Tenant
from dreaming.settings.resolution import Settings, resolve
from dreaming.settings.service import load_settings

if TYPE_CHECKING:
    from dreaming.models.protocols import Embedder


@dataclass(frozen=True, slots=True)
class Ports:
    """The outside world of the API, built at the first request that needs it."""

    database: Database
    keys: KeyResolver
    environment: Mapping[str, str]
    clock: Callable[[], datetime]
    new_id: NewId


@dataclass(frozen=True, slots=True)
class Caller:
    """A verified caller at one moment, with what their request may use.

    `database` takes on the API's role. Whatever a path or a body names is looked for within the
    caller's tenant only.
    """

    identity: Identity
    database: Database
    keys: KeyResolver
    environment: Mapping[str, str]
    now: datetime
    new_id: NewId

    @property
    def tenant(self) -> Tenant:
        """Whose rows the caller sees."""
        return self.identity.tenant

    @property
    def actor(self) -> str:
        """Who is named in the audit of changes."""
        return "api" if self.tenant.user_id is None else f"api:{self.tenant.user_id}"

    @property
    def reader(self) -> Reader:
        """What reads for the caller."""
        return Reader(self.database, self.tenant, self.environment, self.now)

    @property
    def overview(self) -> Overview:
        """What looks over the caller's slices."""
        return Overview(self.database, self.tenant, self.environment, self.now)

    def listing(self, name: str, **filters: object) -> Listing:
        """Return a list as the caller asks for it, which its cursors are bound to."""
        return Listing(name, self.tenant, filters)

    def slice_key(self, scope: Scope) -> SliceKey:
        """Return the caller's slice of a scope; a private one is the caller's own.

        Raises:
            InvalidInput: the caller is no user and so has no private slice.
        """
        if scope is not Scope.PRIVATE:
            return SliceKey(self.tenant.org_id, scope)
        if self.tenant.user_id is None:
            raise InvalidInput("scope", "is private, and the caller is no user", "use org, or a user's token")
        return SliceKey(self.tenant.org_id, scope, self.tenant.user_id)

    def settings(self, tx: Transaction) -> Settings:
        """Return the settings in force for the caller's organization."""
        return load_settings(tx, self.tenant.org_id, self.environment)

    def embedder(self, settings: Settings, org_id: str, name: str | None = None) -> Embedder | None:
        """Return the embedder that the settings ask for, or the one that made the vectors of a name.

        None where there is none, or it is out of reach.
        """
        from dreaming.models.selection import embedder  # noqa: PLC0415 - only where used

        return embedder(settings, org_id, self.keys, name=name)

    def require_administrator(self) -> None:
        """Raise `NotAllowed` unless the caller may change what holds for the whole organization."""
        if not self.identity.administrator:
            raise NotAllowed(
                "this changes the whole organization: it needs a token with the claim that "
                "api_admin_claim names, or AWS credentials"
            )


class Door:
    """Lets the requests of one application in."""

    def __init__(self, app: APIGatewayHttpResolver, ports: Callable[[], Ports]) -> None:
        """Keep the application whose current request is meant, and the maker of its ports."""
        self._app = app
        self._ports = ports

    def deployment(self) -> Settings:
        """Return the deployment's own settings, which hold for everybody; raises `Misconfigured`."""
        return _deployment(self._ports().environment)

    def caller(self) -> Caller:
        """Return who calls.

        Raises:
            NotIdentified: no authorizer has verified the caller.
            NotAllowed: nothing verified names an organization.
        """
        ports = self._ports()
        request_context: Mapping[str, Any] = self._app.current_event.raw_event.get("requestContext") or {}
        return Caller(
            identity=identify(request_context, identity_rules(ports.environment)),
            database=ports.database.as_role(Role.API),
            keys=ports.keys,
            environment=ports.environment,
            now=ports.clock(),
            new_id=ports.new_id,
        )

    def once(self, caller: Caller, effect: Callable[[], BaseModel]) -> Any:
        """Return what `effect` answers, or what it answered to the same `Idempotency-Key` before."""
        event = self._app.current_event.raw_event
        headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
        asked = [
            str(event["requestContext"]["http"]["method"]),
            str(event.get("rawPath", "")),
            str(event.get("rawQueryString", "")),
            str(event.get("body") or ""),
        ]
        return once(
            caller.database,
            caller.tenant,
            headers.get(HEADER.lower()),
            request_sha256=sha256("\0".join(asked).encode("utf-8", "surrogatepass")).digest(),
            now=caller.now,
            effect=lambda: effect().model_dump(mode="json", by_alias=True),
        )


def identity_rules(environment: Mapping[str, str]) -> IdentityRules:
    """Return where a deployment finds the tenant of a caller; raises `Misconfigured` when that cannot be read."""
    settings = _deployment(environment)
    return IdentityRules(
        org_claim=settings.text("api_org_claim"),
        user_claim=settings.text("api_user_claim"),
        admin_claim=settings.text("api_admin_claim"),
        iam_organization=settings.text("api_iam_organization"),
    )


def _deployment(environment: Mapping[str, str]) -> Settings:
    try:
        return resolve(environment, {})
    except InvalidInput as error:
        raise Misconfigured(str(error)) from error
