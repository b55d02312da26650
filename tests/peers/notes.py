"""The notes that every system is given: commits and meetings of the corpora kept outside the repository."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from tests.architecture.modules import ROOT
from tests.peers.answers import statements

CORPORA = ROOT.parent / "shared" / "corpora"
COMMITS = CORPORA / "git_flask_commits.jsonl.gz"
MEETINGS = CORPORA / "qmsum_product.jsonl.gz"
MEETING_SHARE = 4
"""Every fourth note is an excerpt of a meeting, the others are commits."""
EXCERPT = 1_200
MEETING_DAY = "2005-03-01T10:00:00+00:00"  # the corpus gives none


@dataclass(frozen=True, slots=True)
class PeerNote:
    """One note: its id, its text with single spaces, and when it was written (ISO 8601 with offset)."""

    note_id: str
    text: str
    occurred_at: str


def corpora_present() -> bool:
    """Whether there is anything to compare on."""
    return COMMITS.exists() and MEETINGS.exists()


def notes(count: int) -> list[PeerNote]:
    """Return `count` notes that each say something, and no two the same."""
    commits, excerpts = _commits(), _excerpts()
    taken: list[PeerNote] = []
    seen: set[str] = set()
    while len(taken) < count:
        one = next(excerpts if len(taken) % MEETING_SHARE == MEETING_SHARE - 1 else commits)
        found = statements(one.text)
        if found and not seen & set(found):
            seen |= set(found)
            taken.append(one)
    return taken


def edited(originals: list[PeerNote], spare: list[PeerNote]) -> list[PeerNote]:
    """Return the originals, each with its first statement replaced by that of a spare note."""
    return [
        replace(one, text=one.text.replace(statements(one.text)[0], statements(other.text)[0]))
        for one, other in zip(originals, spare, strict=True)
    ]


def _commits() -> Iterator[PeerNote]:
    with gzip.open(COMMITS, "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if row["body"].strip():
                yield PeerNote(
                    f"commit-{row['sha'][:12]}", _one_line(f"{row['subject'].rstrip('. ')}. {row['body']}"), row["date"]
                )


def _excerpts() -> Iterator[PeerNote]:
    """The first turns of each meeting, and the next, up to `EXCERPT` characters each."""
    with gzip.open(MEETINGS, "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            turns, part, number = iter(row["turns"]), "", 0
            for turn in islice(turns, 400):
                part = f"{part} {turn}" if part else turn
                if len(part) >= EXCERPT:
                    yield PeerNote(f"meeting-{row['conversation_id']}-{number}", _one_line(part), MEETING_DAY)
                    part, number = "", number + 1


def _one_line(text: str) -> str:
    return " ".join(text.split())
