"""An organization that has something of everything that the API shows, in its own slice and in a private one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.functions.http import Answer, call
from tests.functions.sandbox import Sandbox, drain, load_sandbox
from tests.world import World, claim

TOLD = (
    ("The {word} shed is green.", "{word} shed", "colour", "green", 0.9),
    ("The {word} shed is red.", "{word} shed", "colour", "red", 0.9),
    ("The {word} mill opens at dawn.", "{word} mill", "opening", "dawn", 0.7),
)
"""What each slice is told, with a word of its own in it."""


def post(api: Sandbox, path: str, body: Any = None, **options: Any) -> Answer:
    return call(api, path, method="POST", body=None if body is None else json.dumps(body), **options)


def write_script(path: Path, *words: str) -> None:
    """Let the scripted model claim what the slices of these words are told, and fail at poison."""
    rules: list[dict[str, Any]] = [{"when": "poison", "fail": "malformed"}]
    for word in words:
        for text, subject, attribute, value, confidence in TOLD:
            said = claim(
                text.format(word=word),
                subject=subject.format(word=word),
                attribute=attribute,
                value=value,
                confidence=confidence,
            )
            rules.append({"when": text.format(word=word), "claims": [said]})
    path.write_text(json.dumps({"rules": rules}), "utf-8")


def tell(
    api: Sandbox, authorizer: Mapping[str, Any], word: str, scope: str = "org", *, name: str | None = None
) -> None:
    """Bring notes, a conversation and agents' actions in as a caller.

    Every text holds `word`; every name, such as a note's in its source, begins with `name`, or with the word.
    """
    name = name or word
    told = [text.format(word=word) for text, *_ in TOLD]
    texts = [*told, f"{word} poison"]
    notes = [{"text": text, "external_id": f"{name}-{number}", "author": word} for number, text in enumerate(texts)]
    everything: list[tuple[str, Any, Mapping[str, str]]] = [
        ("/brain/notes", {"notes": notes}, {"scope": scope}),
        (
            "/brain/conversations",
            {"conversation_id": f"{name}-talk", "turns": [{"speaker": word, "text": f"The {word} roof leaks."}]},
            {"scope": scope},
        ),
    ]
    if scope == "org":
        action = {"external_id": "1", "tool": "mail", "summary": f"Wrote to {word}.", "risk": "low"}
        done = [{**action, "agent_id": f"{name}-bot", "outcome": "success"}]
        everything.append(("/brain/autonomy/actions", {"actions": done}, {}))
    for path, body, query in everything:
        answer = post(api, path, body, authorizer=authorizer, query=query)
        assert answer.status == 200, answer.body


def work(world: World, *functions: str) -> None:
    """Let passes do all that is due."""
    for function in functions:
        sandbox = load_sandbox(function)
        sandbox.invoke({})
        drain(world, sandbox)
