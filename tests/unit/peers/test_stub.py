"""The stub model answers each system in its own form, counts, and fails as told."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from dreaming.models.protocols import Passage
from dreaming.passes.consolidation.prompt import build_request
from tests.peers import page
from tests.peers.answers import UnknownPromptError, answer, statements
from tests.peers.environments import pinned
from tests.peers.plot import drawn, panels
from tests.peers.stub import MALFORMED, Fault, StubModel, vector
from tests.peers.systems import SYSTEMS
from tests.world import NOON

TEXT = "The mill was sold to the town of Elmstead. It will open again as a theatre in spring. Yes."
FIRST, SECOND = "The mill was sold to the town of Elmstead.", "It will open again as a theatre in spring."


def asked(content: str) -> Any:
    return json.loads(answer([{"role": "system", "content": "do"}, {"role": "user", "content": content}]))


def of_ours(text: str) -> str:
    passage = Passage(label="n1", text=text, occurred_at=NOON, source="test", author=None, participants=())
    return build_request([passage], max_tokens=100, timeout=1).content


def test_statements_are_whole_sentences() -> None:
    assert statements(TEXT) == [FIRST, SECOND]
    assert statements("too short. and this one begins with a small letter, however long it is.") == []


def test_our_own_prompt() -> None:
    claims = asked(of_ours(TEXT))["claims"]
    assert [(one["note"], one["statement"], one["quote"]) for one in claims] == [
        ("n1", FIRST, FIRST),
        ("n1", SECOND, SECOND),
    ]


def test_mem0s_prompt_leaves_out_what_it_shows() -> None:
    known = json.dumps([{"id": "0", "text": FIRST}])
    prompt = f"## Existing Memories\n{known}\n\n## New Messages\nuser: {TEXT}\n\n\n## Observation Date\n2026-01-01"
    assert [one["text"] for one in asked(prompt)["memory"]] == [SECOND]


def test_hindsights_prompts() -> None:
    facts = asked(f"Extract facts from the following chunk.\n\nChunk: 1/1\n\nContent:\n{TEXT}")["facts"]
    assert [one["what"] for one in facts] == [FIRST, SECOND]
    assert facts[0]["entities"] == ["Elmstead"]
    one, two, kept = ("00000000-0000-0000-0000-00000000000" + digit for digit in "123")
    listed = f"[{one}] {FIRST} (mentioned_at=2026-01-01)\n[{two}] {SECOND}"
    observed = json.dumps([{"id": kept, "text": FIRST}])
    told = asked(f"## INPUT\n\n### New facts\n\n{listed}\n\n### Existing observations\n\n{observed}")
    assert [(entry["observation_id"], entry["source_fact_ids"]) for entry in told["updates"]] == [(kept, [one])]
    assert [(entry["text"], entry["source_fact_ids"]) for entry in told["creates"]] == [(SECOND, [two])]
    assert asked(f"[NEW] {FIRST}\n[EXISTING] {FIRST}\n")["action"] == "merge"
    assert asked(f"[NEW] {FIRST}\n[EXISTING] {SECOND}\n")["action"] == "keep"


def test_an_unknown_prompt_is_an_error() -> None:
    with pytest.raises(UnknownPromptError):
        asked("What is the weather like?")


def chatting(content: str) -> dict[str, Any]:
    return {"model": "stub", "messages": [{"role": "user", "content": content}]}


def test_the_server_answers_counts_and_forgets() -> None:
    with StubModel(latency=0.0) as model, httpx.Client(base_url=model.url) as client:
        answered = client.post("/chat/completions", json=chatting(of_ours(TEXT))).json()
        assert len(json.loads(answered["choices"][0]["message"]["content"])["claims"]) == 2
        assert client.post("/chat/completions", json=chatting("nothing known")).status_code == 400
        assert client.post("/other", json={}).status_code == 404
        given = client.post("/embeddings", json={"model": "stub", "input": [FIRST, SECOND]}).json()
        assert [one["embedding"] for one in given["data"]] == [vector(FIRST), vector(SECOND)]
        counts = model.counts()
        assert (counts.chat_calls, counts.unknown_prompts, counts.chat_failed) == (2, 1, 0)
        assert (counts.embedding_calls, counts.texts_embedded) == (1, 2)
        assert counts.prompt_tokens == answered["usage"]["prompt_tokens"] > 0
        model.reset()
        assert model.counts().chat_calls == 0


def test_half_of_all_calls_fail_and_a_call_that_is_repeated_gets_another_turn() -> None:
    model = StubModel(latency=0.0)
    model.fault = Fault.UNAVAILABLE
    first = [model.chat(chatting(of_ours(f"{TEXT} {number}")))[0] for number in range(60)]
    assert 15 <= first.count(500) <= 45
    assert set(first) == {200, 500}
    failing = first.index(500)
    assert 200 in [model.chat(chatting(of_ours(f"{TEXT} {failing}")))[0] for _ in range(20)]
    model.fault = Fault.MALFORMED
    told = [model.chat(chatting(of_ours(f"{TEXT} {number}"))) for number in range(20)]
    assert {status for status, _ in told} == {200}
    texts = [body["choices"][0]["message"]["content"] for _, body in told]
    assert 0 < texts.count(MALFORMED) < len(texts)
    assert model.counts().chat_failed > first.count(500)
    model.close()


def test_like_texts_have_near_vectors_of_length_one() -> None:
    def likeness(left: str, right: str) -> float:
        return sum(a * b for a, b in zip(vector(left), vector(right), strict=True))

    assert likeness(FIRST, FIRST) == pytest.approx(1.0, abs=1e-3)
    assert likeness(FIRST, FIRST.replace("town", "village")) > likeness(FIRST, SECOND)
    assert likeness("", "") == pytest.approx(1.0, abs=1e-3)


def test_peers_are_pinned() -> None:
    packages = {system.package: system.driver.rpartition("_")[2] for system in SYSTEMS if system.package}
    assert {package: pinned(name, package) for package, name in packages.items()} == {
        "mem0ai": "2.2.1",
        "hindsight-api-slim": "1.1.0",
    }


def test_the_committed_page_is_what_its_results_say() -> None:
    kept = json.loads(page.RESULTS.read_text("utf-8"))
    assert page.rendered(kept) == page.PAGE.read_text("utf-8"), "docs/peers.md was changed by hand: make bench-peers"
    assert drawn(panels(kept)) == page.DRAWING.read_text("utf-8")


def test_a_system_that_was_skipped_is_told_with_its_reason() -> None:
    kept = json.loads(page.RESULTS.read_text("utf-8"))
    other = {"name": "Other", "version": "1", "callers": 1, "settings": {}, "phases": {}, "skipped": "no such package"}
    assert "- Other 1 was skipped: no such package" in page.rendered({**kept, "systems": [other]})
