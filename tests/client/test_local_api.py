"""The client and the MCP server against an installation on this machine, as people start it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest

from dreaming_client import Dreaming, NotFound, NotRunning
from tests.architecture.modules import ROOT
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

PROGRAM = "from dreaming.local.cli import main; main()"
ONE_BY_ONE = """
import json, sys
from dreaming.local.cli import dream
for arguments in json.loads(sys.argv[1]):
    try:
        dream(arguments)
    except SystemExit as ended:
        if ended.code:
            raise
"""
"""Commands in one process: each of their own would start and stop the database."""
UNKNOWN = "00000000-0000-7000-8000-000000000007"


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DREAMING_", "DATABASE_"))}
    return kept | {"DREAMING_HOME": str(home), "DREAMING_ENABLED": "true", "DREAMING_CONVERSATION_MEMORY": "true"}


def start(home: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment(home), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation that believes something about its shed."""
    home = tmp_path_factory.mktemp("home")
    notes = home / "notes.jsonl"
    told = {"id": "1", "text": "We decided to paint the garden shed green.", "time": "2026-05-04T09:00:00Z"}
    notes.write_text(json.dumps(told), "utf-8")
    consents = [["settings", "set", name, "true"] for name in ("enrolled", "model_consent")]
    fields = ["--id-field", "id", "--text-field", "text", "--time-field", "time"]
    commands = [*consents, ["ingest", "jsonl", str(notes), *fields], ["drain"]]
    start(home, "-c", ONE_BY_ONE, json.dumps(commands))
    return home


@contextmanager
def served(home: Path) -> Iterator[None]:
    """`dream dashboard` in a process of its own: the API, and no pass."""
    command = [sys.executable, "-c", PROGRAM, "dashboard", "--port", "0", "--json"]
    with subprocess.Popen(command, env=environment(home), stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(
                lambda: (home / "api-url").exists() or process.poll() is not None, "the API is served", within=60
            )
            assert process.poll() is None
            yield
        finally:
            process.terminate()
            process.wait(60)


def test_the_client_talks_to_what_is_served_here(home: Path) -> None:
    with served(home), Dreaming.local(home) as dreaming:
        assert dreaming.status().coverage.consolidated == 1
        (found,) = dreaming.search("painted sheds")
        assert found.match is not None
        assert found.match.lexical > 0
        assert found.evidence is not None
        assert dreaming.why(found.belief_id).sources[0].quote == found.evidence.quote
        assert dreaming.confirm(found.belief_id).confidence == 1.0
        assert [one.belief_id for one in dreaming.beliefs(page=1)] == [found.belief_id]
        assert found.statement in dreaming.brief().text
        assert dreaming.archive(found.belief_id).archive_reason == "person"
        assert dreaming.restore(found.belief_id).archived_at is None
        assert dreaming.remember("The mill opens at dawn.", "The mill opens at dawn.").created == 1
        assert [one.state for one in dreaming.notes(state="waiting", page=1)] == ["waiting"]
        turns = [{"speaker": "ana", "text": "The roof of the greenhouse leaks."}]
        assert dreaming.capture("talk", turns).captured
        assert [one.conversation_id for one in dreaming.recall("leaking greenhouse").conversations] == ["talk"]
        assert list(dreaming.conflicts()) == []
        assert list(dreaming.retired()) == []
        assert [one.pass_name for one in dreaming.runs()].count("consolidation") == 1
        action = {"agent_id": "bot", "external_id": "1", "tool": "mail", "summary": "Wrote.", "risk": "low"}
        assert dreaming.log_actions(action, {**action, "external_id": "2"}).logged == 2
        assert dreaming.permission("bot", "critical").allowed is False
        assert dreaming.change_setting("batch_notes", 7).new_value == 7
        assert dreaming.capabilities().value("batch_notes") == 7
        assert dreaming.reset_setting("batch_notes").changed
        with pytest.raises(NotFound):
            dreaming.why(UNKNOWN)
    with pytest.raises(NotRunning):
        Dreaming.local(home)


def examples(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "layers/client/README.md"])
def test_the_examples_run(home: Path, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = [one for one in examples(ROOT / page) if "Dreaming.local()" in one]
    assert found
    with served(home), pytest.MonkeyPatch.context() as patch:
        patch.setenv("DREAMING_HOME", str(home))
        for example in found:
            exec(compile(example, page, "exec"), {"__name__": "example"})
    assert "shed green" in capsys.readouterr().out


def test_an_independent_mcp_client_uses_the_tools(home: Path) -> None:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    terminal = home.with_name("terminal")

    async def talk(errors: TextIO) -> None:
        server = StdioServerParameters(command=sys.executable, args=["-c", PROGRAM, "mcp"], env=environment(home))
        async with Client(stdio_client(server, errlog=errors)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"recall", "search_beliefs", "why", "status", "brief", "remember"}
            writing = {
                name for name, tool in tools.items() if not (tool.annotations and tool.annotations.read_only_hint)
            }
            assert writing == {"remember"}

            async def call(name: str, **arguments: Any) -> tuple[str, bool]:
                result = await client.call_tool(name, arguments)
                return "".join(getattr(part, "text", "") for part in result.content), bool(result.is_error)

            told, failed = await call("search_beliefs", query="garden shed")
            assert not failed
            assert told.startswith("<dreaming-recall ")
            assert told.endswith("</dreaming-recall>")
            (belief_id,) = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", told)
            told, failed = await call("why", belief_id=belief_id)
            assert "»We decided to paint the garden shed green.«" in told
            assert (await call("brief"))[0].startswith("<dreaming-recall ")
            assert (await call("status"))[0].splitlines()[0].endswith("0 empty")
            words = "The well is nine metres deep."
            assert await call("remember", text=words) == ("Noted; the next run of consolidation reads it.", False)
            assert await call("remember", text=words) == ("This note was there already.", False)
            assert await call("recall", query="nothing of the kind") == (
                "No conversation fits; try words that were said in it.",
                False,
            )
            told, failed = await call("why", belief_id=UNKNOWN)
            assert failed
            assert "404 Not Found" in told
            for wrong in ({"belief_id": "no id"}, {}):
                assert (await call("why", **wrong))[1]
            refused: dict[str, tuple[str, dict[str, Any]]] = {
                "belief_id: is missing; send it": ("why", {}),
                "limit: is too large; send at most 50": ("search_beliefs", {"query": "x", "limit": 51}),
                "scope: is none of the values there are; send 'org', 'private' or 'shared'": (
                    *("search_beliefs", {"query": "x", "scope": "all"}),
                ),
                "lim: is no argument of this tool; did you mean limit?": ("search_beliefs", {"query": "x", "lim": 3}),
            }
            for told, (name, arguments) in refused.items():
                assert await call(name, **arguments) == (told, True)
            assert (await call("search_beliefs", query="x", scope="private"))[1]
            told, failed = await call("search_beliefs", query="x", cursor="none")
            assert (failed, told.count("use `next_cursor` unchanged")) == (True, 1)

    with terminal.open("w", encoding="utf-8") as errors:
        asyncio.run(talk(errors))
    assert terminal.read_text("utf-8") == ""
    listed = json.loads(start(home, "-c", PROGRAM, "--json", "beliefs"))
    assert len(listed["beliefs"]) == 1


def test_a_deployment_wants_a_token(home: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "mcp", "--url", "https://memory.test"]
    done = subprocess.run(
        command,
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 3
    assert "DREAMING_API_TOKEN" in done.stderr
