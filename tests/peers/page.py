"""The page of the comparison, from its results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.architecture.modules import ROOT
from tests.benchmarks.report import FOLDER
from tests.peers.plot import drawn, panels

PAGE = ROOT / "docs" / "peers.md"
RESULTS = ROOT / "docs" / "peers.json"
DRAWING = ROOT / "docs" / "images" / "peers.svg"

_HEAD = """# Peers

What two other memories for agents cost and keep, and what ours does, on the same {notes} notes in one run: written by
`make bench-peers` from [peers.json](peers.json). It needs the corpora beside the checkout, and builds an environment
for each peer outside of it from a pinned list of packages.

## How it is measured

- **Notes**: 150 commits and 50 excerpts of meetings for each 200, with {statements} statements, none told twice.
- **Model**: a stub that speaks OpenAI's protocol, takes {chat} ms for a chat call and {embedding} ms for an embedding
  call, and answers each system in the form that its own prompt demands: up to three sentences of the note, word for
  word. Where a prompt shows memories and asks not to repeat them, the stub does not. A real model errs more.
  Tokens are four characters each, for everybody.
- **Database**: one PostgreSQL 18 with pgvector, a database for each system. Every system in a process of its own.
- **Settings** are as they come, but for the addresses of stub and database and what the last section lists.
- Times are of one machine with {cores} cores that others used too (load {load}): compare them with each other, and
  roughly. Calls, tokens, rows and losses do not depend on it.

"""

_PHASES = (
    ("first", "The notes", "Into an empty store."),
    ("again", "The same notes again", "As when a connector starts over."),
    (
        "edited",
        "{edits} of them edited",
        "One statement of each is replaced by another. *Stale* are replaced statements that are still held.",
    ),
    (
        "unavailable",
        "Every second call fails with status 500",
        "Into an empty store. *Known* are notes that the caller is told of as failed, or that a record is kept of.",
    ),
    ("unavailable, then well", "The model is well again", "What is known to have failed is given once more."),
    (
        "malformed",
        "Every second answer is prose in place of JSON",
        "Into an empty store, status 200.",
    ),
    ("malformed, then well", "Answers are well again", "What is known to have failed is given once more."),
)

_COLUMNS = (
    *("model calls", "of them failed", "prompt tokens", "embedding calls", "seconds"),
    *("held", "twice", "missing", "stale", "known", "told"),
)

_READ = """## What this says

- **The same notes again.** Hindsight compares a document with what it holds and asks nothing of a model, as we do.
  mem0's `add` has no identity of a note: it pays for each call again, and what its search for ten like memories did not
  bring up is stored a second time, since the model cannot leave out what it is not shown.
- **Edits.** Hindsight replaces the document's facts and so do we. mem0 keeps the old statement beside the new one;
  to find and delete it is its caller's work.
- **A model that is down.** All three tell. mem0's client tries three times and then raises `LLMError`; Hindsight tries
  four times a call and then raises; ours raises nothing at ingest, since no model is asked there: the cursor holds, and
  the next tick goes on.
- **Answers that are no JSON.** mem0 logs an error and returns an empty list, as for a note that says nothing: those
  notes are lost, and nobody knows which. Hindsight asks again and then raises. Ours asks three times in all (in
  shared calls down to the note alone), then retires the note with a record, and takes it up on command.
- **Prompt.** mem0's instructions are about eight times as long as ours, and Hindsight's about three times; with prompt
  caching this costs less than it looks.

## Where they are better

- **They take more.** Both store whatever the model says. Our check of claims refuses some statements that the stub
  copied from the notes: imperatives ("Don't use threads in this test."), since a statement must not instruct its
  reader, and stammered speech that repeats a phrase. That is the *missing* of the first table: wrong refusals, by rule.
- **Hindsight bears more wrong answers.** It asks four times before it gives a note up, ours three: of the answers that
  are no JSON it loses fewer notes than we retire with a call for each. Both know which, and get them back.
- **They search by meaning from the first note.** Both embed everything they store, and Hindsight links facts by
  entities, time and meaning on the way in; ours embeds only after consent, in a pass of its own. Part of their time
  and of their rows buys that.
- **mem0 answers at once.** `add` returns what was remembered, in one call, with no schedule, queue or tick.
- **Hindsight keeps two layers**, facts as told and observations consolidated from them, and writes observations that
  sum up several facts. Ours keeps each source's own claim, but never writes a summary that nobody said.
- **Both run with any of a dozen providers and stores.** Ours has three chat protocols and one database.

What this cannot say: how good a memory is with a real model, and how well it is found again.

"""


_AS_USED = """- mem0: `Memory` with its `pgvector` store, an HNSW index, `openai` for model and embeddings, one `add` a
  note; without the optional spaCy model, which is in no package index. The collections are made before the first notes:
  callers at once that find none each create it, and all but one get `UniqueViolation`.
- Hindsight: `MemoryEngine` from `hindsight-api-slim`, `retain_batch_async` for each note as a document, then
  `run_consolidation`, whose time is in the tables; no cross-encoder, which only reads; no decision model.
- Dreaming: the local runtime with the handler that runs on Lambda, no embeddings (the default); *a call for each note*
  has packing off. *Held until the next tick* counts ticks; here they follow at once, on AWS by the hour."""


def rendered(results: Mapping[str, Any]) -> str:
    """Return the page."""
    head = _HEAD.format(
        **{name: results[name] for name in ("notes", "statements", "cores", "load")},
        chat=round(1000 * results["latency"]),
        embedding=round(1000 * results["embedding_latency"]),
    )
    systems = results["systems"]
    parts = [head, results.get("remark"), _skipped(systems), f"![Systems compared](images/{DRAWING.name})\n"]
    for name, title, what in _PHASES:
        parts += [f"## {title.format(edits=results['edits'])}", "", what, "", *_table(name, systems), ""]
    parts += [_rows(systems), _READ, *_settings(systems)]
    return "\n".join(part for part in parts if part is not None) + "\n"


def write_results(results: Mapping[str, Any]) -> None:
    """Write the results into `build/bench`, also those of systems that are not through yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "peers.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def publish() -> None:
    """Put the results of `build/bench` beside the page, and write the page and its drawing."""
    written = (FOLDER / "peers.json").read_text("utf-8")
    RESULTS.write_text(written, "utf-8")
    results = json.loads(written)
    DRAWING.write_text(drawn(panels(results)), "utf-8")
    PAGE.write_text(rendered(results), "utf-8")


def _skipped(systems: Sequence[Mapping[str, Any]]) -> str | None:
    told = [f"- {one['name']} {one['version']} was skipped: {one['skipped']}" for one in systems if "skipped" in one]
    return "\n".join([*told, ""]) if told else None


def _table(name: str, systems: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [f"| | {' | '.join(_COLUMNS)} |", "|---" * (len(_COLUMNS) + 1) + "|"]
    return [*lines, *(_line(one["name"], one["phases"][name]) for one in systems if name in one["phases"])]


def _line(name: str, phase: Mapping[str, Any]) -> str:
    layers = phase["layers"]
    cells = [
        name, f"{phase['chat_calls']:,}", f"{phase['chat_failed']:,}", f"{phase['prompt_tokens']:,}",
        f"{phase['embedding_calls']:,}", f"{phase['seconds']:,.1f}",
        *(_of_layers(layers, what) for what in ("held", "twice", "missing", "stale")),
        f"{phase['failed_notes']:,}",
        ", ".join(f"{error} × {times}" for error, times in phase["raised"].items()),
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _of_layers(layers: Mapping[str, Mapping[str, int]], what: str) -> str:
    """One number, or one for each layer: facts and observations."""
    values = [f"{counts[what]:,}" for counts in layers.values()]
    return values[0] if len(set(values)) == 1 else " and ".join(values)


def _rows(systems: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "## Rows and memory",
        "",
        "After the first notes; megabytes are the most that the process took by then.",
        "",
    ]
    lines += ["| | megabytes | rows |", "|---|---|---|"]
    for one in systems:
        if "first" in one["phases"]:
            phase = one["phases"]["first"]
            rows = ", ".join(f"{table} {count:,}" for table, count in phase["rows"].items() if count)
            lines.append(f"| {one['name']} | {phase['megabytes']:,} | {rows} |")
    return "\n".join([*lines, ""])


def _settings(systems: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "## Versions and settings",
        "",
        "| | version | notes handed over at once | settings |",
        "|---|---|---|---|",
    ]
    for one in systems:
        settings = ", ".join(f"`{name}={value}`" for name, value in one["settings"].items())
        lines.append(f"| {one['name']} | {one['version']} | {one['callers']} | {settings} |")
    return [*lines, "", _AS_USED]
