"""Beliefs that cannot both hold, and what a person says of them."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from dreaming.api.schemas.beliefs import BeliefWhy
from dreaming.api.schemas.schema import Schema


class Conflict(Schema):
    """A pair for a person: incompatible within too small a margin, or, without a relation, still open."""

    left: BeliefWhy
    right: BeliefWhy
    relation: str | None
    reason: str


class Conflicts(Schema):
    """Pairs for a person; those in review come first, then those that are open."""

    conflicts: tuple[Conflict, ...]
    next_cursor: str | None


class Resolution(Schema):
    """What a person says of two beliefs: one holds, both do, or they are one."""

    left_id: UUID
    right_id: UUID
    keep: Literal["left", "right", "both", "merge"]


class Resolved(Schema):
    """What was kept."""

    left_id: UUID
    right_id: UUID
    keep: Literal["left", "right", "both", "merge"]


class TwoBeliefs(Schema):
    """Two beliefs that were one."""

    belief_id: UUID
    other_belief_id: UUID
