"""What all bodies have in common."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

WITHOUT_NUL = r"^[^\x00]*$"
"""The pattern of names: PostgreSQL keeps every character but NUL."""

Name = Annotated[str, Field(pattern=WITHOUT_NUL)]
"""A text by which something is found again."""

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*", re.ASCII | re.DOTALL)


def _written_out(value: object) -> object:
    if isinstance(value, datetime) or value is None or (isinstance(value, str) and _RFC_3339.fullmatch(value)):
        return value
    raise ValueError("write a time as RFC 3339 has it, such as 2026-06-01T12:00:00Z")


Moment = Annotated[AwareDatetime, BeforeValidator(_written_out)]
"""A time as RFC 3339 writes it; a number of seconds is none."""


class Schema(BaseModel):
    """A body whose unknown fields are refused, and which can be read from a record."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)
