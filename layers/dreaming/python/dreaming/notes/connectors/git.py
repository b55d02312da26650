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
from dreaming.notes.connectors.marks import Feed, Marks, OpenMarks
from dreaming.notes.connectors.records import Item, Reading, Skipped, note_or_skipped, short_id
from dreaming.notes.connectors.times import parse_moment
from dreaming.notes.records import Trust

_FIELDS = ("%H", "%an", "%aI", "%cI", "%s", "%b")
_READ_BYTES = 1 << 16
_STOPPED = "git log stopped early"
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
    open_marks: OpenMarks = Marks,
) -> Reading:
    """Read the commits reachable from HEAD, oldest first; progress in commits.

    A note's id is the commit's hash, its source `git:<name>` with the repository folder's name by
    default, its author the commit's, its time the author's with its own offset, its text subject and
    body, its origin the commit itself. Merges are left out unless asked for.

    Remembered is the last commit of each branch. Everything that can be reached from one was read, so
    a rewritten history is read from where it parts from the old one, and from its beginning when git
    no longer has the old commits.

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
    head = _ask(call, "rev-parse", "HEAD^{commit}").stdout.strip()
    git_folder = Path(folder.stdout.strip())
    source = f"git:{name or _repository_name(call, git_folder)}"
    # A history that is made deeper, or is cut, shows other commits below the same ones.
    options = repr((max_note_characters, since, merges, trust, _shallow_commits(call)))
    marks = open_marks(Feed.of("git", source, str(git_folder)), options)
    revisions = [head] if merges else [head, "--no-merges"]
    if since is not None:
        revisions.append(f"--since={since.isoformat()}")
    revisions += [f"^{commit}" for commit in _read_commits(call, marks)]
    count = _ask(call, "rev-list", "--count", *revisions).stdout.strip()
    log = [*call, "log", *revisions, "-z", "--reverse", "--no-color", "--encoding=UTF-8"]
    items = _commits([*log, f"--format=tformat:{'%x00'.join(_FIELDS)}"], source, trust, max_note_characters)
    branch = _ask(call, "symbolic-ref", "--quiet", "HEAD").stdout.strip() or "HEAD"
    return Reading(_marked(items, marks, branch, head), total=int(count or 0), unit="commits", marks=marks)


def _shallow_commits(call: Sequence[str]) -> str:
    """The commits at which a history was cut off; nothing for a whole one."""
    path = _ask(call, "rev-parse", "--path-format=absolute", "--git-path", "shallow").stdout.strip()
    try:
        return Path(path).read_text("ascii") if path else ""
    except OSError:
        return ""


def _read_commits(call: Sequence[str], marks: Marks) -> list[str]:
    """The remembered commits that git still has."""
    known = (marks.known(entry) for entry in sorted(marks.entries))
    commits = dict.fromkeys(str(mark["commit"]) for mark in known if mark)
    return [commit for commit in commits if _ask(call, "cat-file", "-e", f"{commit}^{{commit}}").returncode == 0]


def _marked(items: Iterator[Item], marks: Marks, branch: str, head: str) -> Iterator[tuple[int, Item]]:
    complete = True
    for done, item in enumerate(items, start=1):
        complete = complete and not (isinstance(item, Skipped) and item.reason.startswith(_STOPPED))
        yield done, item
    if complete:
        marks.put(short_id(branch), {"commit": head})


def last_changes(folder: Path) -> dict[str, datetime]:
    """Return when each file below `folder` was last committed, by its path below it with `/`.

    Only files that stand as they were committed; none where there is no git or no repository.
    """
    git = shutil.which("git")
    if git is None:
        return {}
    call = [git, "-C", str(folder), "-c", "core.quotePath=false", "-c", "log.showSignature=false"]
    log = _ask(call, "log", "-z", "--no-renames", "--relative", "--name-only", "--format=%x01%aI", "--", ".")
    changed = _ask(call, "diff", "-z", "--relative", "--name-only", "HEAD", "--", ".")
    if log.returncode or changed.returncode:
        return {}
    changes: dict[str, datetime] = {}
    for commit in log.stdout.split("\x01")[1:]:
        written, _, names = commit.partition("\0")
        moment = parse_moment(written, UTC)
        for name in filter(None, names.lstrip("\n").split("\0")):
            if moment is not None:
                changes.setdefault(name, moment)
    for name in changed.stdout.split("\0"):
        changes.pop(name, None)
    return changes


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
            yield Skipped(source, f"{_STOPPED}: {_decode(errors.read()).strip()}")


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
