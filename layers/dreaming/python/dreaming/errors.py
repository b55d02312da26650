"""The one tree of errors; the class decides what becomes of the work at hand.

`Hold`: the infrastructure failed. No attempt is consumed, the cursor stays, the next tick goes on.
`RetireNote`: this note failed. It costs the note one attempt; the third retires it.
`RejectClaim`: one claim of an answer is not acceptable. It is dropped and counted.
`Misconfigured`: a person must change something before anything can run.
`InvalidInput`: the caller sent something we refuse at the door; nothing was stored.
"""

from __future__ import annotations


class DreamingError(Exception):
    """Base of every error that this package raises on purpose."""


class Hold(DreamingError):
    """Infrastructure failed; `reason` is a short machine word kept on the cursor."""

    reason = "unavailable"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """Keep what went wrong and, in seconds, how long the provider asked us to wait."""
        super().__init__(message)
        self.retry_after = retry_after


class Throttled(Hold):
    """The provider answered 429 or its equivalent."""

    reason = "throttled"


class ProviderUnavailable(Hold):
    """The provider could not be reached, or answered 5xx."""

    reason = "provider_unavailable"


class UnusableVector(ProviderUnavailable):
    """The embedder answered a vector that is no direction; the same text may well get it again."""


class MissingKey(Hold):
    """The organization has no key for the provider, or the provider refused the one it has."""

    reason = "missing_key"


class ProviderMisconfigured(Hold):
    """The provider refuses every call of this kind: unknown model, unknown address, invalid request."""

    reason = "provider_misconfigured"


class RefusedText(ProviderMisconfigured):
    """The embedder refuses the request as it stands: one of its texts, or all that it is ever sent."""


class BudgetSpent(Hold):
    """The organization's budget of model calls for the day is used up."""

    reason = "budget_spent"


class DatabaseUnavailable(Hold):
    """The database cannot be reached or is waking up."""

    reason = "database_unavailable"


class DatabaseConflict(DatabaseUnavailable):
    """The database gave up a transaction for another one's sake; the same one again may well succeed."""


class RetireNote(DreamingError):
    """A note's own failure; three of them retire the note."""

    reason = "failed"


class MalformedAnswer(RetireNote):
    """The model's answer holds no claims in any accepted form."""

    reason = "malformed"


class RefusedAnswer(RetireNote):
    """The model or its content filter refused the note."""

    reason = "refused"


class ModelTimeout(RetireNote):
    """The model did not answer in time."""

    reason = "timeout"


class CallCapReached(RetireNote):
    """The note used up the model calls that one note may cost."""

    reason = "call_cap"


class RejectClaim(DreamingError):
    """One claim is not acceptable; `rule` names the check that failed, for the counters."""

    def __init__(self, rule: str, message: str) -> None:
        """Keep the failed rule beside a sentence without any note text."""
        super().__init__(message)
        self.rule = rule


class Misconfigured(DreamingError):
    """The deployment lacks something that a person must supply; the message says what to do."""


class InvalidInput(DreamingError):
    """Refused at the door: names the field, what is wrong with the value, and the remedy."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        """Build the sentence `field: problem; remedy`."""
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


class Erased(InvalidInput):
    """The organization was erased: nothing is taken in for it until a person lifts that."""


class NotFound(InvalidInput):
    """What the caller names is not there, or not theirs to see; the two are never told apart."""
