"""Every command of README and docs/ runs, and prints what the page shows.

Each page is gone through as a reader would: its blocks of `sh` and `console` in order, in one shell, with a home folder
and a database of its own and the offline models. What a console block shows as printed is compared; see
`tests.documents.printed`. What a test cannot run is in `tests.documents.stand_ins`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from dreaming.local.cli import dream as program
from tests.architecture.modules import ROOT
from tests.databases import at_database, created_database
from tests.documents.pages import SHELL, Block, Page, pages
from tests.documents.printed import Names, differs, moved
from tests.documents.programs import programs
from tests.documents.shell import Shell, parts
from tests.documents.stand_ins import STAND_INS, check_aws

pytestmark = pytest.mark.slow

PAGES = [page for page in pages() if any(block.language in {*SHELL, "python"} for block in page.blocks())]
PYTHON_ELSEWHERE = {"README.md", "layers/client/README.md"}
"""Pages whose Python is run by tests/client/test_local_api.py."""
SWITCH_ON = """
dream settings set enabled true
dream settings set enrolled true
dream settings set model_consent true
"""
BEGINS_WITH = re.compile(r"^\s*(?:\$ )?(?:\S*/)?(?:dream|make|aws|pip|git|export|curl)\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a page takes for granted: commands that were run before, and what its words in capitals stand for.

    `fresh`: it begins on an empty database, with everything switched off. `dated`: what it shows has dates of its own,
    which stay. `python`: what stands before its blocks of Python.
    """

    fresh: bool = False
    dated: bool = False
    python: str = ""
    before: str = ""
    words: dict[str, str] = field(default_factory=dict)


ACCOUNT = {"aws://ACCOUNT/REGION": "aws://123456789012/eu-central-1", "YOUR-COPY": "~/code/my-project"}
RECALL = """
import os
from datetime import UTC, datetime

from dreaming.database import Database
from dreaming.notes.records import Tenant
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn

database = Database(os.environ["DATABASE_URL"])
environment = {"DREAMING_CONVERSATION_MEMORY": "true"}
embedder = lambda *asked: None
count = lambda *counted: None
clock = lambda: datetime.now(UTC)
conversation = IncomingConversation(conversation_id="one", turns=(IncomingTurn(text="The boat leaks."),))
"""
CONTRADICTIONS = """
id() { dream beliefs "$@" --json | grep -m1 '"belief_id"' | cut -d'"' -f4; }
LEFT=$(id pier 3); RIGHT=$(id pier 4); BELIEF=$(id controllers IP67); OTHER=$(id every controller)
dream conflicts resolve $BELIEF $OTHER --keep merge
SOURCE=$(dream why shed --json | grep -m1 '"source_id"' | cut -d'"' -f4)
"""
ENGINE = """
import os
from datetime import UTC, datetime

from dreaming.identifiers import uuid7
from dreaming.notes.records import Tenant
from dreaming.database import Database
from dreaming.passes.engine import Engine


class Queue:
    def send(self, body, *, group_id, deduplication_id): ...


database, queue, environment = Database(os.environ["DATABASE_URL"]), Queue(), {"DREAMING_ENABLED": "true"}
slice_id = 1
clock = lambda: datetime.now(UTC)
"""
NOTE = """NOTE_ID=$(dream why bike shop --json | grep -m1 '"note_id"' | cut -d'"' -f4)"""
PAIRS = {
    "LEFT": "$LEFT",
    "RIGHT": "$RIGHT",
    "unmerge BELIEF --source": "unmerge $(id shed) --source",
    "BELIEF": "$BELIEF",
}
PAIRS |= {"SOURCE": "$SOURCE"}
SPLIT = {"unmerge OTHER": "unmerge $(id shed)", "SOURCE": "$SOURCE", "BELIEF": "$BELIEF"}
PREPARED: dict[str, Prepared] = {
    "README.md": Prepared(fresh=True, dated=True),
    "docs/synthesis.md": Prepared(before="export DREAMING_CONVERSATION_MEMORY=true"),
    "docs/deploy.md": Prepared(before="dream dashboard", words=ACCOUNT),
    "docs/tutorial.md": Prepared(fresh=True, words=ACCOUNT),
    "docs/how-to/add-a-pass.md": Prepared(python=ENGINE),
    "docs/how-to/delete-a-person.md": Prepared(before=NOTE, words={"NOTE_ID": "$NOTE_ID"}),
    "docs/how-to/undo-a-merge.md": Prepared(before=CONTRADICTIONS, words=SPLIT),
    "docs/recall.md": Prepared(python=RECALL),
    "docs/contradictions.md": Prepared(before=CONTRADICTIONS, words=PAIRS),
}


@dataclass(frozen=True, slots=True)
class Begun:
    """The suite's beginnings: where the programs are served, a database with sample notes, its home's settings."""

    server_url: str
    socket: Path
    empty: str
    sampled: str
    environment: str


@pytest.fixture(scope="module")
def begun(server_url: str, template_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begun]:
    folder = tmp_path_factory.mktemp("documents")
    with programs(folder) as socket, created_database(server_url, template=template_database) as sampled:
        shell = Shell(folder / "beginning", socket, at_database(server_url, sampled))
        fields = "--id-field id --time-field date --author-field from --source journal"
        read = "".join(f"dream ingest jsonl {name}.jsonl {fields}\ndream drain\n" for name in ("notes", "later"))
        done = shell.run(f"{SWITCH_ON}{read}")
        assert done.code == 0, done.complaint
        kept = (shell.installation / "environment").read_text("utf-8")
        yield Begun(server_url, socket, template_database, sampled, kept)


@contextmanager
def reader(begun: Begun, folder: Path, prepared: Prepared) -> Iterator[Shell]:
    """The shell of somebody who comes to a page."""
    template = begun.empty if prepared.fresh else begun.sampled
    with created_database(begun.server_url, template=template) as name:
        shell = Shell(folder, begun.socket, at_database(begun.server_url, name))
        if not prepared.fresh:
            shell.installation.mkdir(parents=True)
            (shell.installation / "environment").write_text(begun.environment, "utf-8")
        try:
            go_through(shell, Block(0, "sh", prepared.before), Names())
            yield shell
        finally:
            shell.stop()
            shutil.rmtree(folder)


def go_through(shell: Shell, block: Block, names: Names, *, dated: bool = False) -> None:
    """Run a block; what a console block shows must be what is printed."""
    text = block.text if dated else moved(block.text)
    steps = console(text) if block.language == "console" else [(text, None)]
    for command, shown in steps:
        for serves, part in parts(names.put_in(command)):
            if serves:
                shell.serve(part)
                continue
            done = shell.run(part)
            assert done.code == 0, f"line {block.line}: exit code {done.code} of\n{part}{done.printed}{done.complaint}"
            if shown is not None:
                wrong = differs(shown, done.printed, names, today=datetime.now(UTC).date())
                assert wrong is None, f"line {block.line}: $ {command}{wrong}\n\nall of it:\n{done.printed}"


def console(text: str) -> list[tuple[str, str | None]]:
    """Split a console block into commands, each with what is shown as printed, None where nothing is."""
    steps: list[tuple[str, str | None]] = []
    for line in text.splitlines(keepends=True):
        command, shown = steps[-1] if steps else ("", None)
        if line.startswith("$ "):
            steps.append((line[2:], None))
        elif shown is None and (command.endswith("\\\n") or line.startswith("> ")):
            steps[-1] = (command + line.removeprefix("> "), None)
        else:
            steps[-1] = (command, (shown or "") + line)
    return steps


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page: Page, begun: Begun, tmp_path: Path) -> None:
    prepared = PREPARED.get(page.name, Prepared())
    names = Names(dict(prepared.words))
    with reader(begun, tmp_path / "page", prepared) as shell:
        for block in page.blocks():
            if block.language in SHELL:
                go_through(shell, block, names, dated=prepared.dated)
            elif block.language == "python" and page.name not in PYTHON_ELSEWHERE:
                (shell.place / "block.py").write_text(prepared.python + block.text, "utf-8")
                done = shell.run("python block.py")
                assert done.code == 0, f"line {block.line}: {done.complaint}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_blocks_with_commands_say_so(page: Page) -> None:
    assert [block.line for block in page.blocks() if not block.language and BEGINS_WITH.search(block.text)] == []
    indented = [number for number, line in page.prose() if line.startswith("    ") and BEGINS_WITH.match(line)]
    assert indented == [], "put commands between ```sh and ```"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_commands_in_the_text_are_those_that_there_are(page: Page) -> None:
    assert [wrong for number, code in page.inline() if (wrong := unknown(code, number))] == []


def unknown(code: str, line: int) -> str | None:
    """Return what a command in running text names that there is not."""
    words = code.split()
    if words[0] in {"dream", ".venv/bin/dream"}:
        return _unknown_to_dream(words[1:], line)
    if words[0] == "make" and len(words) > 1:
        targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
        called = {word for word in words[1:] if re.fullmatch(r"[a-z][a-z0-9-]+", word)}
        return f"line {line}: make {called - targets}" if called - targets else None
    if words[0] == "aws" and len(words) > 2:
        wrong = check_aws(words[1:3])
        return f"line {line}: {wrong}" if wrong else None
    return None


def _unknown_to_dream(words: list[str], line: int) -> str | None:
    context = click.Context(program)
    found: click.Command = program
    shared = {option for parameter in program.params for option in parameter.opts} | {"--help"}
    for word in (one.strip("[],").partition("=")[0] for one in words):
        if word.startswith("-") and not re.fullmatch(r"-+|-\d+", word):
            if word not in shared | {option for parameter in found.params for option in parameter.opts}:
                return f"line {line}: {found.name} takes no {word}"
        elif isinstance(found, click.Group) and re.fullmatch(r"[a-z][a-z-]*", word):
            inner = found.get_command(context, word)
            if inner is None:
                return None if found.get_command(context, words[0]) else f"line {line}: no command {word}"
            found = inner
    return None


def test_every_stand_in_has_its_reason_and_is_called() -> None:
    text = "".join(block.text for page in PAGES for block in page.blocks() if block.language in SHELL)
    assert [name for name, one in STAND_INS.items() if not one.reason] == []
    assert [name for name in STAND_INS if not re.search(rf"(?:^|[\s/(]){name}\s", text, re.MULTILINE)] == []


def test_a_program_that_nobody_listed_fails_and_so_does_what_is_not_printed(begun: Begun, tmp_path: Path) -> None:
    with reader(begun, tmp_path / "page", Prepared()) as shell:
        assert shell.run("terraform apply").code == 127
        assert shell.run("make no-such-target").code == 1
        assert shell.run("aws rds describe-db-clusters --no-such-parameter x").code == 1
        assert shell.run("dream no-such-command").code == 2
        assert shell.run("false # a comment that tells exit code 1").code == 0
        with pytest.raises(AssertionError, match="the page shows"):
            go_through(shell, Block(1, "console", "$ dream beliefs shed\nsomething else\n"), Names())
