"""The `dream` command over a database of the test's own and a home folder of its own."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dreaming.local.cli import dream as program


@dataclass
class Dream:
    """Runs `dream` in this process; `environment` replaces the process's own."""

    home: Path
    environment: dict[str, str]

    def __call__(self, *arguments: str, code: int = 0, **environment: str) -> Result:
        unset = {name: None for name in os.environ if name.startswith(("DREAMING_", "OPENAI_"))}
        result = CliRunner().invoke(program, arguments, env={**unset, **self.environment, **environment})
        assert result.exit_code == code, f"{result.exit_code} instead of {code}: {result.stdout}{result.stderr}"
        assert "Traceback" not in result.stderr
        return result

    def json(self, *arguments: str, code: int = 0, **environment: str) -> Any:
        """What the command prints with `--json`: exactly one document."""
        return json.loads(self(*arguments, "--json", code=code, **environment).stdout)

    def switch_on(self) -> None:
        """Let consolidation run for the default organization."""
        for name in ("enabled", "enrolled", "model_consent"):
            self("settings", "set", name, "true")

    def script(self, *rules: dict[str, Any], default: dict[str, Any] | None = None) -> None:
        """Have a script answer instead of the offline model."""
        file = self.home.parent / "script.json"
        file.write_text(json.dumps({"rules": rules, "default": default or {"claims": []}}))
        self("settings", "set", "chat_script", str(file))
        self("settings", "set", "chat_provider", "scripted")

    def notes(self, *rows: dict[str, Any], options: tuple[str, ...] = ()) -> None:
        """Bring in notes with the fields id, text, at and author."""
        file = self.home.parent / "notes.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        fields = ("--id-field", "id", "--time-field", "at", "--author-field", "author", "--source", "test")
        self("ingest", "jsonl", str(file), *fields, *options)


@pytest.fixture(autouse=True)
def handlers_loaded_anew() -> None:
    """A handler that another test of this process loaded keeps its logger's stream."""
    logging.Logger.manager.loggerDict.pop("consolidate", None)
    logging.getLogger("dreaming").handlers.clear()


@pytest.fixture
def dream(tmp_path: Path, database_url: str) -> Dream:
    """`dream` on a migrated database without notes, with everything switched off."""
    home = tmp_path / "home"
    return Dream(home, {"DREAMING_HOME": str(home), "DATABASE_URL": database_url})
