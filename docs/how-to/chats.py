"""Turn the `conversations.json` of a ChatGPT or Claude export into files that `dream converse` reads.

python chats.py conversations.json chats --me Ana
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_Said = tuple[str, str, Any]
"""The role, the text and, where the export has it, the time of a turn."""


def main() -> None:
    """Write one file for each conversation, its day in the name: turns without a time are taken to be of then."""
    parser = argparse.ArgumentParser()
    parser.add_argument("export", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--me", default="user", help="your name, so that 'I' means you")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    for conversation in json.loads(arguments.export.read_text("utf-8")):
        read = _chatgpt if "mapping" in conversation else _claude
        name, began, turns = read(conversation)
        said = [
            {"speaker": arguments.me if role in {"user", "human"} else "assistant", "text": text, "said_at": said_at}
            for role, text, said_at in turns
            if role in {"user", "human", "assistant"} and text.strip()
        ]
        file = arguments.folder / f"{began:%Y-%m-%d} {re.sub(r'[^A-Za-z0-9-]', '', name)}.jsonl"
        if said:
            file.write_text(json.dumps({"conversation_id": name, "turns": said}) + "\n", "utf-8")


def _chatgpt(conversation: dict[str, Any]) -> tuple[str, datetime, Iterator[_Said]]:
    """Read the branch of the tree that was shown last."""
    nodes, path = conversation["mapping"], []
    node = nodes.get(conversation["current_node"])
    while node is not None:
        path.append(node.get("message"))
        node = nodes.get(node.get("parent"))
    turns = (
        (
            message["author"]["role"],
            "\n".join(part for part in parts if isinstance(part, str)),
            message.get("create_time") or None,
        )
        for message in reversed(path)
        if message and (parts := (message.get("content") or {}).get("parts"))
    )
    name = conversation.get("conversation_id") or conversation["id"]
    return name, datetime.fromtimestamp(conversation["create_time"], UTC), turns


def _claude(conversation: dict[str, Any]) -> tuple[str, datetime, Iterator[_Said]]:
    turns = (
        (message["sender"], message["text"], message.get("created_at")) for message in conversation["chat_messages"]
    )
    return conversation["uuid"], datetime.fromisoformat(conversation["created_at"]), turns


if __name__ == "__main__":
    main()
