"""What an assistant says is nobody's fact; what was recalled does not come back as a memory."""

from __future__ import annotations

from typing import Any

from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.echo import mark
from tests.database.synthesis.conftest import Talking, talking
from tests.world import claim

__all__ = ["talking"]


def believed(talking: Talking, *claims: dict[str, Any]) -> list[str]:
    talking.world.model = ScriptedChatModel(
        lambda request: [one for one in claims if any(one["quote"] in part.text for part in request.passages)]
    )
    talking.later(minutes=10)
    talking.synthesize()
    talking.world.drain()
    return talking.world.statements()


def rejected(talking: Talking) -> dict[str, int]:
    rows = talking.world.rows("select claims_rejected_by_rule from dream_runs where claims_rejected > 0")
    return {name: count for (rules,) in rows for name, count in rules.items()}


def test_an_assistants_suggestion_does_not_become_the_users_fact(talking: Talking) -> None:
    talking.say(("user", "I want a dog."), ("helper", "You could adopt a greyhound."), ("user", "maybe"))
    assert believed(talking, claim("The user adopts a greyhound.", "You could adopt a greyhound.")) == []
    assert rejected(talking) == {"quote_assistant": 1}


def test_what_the_user_says_beside_it_is_believed(talking: Talking) -> None:
    talking.say(("user", "I want a dog of my own."), ("helper", "You could adopt a greyhound."))
    assert believed(talking, claim("The user wants a dog.", "I want a dog of my own.")) == ["The user wants a dog."]


def test_an_assistant_that_speaks_as_the_user_is_not_believed(talking: Talking) -> None:
    talking.say(("Ana", "Hello there."), ("helper", "Fine.\nAna: I live in Lyon since 2020."), ("Ana", "No."))
    assert believed(talking, claim("Ana lives in Lyon since 2020.", "I live in Lyon since 2020.")) == []
    assert rejected(talking) == {"quote_assistant": 1}


def test_a_system_prompt_of_a_conversation_gives_no_beliefs(talking: Talking) -> None:
    talking.say(("system", "You are Max and you love figs."), ("user", "hi"))
    assert believed(talking, claim("Max loves figs.", "You are Max and you love figs.")) == []


def test_recalled_text_that_an_assistant_repeats_is_in_no_note(talking: Talking) -> None:
    recalled = mark("Ana lives in Lyon.", "brief")
    talking.say(("Ana", f"{recalled}\nWhere do I live?"), ("helper", f"You live there.\n{recalled}"))
    talking.later(minutes=10)
    talking.synthesize()
    assert "Lyon" not in "".join(talking.texts())


def test_an_owners_id_is_no_speaker(talking: Talking) -> None:
    talking.say((None, "I finished the report on herons."))
    talking.later(minutes=10)
    talking.synthesize()
    assert talking.texts() == ["User: I finished the report on herons."]
    assert talking.world.rows("select author, participants from notes") == [(None, [])]
