"""The settings as a page of documentation, written from the registry: `python -m dreaming.settings.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from dreaming.settings.records import ChangedBy, Setting
from dreaming.settings.registry import REGISTRY
from dreaming.settings.resolution import allowed

_HEAD = """# Settings

Written from the registry by `make docs`; change `dreaming/settings/registry.py`, not this page.

The environment sets the deployment's default. An organization's own value, set with
`dream settings set NAME VALUE`, overrides it in either direction where the last column says so; every
change is recorded with who, when, from and to. Each variable also works under its older names, with
`QUOXDREAM_` or `QM_LTM_` in place of `DREAMING_`. An empty variable counts as unset. A value that
cannot be read is an error, never the default.

Enrolment and consent are no settings and have no variable: `enrolled`, `model_consent` (text may go to
the chat model), `embedding_consent` (text may go to the embedder) and `embedding_excluded_sources`
belong to each organization, start at no, and are changed and recorded in the same way.

| setting | what it does | takes | default | variable | read by | organization may change it |
|---|---|---|---|---|---|---|
"""


def reference(settings: Iterable[Setting]) -> str:
    """Return the page, in Markdown."""
    return _HEAD + "".join(_row(setting) for setting in settings)


def _row(setting: Setting) -> str:
    default = str(setting.default).lower() if setting.type is bool else str(setting.default)
    cells = (
        f"`{setting.name}`",
        setting.sentence,
        allowed(setting),
        f"`{default}`" if default else "empty",
        f"`{setting.environment}`",
        f"`{setting.reader}`",
        "yes" if setting.changed_by is ChangedBy.ORGANIZATION else "no",
    )
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"


if __name__ == "__main__":
    sys.stdout.write(reference(REGISTRY.values()))
