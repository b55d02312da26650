"""A whole run of every pass and the API, with secrets in every text: what models, rows and logs got to see."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.beliefs.briefs.service import Briefing, marked
from dreaming.database import Database
from dreaming.errors import Throttled
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.local.queue import LocalQueue
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import ScriptedChatModel, ScriptedEmbedder
from dreaming.notes.records import Trust
from dreaming.passes.decay.run import Decay
from dreaming.passes.engine import Engine
from dreaming.passes.synthesis.run import Synthesis
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from dreaming.recall.service import Recalling
from tests.ageing_world import Bus
from tests.autonomy_world import AutonomyWorld, judgement
from tests.database.contradictions.worlds import Examined, verdicts
from tests.embedding_world import EmbeddingWorld
from tests.faults.test_secrets import LABELLED, SECRETS
from tests.functions.http import call
from tests.functions.sandbox import Sandbox, load_sandbox
from tests.world import KEY, World, note, open_world, verbatim

LABELS = {text.format(secret): secret for text, secret in LABELLED.items() if len(secret) >= 12}
PLANTED = {**{secret: secret for secret in SECRETS.values()}, **LABELS}
"""What stands in a text, and what of it is the secret."""

RAW = {"notes", "note_versions", "autonomy_actions"}
"""Tables that keep what came in as it came in."""

PHRASE = "zanzibarine"
"""A word of every note, which no log line may hold."""


@dataclass
class Seen:
    """Everything that a model of any kind was given."""

    texts: list[str] = field(default_factory=list)

    def note(self, request: ChatRequest) -> None:
        self.texts.append(json.dumps([request.instructions, request.content, [str(one) for one in request.passages]]))


@dataclass
class Run:
    """One organization after everything has run once."""

    world: World
    seen: Seen
    lines: list[dict[str, Any]]
    told: list[str]


def _texts() -> list[str]:
    return [f"Ada keeps the {PHRASE} chart {place}: {text} stays here." for place, text in enumerate(PLANTED)]


def _whole(text: str, most: int) -> str:
    """A text as a name, unless it is too long: a secret that is cut is none any more."""
    return text if len(text) <= most else "Ada"


@pytest.fixture
def run(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Run:
    caplog.set_level(logging.DEBUG)
    seen, embedder = Seen(), ScriptedEmbedder()

    def consolidates(request: ChatRequest) -> Any:
        seen.note(request)
        if any("poison" in passage.text for passage in request.passages):
            return f"I cannot read {request.passages[0].text}"
        return verbatim(request)

    def judges(request: ChatRequest) -> Any:
        seen.note(request)
        return verdicts(request, "coexisting")

    def scores(request: ChatRequest) -> Any:
        seen.note(request)
        return Throttled("slow down") if len(seen.texts) % 7 == 0 else judgement()

    world = open_world(database, tmp_path, consolidates)
    world.environment |= {"DREAMING_CONVERSATION_MEMORY": "true", "DREAMING_BATCH_NOTES": "50"}
    texts = _texts()
    world.ingest(
        *(
            note(f"n{place}", text, author=_whole(text, 200), participants=(_whole(text, 200),))
            for place, text in enumerate(texts)
        ),
        *(note(f"u{place}", text, trust=Trust.UNTRUSTED) for place, text in enumerate(texts[:10])),
        note("poison", f"The poison {PHRASE} {texts[0]}"),
    )
    for _ in range(3):
        world.drain()
        world.now += timedelta(hours=2)
    embedding = EmbeddingWorld(world, LocalQueue(tmp_path / "e.sqlite", "embedding", clock=world.clock), embedder)
    embedding.consent()
    embedding.drain()
    Examined(world, tmp_path, ScriptedChatModel(judges)).examine()
    talked = _talk(world, tmp_path, texts, embedder)
    _act(database, tmp_path, texts, scores, world)
    lines = _serve(world, texts, monkeypatch)
    world.now += timedelta(days=400)
    bus = Bus()
    _pass(world, Decay(database, bus, world.clock), LocalQueue(tmp_path / "d.sqlite", "decay", clock=world.clock))
    seen.texts += [text for call_ in embedder.texts for text in call_]
    events = [str(event) for event in bus.events]
    return Run(world, seen, [*lines, *_logged(caplog)], [*talked, *events])


def _talk(world: World, folder: Path, texts: list[str], embedder: ScriptedEmbedder) -> list[str]:
    capturing = Capturing(world.database, world.environment, lambda *_: embedder, world.clock, lambda reason: None)
    turns = tuple(IncomingTurn(speaker=_whole(text, 100), text=text) for text in texts)
    capturing.capture(KEY.tenant, IncomingConversation(conversation_id="chat", turns=turns, agent=_whole(texts[0], 80)))
    recalling = Recalling(world.database, world.environment, lambda *_: embedder, world.clock)
    told = [str(recalling.recall(KEY.tenant, text[:3_000])) for text in texts[:10]]
    world.now += timedelta(hours=1)
    queue = LocalQueue(folder / "s.sqlite", "synthesis", clock=world.clock)
    _pass(world, Synthesis(world.database, world.environment, world.clock, uuid7), queue)
    world.drain()
    told.append(marked(Briefing(world.database, world.environment).brief(KEY.tenant, now=world.now)))
    return told


def _act(database: Database, folder: Path, texts: list[str], scores: Any, world: World) -> None:
    queue = LocalQueue(folder / "a.sqlite", "autonomy", clock=world.clock)
    agents = AutonomyWorld(database, queue, ScriptedChatModel(scores), now=world.now)
    agents.log(*(agents.action("failure", summary=text, tool=_whole(text, 80)) for text in texts))
    agents.run()


def _serve(world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setattr(wiring, "_installed", [])
    keys = KeyResolver(EnvironmentKeys(world.environment), clock=lambda: 0.0)
    wiring.install(Resources(world.database, lambda _: world.queue, keys, world.environment, world.clock, uuid7))
    api = load_sandbox("api")
    body = json.dumps({"notes": [{"text": text} for text in texts[:5]]})
    for _ in range(2):
        assert call(api, "/brain/notes", method="POST", body=body, headers={"idempotency-key": "k"}).status == 200
    _misuse(api, texts)
    ((belief_id,), *_) = world.rows("select belief_id from beliefs order by 1")
    confirmed = call(api, f"/brain/beliefs/{belief_id}/confirm", method="POST", headers={"idempotency-key": "c"})
    assert confirmed.status == 200
    call(api, f"/brain/beliefs/{belief_id}")
    return api.lines


def _misuse(api: Sandbox, texts: list[str]) -> None:
    for broken in (texts[0], json.dumps({"notes": texts[:3]}), json.dumps({"notes": [{"text": 7, "trust": texts[1]}]})):
        assert call(api, "/brain/notes", method="POST", body=broken).status in (400, 422)
    assert call(api, "/brain/beliefs", query={"cursor": texts[0]}).status == 400


def _pass(world: World, work: Any, queue: LocalQueue) -> None:
    engine = Engine(work, world.database, queue, world.environment, world.clock, uuid7)
    from dreaming.passes.records import BatchMessage, Deadline

    engine.tick()
    while (received := queue.receive(holder="t", visibility_timeout=900)) is not None:
        engine.batch(
            BatchMessage.model_validate_json(received.body), holder=received.receipt, deadline=Deadline(lambda: 180.0)
        )
        queue.delete(received.receipt)


def _logged(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [{name: str(value) for name, value in vars(record).items()} for record in caplog.records]


def _rows(admin: psycopg.Connection[TupleRow]) -> dict[str, str]:
    """Every row of every table, as one text a table."""
    query = "select tablename from pg_tables where schemaname = 'dreaming' order by 1"
    tables = [row[0] for row in admin.execute(query).fetchall()]
    dumped = {}
    for table in tables:
        rows = admin.execute(f"select to_jsonb(t) from {table} t".encode()).fetchall()
        dumped[table] = json.dumps([row[0] for row in rows], ensure_ascii=False)
    return dumped


def _found(text: str) -> list[str]:
    """The planted secrets that stand in a text, as they are or escaped."""
    return [secret for secret in set(PLANTED.values()) if secret in text or json.dumps(secret)[1:-1] in text]


def test_no_secret_leaves_its_note(run: Run, admin: psycopg.Connection[TupleRow]) -> None:
    assert len(set(PLANTED.values())) >= 25
    rows = _rows(admin)
    assert len(_found(rows["notes"])) == len(set(PLANTED.values()))
    assert {table: _found(text) for table, text in rows.items() if table not in RAW and _found(text)} == {}
    for table in ("beliefs", "belief_vectors", "retired_notes", "conversation_turns", "idempotency_keys"):
        assert rows[table] != "[]", table
    assert len(run.seen.texts) > len(PLANTED)
    assert _found("\n".join(run.seen.texts)) == []
    assert _found("\n".join(run.told)) == []
    assert _found(json.dumps(run.lines, ensure_ascii=False)) == []


def test_no_log_line_holds_a_word_of_a_note(run: Run) -> None:
    assert len(run.lines) > 5
    held = [line for line in run.lines if PHRASE in json.dumps(line, ensure_ascii=False)]
    assert held == []
