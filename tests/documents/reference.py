"""Writes the pages of docs/reference from the code: `python -m tests.documents.reference`, which `make docs` runs.

    cli.md     from the tree of click commands
    tables.md  from the catalogue of a migrated database
    api.md     from docs/openapi.json

A test compares the committed pages with what this writes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dreaming.database import migrate
from dreaming.local.postgres import EmbeddedPostgres
from tests.architecture.modules import ROOT
from tests.documents.reference_commands import commands_page
from tests.documents.reference_routes import routes_page
from tests.documents.reference_tables import tables_page

FOLDER = ROOT / "docs" / "reference"


def written(database_url: str) -> Mapping[str, str]:
    """Return every page by its name; `database_url` is that of a superuser, to a migrated database."""
    return {"cli.md": commands_page(), "tables.md": tables_page(database_url), "api.md": routes_page()}


def main() -> int:
    """Write the pages, with a database that is gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        server = EmbeddedPostgres(Path(folder), durable=False)
        try:
            url = server.start()
            migrate(url)
            pages = written(url)
        finally:
            server.remove()
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages.items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
