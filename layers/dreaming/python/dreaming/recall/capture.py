"""Capture: a conversation as it stands becomes one row with its words, and one vector.

Turns and words are stored at once, in one transaction. Then the chunks that are new are embedded, with no
connection held, and the vector is stored by one conditional write, which is the throttle: it holds across
processes, and a capture that failed before it has started none. What is thereby left without a vector is
due for the embedding pass.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from dreaming.beliefs.vectors.rules import check_dimension, storable
from dreaming.database import Database, Role, Transaction
from dreaming.erasure.tombstones.service import is_conversation_erased
from dreaming.errors import BudgetSpent, DreamingError, Erased, Hold, InvalidInput
from dreaming.models.protocols import Embedder
from dreaming.notes.records import Scope, SliceKey, Tenant
from dreaming.notes.store import create_slice
from dreaming.passes.calls.limits import call_limits
from dreaming.passes.calls.store import add_usage, book_call
from dreaming.passes.records import EMBEDDING, SYNTHESIS, Clock
from dreaming.passes.store import make_due
from dreaming.recall import store
from dreaming.recall.idleness import idle_at
from dreaming.recall.preparation import prepare, without_secrets
from dreaming.recall.records import (
    SOURCE,
    CaptureAnswer,
    ChunkState,
    ConversationRow,
    ConversationVector,
    IncomingConversation,
    StoredTurn,
    conversation_key,
)
from dreaming.recall.scopes import known_scope
from dreaming.recall.summary import summarize
from dreaming.recall.switch import is_on
from dreaming.recall.vectors import carried_on, pending_chunks, resumed
from dreaming.recall.words import terms
from dreaming.settings.resolution import Settings
from dreaming.settings.service import load_settings
from dreaming.settings.store import read_enrolment

MOST_CHUNKS = 64
"""How many chunks one capture embeds; the embedding pass goes on with a longer conversation."""

_PURPOSE = "capture"
"""What calls of the embedder are counted under."""

_GRACE = timedelta(minutes=1)
"""When the embedding pass looks after a capture that never came back."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A stored conversation whose vector is to be made now."""

    row: ConversationRow
    embedder: Embedder
    throttle: timedelta


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the first transaction leaves: the answer, unless a vector is to be made."""

    answer: CaptureAnswer
    wanted: _Wanted | None = None


@dataclass(frozen=True, slots=True)
class Capturing:
    """Captures conversations.

    `embedder` builds the deployment's embedder for an organization, None where embedding is off; `count`
    counts a capture that failed, by its reason, as a metric. `embed_seconds` bounds the wait for vectors.
    """

    database: Database
    environment: Mapping[str, str]
    embedder: Callable[[Settings, str], Embedder | None]
    clock: Clock
    count: Callable[[str], None]
    role: Role = field(default=Role.WORKER)
    embed_seconds: float = field(default=10.0)

    def capture(
        self, tenant: Tenant, conversation: IncomingConversation, *, scope: Scope | str = Scope.ORG
    ) -> CaptureAnswer:
        """Capture the whole of a conversation so far; whatever goes wrong is answered, never raised.

        Without the flag nothing is read, written or embedded. A conversation belongs to the user who
        captured it first, in the scope of then; another's capture is refused with `not_owner`. Of two
        captures at once the later text stays (`superseded`).
        """
        if not is_on(self.environment):
            return CaptureAnswer(captured=False, reason="off")
        pending = False
        try:
            key = slice_key(tenant, scope)
            turns = prepare(conversation.turns)
            stored = self._store(key, tenant.user_id, conversation, turns, self.clock())
            pending = stored.wanted is not None
            answer = stored.answer if stored.wanted is None else self._vector(key, stored.wanted, turns)
        except Exception as error:  # noqa: BLE001 - the chat must go on
            answer = CaptureAnswer(captured=False, reason=_reason(error), pending=pending)
            _log.warning("a conversation was not captured: %s", _safe(error))
        if not answer.captured and answer.reason not in _EXPECTED:
            self.count(answer.reason or "failed")
        return answer

    def _store(
        self,
        key: SliceKey,
        user_id: str | None,
        conversation: IncomingConversation,
        turns: Sequence[StoredTurn],
        now: datetime,
    ) -> _Stored:
        """Store turns and words, and find out whether there is a vector to make now."""
        if not turns:
            return _Stored(CaptureAnswer(captured=False, reason="empty"))
        with self.database.transaction(Tenant(key.org_id, user_id), role=self.role) as tx:
            settings = load_settings(tx, key.org_id, self.environment)
            slice_ = create_slice(tx, key)
            name = conversation.conversation_id
            row = store.open_conversation(
                tx, slice_.slice_id, conversation_key(key.org_id, name), name, user_id, now=now
            )
            if is_conversation_erased(tx, key.org_id, name):
                raise Erased("conversation_id", "was erased", "lift that first, or begin another conversation")
            if row is None or row.user_id != user_id:
                return _Stored(CaptureAnswer(captured=False, reason="not_owner"))
            if row.slice_id != slice_.slice_id:
                return _Stored(CaptureAnswer(captured=False, reason="other_scope"))
            if turns[-1].sha256 != row.turns_sha256:
                if row.turns and now < row.changed_at:
                    return _Stored(CaptureAnswer(captured=False, reason="superseded"))
                idle = idle_at(turns, settings, now=now)
                row = _write(tx, row, conversation.agent, turns, now, idle)
            else:
                idle = None
            stored = self._vector_wanted(tx, key, row, settings, now)
            if idle is not None:
                # Last of the due times: whoever waits for this one must not hold up those who want another.
                make_due(tx, row.slice_id, SYNTHESIS, idle)
            return stored

    def _vector_wanted(
        self, tx: Transaction, key: SliceKey, row: ConversationRow, settings: Settings, now: datetime
    ) -> _Stored:
        enrolment = read_enrolment(tx, key.org_id)
        if not enrolment.embedding_consent or SOURCE in enrolment.embedding_excluded_sources:
            return _Stored(CaptureAnswer(captured=True, reason="no_embedding_consent"))
        embedder = self.embedder(settings, key.org_id)
        if embedder is None:
            return _Stored(CaptureAnswer(captured=True, reason="no_embedder"))
        if not row.vector_stale and row.state is not None and row.state.model == embedder.name:
            return _Stored(CaptureAnswer(captured=True))
        throttle = timedelta(milliseconds=settings.integer("conversation_throttle_ms"))
        free_at = now if row.captured_at is None else row.captured_at + throttle
        if free_at > now:
            make_due(tx, row.slice_id, EMBEDDING, free_at)
            return _Stored(_THROTTLED)
        make_due(tx, row.slice_id, EMBEDDING, now + _GRACE)
        per_day = call_limits(settings).per_day
        if not book_call(tx, key.org_id, _PURPOSE, embedder.name, budget=per_day, now=now):
            return _Stored(CaptureAnswer(captured=False, reason=BudgetSpent.reason, pending=True))
        return _Stored(CaptureAnswer(captured=False), _Wanted(row, embedder, throttle))

    def _vector(self, key: SliceKey, wanted: _Wanted, turns: Sequence[StoredTurn]) -> CaptureAnswer:
        """Make the vector, with no connection held, and store it unless the throttle has begun meanwhile."""
        row = wanted.row
        tenant = Tenant(key.org_id, row.user_id)
        try:
            made = make_vector(row.state, turns, wanted.embedder, timeout=self.embed_seconds)
        except DreamingError:
            with self.database.transaction(tenant, role=self.role) as tx:
                add_usage(tx, key.org_id, _PURPOSE, wanted.embedder.name, day=self.clock(), failed_calls=1)
            raise
        now = self.clock()
        with self.database.transaction(tenant, role=self.role) as tx:
            check_length(tx, row.slice_id, made)
            stale = store.finish_capture(tx, row.slice_id, row.document_id, made, throttle=wanted.throttle, now=now)
            if stale is None:
                return _THROTTLED
            if stale:
                make_due(tx, row.slice_id, EMBEDDING, now + wanted.throttle)
        return CaptureAnswer(captured=True, pending=stale)


_THROTTLED = CaptureAnswer(captured=False, reason="throttled", pending=True)
_EXPECTED = frozenset({"throttled", "empty", "superseded"})


def make_vector(
    state: ChunkState | None, turns: Sequence[StoredTurn], embedder: Embedder, *, timeout: float
) -> ConversationVector:
    """Return the vector of a conversation, made of the chunks that are new since `state`.

    Raises:
        Hold: the embedder failed.
        Misconfigured: it answered another dimension than its own; both numbers are named.
        InvalidInput: it answered what is no direction: zeros, NaN, an infinity.
    """
    start = resumed(state, embedder.name, turns)
    new = turns[start.turns :]
    pending = pending_chunks(start, new, most=MOST_CHUNKS)
    vectors = embedder.embed([chunk.text for chunk in pending], timeout=timeout)
    for vector in vectors:
        check_dimension(len(vector), embedder.dimension, embedder.name)
        storable(vector)
    return carried_on(start, pending, vectors, [turn.sha256 for turn in new])


def check_length(tx: Transaction, slice_id: int, made: ConversationVector) -> None:
    """Raise `Misconfigured`, naming both numbers, for a vector of another length than those of its model."""
    expected = store.vector_length(tx, slice_id, made.model)
    if expected is not None:
        check_dimension(len(made.vector), expected, made.model)


def slice_key(tenant: Tenant, scope: Scope | str) -> SliceKey:
    """Return the slice that a conversation of this tenant and scope belongs to.

    Raises:
        InvalidInput: no such scope, or a private one without a user.
    """
    known = known_scope(tenant, scope)
    return SliceKey(tenant.org_id, known, tenant.user_id if known is Scope.PRIVATE else None)


def _write(
    tx: Transaction,
    row: ConversationRow,
    agent: str | None,
    turns: Sequence[StoredTurn],
    now: datetime,
    idle: datetime,
) -> ConversationRow:
    """Store what is new of the turns; all of them when the conversation no longer begins as it did."""
    first = row.turns
    if first and (first > len(turns) or turns[first - 1].sha256 != row.turns_sha256):
        store.forget_turns(tx, row)
        first = 0
    found = [terms(turn.written) for turn in turns[first:]]
    length = sum(one.total() for one in found) + (row.length if first else 0)
    store.append_turns(tx, row, first, turns[first:], found)
    agent = without_secrets(agent) if agent else row.agent
    said = [turn.said_at for turn in turns if turn.said_at is not None and turn.said_at <= now]
    started, last = (min(said), max(said)) if said else (now, now)
    described = store.Description(
        agent=agent,
        turns=len(turns),
        turns_sha256=turns[-1].sha256,
        length=length,
        summary=summarize(turns, agent),
        started_at=started,
        last_at=last,
        changed_at=now,
        idle_at=idle,
    )
    store.describe(tx, row, described)
    return replace(row, turns=len(turns), turns_sha256=turns[-1].sha256, length=length, vector_stale=True)


def _reason(error: BaseException) -> str:
    """Return a word for what went wrong."""
    if isinstance(error, Hold):
        return error.reason
    if isinstance(error, Erased):
        return "erased"
    if isinstance(error, InvalidInput):
        return "invalid_input"
    return "misconfigured" if isinstance(error, DreamingError) else "failed"


def _safe(error: BaseException) -> str:
    """Say what went wrong without any text of a conversation."""
    return str(error) if isinstance(error, DreamingError) else type(error).__name__
