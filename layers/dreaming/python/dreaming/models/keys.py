"""Keys of model providers, one organization at a time, never visible in logs or errors.

From the environment, the first that is set:

    DREAMING_KEY_<PROVIDER>__<ORG>   this organization only; see `variable_part` for how its id is written
    DREAMING_KEY_<PROVIDER>          every organization of the deployment
    OPENAI_API_KEY                   the usual name, for provider `openai` only
    ANTHROPIC_API_KEY                the usual name, for provider `anthropic` only

`dreaming.models.secrets_manager` reads the same names from a secret. Provider `compatible` stands for any
other OpenAI-compatible server, so that an OpenAI key is never sent to somebody else's address. Bedrock
needs no key: it takes the AWS credentials of the process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import NoReturn, Protocol

from dreaming.errors import InvalidInput, MissingKey

_ORDINARY_NAMES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class SecretKey:
    """A key whose text appears only where `reveal` is called."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        """Refuse what cannot be sent in a header; raises `InvalidInput` without naming the text."""
        text = text.strip()
        if not text or not all("!" <= character <= "~" for character in text):
            raise InvalidInput("key", "it is empty or holds spaces or unprintable characters", "set the key alone")
        self._text = text

    def reveal(self) -> str:
        """Return the key itself, for the header of a request."""
        return self._text

    def __repr__(self) -> str:
        return "SecretKey(hidden)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a SecretKey is not written anywhere")


class KeySource(Protocol):
    """Where keys are kept: the environment, or a secrets service."""

    def read(self, org_id: str, provider: str) -> str | None:
        """Return the key's text, None when there is none; raises `Hold` when the source is down."""
        ...


def variable_part(text: str) -> str:
    """Write an id as a part of a variable's name, so that two ids never share one.

    Lower-case letters and digits of ASCII become upper case; anything else becomes its code point in
    hexadecimal between underscores: `acme-eu` gives `ACME_2D_EU`, `Acme` gives `_41_CME`.
    """
    plain = "abcdefghijklmnopqrstuvwxyz0123456789"
    return "".join(letter.upper() if letter in plain else f"_{ord(letter):X}_" for letter in text)


def variable_names(org_id: str, provider: str) -> tuple[str, ...]:
    """Return the names under which a key may stand, in the order in which they are looked up."""
    general = f"DREAMING_KEY_{provider.upper()}"
    ordinary = (_ORDINARY_NAMES[provider],) if provider in _ORDINARY_NAMES else ()
    return (f"{general}__{variable_part(org_id)}", general, *ordinary)


class EnvironmentKeys:
    """Reads keys from environment variables, as this module's documentation names them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Keep the mapping itself, so that a later change is seen."""
        self._environment = environment

    def read(self, org_id: str, provider: str) -> str | None:
        """Return the first variable that is set and not blank."""
        values = (self._environment.get(name, "").strip() for name in variable_names(org_id, provider))
        return next((value for value in values if value), None)


class KeyResolver:
    """Finds an organization's key and remembers it for `time_to_live` seconds.

    At most `capacity` keys are remembered, the least recently used go first. A missing key is not
    remembered, so that a new one works at once. Safe to call from several threads.
    """

    def __init__(
        self, source: KeySource, *, clock: Callable[[], float], time_to_live: float = 300.0, capacity: int = 256
    ) -> None:
        """Take the source, and a monotonic clock in seconds."""
        self._source = source
        self._clock = clock
        self._time_to_live = time_to_live
        self._capacity = capacity
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], tuple[float, SecretKey]] = OrderedDict()

    def resolve(self, org_id: str, provider: str) -> SecretKey | None:
        """Return the key of `org_id` for `provider`, or None; raises `Hold` when the source is down."""
        now = self._clock()
        with self._lock:
            known = self._known.get((org_id, provider))
            if known and now < known[0]:
                self._known.move_to_end((org_id, provider))
                return known[1]
        text = self._source.read(org_id, provider)
        if text is None:
            return None
        key = _readable(text, provider)
        with self._lock:
            self._known[org_id, provider] = (now + self._time_to_live, key)
            self._known.move_to_end((org_id, provider))
            while len(self._known) > self._capacity:
                self._known.popitem(last=False)
        return key

    def require(self, org_id: str, provider: str) -> SecretKey:
        """Return the key of `org_id` for `provider`; raises `MissingKey` naming what to set."""
        key = self.resolve(org_id, provider)
        if key is None:
            _, *names = variable_names(org_id, provider)
            raise MissingKey(
                f"No key for provider {provider!r}: set {' or '.join(names)}, in the environment or in the "
                "deployment's secret of provider keys."
            )
        return key


def _readable(text: str, provider: str) -> SecretKey:
    try:
        return SecretKey(text)
    except InvalidInput as problem:
        raise MissingKey(f"The key for provider {provider!r} is unusable: {problem.problem}.") from None
