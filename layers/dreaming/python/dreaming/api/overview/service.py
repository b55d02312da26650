"""Reads the overview, each answer from one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dreaming.api.overview import store
from dreaming.api.overview.records import MAX_DAYS, BeliefGroup, Timeline
from dreaming.beliefs.service import ageing
from dreaming.database import Database, Role
from dreaming.errors import InvalidInput
from dreaming.notes import store as notes_store
from dreaming.notes.records import SliceKey, Tenant
from dreaming.settings.service import load_settings


@dataclass(frozen=True, slots=True)
class Overview:
    """Looks over a tenant's slices at one moment; `environment` holds the deployment's settings."""

    database: Database
    tenant: Tenant
    environment: Mapping[str, str]
    now: datetime

    def timeline(self, *, days: int) -> Timeline:
        """Return the runs of the last `days` UTC days, today among them, and what is held now.

        Raises:
            InvalidInput: fewer than one day, or more than a year.
        """
        if not 1 <= days <= MAX_DAYS:
            raise InvalidInput("days", f"is {days}", f"use 1 to {MAX_DAYS}")
        last = self.now.astimezone(UTC).date()
        first = last - timedelta(days=days - 1)
        with self.database.transaction(self.tenant, role=Role.API) as tx:
            return Timeline(
                first,
                last,
                tuple(store.pass_days(tx, self.tenant, first, last)),
                tuple(store.held_passes(tx, self.tenant)),
            )

    def belief_groups(self, key: SliceKey) -> list[BeliefGroup]:
        """Count a slice's live beliefs by kind, confidence and age; the cost grows with the beliefs."""
        with self.database.transaction(self.tenant, role=Role.API) as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return []
            settings = load_settings(tx, self.tenant.org_id, self.environment)
            return store.belief_groups(tx, found.slice_id, ageing(settings), now=self.now)
