"""What a setting is, and what an organization agrees to. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChangedBy(StrEnum):
    """Who may change a setting: the deployment's environment only, or each organization too."""

    DEPLOYMENT = "deployment"
    ORGANIZATION = "organization"


class AuditKind(StrEnum):
    """What a recorded change was about: settings and consents, beliefs that a person acted on, or erasure."""

    SETTINGS = "settings"
    BELIEFS = "beliefs"
    ERASURE = "erasure"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `minimum` and `maximum` are inclusive; `reader` is the module that acts on it."""

    name: str
    type: type[bool] | type[int] | type[float] | type[str]
    default: bool | int | float | str
    changed_by: ChangedBy
    reader: str
    sentence: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def environment(self) -> str:
        """The environment variable that sets the deployment's default."""
        return f"DREAMING_{self.name.upper()}"

    @property
    def aliases(self) -> tuple[str, ...]:
        """Older environment names that still work."""
        return (f"QUOXDREAM_{self.name.upper()}", f"QM_LTM_{self.name.upper()}")


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What an organization has agreed to; one that has said nothing has agreed to nothing.

    `model_consent` allows its text to be sent to the chat model, `embedding_consent` to the
    embedder, except text of the sources named in `embedding_excluded_sources`.
    """

    enrolled: bool = False
    model_consent: bool = False
    embedding_consent: bool = False
    embedding_excluded_sources: tuple[str, ...] = ()
