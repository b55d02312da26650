"""The files that pages speak of: in the folder where their commands run, and in the home of who types them."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.documents.printed import moved

NOTES: tuple[dict[str, Any], ...] = (
    {"id": "n1", "text": "We decided to paint the garden shed green.", "date": "2026-05-04T09:00:00Z", "from": "Ana"},
    {"id": "n2", "text": "Lena works at the bakery in Ghent.", "date": "2024-03-11T09:00:00Z", "from": "Ana"},
    {"id": "n3", "text": "Lena now works at the bike shop in Ghent.", "date": "2026-06-01T09:00:00Z", "from": "Ana"},
    {"id": "n4", "text": "The greenhouse is heated from November on.", "date": "2026-06-02T09:00:00Z", "from": "Bo"},
    {"id": "n5", "text": "Bees are kept behind the orchard wall.", "date": "2026-06-03T09:00:00Z", "from": "Bo"},
    {"id": "n7", "text": "The harbour office is at pier 3.", "date": "2026-11-05T09:00:00Z", "from": "Ana"},
    {"id": "n9", "text": "Every controller must be watertight to IP67.", "date": "2026-11-06T09:00:00Z", "from": "Bo"},
    {"id": "n10", "text": "Every controller must be watertight.", "date": "2026-11-07T09:00:00Z", "from": "Bo"},
    {"id": "n11", "text": "We decided to paint the garden shed green.", "date": "2026-11-08T09:00:00Z", "from": "Ana"},
    {"id": "n6", "text": "The boiler was serviced on 3 June 2026.", "date": "2026-06-04T09:00:00Z", "from": "Bo"},
)

LATER: tuple[dict[str, Any], ...] = (
    {"id": "n8", "text": "The harbour office is at pier 4.", "date": "2026-11-05T10:00:00Z", "from": "Bo"},
)
"""Read in another run than the others."""

_MEETING = """\
WEBVTT

00:00:01.000 --> 00:00:06.000
<v Ana>We decided to move the database to PostgreSQL before the summer.

00:00:07.000 --> 00:00:11.000
<v Bo>The boat is moored at pier 3, and its inspection is on 4 March 2026.
"""

_MAIL = """\
From ana@example.com Mon Mar  2 10:00:00 2026
From: Ana <ana@example.com>
To: bo@example.com
Subject: Harbour office
Date: Mon, 2 Mar 2026 10:00:00 +0100
Message-ID: <1@example.com>

The harbour office moved to pier 3 in March.
"""

_AGENT = "mail-bot"


def write_samples(folder: Path, home: Path) -> None:
    """Write everything that pages name."""
    for name, text in _texts().items():
        path = folder / moved(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(moved(text), "utf-8")
    with gzip.open(folder / "export.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(moved(_lines(NOTES)))
    (home / "vault").mkdir(parents=True)
    (home / "vault" / "roses.md").write_text("---\ndate: 2026-04-02\n---\nThe roses must be watered daily.\n", "utf-8")
    (home / "mail").mkdir()
    (home / "mail" / "Inbox").write_text(_MAIL, "utf-8")
    (home / ".gitconfig").write_text("[user]\nname = Ana\nemail = ana@example.com\n[init]\ndefaultBranch = main\n")
    for name in ("my-project", "other-project"):
        repository(home / "code" / name)


def repository(path: Path) -> None:
    """Make a git repository with two commits."""
    path.mkdir(parents=True)
    who = ["-c", "user.name=Ana", "-c", "user.email=ana@example.com"]
    subprocess.run(["git", "init", "-q", "-b", "main", path], check=True)
    for message in ("Require Python 3.11", f"Store everything of {path.name} in PostgreSQL"):
        commit = ["git", "-C", str(path), *who, "commit", "-q", "--allow-empty", "-m", message]
        subprocess.run(commit, check=True)


_CHATGPT = [
    {
        "id": "c1",
        "title": "The move",
        "create_time": 1793600000.0,
        "current_node": "b",
        "mapping": {
            "root": {"message": None, "parent": None, "children": ["a"]},
            "a": {
                "message": {
                    "author": {"role": "user"},
                    "content": {"content_type": "text", "parts": ["I decided to move the database to PostgreSQL."]},
                },
                "parent": "root",
                "children": ["b"],
            },
            "b": {
                "message": {
                    "author": {"role": "assistant"},
                    "content": {"content_type": "text", "parts": ["You could move at night."]},
                },
                "parent": "a",
                "children": [],
            },
        },
    }
]
_CLAUDE = [
    {
        "uuid": "6b1f0c3e-0000-4000-8000-000000000001",
        "name": "Roses",
        "created_at": "2026-11-03T09:00:00.000000Z",
        "chat_messages": [
            {"sender": "human", "text": "My roses must be watered daily.", "created_at": "2026-11-03T09:00:00Z"},
            {"sender": "assistant", "text": "Water them in the morning.", "created_at": "2026-11-03T09:01:00Z"},
        ],
    }
]
_SLACK = [
    {"type": "message", "user": "U1", "ts": "1793600000.000100", "text": "We decided to use Bluetooth mesh, <@U2>."},
    {
        "type": "message",
        "user": "U2",
        "ts": "1793600060.000200",
        "thread_ts": "1793600000.000100",
        "text": "The gateway must be reachable from the yard.",
    },
    {"type": "message", "subtype": "channel_join", "user": "U2", "ts": "1793600001.000100", "text": "has joined"},
]


def _texts() -> Mapping[str, str]:
    return {
        "notes.jsonl": _lines(NOTES),
        "later.jsonl": _lines(LATER),
        "meeting.vtt": _MEETING,
        "2026-03-02 standup.vtt": _MEETING,
        "chats/2026-03-02 database.vtt": _MEETING,
        "actions.jsonl": _lines(_action(number) for number in range(17, 20)),
        "conversations.json": json.dumps(_CHATGPT),
        "claude/conversations.json": json.dumps(_CLAUDE),
        "slack-export/users.json": json.dumps(
            [{"id": "U1", "name": "ana", "profile": {"real_name": "Ana Reed"}}, {"id": "U2", "name": "bo"}]
        ),
        "slack-export/garden/2026-11-03.json": json.dumps(_SLACK),
        "pairs.tsv": "id\tlabel\tleft\tright\n",
    }


def _action(number: int) -> dict[str, Any]:
    return {
        "agent_id": _AGENT,
        "external_id": f"a{number}",
        "tool": "send_mail",
        "summary": "Sent the invoice.",
        "risk": "low",
        "acted_at": f"2026-06-{number}T09:00:00Z",
        "outcome": "approved",
    }


def _lines(rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
