"""What a person does to a belief: confirm, archive, restore. Each is safe to repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dreaming.beliefs import store
from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.persons import store as persons_store
from dreaming.beliefs.records import ArchiveReason, Belief, Source, SourceType
from dreaming.beliefs.service import ageing, write_changes
from dreaming.beliefs.workspace import Workspace
from dreaming.database import Database, Role, Transaction
from dreaming.errors import InvalidInput, NotFound
from dreaming.identifiers import NewId
from dreaming.notes.records import Tenant, Trust
from dreaming.settings.service import load_settings
from dreaming.settings.store import write_audit

MAX_ACTOR_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """The belief after what was asked for, and whether anything changed."""

    belief: Belief
    changed: bool


@dataclass(frozen=True, slots=True)
class _Act:
    """A belief at work, as it was found, at the moment of acting."""

    workspace: Workspace
    belief: Belief
    now: datetime
    new_id: NewId


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody of an organization who answers for beliefs; `actor` is the name kept in the audit.

    `environment` holds the deployment's settings.
    """

    database: Database
    tenant: Tenant
    actor: str
    environment: Mapping[str, str]
    role: Role = Role.API

    def __post_init__(self) -> None:
        """Refuse a person without a usable name."""
        if not 1 <= len(self.actor) <= MAX_ACTOR_LENGTH or "\0" in self.actor:
            raise InvalidInput("actor", "does not name who acts", f"use 1 to {MAX_ACTOR_LENGTH} characters")

    def confirm(self, belief_id: UUID, *, now: datetime, new_id: NewId) -> Outcome:
        """Vouch for a belief: a source of confidence 1.0 as of `now`, which restores a faded one.

        A person's later confirmation takes the place of the earlier one, so repeating it adds nothing.

        Raises:
            InvalidInput: no such belief, or it is archived for another reason than having faded.
        """
        return self._change(belief_id, "belief_confirmed", self._confirm, now=now, new_id=new_id)

    def archive(self, belief_id: UUID, *, now: datetime, new_id: NewId) -> Outcome:
        """Take a belief out of sight; claims that say the same are suppressed from then on.

        Raises:
            InvalidInput: no such belief, or it was superseded or has no source left.
        """
        return self._change(belief_id, "belief_archived", self._archive, now=now, new_id=new_id)

    def restore(self, belief_id: UUID, *, now: datetime, new_id: NewId) -> Outcome:
        """Bring back what has faded or what a person archived, with its relationships to live beliefs.

        A belief that would fade again at once is confirmed too: whoever restores it vouches for it.

        Raises:
            InvalidInput: no such belief, or it was superseded or has no source left.
        """
        return self._change(belief_id, "belief_restored", self._restore, now=now, new_id=new_id)

    def _confirm(self, act: _Act) -> bool:
        belief = act.belief
        if belief.archive_reason not in (None, ArchiveReason.FADED):
            raise _refused(belief, "restore it first, where that is possible")
        act.workspace.confirm(belief.belief_id, self._confirmation(act), {"actor": self.actor})
        return True

    def _archive(self, act: _Act) -> bool:
        belief = act.belief
        if belief.archive_reason is ArchiveReason.PERSON:
            return False
        if belief.archive_reason not in (None, ArchiveReason.FADED):
            raise _refused(belief, "it is out of sight already")
        act.workspace.archive(belief.belief_id, ArchiveReason.PERSON, {"actor": self.actor})
        return True

    def _restore(self, act: _Act) -> bool:
        belief = act.belief
        if belief.live:
            return False
        renewed = act.workspace.renew(belief.belief_id)
        if belief.archive_reason not in (ArchiveReason.PERSON, ArchiveReason.FADED) or not renewed.sources:
            raise _refused(belief, "only a belief that faded or that a person archived comes back by command")
        fades_at = renewed.fades_at
        if fades_at is not None and fades_at <= act.now:
            act.workspace.confirm(belief.belief_id, self._confirmation(act), {"actor": self.actor})
        if not act.workspace.renew(belief.belief_id).live:
            act.workspace.restore(belief.belief_id, {"actor": self.actor})
        return True

    def _confirmation(self, act: _Act) -> Source:
        belief = act.belief
        return Source(
            source_id=act.new_id(),
            source_type=SourceType.CONFIRMATION,
            origin=f"person:{self.actor}",
            trust=Trust.TRUSTED,
            occurred_at=act.now,
            sequence=0,
            statement=belief.statement,
            confidence=1.0,
            kind=belief.kind,
            importance=belief.importance,
            decay_class=belief.decay_class,
            subject=belief.subject,
            attribute=belief.attribute,
            value=belief.value,
            multi_valued=belief.multi_valued,
            valid_from=belief.valid_from,
            valid_until=belief.valid_until,
        )

    def _change(
        self,
        belief_id: UUID,
        action: str,
        change: Callable[[_Act], bool],
        *,
        now: datetime,
        new_id: NewId,
    ) -> Outcome:
        """Make the change in one transaction with its history, relationships, counters, event and audit."""
        with self._transaction() as tx:
            slice_id = persons_store.slice_of(tx, belief_id)
            if slice_id is None:
                raise _unknown(belief_id)
            ageing_store.lock(tx, slice_id)
            # Read under the lock: whoever changes the half-lives is seen by the pass that holds it next.
            settings = load_settings(tx, self.tenant.org_id, self.environment)
            loaded = store.load(tx, slice_id, [belief_id])
            if belief_id not in loaded:  # erased while this waited for the lock
                raise _unknown(belief_id)
            workspace = Workspace(loaded, ageing=ageing(settings), now=now, new_id=new_id)
            before = workspace[belief_id]
            if not change(_Act(workspace, before, now, new_id)):
                return Outcome(before, changed=False)
            write_changes(tx, slice_id, workspace.changes(), run_id=None, now=now)
            write_audit(
                tx,
                self.tenant.org_id,
                actor=self.actor,
                action=action,
                subject=str(belief_id),
                old_value=_standing(before),
                new_value=_standing(workspace[belief_id]),
                now=now,
            )
            return Outcome(workspace[belief_id], changed=True)

    def _transaction(self) -> AbstractContextManager[Transaction]:
        return self.database.transaction(self.tenant, role=self.role)


def _standing(belief: Belief) -> str:
    return belief.archive_reason.value if belief.archive_reason else "live"


def _unknown(belief_id: UUID) -> NotFound:
    return NotFound("belief_id", f"no belief has the id {belief_id}", "list the beliefs")


def _refused(belief: Belief, remedy: str) -> InvalidInput:
    return InvalidInput("belief", f"is archived as {_standing(belief)}", remedy)
