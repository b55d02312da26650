"""The tools of the MCP server page through what they find."""

from __future__ import annotations

import asyncio
import json
import re
from importlib.resources import files
from typing import Any

import httpx

from dreaming.local.assistant import server
from dreaming_client import AsyncDreaming

EXAMPLE = json.loads((files("dreaming.api") / "examples.json").read_text("utf-8"))["list_beliefs"]["response"]


def test_a_search_goes_on_where_its_cursor_says() -> None:
    (belief, *_) = EXAMPLE["beliefs"]
    asked: list[dict[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(dict(request.url.params))
        place = int(asked[-1].get("cursor", "0"))
        page = [{**belief, "statement": f"The shed is number {place}."}] if place < 3 else []
        return httpx.Response(200, json={"beliefs": page, "next_cursor": str(place + 1) if place < 3 else None})

    async def talk() -> list[str]:
        async with AsyncDreaming("https://memory.test", "t", transport=httpx.MockTransport(answer)) as client:
            tools = server(client, trust="trusted")
            told: list[str] = []
            arguments: dict[str, Any] = {"query": "shed", "limit": 1}
            while True:
                found: Any = await tools.call_tool("search_beliefs", arguments)
                told.append(found.content[0].text)
                more = re.search(r"^More: the same query with the cursor (\S+)$", told[-1], re.MULTILINE)
                if more is None:
                    return told
                arguments["cursor"] = more[1]

    told = asyncio.run(talk())
    assert [f"number {place}" in text for place, text in enumerate(told[:3])] == [True] * 3
    assert told[3] == "Nothing more is believed about this."
    assert asked[0] == {"q": "shed", "limit": "1", "scope": "org"}
