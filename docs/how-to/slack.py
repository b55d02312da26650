"""Turn the unpacked folder of a Slack export into JSON lines, one for each message.

python slack.py slack-export slack.jsonl
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path


def main(export: Path, output: Path) -> None:
    """Write every message that a person wrote; replies share the origin of their thread."""
    users = json.loads((export / "users.json").read_text("utf-8"))
    names: dict[str, str] = {user["id"]: user.get("profile", {}).get("real_name") or user["name"] for user in users}
    with output.open("w", encoding="utf-8") as file:
        for day in sorted(export.glob("*/*.json")):
            channel = day.parent.name
            for message in json.loads(day.read_text("utf-8")):
                if message.get("subtype") or not message.get("user") or not message.get("text"):
                    continue  # joins, topics, bots
                row = {
                    "id": f"{channel}/{message['ts']}",
                    "time": datetime.fromtimestamp(float(message["ts"]), UTC).isoformat(),
                    "author": names.get(message["user"], message["user"]),
                    "thread": f"slack:{channel}/{message.get('thread_ts', message['ts'])}",
                    "text": re.sub(r"<@(\w+)>", lambda found: names.get(found[1], found[1]), message["text"]),
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
