"""What a logger says goes into the installation's log, and never onto the terminal."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dreaming.local.logs import LOG_FILE, keep_off_terminal, log_into


@pytest.fixture(autouse=True)
def nobody_else_listens() -> Iterator[None]:
    """As in a process of the command: no handler but ours."""
    loggers = [logging.getLogger(name) for name in ("dreaming", "psycopg")]
    kept = [(logger, logger.handlers[:]) for logger in loggers]
    for logger in loggers:
        logger.handlers.clear()
        logger.propagate = False
    yield
    for logger, handlers in kept:
        logger.handlers[:] = handlers
        logger.propagate = True


def lines(home: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (home / LOG_FILE).read_text("utf-8").splitlines()]


def test_the_drivers_warnings_stay_off_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log_into(tmp_path)
    log_into(tmp_path)
    logging.getLogger(psycopg.__name__).warning("error ignored in rollback of %s: %s", "a connection", "it is gone")
    (line,) = lines(tmp_path)
    assert line["message"] == "error ignored in rollback of a connection: it is gone"
    assert (line["level"], str(line["location"]).partition(":")[0]) == ("WARNING", "psycopg")
    assert capfd.readouterr() == ("", "")


def test_the_log_of_the_home_that_was_opened_last_is_written(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        log_into(tmp_path / name)
        logging.getLogger("dreaming.recall").warning("of %s", name, extra={"reason": "full"})
    assert [(line["message"], line["reason"]) for line in lines(tmp_path / "two")] == [("of two", "full")]
    assert len(lines(tmp_path / "one")) == 1


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log_into(tmp_path / "none")
    logging.getLogger("dreaming").warning("nowhere to go")
    assert not (tmp_path / "none").exists()
    assert capfd.readouterr() == ("", "")


def test_no_librarys_own_set_up_of_logging_makes_the_terminal_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log_into(tmp_path)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    own = logging.getLogger("has.its.own.place")
    monkeypatch.setattr(own, "handlers", [logging.NullHandler()])
    keep_off_terminal()
    keep_off_terminal()
    logging.basicConfig()
    for name in ("mcp.server", "dreaming.api", "has.its.own.place"):
        logging.getLogger(name).warning("of %s", name)
    own.setLevel(logging.INFO)
    own.info("request refused")
    assert {str(line["message"]) for line in lines(tmp_path)} == {"of mcp.server", "of dreaming.api"}
    assert len(lines(tmp_path)) == 2
    assert capfd.readouterr() == ("", "")
