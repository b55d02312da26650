"""How long a fuzz test goes on, what it counts as a hang, and the hostile texts that all of them draw from.

Without `DREAMING_FUZZ_MINUTES` each test tries a fixed set of examples, the same in every run. With it each
goes on with new ones for so many minutes, and says how many it tried.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

MINUTES = float(os.environ.get("DREAMING_FUZZ_MINUTES", "0"))

HANG_SECONDS = 60.0
"""An example that takes longer than this hangs, however loaded the machine is."""

_Check = TypeVar("_Check", bound=Callable[..., Any])


class Hang(AssertionError):
    """An example took longer than any may."""


def fuzzed(examples: int = 100) -> Callable[[_Check], _Check]:
    """Settings of a fuzz test: `examples` in a short run, and as many at a time in a long one."""
    return settings(
        max_examples=examples if not MINUTES else max(examples, 500),
        derandomize=not MINUTES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def keep_going(check: Callable[[], Any], name: str) -> None:
    """Run a check once, and again until the minutes are over."""
    until = monotonic() + 60 * MINUTES
    rounds = 0
    while rounds == 0 or monotonic() < until:
        check()
        rounds += 1
    print(f"\nfuzz {name}: {rounds} rounds in {MINUTES:g} minutes")  # noqa: T201


@contextmanager
def no_hang(seconds: float = HANG_SECONDS) -> Iterator[None]:
    """Raise `Hang` within the block when it takes too long."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Hang(f"still at work after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def any_text(most: int = 60) -> st.SearchStrategy[str]:
    """Text of any code points, lone surrogates, controls and unassigned ones too."""
    return st.text(st.characters(exclude_categories=()), max_size=most)


NASTY = (
    *("\x00", "\ud800", "\udfff", "\u200b", "\u202e", "\u2066", "\u2028", "\x85", "\ufeff", "\u0301" * 40, "\u00ad"),
    *("İ", "ß", "ﬁ", "\u3164", "𝔸", "👩‍👩‍👧", "密码是", "كلمة", "\r\n", "\r", "\x1b[31m", "\U0010ffff", "█" * 7),
)


def mosaic(tokens: Sequence[str], *, most: int = 25, longest_run: int = 2_000) -> st.SearchStrategy[str]:
    """Text put together from `tokens`, some repeated many times, nasty characters and any text."""
    token = st.sampled_from((*tokens, *NASTY))
    run = st.builds(lambda one, times: one * times, token, st.integers(2, longest_run))
    return st.lists(st.one_of(token, token, token, any_text(), run), max_size=most).map("".join)


def mosaic_bytes(tokens: Sequence[bytes], *, most: int = 25, longest_run: int = 500) -> st.SearchStrategy[bytes]:
    """Bytes put together from `tokens`, some repeated many times, text in several encodings and any bytes."""
    token = st.sampled_from(tuple(tokens))
    run = st.builds(lambda one, times: one * times, token, st.integers(2, longest_run))
    encoded = st.builds(
        lambda text, encoding: text.encode(encoding, "replace"),
        any_text(),
        st.sampled_from(("utf-8", "utf-16", "latin-1", "cp1252", "shift_jis", "utf-7")),
    )
    return st.lists(st.one_of(token, token, token, st.binary(max_size=40), encoded, run), max_size=most).map(b"".join)
