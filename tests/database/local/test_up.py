"""`dream up`: a note becomes a belief by itself, what dies is replaced, and a stop leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.database.local.conftest import Dream
from tests.waiting import wait_until


@contextmanager
def up(dream: Dream, *options: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Run `dream up` in a process of its own, with a client that holds its token."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DREAMING_")}
    command = [sys.executable, "-c", "from dreaming.local.cli import main; main()", "up", "--json", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--every", "0.2", *options],
        env=environment | dream.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with client(process) as api:
            yield process, api
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def client(process: subprocess.Popen[str]) -> httpx.Client:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line == "}\n":
            break
    told: dict[str, Any] = json.loads("".join(lines))
    token = Path(told["token_file"]).read_text("ascii")
    assert told["page"].endswith(f"#token={token}")
    return httpx.Client(base_url=told["api"], headers={"authorization": f"Bearer {token}"}, timeout=30)


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes that work for `dream up`, in their session of their own."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[1]) == process.pid:
            found.append(int(path.parent.name))
    return found


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def statements(api: httpx.Client) -> list[str]:
    return [one["statement"] for one in api.get("/brain/beliefs").raise_for_status().json()["beliefs"]]


def bring_in(api: httpx.Client, text: str) -> None:
    api.post("/brain/notes", json={"notes": [{"text": text}]}).raise_for_status()


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes are looked up in /proc")


def test_a_note_becomes_a_belief_by_itself_and_outlives_the_process(dream: Dream) -> None:
    dream.switch_on()
    with up(dream) as (process, api):
        bring_in(api, "The team decided to use Postgres for the ledger.")
        wait_until(lambda: statements(api), "there is a belief", within=60)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    with up(dream) as (_, api):
        assert "Postgres" in statements(api)[0]


def test_a_stop_takes_the_passes_along_and_a_killed_one_is_replaced(dream: Dream) -> None:
    dream.switch_on()
    with up(dream) as (process, api):
        wait_until(lambda: children(process), "the passes run", within=60)
        (first,) = children(process)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: [pid for pid in children(process) if pid != first], "they run again", within=60)
        bring_in(api, "The team decided to use Postgres for the ledger.")
        wait_until(lambda: statements(api), "there is a belief", within=60)
        second = next(pid for pid in children(process) if pid != first)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        assert not is_alive(second)


def test_a_killed_one_leaves_no_passes_behind_in_the_middle_of_a_drain_either(dream: Dream) -> None:
    dream.switch_on()
    with up(dream) as (process, api):
        notes = [{"text": f"Shelf {number} holds the yarn of colour {number}."} for number in range(400)]
        for first in range(0, len(notes), 100):
            api.post("/brain/notes", json={"notes": notes[first : first + 100]}).raise_for_status()
        wait_until(lambda: statements(api), "there is a belief", within=60)
        (passes,) = children(process)
        process.kill()
        process.wait()
        wait_until(lambda: not is_alive(passes), "the passes have ended", within=60)


def test_a_second_one_is_told_where_the_first_is_and_a_killed_one_leaves_the_way_free(dream: Dream) -> None:
    with up(dream) as (process, api):
        second = dream("up", "--port", "0", code=3)
        assert f"process {process.pid}, at {str(api.base_url).rstrip('/')}" in second.stderr
        beside = dream("drain", code=4)
        assert f"process {process.pid}" in beside.stderr
        process.kill()
        process.wait()
    with up(dream) as (_, api):
        assert api.get("/health").status_code == 200
    assert oct(dream.home.stat().st_mode & 0o777) == "0o700"


def test_a_dashboard_beside_it_takes_another_port_and_leaves_it_announced(dream: Dream) -> None:
    with up(dream) as (_, api), socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 8377))
            taken.listen()
        except OSError:
            pass  # taken by somebody else, which is as good
        announced = (dream.home / "api-url").read_text("ascii")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DREAMING_")}
        command = [sys.executable, "-c", "from dreaming.local.cli import main; main()", "dashboard", "--json"]
        process = subprocess.Popen(
            command, env=kept | dream.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            with client(process) as beside:
                assert beside.base_url.port not in (8377, api.base_url.port)
                assert beside.get("/brain/dashboard").status_code == 200
                assert (dream.home / "api-url").read_text("ascii") == announced
        finally:
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
        assert process.returncode == 0
        assert f"at {announced}) serves the page already" in told
        assert "port 8377 is taken" in told
        assert "name another with --port" in dream("dashboard", "--port", "8377", code=2).stderr
        assert (dream.home / "api-url").read_text("ascii") == announced
