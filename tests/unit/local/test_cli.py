"""The program itself: help, errors, exit codes, and what is printed how; no database."""

from __future__ import annotations

import dataclasses
import errno
import importlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from uuid import UUID

import click
import pytest
from click.testing import CliRunner, Result

from dreaming.errors import DatabaseUnavailable, InvalidInput, Misconfigured, Throttled
from dreaming.local.cli import COMMANDS, Exit, dream, report
from dreaming.local.commands.session import open_session
from dreaming.local.full_disk import disk_full
from dreaming.local.output import Output, one_line, printable, short_id, to_json

PROGRAM = "from dreaming.local.cli import main; main()"


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(dream, arguments)


def all_commands() -> list[Sequence[str]]:
    """Every command and every command of a family."""
    found: list[Sequence[str]] = []
    for name in COMMANDS:
        command = dream.get_command(click.Context(dream), name)
        found.append((name,))
        found.extend((name, sub) for sub in getattr(command, "commands", ()))
    return found


def test_help_lists_every_command_and_every_exit_code() -> None:
    shown = invoke("--help")
    assert shown.exit_code == 0
    assert all(f"  {name} " in shown.stdout for name in COMMANDS)
    text = " ".join(shown.stdout.split())
    assert all(f"{code.value} " in text for code in Exit)


@pytest.mark.parametrize("command", all_commands(), ids=" ".join)
def test_every_command_explains_itself_with_examples(command: Sequence[str]) -> None:
    shown = invoke(*command, "--help")
    assert shown.exit_code == 0
    assert "Examples:" in shown.stdout
    assert f"dream {command[0]}" in shown.stdout.partition("Examples:")[2]
    assert "--json" in shown.stdout


def test_help_imports_neither_the_database_nor_what_draws_tables() -> None:
    # The program is run as a process of its own, because this one has imported everything already.
    code = f"import sys\ntry:\n    {PROGRAM}\nfinally:\n    print('IMPORTED', *sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    imported = set(shown.stdout.partition("IMPORTED")[2].split())
    assert "click" in imported
    assert not imported & {"psycopg", "pydantic", "rich", "numpy", "boto3", "httpx", "dreaming.local.runtime"}


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("status", "--nonsense"), ("beliefs", "--kind", "wish"), ("why",)]
)
def test_wrong_usage_is_2_and_names_what_is_wrong(arguments: Sequence[str]) -> None:
    shown = invoke(*arguments)
    assert shown.exit_code == Exit.BAD_INPUT
    assert shown.stdout == ""
    assert "Error:" in shown.stderr


def test_a_private_slice_needs_its_owner(tmp_path: Path) -> None:
    for command in ("beliefs", "brief", "conflicts", "status", "drain", "run"):
        shown = invoke(command, "--home", str(tmp_path), "--scope", "private", "--wait", "0")
        assert shown.exit_code == Exit.BAD_INPUT
        assert "--user: is missing; a private slice has an owner" in shown.stderr


@pytest.mark.parametrize("command", ["why", "beliefs"])
def test_a_search_for_nothing_is_refused(command: str, tmp_path: Path) -> None:
    shown = invoke(command, "", " ", "--home", str(tmp_path))
    assert shown.exit_code == Exit.BAD_INPUT
    assert "WORD: is empty; say what to look for" in shown.stderr


def test_a_question_without_a_terminal_names_the_option_that_answers_it(tmp_path: Path) -> None:
    erase = ("erase", "owner", "--home", str(tmp_path), "--user", "mia")
    unasked = CliRunner().invoke(dream, erase, input="")
    assert unasked.exit_code == Exit.BAD_INPUT
    assert "no terminal to ask on; add --yes" in unasked.stderr
    assert CliRunner().invoke(dream, erase, input="n\n").exit_code == Exit.INTERRUPTED


def test_conversations_of_a_path_that_is_not_there_or_is_empty(tmp_path: Path) -> None:
    (tmp_path / "talks").mkdir()
    for path, problem in (("nowhere", "does not exist"), ("talks", "hold no transcript")):
        shown = invoke("converse", str(tmp_path / path), "--home", str(tmp_path))
        assert (shown.exit_code, shown.stdout) == (Exit.BAD_INPUT, "")
        assert problem in shown.stderr


def no_room(path: str | None) -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def sqlite_without_room() -> sqlite3.OperationalError:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table notes (text)")
        connection.execute("pragma max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as caught:
            connection.executemany("insert into notes values (?)", [("x" * 5000,)] * 10)
    connection.close()
    return caught.value


def uncopied() -> shutil.Error:
    files = [(f"/package/{number}", f"/cache/programs/{number}", str(no_room("x"))) for number in range(2000)]
    return shutil.Error(files)


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (no_room("/data/queue"), "/data/queue"),
        (uncopied(), "/cache/programs"),
        (sqlite_without_room(), "standard output"),
        (no_room(None), "standard output"),
    ],
    ids=["file", "copied folder", "SQLite", "output"],
)
def test_a_full_disk_is_said_in_a_line(
    error: BaseException, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise Misconfigured("cannot begin") from error

    monkeypatch.setattr(importlib.import_module("dreaming.local.commands.command"), "open_session", fail)
    shown = invoke("status", "--json", "--home", str(tmp_path))
    said = f"disk full at {place}: free some space, then run the command again"
    assert shown.exit_code == Exit.UNAVAILABLE
    assert shown.stderr == f"error: {said}\n"
    assert json.loads(shown.stdout)["error"]["message"] == said


def test_the_full_disk_is_looked_for_where_nothing_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dreaming.local.full_disk._NO_ROOM_BYTES", float("inf"))
    assert f"disk full at {tmp_path}:" in str(disk_full(no_room(None), tmp_path))
    assert disk_full(OSError(errno.EACCES, "Permission denied", "x"), tmp_path) is None
    assert disk_full(shutil.Error([("a", "b", "[Errno 13] Permission denied: 'b'")]), tmp_path) is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_output_that_goes_to_a_full_disk_ends_without_a_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        code = [sys.executable, "-c", PROGRAM, "--version"]
        shown = subprocess.run(code, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert shown.returncode == Exit.UNAVAILABLE
    assert shown.stderr == "error: disk full at standard output: free some space, then run the command again\n"


def test_a_name_that_is_taken_and_an_endless_message(capsys: pytest.CaptureFixture[str]) -> None:
    report(FileExistsError(errno.EEXIST, "File exists", "all.jsonl"))
    assert "choose another name, or remove it" in capsys.readouterr().err
    report(RuntimeError("x" * 200_000))
    assert len(capsys.readouterr().err) < 1000


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("limit", "is 0", "use 1 to 9"), Exit.BAD_INPUT),
        (Misconfigured("nothing is set; set it"), Exit.MISCONFIGURED),
        (DatabaseUnavailable("asleep; wake it"), Exit.UNAVAILABLE),
        (Throttled("slow down"), Exit.UNAVAILABLE),
        (PermissionError(13, "Permission denied", "notes.jsonl"), Exit.BAD_INPUT),
        (KeyboardInterrupt(), Exit.INTERRUPTED),
        (RuntimeError("what\nnow"), Exit.UNEXPECTED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_of_error_has_its_exit_code_and_at_most_two_lines(
    error: BaseException, code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert 1 <= len(said.err.splitlines()) <= 2
    assert "Traceback" not in said.err


@pytest.mark.parametrize("debug", [False, True])
def test_a_traceback_is_shown_only_when_asked_for(debug: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("dreaming.local.commands.command")

    def fail(*_: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(module, "open_session", fail)
    shown = invoke("status", *(["--debug"] if debug else []))
    assert shown.exit_code == Exit.UNEXPECTED
    assert "ZeroDivisionError" in shown.stderr
    assert ("Traceback" in shown.stderr) is debug


def test_a_home_that_cannot_be_made_is_a_misconfiguration(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = invoke("status", "--home", str(tmp_path / "file" / "home"))
    assert shown.exit_code == Exit.MISCONFIGURED
    assert "--home" in shown.stderr


def test_a_broken_environment_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "environment").write_text("DREAMING_ENABLED=true\nnonsense\n")
    shown = invoke("status", "--home", str(tmp_path))
    assert shown.exit_code == Exit.BAD_INPUT
    assert "line 2" in shown.stderr


def test_options_after_the_command_win_over_those_before(tmp_path: Path) -> None:
    shown = invoke("--scope", "org", "status", "--scope", "nowhere")
    assert shown.exit_code == Exit.BAD_INPUT
    given = {"home": str(tmp_path), "org": "acme", "demo": False}
    assert open_session(given, {"DREAMING_HOME": "/elsewhere"}).home == tmp_path


def test_the_demo_neither_follows_nor_changes_the_deployment(tmp_path: Path) -> None:
    environment = {"DREAMING_HOME": str(tmp_path), "DREAMING_CHAT_PROVIDER": "openai", "QM_LTM_ENABLED": "false"}
    session = open_session({"demo": True, "org": "acme"}, environment)
    assert (session.home, session.org) == (tmp_path / "demo", "demo")
    assert not [name for name in session.environment if name.startswith(("DREAMING_", "QM_LTM_"))]


def test_hints_repeat_the_options_that_name_the_installation() -> None:
    given = {"home": "/a b", "org": "acme", "scope": "private", "user": "ana"}
    assert open_session(given, {}).invocation == "dream --home '/a b' --org acme --scope private --user ana"
    assert open_session({}, {}).invocation == "dream"
    assert open_session({"demo": True}, {}).invocation == "dream --demo"


def test_text_of_notes_cannot_command_the_terminal() -> None:
    shown = printable("a\x1b[31mred\x07 \u202egnp.exe\r\nnext\tcolumn")
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert shown.endswith("\nnext\tcolumn")


def test_markup_in_text_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=False).line("see [bold]config[/bold] and :smile:")
    assert capsys.readouterr().out == "see [bold]config[/bold] and :smile:\n"


def test_a_line_is_cut_where_it_is_too_long() -> None:
    assert one_line("one\n two   three", 20) == "one two three"
    assert one_line("abcdef ghi", 8) == "abcdef…"


def test_short_ids_are_the_ends_because_beginnings_are_alike() -> None:
    assert short_id(UUID("01a22ba4-9852-7709-a5c9-8fdc517242e8")) == "517242e8"


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Thing:
    id: UUID
    when: datetime
    colour: Colour
    parts: tuple[int, ...]


def test_records_become_json_with_their_own_names() -> None:
    thing = Thing(UUID(int=1), datetime(2026, 3, 5, tzinfo=UTC), Colour.RED, (1, 2))
    assert json.loads(json.dumps(to_json({Colour.RED: thing}))) == {
        "red": {
            "id": "00000000-0000-0000-0000-000000000001",
            "when": "2026-03-05T00:00:00+00:00",
            "colour": "red",
            "parts": [1, 2],
        }
    }
    with pytest.raises(TypeError, match="object"):
        to_json(object())


def test_progress_beside_a_pipe_is_at_most_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with Output(as_json=True).progress("read", 1000, "notes") as show:
        for done in range(1001):
            show(done, detail="fine")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[0] == "read: 100 of 1,000 notes, fine"
    assert len(said.err.splitlines()) == 10


def test_an_error_is_a_json_document_too_when_json_is_asked_for() -> None:
    shown = invoke("status", "--nonsense", "--json")
    assert shown.exit_code == Exit.BAD_INPUT
    assert json.loads(shown.stdout)["error"]["exit_code"] == Exit.BAD_INPUT
    assert "nonsense" in shown.stderr


def test_an_argument_that_is_not_utf8_is_named() -> None:
    shown = invoke("--org", "\udcff", "status")
    assert shown.exit_code == Exit.BAD_INPUT
    assert "argument 2: is not UTF-8" in shown.stderr
