"""The bounded summary of a conversation, taken from its own words.

Who answered, the latest prompt, the final response and what was said around them, each cut; then what
tells most of the rest: pieces are chosen one by one, each time the one whose words add most to what the
summary covers already (greedy coverage; Nemhauser, Wolsey and Fisher, "An analysis of approximations for
maximizing submodular set functions", 1978; with length as in Lin and Bilmes, "A class of submodular
functions for document summarization", 2011). How much a word adds grows with how rare it is in English
and how often it comes in the conversation.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from dreaming.notes.chunking import split
from dreaming.recall.records import StoredTurn
from dreaming.recall.words import rarity, words

MAX_CHARACTERS = 4_000
"""Longest summary."""

LAST_TURNS = 6

_AGENT_CHARACTERS = 80
_PROMPT_CHARACTERS = 200
_TURN_CHARACTERS = 140
_PIECE_CHARACTERS = 80
_MOST_PIECES = 20_000  # of a conversation, from its end; more would take longer than a chat may wait
_LENGTH_POWER = 0.7
_JOINT = " … "


def summarize(turns: Sequence[StoredTurn], agent: str | None) -> str:
    """Return a summary of at most `MAX_CHARACTERS`."""
    lines = [f"Agent: {_cut(agent, _AGENT_CHARACTERS)}"] if agent else []
    lines += _ending(turns, agent)
    ending = "\n".join(lines)
    if sum(len(turn.written) + 1 for turn in turns[:-LAST_TURNS]) == 0:
        return ending[:MAX_CHARACTERS]
    room = MAX_CHARACTERS - len(ending) - len("\nBefore: ")
    told = highlights([turn.text for turn in turns[:-LAST_TURNS]], room)
    return f"{ending}\nBefore: {told}" if told else ending


def last_turns(turns: Sequence[StoredTurn], agent: str | None) -> str:
    """Return the summary's part about the end alone."""
    return "\n".join(_ending(turns, agent))


def _ending(turns: Sequence[StoredTurn], agent: str | None) -> list[str]:
    """The last turns in order; of the latest prompt and the final response more is kept, wherever they stand."""
    responses = [place for place, turn in enumerate(turns) if turn.is_response(agent)]
    prompts = [place for place, turn in enumerate(turns) if not turn.is_response(agent)]
    longer = set(responses[-1:] + prompts[-1:])
    shown = sorted(longer | set(range(max(0, len(turns) - LAST_TURNS), len(turns))))
    return [_cut(turns[place].written, _PROMPT_CHARACTERS if place in longer else _TURN_CHARACTERS) for place in shown]


def highlights(texts: Sequence[str], characters: int) -> str:
    """Return the pieces of texts that together cover their words best, in order, in so many characters."""
    pieces = list(_pieces(texts))[-_MOST_PIECES:]
    sets = [frozenset(words(piece)) for piece in pieces]
    occurrences = Counter(word for one in sets for word in one)
    worth = {word: rarity(word) * math.log1p(count) for word, count in occurrences.items()}
    covered: set[str] = set()

    def gain(place: int) -> float:
        added = math.fsum(worth[word] for word in sets[place] if word not in covered)
        return added / math.pow(max(20, len(pieces[place])), _LENGTH_POWER)

    # A piece's gain only falls while others are taken, so an outdated one at the top is counted anew.
    waiting = [(-gain(place), place) for place in range(len(pieces))]
    heapq.heapify(waiting)
    chosen: list[int] = []
    while waiting:
        supposed, place = heapq.heappop(waiting)
        now = gain(place)
        if now <= 0 or len(pieces[place]) + len(_JOINT) > characters:
            continue
        if now < -supposed and waiting and -now > waiting[0][0]:
            heapq.heappush(waiting, (-now, place))
            continue
        chosen.append(place)
        covered |= sets[place]
        characters -= len(pieces[place]) + len(_JOINT)
    return _JOINT.join(pieces[place] for place in sorted(chosen))


def _pieces(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for part in split(" ".join(text.split()), _PIECE_CHARACTERS):
            if piece := part.text.strip():
                yield piece


def _cut(text: str, characters: int) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= characters else joined[: characters - 1].rstrip() + "…"
