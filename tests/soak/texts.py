"""What people say in chats and meetings: from the corpora where they are, and made up here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import TypeAlias

from dreaming.notes.records import IncomingNote

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
"""Beside the repository; without them everything is made up."""

_Said: TypeAlias = tuple[str, str, str]

PHRASE = "zanzibarine"
"""A word of most of what is made up, by which a text is known wherever it must not be."""

_MADE_UP_EACH = 8
"""One note in so many is made up also where there are corpora: few people in them state what lasts."""

_PEOPLE = ("Ada", "Bo", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana", "Ilir", "Jun", "Kira", "Lea")
_PLACES = ("Leeds", "Porto", "Gent", "Turku", "Lyon", "Graz", "Brno", "Split", "Cork", "Bergen")
_THINGS = ("boiler", "printer", "greenhouse", "archive", "shuttle", "kiln", "projector", "ledger", "pump", "loom")
_TOOLS = ("Postgres", "Redis", "Kafka", "Terraform", "Grafana", "Ansible", "Vault", "Nomad", "Consul", "Packer")


def spoken(most: int, now: datetime, random: Random, *, corpora: bool) -> Iterator[IncomingNote]:
    """Yield `most` notes of chat lines and turns of meetings, in the order of their time, the last a minute ago."""
    said = _said(random, _real() if corpora else iter(()))
    for place, (source, origin, text) in enumerate(islice(said, most)):
        age = timedelta(minutes=1) + (most - place) * (timedelta(days=200) / most)
        yield IncomingNote(
            external_id=f"n{place}", source=source, origin=origin, text=text, occurred_at=now - age, author=None
        )


def _said(random: Random, real: Iterator[_Said]) -> Iterator[_Said]:
    """Yield source, origin and text without end."""
    for place in count():
        taken = next(real, None) if place % _MADE_UP_EACH else None
        yield taken or made_up(place, random)


def _real() -> Iterator[_Said]:
    if not CORPORA.is_dir():
        return
    with gzip.open(CORPORA / "irc_ubuntu_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield "irc", row["conversation"], row["text"]
    for name in ("academic", "product"):
        with gzip.open(CORPORA / f"qmsum_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                for turn in row["turns"]:
                    yield "meeting", row["conversation_id"], turn


def made_up(place: int, random: Random) -> _Said:
    """A chat line or a turn of a meeting that states something, often of what others spoke of too."""
    who, other = random.sample(_PEOPLE, 2)
    where, thing, tool, number = (
        random.choice(_PLACES),
        f"{PHRASE} {random.choice(_THINGS)}",
        random.choice(_TOOLS),
        random.randrange(2, 60),
    )
    text = random.choice(
        (
            f"{who} lives in {where}.",
            f"{who} moved to {where} last week.",
            f"{who} works at the {thing} workshop in {where}.",
            f"We decided to use {tool} for the {thing}.",
            f"The {thing} must be checked every {number} days.",
            f"The {thing} costs {number} euros a month.",
            f"{who} prefers {tool} over spreadsheets.",
            f"The {thing} is in room {number}.",
            f"The deadline for the {thing} is {1 + number % 28} March 2027.",
            f"{who}'s manager is {other}.",
            f"hm, not sure about the {thing}",
            " ",
        )
    )
    if place % 2:
        return "chat", f"chat-{place // 20}", f"[{place // 60 % 24:02}:{place % 60:02}] <{other}> {text}"
    return "meeting", f"meeting-{place // 50}", f"{other}: {text}"
