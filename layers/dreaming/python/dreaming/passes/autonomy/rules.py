"""From a judge's answer to flags: strictly one JSON object with the four keys, or it is unreadable."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

from dreaming.autonomy.records import Flag, Flags

GIVE_UP_AFTER = timedelta(days=3)
"""How long an action is judged again after the first answer that could not be read."""

_FIRST_RETRY = timedelta(hours=1)
_LONGEST_RETRY = timedelta(hours=12)

DIMENSIONS = ("competence", "commitment", "compatibility")

# What models put around an answer although they were asked not to: thinking before it, a code fence around it.
_THINKING = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


class UnreadableJudgement(ValueError):
    """The judge's answer is not the object that was asked for; the message says what is wrong, without quoting it."""


def parse_judgement(text: str) -> Flags:
    """Return the flags of a judge's answer.

    The answer must be one object and nothing beside it, so that an object that a summary planted and the
    model repeated in prose decides nothing.

    Raises:
        UnreadableJudgement: anything else, also a flag that is not exactly 0 or 1.
    """
    thinking = _THINKING.match(text)
    answer = (text[thinking.end() :] if thinking else text).strip()
    fenced = _FENCE.fullmatch(answer)
    try:
        found = json.loads(fenced[1] if fenced else answer, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        problem = str(error) if isinstance(error, UnreadableJudgement) else "it is not JSON"
        raise UnreadableJudgement(problem) from None
    if not isinstance(found, dict):
        raise UnreadableJudgement("it is not an object")
    if not {*DIMENSIONS, "factual_error"} <= set(found):
        raise UnreadableJudgement("it lacks a key that was asked for")
    competence, commitment, compatibility = (_flag(name, found[name]) for name in DIMENSIONS)
    stated = found["factual_error"]
    factual_error = stated if isinstance(stated, bool) else _flag("factual_error", stated) == 1
    return Flags(competence, commitment, compatibility, factual_error)


def next_try(attempts: int, first_unreadable_at: datetime, now: datetime) -> datetime:
    """Return when to judge again after `attempts` unreadable answers.

    Each wait doubles, up to 12 hours; the last try is the one that may give up.
    """
    doublings = min(max(attempts - 1, 0), 10)
    wait = min(_FIRST_RETRY * (1 << doublings), _LONGEST_RETRY)
    return min(now + wait, first_unreadable_at + GIVE_UP_AFTER)


def gives_up(first_unreadable_at: datetime, now: datetime) -> bool:
    """Tell whether an action that again got no readable answer is given up."""
    return now - first_unreadable_at >= GIVE_UP_AFTER


def _flag(name: str, value: Any) -> Flag:
    if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1):
        raise UnreadableJudgement(f"{name} is not 0 or 1")
    return 1 if value else 0


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object whose keys each occur once: of two values, neither is to be preferred."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise UnreadableJudgement("a key occurs twice")
    return dict(pairs)
