"""Where a local installation serves its API, and the token that it wants; `dream up` writes both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dreaming_client.errors import NotRunning

_TOKEN_FILE = "api-token"
_URL_FILE = "api-url"


def local_api(home: str | os.PathLike[str] | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the address and the token of the installation in `home`.

    Without one it is in `DREAMING_HOME`, or in `dreaming` of the XDG data folder, as for `dream`.

    Raises:
        NotRunning: nothing serves it.
    """
    folder = Path(home) if home is not None else _home(environment)
    try:
        return (folder / _URL_FILE).read_text("ascii").strip(), (folder / _TOKEN_FILE).read_text("ascii").strip()
    except FileNotFoundError as error:
        raise NotRunning(f"nothing serves the installation in {folder}; run `dream up`") from error


def _home(environment: Mapping[str, str]) -> Path:
    given = environment.get("DREAMING_HOME")
    if given:
        return Path(given).expanduser()
    return Path(environment.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "dreaming"
