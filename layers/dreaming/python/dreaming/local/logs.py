"""Where the loggers of this process write: into the installation's log, never onto the terminal.

A logger that nobody has given a place writes its warnings to standard error, between what a command tells its user.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path

from dreaming.local.home import private_file

LOG_FILE = "handlers.log"
"""What the handlers and everything else log, one JSON object a line."""

_LOGGERS = ("dreaming", "psycopg")
_OWN = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "taskName"}


def log_into(home: Path) -> None:
    """Let what the database's driver and this package log go to the log of the home folder from now on."""
    _written.home = home
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if _written not in logger.handlers:
            logger.addHandler(_written)


def keep_off_terminal() -> None:
    """Let what all other loggers say go to the same log, so that no library makes the terminal their place."""
    root = logging.getLogger()
    if _rest not in root.handlers:
        root.addHandler(_rest)


class _Written(logging.Handler):
    """Appends to the log of the installation that was opened last."""

    home: Path | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, its extras beside it; without a home folder there is nowhere to keep it."""
        if self.home is None or not self.home.is_dir():
            return
        try:
            line = json.dumps(self._told(record), default=str, ensure_ascii=False)
            with private_file(self.home / LOG_FILE).open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{line}\n")
        except OSError:  # a full disk is told by what the command itself cannot store
            return

    def _told(self, record: logging.LogRecord) -> dict[str, object]:
        extras = {name: value for name, value in vars(record).items() if name not in _OWN}
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        head = {"level": record.levelname, "location": f"{record.name}:{record.lineno}", "timestamp": moment}
        error = {"exception": record.exc_info[0].__name__} if record.exc_info and record.exc_info[0] else {}
        return {**head, "message": record.getMessage(), **extras, **error}


class _Rest(logging.Handler):
    """Hands on the records of loggers that have no place of their own."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless its own logger did."""
        if record.name.partition(".")[0] not in _LOGGERS and not logging.getLogger(record.name).handlers:
            _written.emit(record)


_written = _Written(logging.WARNING)
_rest = _Rest(logging.WARNING)
