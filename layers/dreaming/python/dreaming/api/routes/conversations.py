"""The routes of conversations: capture one, and find past ones from a paraphrase."""

from __future__ import annotations

import logging
from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from dreaming.api.door import Door
from dreaming.api.routes.answers import InScope, answers
from dreaming.api.schemas.conversations import Captured, Conversation, Hit, Recalled
from dreaming.database import Role
from dreaming.notes.records import Scope

SearchedScope = Annotated[
    Scope | None, Query(description="Only this slice; by default the organization's and the caller's private one.")
]
Question = Annotated[
    str, Query(alias="q", min_length=1, max_length=4_000, description="What the conversation was about.")
]
Hits = Annotated[int, Query(ge=1, le=10, description="How many at most.")]

_log = logging.getLogger(__name__)


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes; what they need is imported by the first request, since no other route needs numpy."""

    @app.post(
        "/brain/conversations",
        summary="Capture a conversation",
        tags=["conversations"],
        responses=answers(Captured),
    )
    def capture(body: Annotated[Conversation, Body()], scope: InScope = Scope.ORG) -> Captured:
        """Keep the whole of a conversation so far; a repeated or a late capture changes nothing."""
        from dreaming.recall.capture import Capturing  # noqa: PLC0415 - heavy
        from dreaming.recall.records import IncomingConversation  # noqa: PLC0415

        caller = door.caller()
        capturing = Capturing(
            caller.database,
            caller.environment,
            caller.embedder,
            lambda: caller.now,
            lambda reason: _log.warning("conversation not captured", extra={"reason": reason}),
            role=Role.API,
        )
        caller.slice_key(scope)
        answer = capturing.capture(caller.tenant, IncomingConversation(**body.model_dump()), scope=scope)
        return Captured.model_validate(answer)

    @app.get(
        "/brain/recall",
        summary="Find past conversations",
        tags=["conversations"],
        responses=answers(Recalled),
    )
    def recall(q: Question, scope: SearchedScope = None, limit: Hits = 10) -> Recalled:
        """Conversations that fit a paraphrase best, each with its best passage and why."""
        from dreaming.recall.service import Recalling, marked  # noqa: PLC0415 - heavy

        caller = door.caller()
        recalling = Recalling(caller.database, caller.environment, caller.embedder, lambda: caller.now, role=Role.API)
        answer = recalling.recall(caller.tenant, q, scope=scope, limit=limit)
        return Recalled(
            conversations=tuple(Hit.model_validate(one) for one in answer.conversations),
            reason=answer.reason,
            terms_left_out=answer.terms_left_out,
            marked=marked(caller.tenant, answer),
        )
