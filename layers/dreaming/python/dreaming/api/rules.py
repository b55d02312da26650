"""How a belief is explained: its arithmetic, and its quote in context. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from dreaming.api.records import Arithmetic
from dreaming.beliefs.records import Belief, Source
from dreaming.beliefs.rules import CORROBORATION_STEP, Ageing, aged, corroborations, fold, most_confidence

_DAY = timedelta(days=1)


def arithmetic(belief: Belief, sources: Iterable[Source], ageing: Ageing, now: datetime) -> Arithmetic | None:
    """Spell out a belief's confidence from its live sources; None when there is none."""
    live = list(sources)
    folded = fold(live)
    # As if all had one origin: what remains of the fold is the base.
    base = fold(replace(source, origin="") for source in live)
    if folded is None or base is None:
        return None
    half_life = ageing.half_life(folded.decay_class)
    return Arithmetic(
        base=base.confidence,
        step=CORROBORATION_STEP,
        corroborations=corroborations(live),
        most=most_confidence(folded.trust),
        confidence=folded.confidence,
        confirmed_at=folded.confirmed_at,
        half_life_days=None if half_life is None else half_life / _DAY,
        age_days=max(0.0, (now - folded.confirmed_at) / _DAY),
        aged=aged(folded.confidence, folded.confirmed_at, half_life, now),
        fades_at=belief.fades_at,
    )


def context_before(text: str, *, cut: bool) -> str:
    """Drop the first, possibly half, word of what stands before a quote when it was `cut` from more."""
    return _ellipsis(text, text.find(" ") + 1, None) if cut else text


def context_after(text: str, *, cut: bool) -> str:
    """Drop the last, possibly half, word of what stands after a quote when it was `cut` from more."""
    return _ellipsis(text, None, text.rfind(" ")) if cut else text


def _ellipsis(text: str, start: int | None, end: int | None) -> str:
    if start is not None:
        return "…" + text[start:]
    return (text if end is None or end < 0 else text[:end]) + "…"
