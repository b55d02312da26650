"""Notes from the history of a git repository: one for each commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, cast

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.records import Item, Reading, Skipped, note_or_skipped
from dreaming.notes.connectors.times import parse_moment
from dreaming.notes.records import Trust

_FIELDS = ("%H", "%an", "%aI", "%cI", "%s", "%b")
_READ_BYTES = 1 << 16
_LOCATING = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_WORK_TREE",
    }
)


def read_git(
    repository: Path,
    *,
    max_note_characters: int,
    name: str | None = None,
    since: datetime | None = None,
    merges: bool = False,
    trust: Trust = Trust.TRUSTED,
) -> Reading:
    """Read the commits reachable from HEAD, oldest first; progress in commits.

    A note's id is the commit's hash, its source `git:<name>` with the repository folder's name by
    default, its author the commit's, its time the author's with its own offset, its text subject and
    body, its origin the commit itself. Merges are left out unless asked for.

    Raises:
        InvalidInput: there is no git, no repository, or no commit.
    """
    git = shutil.which("git")
    if git is None:
        raise InvalidInput("repository", "the program git is not installed", "install git")
    if not repository.is_dir():
        raise InvalidInput("repository", f"{str(repository)!r} is not a folder", "name a git repository's folder")
    call = [git, "-C", str(repository), "-c", "log.showSignature=false"]
    folder = _ask(call, "rev-parse", "--absolute-git-dir")
    if folder.returncode:
        problem = f"{str(repository)!r} is not a git repository ({folder.stderr.strip()})"
        raise InvalidInput("repository", problem, "name a git repository's folder")
    if _ask(call, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").returncode:
        raise InvalidInput("repository", f"{str(repository)!r} has no commit", "make a commit, or check one out")
    revisions = ["HEAD"] if merges else ["HEAD", "--no-merges"]
    if since is not None:
        revisions.append(f"--since={since.isoformat()}")
    count = _ask(call, "rev-list", "--count", *revisions).stdout.strip()
    source = f"git:{name or _repository_name(call, Path(folder.stdout.strip()))}"
    log = [*call, "log", *revisions, "-z", "--reverse", "--no-color", "--encoding=UTF-8"]
    items = _commits([*log, f"--format=tformat:{'%x00'.join(_FIELDS)}"], source, trust, max_note_characters)
    return Reading(enumerate(items, start=1), total=int(count or 0), unit="commits")


def _commits(log: Sequence[str], source: str, trust: Trust, max_note_characters: int) -> Iterator[Item]:
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(log, stdout=subprocess.PIPE, stderr=errors, env=_environment()) as process,  # noqa: S603
    ):
        try:
            for sha, author, author_date, commit_date, subject, body in _records(cast("IO[bytes]", process.stdout)):
                occurred_at = parse_moment(author_date, UTC) or parse_moment(commit_date, UTC)
                if occurred_at is None:
                    yield Skipped(sha, "the commit has no readable date")
                    continue
                yield note_or_skipped(
                    sha,
                    max_note_characters=max_note_characters,
                    external_id=sha,
                    source=source,
                    text="\n\n".join(filter(None, (subject, body.strip("\n")))),
                    occurred_at=occurred_at,
                    author=author or None,
                    trust=trust,
                )
        finally:
            process.kill()  # only felt when the reader stopped early
        if process.wait() > 0:
            errors.seek(0)
            yield Skipped(source, f"git log stopped early: {_decode(errors.read()).strip()}")


def _records(output: IO[bytes]) -> Iterator[list[str]]:
    """Split the output at NULs into records of one string for each field."""
    fields: list[str] = []
    rest = b""
    while block := output.read(_READ_BYTES):
        *complete, rest = (rest + block).split(b"\0")
        for field in complete:
            fields.append(_decode(field))
            if len(fields) == len(_FIELDS):
                yield fields
                fields = []


def _decode(data: bytes) -> str:
    """Decode what git could not convert itself as the encoding it most probably has."""
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _repository_name(call: Sequence[str], folder: Path) -> str:
    top = _ask(call, "rev-parse", "--show-toplevel")
    if top.returncode == 0 and top.stdout.strip():
        return Path(top.stdout.strip()).name
    return folder.name.removesuffix(".git") or folder.parent.name


def _ask(call: Sequence[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [*call, *arguments],
        env=_environment(),
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )


def _environment() -> dict[str, str]:
    """Ours, without what would point git at another repository or make it ask or translate."""
    kept = {name: value for name, value in os.environ.items() if name not in _LOCATING}
    return kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
