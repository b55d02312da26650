"""Erasing notes, an owner's data and organizations, safe to repeat and to interrupt.

Each transaction is of one slice and leaves it whole. A slice of many rows goes in several transactions,
each of so many rows; its runs end with the first, so a batch at work commits nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_bytes
from typing import TypeVar
from uuid import UUID

from dreaming.beliefs.service import ageing
from dreaming.database import Database, Role, Transaction
from dreaming.erasure import store
from dreaming.erasure.catalogue import store as catalogue_store
from dreaming.erasure.catalogue.rules import of_organizations, of_slices
from dreaming.erasure.export.rules import names_of_owner
from dreaming.erasure.records import Erased
from dreaming.erasure.tombstones import service as tombstones
from dreaming.erasure.tombstones import store as tombstones_store
from dreaming.erasure.tombstones.rules import (
    KEY_BYTES,
    name_of_conversation,
    name_of_note,
    name_of_organization,
    pseudonym,
)
from dreaming.erasure.wording.service import Erasing, erase_conversations, erase_notes
from dreaming.errors import DatabaseConflict, InvalidInput
from dreaming.identifiers import NewId
from dreaming.notes.records import Scope, Slice, SliceKey, Tenant
from dreaming.notes.store import find_slice
from dreaming.settings.resolution import resolve
from dreaming.settings.service import load_settings
from dreaming.settings.store import write_audit

T = TypeVar("T")

ROWS = 5_000
"""How many rows of a table one transaction deletes of a slice that has more."""

NOTES = 200
"""How many notes one transaction erases by name."""

CONVERSATIONS = 20
"""How many conversations one transaction erases for their owner."""

BLANK = "(erased)"
"""What stands for the summary of an action in an erased conversation."""

TRIES = 5
"""How often a transaction is begun that the database gave up for another one's sake."""

KEPT = frozenset({"usage", "erasure_keys", "tombstones"})
"""Tables of which nothing goes with an organization: counts, and what keeps the rest out."""


def _no_progress(_rows: int) -> None:
    """Nobody watches."""


def _enough_time() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Eraser:
    """Erases for one organization; `actor` is the name kept in the audit.

    `on_progress` hears after each transaction how many rows it deleted; `may_go_on` is asked between two, and
    when it says no the answer is not `complete`. `new_key` makes 32 random bytes.
    """

    database: Database
    environment: Mapping[str, str]
    actor: str
    clock: Callable[[], datetime]
    new_id: NewId
    on_progress: Callable[[int], None] = _no_progress
    may_go_on: Callable[[], bool] = _enough_time
    new_key: Callable[[], bytes] = field(default=lambda: token_bytes(KEY_BYTES))
    rows: int = ROWS

    def notes(self, tenant: Tenant, note_ids: Sequence[UUID], *, scopes: Sequence[Scope] = tuple(Scope)) -> Erased:
        """Erase notes by their ids, wherever the tenant sees them; unknown ids are left alone.

        `scopes`: where they may be; one elsewhere is as unknown.
        """
        with self._transaction(tenant) as tx:
            found = store.slices_of_notes(tx, tenant.org_id, note_ids)
        total = Erased()
        for slice_, ids in found.items():
            if slice_.key.scope not in scopes:
                continue
            for first in range(0, len(ids), NOTES):
                if not self._goes_on(total):
                    return total
                chosen = ids[first : first + NOTES]
                self._add(total, self._in_slice(slice_, lambda work, chosen=chosen: self._notes(work, chosen)))  # type: ignore[misc]
        return total

    def owner(self, tenant: Tenant) -> Erased:
        """Erase what is held on the tenant's user.

        The private slice whole; conversations that the user captured into shared slices, with the notes
        made of them; what agents did in those; the user's name where records say who acted. Notes of the
        organization that name the user as an author are the organization's.
        """
        user_id = str(tenant.user_id)
        with self._transaction(tenant) as tx:
            own = find_slice(tx, SliceKey(tenant.org_id, Scope.PRIVATE, user_id))
            shared = [one for one in store.slices_of_organization(tx, tenant.org_id) if one.key.scope != "private"]
        total = Erased()
        if own is not None:
            total.add(self._slice(own, tombs=True))
        for slice_ in shared:
            total.add(self._captured(slice_, user_id))
        if total.complete:
            self._add(total, self._rename(tenant, user_id, shared))
        return total

    def organization(self, org_id: str) -> Erased:
        """Erase everything of an organization and let nothing of it in until that is lifted.

        Counts of calls stay, and one entry of the audit that says so.
        """
        total = self._retried(lambda: self._close(org_id))
        with self._transaction(Tenant(org_id)) as tx:
            slices = store.slices_of_organization(tx, org_id)
        for slice_ in slices:
            total.add(self._slice(slice_, tombs=False))
            if not total.complete:
                return total
        while total.complete:
            erased, more = self._retried(lambda: self._organization_rows(org_id))
            self._add(total, erased)
            if not more:
                break
            self._goes_on(total)
        return total

    def lift_notes(self, key: SliceKey, source: str, external_ids: Sequence[str]) -> int:
        """Let erased notes come in again; return how many were kept out."""
        return self._lift(key.tenant, lambda found: [name_of_note(found, key, source, name) for name in external_ids])

    def lift_conversations(self, tenant: Tenant, external_ids: Sequence[str]) -> int:
        """Let erased conversations be captured again; return how many were kept out."""
        return self._lift(tenant, lambda found: [name_of_conversation(found, name) for name in external_ids])

    def lift_organization(self, org_id: str) -> bool:
        """Let an erased organization in again; it must be enrolled anew. False when it was not kept out."""
        return bool(self._lift(Tenant(org_id), lambda found: [name_of_organization(found, org_id)]))

    def _notes(self, work: Erasing, note_ids: Sequence[UUID]) -> Erased:
        store.fence(work.tx, work.slice_id, now=work.now)
        erased = erase_notes(work, note_ids)
        if erased.deleted["notes"] or erased.deleted["conversations"]:
            self._finish(work.tx, work.slice.key.org_id, erased, "notes_erased", str(work.slice_id), work.now)
        return erased

    def _captured(self, slice_: Slice, user_id: str) -> Erased:
        """Erase the conversations of one user in a slice that others share."""
        total = Erased()
        while self._goes_on(total):
            erased = self._in_slice(slice_, lambda work: self._some_captured(work, user_id))
            self._add(total, erased)
            if not erased.deleted["conversations"]:
                break
        return total

    def _some_captured(self, work: Erasing, user_id: str) -> Erased:
        documents = store.next_conversations(work.tx, work.slice_id, user_id, CONVERSATIONS)
        if not documents:
            return Erased()
        store.fence(work.tx, work.slice_id, now=work.now)
        erased = erase_conversations(work, documents)
        erased.deleted += store.blank_actions(work.tx, work.slice.key.org_id, list(documents.values()), BLANK)
        self._finish(work.tx, work.slice.key.org_id, erased, "conversations_erased", str(work.slice_id), work.now)
        return erased

    def _slice(self, slice_: Slice, *, tombs: bool) -> Erased:
        """Erase a slice with everything in it; `tombs` keeps its notes and conversations out one by one."""
        total = Erased()
        while self._goes_on(total):
            erased, more = self._retried(lambda: self._some_of_slice(slice_, tombs=tombs))
            self._add(total, erased)
            if not more:
                break
        return total

    def _some_of_slice(self, slice_: Slice, *, tombs: bool) -> tuple[Erased, bool]:
        """Delete rows of the first table that has many, or all that is left; return whether there is more."""
        with self._work(slice_) as work:
            if work is None:
                return Erased(), False
            store.fence(work.tx, work.slice_id, now=work.now)
            tables = of_slices(work.catalogue)
            large = (
                name
                for name in tables
                if catalogue_store.has_more_than(work.tx, name, "slice_id", slice_.slice_id, self.rows)
            )
            first = next(large, None)
            limit = None if first is None else self.rows
            erased = Erased()
            for name in tables if first is None else [first]:
                self._empty(work, name, limit, erased, tombs=tombs)
            if first is not None:
                return erased, True
            erased.deleted["slices"] += store.delete_slice(work.tx, slice_.slice_id)
            self._finish(work.tx, slice_.key.org_id, erased, "slice_erased", str(slice_.slice_id), work.now)
            return erased, False

    def _empty(self, work: Erasing, table: str, limit: int | None, erased: Erased, *, tombs: bool) -> None:
        tx, slice_id, org_id = work.tx, work.slice_id, work.slice.key.org_id
        if table == "conversations":
            documents = store.next_conversations(tx, slice_id, None, limit)
            if tombs:
                erased.tombstones += tombstones.bury_conversations(
                    tx, work.graveyard, org_id, documents.values(), now=work.now
                )
                erased.deleted += store.blank_actions(tx, org_id, list(documents.values()), BLANK)
            erased.add(work.delete(table, "document_id", documents))
        elif table == "notes" and tombs:
            names = store.next_notes(tx, slice_id, limit)
            erased.tombstones += tombstones.bury_notes(tx, work.graveyard, work.slice.key, names.values(), now=work.now)
            erased.add(work.delete(table, "note_id", names))
        else:
            erased.deleted[table] += catalogue_store.delete_some(tx, table, "slice_id", slice_id, limit)

    def _close(self, org_id: str) -> Erased:
        with self._transaction(Tenant(org_id)) as tx:
            now = self.clock()
            graveyard = tombstones.open_graveyard(tx, org_id, self.new_key, now=now)
            tombstones.close_organization(tx, graveyard, org_id, now=now)
            store.unenrol(tx, org_id, now=now)
        return Erased(tombstones=0 if graveyard.closed else 1)

    def _organization_rows(self, org_id: str) -> tuple[Erased, bool]:
        with self._transaction(Tenant(org_id)) as tx:
            erased = Erased()
            tables = [name for name in of_organizations(catalogue_store.read(tx)) if name not in KEPT]
            for name in tables:
                if catalogue_store.has_more_than(tx, name, "org_id", org_id, self.rows):
                    erased.deleted[name] += catalogue_store.delete_some(tx, name, "org_id", org_id, self.rows)
                    return erased, True
            for name in tables:
                if name == "audit":
                    erased.deleted[name] += store.delete_audit(tx, org_id)
                else:
                    erased.deleted[name] += catalogue_store.delete_some(tx, name, "org_id", org_id, None)
            if erased.deleted.total():
                self._finish(tx, org_id, erased, store.ORGANIZATION_ERASED, "organization", self.clock())
            return erased, False

    def _rename(self, tenant: Tenant, user_id: str, shared: Sequence[Slice]) -> Erased:
        """Let no record name the erased owner; one transaction for the organization, and one for each slice."""
        names = names_of_owner(user_id)
        total = Erased()
        with self._transaction(tenant) as tx:
            now = self.clock()
            graveyard = tombstones.open_graveyard(tx, tenant.org_id, self.new_key, now=now)
            known_as = pseudonym(graveyard.key, user_id)
            total.rewritten += store.rename_in_records(tx, tenant.org_id, names, known_as)
            total.deleted["idempotency_keys"] += store.forget_answers(tx, tenant.org_id, user_id)
        for slice_ in shared:
            with self._transaction(tenant) as tx:
                total.rewritten += Counter(store.rename_in_slice(tx, slice_.slice_id, names, known_as))
        return total

    def _finish(self, tx: Transaction, org_id: str, erased: Erased, action: str, subject: str, now: datetime) -> None:
        """Forget the answers to posts, and say in the audit that something was erased, and how much."""
        erased.deleted["idempotency_keys"] += store.forget_answers(tx, org_id, None)
        write_audit(
            tx, org_id, actor=self.actor, action=action, subject=subject, old_value=None, new_value=dict(erased.counts),
            now=now,
        )  # fmt: skip

    def _lift(self, tenant: Tenant, names: Callable[[bytes], list[bytes]]) -> int:
        with self._transaction(tenant) as tx:
            found = tombstones_store.read(tx, tenant.org_id)
            if found is None:
                return 0
            lifted = tombstones_store.remove(tx, tenant.org_id, names(found.key))
            if lifted:
                now = self.clock()
                write_audit(
                    tx, tenant.org_id, actor=self.actor, action="erasure_lifted", subject="tombstones",
                    old_value=None, new_value={"tombstones": lifted}, now=now,
                )  # fmt: skip
        return lifted

    def _in_slice(self, slice_: Slice, effect: Callable[[Erasing], Erased]) -> Erased:
        def once() -> Erased:
            with self._work(slice_) as work:
                return Erased() if work is None else effect(work)

        return self._retried(once)

    @contextmanager
    def _work(self, slice_: Slice) -> Iterator[Erasing | None]:
        """Open the slice in one transaction, locked; None when it is gone."""
        now = self.clock()
        with self._transaction(slice_.key.tenant) as tx:
            try:
                settings = load_settings(tx, slice_.key.org_id, self.environment)
            except InvalidInput:
                # A setting that nobody can read must not stand in the way; the decay pass computes anew.
                settings = resolve(self.environment, {})
            graveyard = tombstones.open_graveyard(tx, slice_.key.org_id, self.new_key, now=now)
            work = Erasing(
                tx, slice_, catalogue_store.read(tx), graveyard, ageing(settings), now=now, new_id=self.new_id
            )
            yield work if work.lock() else None

    @contextmanager
    def _transaction(self, tenant: Tenant) -> Iterator[Transaction]:
        with self.database.transaction(tenant, role=Role.ERASER) as tx:
            yield tx

    def _retried(self, effect: Callable[[], T]) -> T:
        for _ in range(TRIES - 1):
            try:
                return effect()
            except DatabaseConflict:
                continue
        return effect()

    def _goes_on(self, total: Erased) -> bool:
        if total.complete and not self.may_go_on():
            total.complete = False
        return total.complete

    def _add(self, total: Erased, erased: Erased) -> None:
        """Add what one transaction came to, and tell who watches."""
        total.add(erased)
        self.on_progress(erased.deleted.total())
