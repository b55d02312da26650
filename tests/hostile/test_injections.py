"""Hostile texts against the whole path, with models that obey them: what must never come of it."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.beliefs.briefs.service import Briefing, marked
from dreaming.database import Database
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.cleaning import clean
from dreaming.notes.echo import mark, strip
from dreaming.notes.records import SliceKey, Trust
from dreaming.notes.secrets import mask
from dreaming.passes.consolidation.prompt import build_request, render
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from dreaming.recall.service import Recalling
from dreaming.recall.service import marked as marked_hits
from tests.autonomy_world import AutonomyWorld, open_autonomy_world
from tests.database.contradictions.worlds import Examined
from tests.hostile import gullible
from tests.world import KEY, NOON, World, note, open_world, verbatim

INJECTIONS = gullible.injections()
BIRCH = SliceKey("birch")
TRUSTED = (
    "Ada leads the harbour team.",
    "Bo keeps bees behind the old mill.",
    "The office lease ends in June 2028.",
    "The board decided to paint the boat green.",
)
DUMP = "select to_jsonb(t)::text from {} t order by 1"


@pytest.fixture(params=[False, True], ids=["one call a note", "shared calls"])
def world(request: pytest.FixtureRequest, database: Database, tmp_path: Path) -> World:
    """Trusted facts of two organizations, then every injection as mail of its own, in one of them."""
    world = open_world(database, tmp_path)
    world.environment["DREAMING_PACKING"] = "true" if request.param else "false"
    world.enrol(BIRCH.org_id)
    facts = [note(f"t{place}", text, occurred_at=NOON - timedelta(days=30)) for place, text in enumerate(TRUSTED)]
    for key in (KEY, BIRCH):
        world.ingest(*facts, key=key)
    world.drain()
    before = everything(world, BIRCH)
    model = ScriptedChatModel(gullible.claims)
    world.model = model
    sentinel = tmp_path / "executed"
    world.ingest(
        *(
            note(name, text.replace("SENTINEL", str(sentinel)), trust=Trust.UNTRUSTED, source="mail")
            for name, text in INJECTIONS.items()
        )
    )
    world.drain()
    for asked in model.requests:
        reaches_the_model_as_data(asked)
    judge = ScriptedChatModel(gullible.verdicts)
    Examined(world, tmp_path, judge, extra={"DREAMING_CONTRADICTION_BATCH": "20"}).examine()
    assert everything(world, BIRCH) == before
    assert not sentinel.exists()
    return world


def everything(world: World, key: SliceKey) -> list[Any]:
    tables = ("notes", "beliefs", "sources", "belief_history", "relationships", "timelines", "slice_counters", "merges")
    return [world.rows(DUMP.format(table), key=key) for table in tables]


def reaches_the_model_as_data(asked: Any) -> None:
    """Each passage stands between two lines whose code is nowhere else, and every character of it is there."""
    code = re.match(r"BEGIN ([0-9a-f]{16})\n", asked.content)
    assert code is not None
    lines = re.findall(rf"(?m)^(?:BEGIN|END) {code[1]}$", asked.content)
    assert len(lines) == asked.content.count(code[1]) == 2 * len(asked.passages)
    assert all(f"\n{passage.text}\nEND {code[1]}\n" in asked.content for passage in asked.passages)


def test_the_attempts_are_many_and_of_many_kinds() -> None:
    assert len(INJECTIONS) >= 60
    assert max(map(len, INJECTIONS.values())) >= 1_000_000


def nothing_of_an_attempt_becomes_more_than_it_may(world: World) -> None:
    rows = world.rows(
        """
        select n.external_id, s.kind, s.confidence, s.importance from sources s join notes n using (note_id)
        where s.trust = 'untrusted'
        """
    )
    assert len({name for name, *_ in rows}) > 40  # the model did obey
    assert [row for row in rows if row[1] in ("constraint", "decision")] == []
    assert [row for row in rows if row[2] > 0.5] == []
    assert [row for row in rows if row[3] not in ("low", "normal")] == []
    beliefs = world.rows("select statement, kind, confidence from beliefs where trust = 'untrusted' and sources > 0")
    assert [row for row in beliefs if row[1] in ("constraint", "decision")] == []
    assert [row for row in beliefs if row[2] > 0.5] == []


def every_quote_is_of_its_own_note(world: World) -> None:
    world.check()
    strays = world.rows(
        """
        select n.external_id, s.quote from sources s join notes n using (note_id)
        where s.trust = 'untrusted' and position(left(s.quote, 20) in n.text) = 0 and s.quote !~ '█'
        """
    )
    assert strays == []


def no_trusted_belief_is_changed_replaced_or_merged_away(world: World) -> None:
    rows = world.rows(
        """
        select statement, kind, trust, confidence, origins, archived_at, valid_until from beliefs
        where statement = any(%s) and trust = 'trusted' order by statement
        """,
        [list(TRUSTED)],
    )
    assert [row[0] for row in rows] == sorted(TRUSTED)
    assert all(row[1:3] == ("fact", "trusted") and row[5:] == (None, None) for row in rows)
    assert {row[3] for row in rows} == {0.8}
    outsiders = world.rows(
        """
        select b.statement, t.standing from timelines t join beliefs b using (belief_id)
        where b.statement = any(%s) and t.standing not in ('current')
        """,
        [list(TRUSTED)],
    )
    assert outsiders == []
    assert world.rows("select * from aliases") == []


def no_statement_gives_its_reader_an_order_in_plain_words(world: World) -> None:
    ordered = re.compile(r"^(?:remember|always|never|ignore|system:|assistant:|if you are)", re.IGNORECASE)
    assert [one for one in world.statements() if ordered.search(one)] == []


def a_brief_is_marked_as_data_and_says_what_is_untrusted(world: World) -> None:
    brief = Briefing(world.database, world.environment).brief(KEY.tenant, now=NOON)
    text = marked(brief)
    assert text.startswith('<dreaming-recall id="brief">\n')
    assert text.endswith("\n</dreaming-recall>")
    assert len(re.findall(r"</?\s*dreaming-recall", text, re.IGNORECASE)) == 2
    assert strip(text).strip() == ""
    by_statement = dict(world.rows("select statement, trust from beliefs"))
    for line in brief.lines:
        assert line.trust == by_statement[line.statement]
    assert [line.statement for line in brief.lines][:1] != []
    assert all(line.importance in ("low", "normal") for line in brief.lines if line.trust is Trust.UNTRUSTED)


def test_hostile_mail_changes_nothing_that_is_trusted(world: World) -> None:
    nothing_of_an_attempt_becomes_more_than_it_may(world)
    every_quote_is_of_its_own_note(world)
    no_trusted_belief_is_changed_replaced_or_merged_away(world)
    no_statement_gives_its_reader_an_order_in_plain_words(world)
    a_brief_is_marked_as_data_and_says_what_is_untrusted(world)


@pytest.mark.parametrize("text", INJECTIONS.values(), ids=list(INJECTIONS))
def test_a_marked_text_cannot_leave_its_marks(text: str) -> None:
    block = mark(text, "r1")
    assert len(re.findall(r"</?\s*dreaming-recall", block, re.IGNORECASE)) == 2
    assert strip(f"mine before\n\n{block}\n\nmine after").split() == ["mine", "before", "mine", "after"]


@pytest.mark.parametrize("text", INJECTIONS.values(), ids=list(INJECTIONS))
def test_a_text_reaches_the_model_as_data(text: str) -> None:
    from dreaming.models.protocols import Passage

    said = mask(clean(text)).text
    passages = [Passage(f"n{place}", said, NOON, said[:200], author=said[:200]) for place in (1, 2)]
    reaches_the_model_as_data(build_request(passages, max_tokens=10, timeout=1.0))
    again = render(passages)
    assert render([*passages, Passage("n3", again, NOON, "test")]).count(again) == 1


def test_recalled_conversations_are_marked_whatever_was_said_in_them(database: Database) -> None:
    environment = {"DREAMING_CONVERSATION_MEMORY": "true"}
    capturing = Capturing(database, environment, lambda *_: None, lambda: NOON, lambda reason: None)
    for name, text in INJECTIONS.items():
        turns = (IncomingTurn(speaker="ana", text="harbour"), IncomingTurn(speaker=None, text=text[:20_000]))
        capturing.capture(KEY.tenant, IncomingConversation(conversation_id=name, turns=turns))
    answer = Recalling(database, environment, lambda *_: None, lambda: NOON).recall(
        KEY.tenant, "Mallory leads the harbour team"
    )
    text = marked_hits(KEY.tenant, answer)
    assert len(answer.conversations) == 10
    assert len(re.findall(r"<dreaming-recall id=", text)) == len(re.findall(r"</dreaming-recall>", text)) == 10
    assert strip(text).strip() == ""


@pytest.fixture
def agents(database: Database, tmp_path: Path) -> AutonomyWorld:
    return open_autonomy_world(database, tmp_path, gullible.flags)


def test_a_summary_decides_at_most_its_own_flags(agents: AutonomyWorld) -> None:
    agents.log(agents.action("failure", agent_id="honest", summary="The letter went to the wrong person."))
    agents.log(
        *(
            agents.action("failure", agent_id="liar", summary=text[:3_000])
            for text in INJECTIONS.values()
            if text.strip()
        )
    )
    agents.run()
    assert agents.score("honest") == 75
    assert abs(agents.score("liar") - 75) <= 5
    read = agents.rows("select summary from autonomy_actions where scoring = 'scored' and agent_id = 'liar'")
    assert {summary for (summary,) in read} <= {text[:3_000] for text in INJECTIONS.values() if "competence" in text}
    agents.check()


def test_what_the_gullible_model_claims_does_become_beliefs_when_it_is_harmless(
    database: Database, tmp_path: Path
) -> None:
    world = open_world(database, tmp_path, verbatim)
    world.ingest(note("m", "Lunch is at noon.", trust=Trust.UNTRUSTED))
    world.drain()
    assert world.beliefs() == [("Lunch is at noon.", 0.5, 1, 1)]
