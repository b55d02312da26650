"""A brief for whoever asks, made of what is believed at that moment.

Nothing of it is stored, so it is right at once after every change: an index holds beliefs in the order of
a brief, and only as many are read as it can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from dreaming.beliefs.briefs import rules, store
from dreaming.beliefs.briefs.records import Brief
from dreaming.beliefs.service import ageing
from dreaming.database import Database, Role
from dreaming.errors import InvalidInput
from dreaming.notes.echo import mark
from dreaming.notes.records import Scope, Tenant
from dreaming.settings.resolution import Settings
from dreaming.settings.service import load_settings

_RECALL_ID = "brief"
_MARKS = len(mark("", _RECALL_ID)) + 1


def longest_brief(settings: Settings) -> int:
    """Return how many characters a brief may have."""
    return settings.integer("brief_characters")


@dataclass(frozen=True, slots=True)
class Briefing:
    """Makes briefs; `environment` holds the deployment's settings."""

    database: Database
    environment: Mapping[str, str]
    role: Role = field(default=Role.API)

    def brief(self, tenant: Tenant, *, now: datetime, scope: Scope | None = None) -> Brief:
        """Return what is believed: by the organization and, when a user asks, in their own private slice.

        With a scope, what is believed in that slice alone.

        Raises:
            InvalidInput: a private scope without a user.
            DatabaseUnavailable: no connection within the bound.
        """
        if scope is Scope.PRIVATE and not tenant.user_id:
            raise InvalidInput("user", "is missing", "a private slice has an owner: name the user")
        if scope is not None:
            scopes: tuple[Scope, ...] = (scope,)
        else:
            scopes = (Scope.ORG, Scope.PRIVATE) if tenant.user_id else (Scope.ORG,)
        with self.database.transaction(tenant, role=self.role) as tx:
            settings = load_settings(tx, tenant.org_id, self.environment)
            characters = longest_brief(settings)
            most = characters // rules.SHORTEST_LINE + 1
            lines = store.read_lines(tx, tenant, scopes, ageing(settings), now=now, most=most)
        # The marks of recalled text are within the bound, so that either form of the brief is.
        return replace(rules.compose(lines, characters=characters - _MARKS, at=now), characters=characters)


def marked(brief: Brief) -> str:
    """Return a brief for an agent's prompt, in marks that ingest and capture strip; empty when it tells nothing.

    As long as the bound at most: should a statement that imitates the marks grow by their removal, the
    last lines are left out.
    """
    lines = brief.text.split("\n")
    while len(lines) > 1:
        text = mark("\n".join(lines), _RECALL_ID)
        if len(text) <= brief.characters:
            return text
        lines.pop()
    return ""
