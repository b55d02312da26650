"""The scripted models answer as told, keep every call, and say what is wrong with a script."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from dreaming.errors import DreamingError, InvalidInput, Misconfigured, ModelTimeout, ProviderUnavailable, Throttled
from dreaming.models.protocols import ChatRequest, Passage, StopReason
from dreaming.models.scripted import Rule, Script, ScriptedChatModel, ScriptedEmbedder

DAY = datetime(2024, 2, 9, tzinfo=UTC)
CLAIM = {"kind": "fact", "statement": "Tom sails on Sundays.", "quote": "Tom sails on Sundays."}


def request(*texts: str) -> ChatRequest:
    passages = tuple(Passage(f"n{place}", text, DAY, "notes") for place, text in enumerate(texts, start=1))
    return ChatRequest("instructions", "\n".join(texts), passages, max_tokens=100, timeout=5)


def test_a_function_may_answer_text_claims_or_an_error() -> None:
    assert ScriptedChatModel(lambda _: "hello").answer(request("x")).text == "hello"
    assert json.loads(ScriptedChatModel(lambda _: [CLAIM]).answer(request("x")).text) == [CLAIM]
    with pytest.raises(Throttled):
        ScriptedChatModel(lambda _: Throttled("slow down")).answer(request("x"))


def test_the_first_matching_rule_answers_and_names_the_passage() -> None:
    model = ScriptedChatModel(Script(rules=[Rule(pattern="(?i)SAILS", claims=[CLAIM]), Rule(answer="never")]))
    assert json.loads(model.answer(request("Tom sails")).text) == [{"note": "n1"} | CLAIM]
    assert model.answer(request("nothing")).text == "never"


def test_each_passage_of_a_shared_call_is_answered_by_its_own_rule() -> None:
    other = {**CLAIM, "statement": "Tom plays the cello"}
    rules = [Rule(when="sails", claims=[CLAIM], times=1), Rule(when="cello", claims=[other])]
    model = ScriptedChatModel(Script(rules=rules))
    answered = json.loads(model.answer(request("nothing", "a cello", "Tom sails", "Ann sails")).text)
    assert answered == [{"note": "n2"} | other, {"note": "n3"} | CLAIM]


def test_a_rule_that_fails_decides_for_a_shared_call() -> None:
    rules = [Rule(when="sails", claims=[CLAIM], times=1), Rule(when="poison", fail="malformed")]
    model = ScriptedChatModel(Script(rules=rules))
    assert "poem" in model.answer(request("Tom sails", "poison")).text
    assert json.loads(model.answer(request("Tom sails")).text) == [{"note": "n1"} | CLAIM]


def test_without_a_match_the_default_is_no_claims() -> None:
    model = ScriptedChatModel(Script(rules=[Rule(when="greyhound", answer="x")]))
    assert model.answer(request("a cat")).text == "[]"


def test_a_rule_answers_as_often_as_it_may() -> None:
    model = ScriptedChatModel(Script(rules=[Rule(fail="unavailable", times=2), Rule(answer="done")]))
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            model.answer(request("x"))
    assert model.answer(request("x")).text == "done"
    assert model.calls == 3


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("throttled", Throttled, "throttled"),
        ("unavailable", ProviderUnavailable, "provider_unavailable"),
        ("timeout", ModelTimeout, "timeout"),
        ("missing_key", DreamingError, "missing_key"),
        ("misconfigured", DreamingError, "provider_misconfigured"),
    ],
)
def test_named_failures_raise_their_error(name: str, error: type[DreamingError], reason: str) -> None:
    model = ScriptedChatModel(Script.model_validate({"rules": [{"fail": name, "retry_after": 7}]}))
    with pytest.raises(error) as raised:
        model.answer(request("x"))
    assert getattr(raised.value, "reason", None) == reason
    assert getattr(raised.value, "retry_after", None) == (7 if name == "throttled" else None)


def test_named_failures_of_the_answer_itself() -> None:
    script = [
        Rule(when="refuse", fail="refused"),
        Rule(when="cut", fail="truncated", claims=[CLAIM, CLAIM]),
        Rule(when="bad", fail="malformed"),
    ]
    model = ScriptedChatModel(Script(rules=script))
    assert (model.answer(request("refuse")).text, model.answer(request("refuse")).stop_reason) == (
        "",
        StopReason.REFUSED,
    )
    cut = model.answer(request("cut"))
    assert cut.stop_reason is StopReason.TRUNCATED
    assert cut.text.startswith('[{"note"')
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut.text)
    assert "[" not in model.answer(request("bad")).text


def test_a_script_file_is_read_as_json_or_jsonl(tmp_path: Path) -> None:
    rule = {"when": "Tom", "claims": [CLAIM]}
    files = {
        "a.json": json.dumps({"rules": [rule]}),
        "b.json": json.dumps([rule]),
        "c.jsonl": json.dumps(rule) + "\n\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        model = ScriptedChatModel.from_file(tmp_path / name, context_tokens=99)
        assert json.loads(model.answer(request("Tom")).text)[0]["quote"] == CLAIM["quote"]
        assert model.context_tokens == 99


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("a.json", "{", "not a script"),
        ("a.json", '{"rules": [{"when": "x"}]}', "'answer', 'claims' or 'fail'"),
        ("a.json", '{"rules": [{"fail": "explode"}]}', "rules.0.fail"),
        ("a.json", '{"rules": [{"answer": "x", "claims": []}]}', "not both"),
        ("a.jsonl", '{"answer": "x"}\n{"pattern": "(", "answer": "x"}', "line 2"),
    ],
)
def test_a_broken_script_is_named(tmp_path: Path, name: str, text: str, named: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match="chat_script") as raised:
        ScriptedChatModel.from_file(tmp_path / name)
    assert named in str(raised.value)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nothing\.json cannot be read"):
        ScriptedChatModel.from_file(tmp_path / "nothing.json")


def test_calls_from_several_threads_are_all_kept_and_limits_hold() -> None:
    model = ScriptedChatModel(Script(rules=[Rule(answer="few", times=10), Rule(answer="rest")]))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda place: model.answer(request(f"note {place}")).text, range(100)))
    assert answers.count("few") == 10
    assert sorted(one.content for one in model.requests) == sorted(f"note {place}" for place in range(100))


def test_latency_is_spent_in_the_given_sleep() -> None:
    slept: list[float] = []
    remember: Callable[[float], None] = slept.append
    ScriptedChatModel(Script(), latency=2.5, sleep=remember).answer(request("x"))
    assert slept == [2.5]


def test_the_embedder_gives_equal_texts_equal_unit_vectors() -> None:
    embedder = ScriptedEmbedder(4, vectors={"east": [2, 0, 0, 0]})
    rows = embedder.embed(["a", "b", "a", "east"], timeout=1)
    assert rows.shape == (4, 4)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert (rows[0] == rows[2]).all()
    assert not (rows[0] == rows[1]).all()
    assert rows[3].tolist() == [1, 0, 0, 0]
    assert embedder.embed([], timeout=1).shape == (0, 4)
    assert (embedder.name, embedder.calls) == ("scripted:hash-4", 2)


def test_the_embedder_fails_as_planned_then_works() -> None:
    embedder = ScriptedEmbedder(failures=[Throttled("slow down")])
    with pytest.raises(Throttled):
        embedder.embed(["a"], timeout=1)
    assert embedder.embed(["a"], timeout=1).shape == (1, 8)
    assert embedder.texts == (("a",), ("a",))


def test_a_chosen_vector_of_another_length_is_refused() -> None:
    with pytest.raises(Misconfigured, match="3 dimensions, not 8"):
        ScriptedEmbedder(vectors={"x": [1, 2, 3]})
