"""Recall: past conversations found again from a paraphrase, and why each was found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dreaming.beliefs.vectors.rules import check_dimension, storable
from dreaming.database import Database, Role, Transaction
from dreaming.errors import BudgetSpent, Hold, InvalidInput, Misconfigured
from dreaming.models.protocols import Embedder
from dreaming.notes.cleaning import clean, is_empty
from dreaming.notes.echo import mark
from dreaming.notes.records import Scope, Tenant
from dreaming.passes.calls.limits import call_limits
from dreaming.passes.calls.store import add_usage, book_call
from dreaming.passes.records import Clock
from dreaming.recall import rules
from dreaming.recall.index import store
from dreaming.recall.passages import best_part
from dreaming.recall.preparation import without_secrets
from dreaming.recall.records import SOURCE, RecallAnswer, RecalledConversation, RecalledPassage, conversation_key
from dreaming.recall.rules import MOST_HITS, Ranked
from dreaming.recall.scopes import known_scope
from dreaming.recall.switch import is_on
from dreaming.recall.words import query_terms
from dreaming.settings.resolution import Settings
from dreaming.settings.service import load_organization

MAX_QUERY_CHARACTERS = 4_000
"""Longest query."""

NOT_EMBEDDED_YET = "not_embedded_yet"
"""The reason of an answer by words alone where no conversation searched has a vector yet."""

_PURPOSE = "recall"
"""What calls of the embedder are counted under."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked, of which slices, and who turns it into a vector; `reason` says why nobody does."""

    query: str
    slices: Sequence[int]
    lexical_weight: float
    embedder: Embedder | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Recalling:
    """Finds conversations.

    `embedder` builds the deployment's embedder for an organization, None where embedding is off.
    `embed_seconds` bounds the wait for the query's vector.
    """

    database: Database
    environment: Mapping[str, str]
    embedder: Callable[[Settings, str], Embedder | None]
    clock: Clock
    role: Role = field(default=Role.WORKER)
    embed_seconds: float = field(default=5.0)

    def recall(
        self, tenant: Tenant, query: str, *, scope: Scope | str | None = None, limit: int = MOST_HITS
    ) -> RecallAnswer:
        """Return the conversations that fit the query best, at most 10.

        Without a scope those of the organization are searched and, when a user asks, the user's own
        private ones. Where the query gets no vector, or no conversation has one yet, words alone decide and
        the answer's reason says why.
        Without the flag nothing is read or embedded.

        Raises:
            InvalidInput: no such scope, a private one without a user, an empty or overlong query, a limit
                outside 1..10, or a setting that cannot be read.
            DatabaseUnavailable: no connection within the bound.
        """
        scopes = searched_scopes(tenant, scope)
        query = without_secrets(_checked(query, limit))
        if not is_on(self.environment):
            return RecallAnswer((), reason="off")
        with self.database.transaction(tenant, role=self.role) as tx:
            question = self._ask(tx, tenant, query, scopes)
            embedder = question.embedder
            if embedder is None:
                return _search(tx, question, None, question.reason, limit)
        vector, reason = self._vector(query, embedder)
        with self.database.transaction(tenant, role=self.role) as tx:
            answer = _search(tx, question, vector, reason, limit)
            if vector is None:  # last, since other recalls wait for this row
                add_usage(tx, tenant.org_id, _PURPOSE, embedder.name, day=self.clock(), failed_calls=1)
        return answer

    def _ask(self, tx: Transaction, tenant: Tenant, query: str, scopes: Sequence[Scope]) -> _Question:
        settings, enrolment = load_organization(tx, tenant.org_id, self.environment)
        slices = store.visible_slices(tx, tenant.org_id, tenant.user_id, scopes)
        asked = _Question(query, slices, lexical_weight(settings))
        if not enrolment.embedding_consent or SOURCE in enrolment.embedding_excluded_sources:
            return replace(asked, reason="no_embedding_consent")
        embedder = self.embedder(settings, tenant.org_id)
        if embedder is None:
            return replace(asked, reason="no_embedder")
        if not slices or asked.lexical_weight >= 1:
            return asked
        per_day = call_limits(settings).per_day
        if not book_call(tx, tenant.org_id, _PURPOSE, embedder.name, budget=per_day, now=self.clock()):
            return replace(asked, reason=BudgetSpent.reason)
        return replace(asked, embedder=embedder)

    def _vector(self, query: str, embedder: Embedder) -> tuple[NDArray[np.float32] | None, str | None]:
        """Return the query's vector, made with no connection held, or why there is none."""
        try:
            vector: NDArray[np.float32] = embedder.embed([query], timeout=self.embed_seconds)[0]
            check_dimension(len(vector), embedder.dimension, embedder.name)
            storable(vector)
        except (Hold, Misconfigured, InvalidInput) as error:
            _log.warning("a recall compares words only: %s", error)
            return None, error.reason if isinstance(error, Hold) else "misconfigured"
        return vector, None


def lexical_weight(settings: Settings) -> float:
    """Return how much words count against vectors, from 0 to 1."""
    return settings.number("recall_lexical_weight")


def searched_scopes(tenant: Tenant, scope: Scope | str | None) -> tuple[Scope, ...]:
    """Return the scopes that a recall reads: the one named, else the organization's and the user's own.

    Raises:
        InvalidInput: no such scope, or a private one without a user.
    """
    if scope is None:
        return (Scope.ORG, Scope.PRIVATE) if tenant.user_id else (Scope.ORG,)
    return (known_scope(tenant, scope),)


def marked(tenant: Tenant, answer: RecallAnswer) -> str:
    """Return the hits as text for an agent, each in marks that ingest and capture strip, so that none comes back."""
    return "\n\n".join(
        mark(_told(one), f"conversation:{conversation_key(tenant.org_id, one.conversation_id).hex()[:16]}")
        for one in answer.conversations
    )


def _told(one: RecalledConversation) -> str:
    lines = [f"Recalled from the conversation {one.conversation_id} of {one.last_at.date().isoformat()}."]
    if one.passage is not None:
        speaker = f"{one.passage.speaker}: " if one.passage.speaker else ""
        lines.append(f"{speaker}{one.passage.text}")
    said = " ".join(lines[-1].split())
    return "\n".join([*lines, *(line for line in one.summary.split("\n") if not _repeats(line, said))])


def _repeats(line: str, said: str) -> bool:
    """Whether a line of a summary, cut or not, says again what was told just before."""
    return said == line or (line.endswith("…") and said.startswith(line[:-1]))


def _checked(query: str, limit: int) -> str:
    query = clean(query)
    if is_empty(query):
        raise InvalidInput("query", "is empty", "say what to look for")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput("query", f"has {len(query):,} characters", f"use at most {MAX_QUERY_CHARACTERS:,}")
    if not 1 <= limit <= MOST_HITS:
        raise InvalidInput("limit", f"is {limit}", f"use 1 to {MOST_HITS}")
    return query


def _search(
    tx: Transaction, question: _Question, vector: NDArray[np.float32] | None, reason: str | None, limit: int
) -> RecallAnswer:
    if not question.slices:
        return RecallAnswer((), reason)
    model = question.embedder.name if question.embedder else None
    documents = store.read_documents(tx, question.slices, vector, model)
    asked = query_terms(question.query)
    looked_up = asked
    if len(asked) > rules.FEW_TERMS and len(asked) * len(documents.ids) > rules.MOST_POSTINGS:
        looked_up = rules.rarest(store.count_postings(tx, question.slices, asked), most=rules.MOST_POSTINGS)
    postings = store.read_postings(tx, question.slices, looked_up)
    lexical = rules.bm25(postings, documents.ids, documents.lengths)
    if vector is not None and len(documents.ids) and np.isnan(documents.likeness).all():
        reason = NOT_EMBEDDED_YET
    ranked = rules.rank(documents.ids, lexical, documents.likeness, lexical_weight=question.lexical_weight, limit=limit)
    weights = {term: rules.idf(len(found.documents), len(documents.ids)) for term, found in postings.items()}
    return RecallAnswer(_hits(tx, question.slices, ranked, weights), reason, len(asked) - len(looked_up))


def _hits(
    tx: Transaction, slices: Sequence[int], ranked: Sequence[Ranked], weights: Mapping[int, float]
) -> tuple[RecalledConversation, ...]:
    found = [one.document for one in ranked]
    if not found:
        return ()
    rows = store.read_hits(tx, slices, found, weights)
    return tuple(
        RecalledConversation(
            conversation_id=row.conversation_id,
            scope=Scope(row.scope),
            user_id=row.user_id,
            agent=row.agent,
            turns=row.turns,
            started_at=row.started_at,
            last_at=row.last_at,
            score=one.score,
            lexical=one.lexical,
            likeness=one.likeness,
            passage=_passage(row, weights),
            summary=row.summary,
        )
        for one in ranked
        if (row := rows.get(one.document)) is not None
    )


def _passage(row: store.HitRow, weights: Mapping[int, float]) -> RecalledPassage | None:
    if row.position is None or row.text is None:
        return None
    return RecalledPassage(row.speaker, best_part(row.text, weights), row.said_at, row.position)
