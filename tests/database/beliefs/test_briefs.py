"""A brief tells what is believed at that moment, in order, within its bound, and to nobody else."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.beliefs.briefs.records import Brief
from dreaming.beliefs.briefs.service import Briefing, marked
from dreaming.beliefs.persons.service import Person
from dreaming.database import Database, Role
from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from dreaming.notes.echo import strip
from dreaming.notes.records import Scope, SliceKey, Tenant, Trust
from tests.world import KEY, NOON, World, claim, note, open_world

ACME = Tenant("acme")
ANA, BEN = SliceKey("acme", Scope.PRIVATE, "ana"), SliceKey("acme", Scope.PRIVATE, "ben")
ID = re.compile(r"\[([0-9a-f-]{36})\]$")


class Told:
    """A world whose notes are one claim each."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.claims: dict[str, dict[str, Any]] = {}

    def believe(self, *statements: str, key: SliceKey = KEY, trust: Trust = Trust.TRUSTED, **fields: Any) -> None:
        days = fields.pop("days", 0)
        for statement in statements:
            self.claims[statement] = claim(statement, **fields)
            at = NOON - timedelta(days=days)
            self.world.ingest(note(uuid7().hex, statement, occurred_at=at, trust=trust), key=key)
        self.world.engine.tick(self.world.slice(key).slice_id)
        self.world.process()

    def brief(self, tenant: Tenant = ACME, **options: Any) -> Brief:
        briefing = Briefing(self.world.database, self.world.environment, Role.API)
        return briefing.brief(tenant, now=self.world.now, **options)

    def statements(self, tenant: Tenant = ACME, **options: Any) -> list[str]:
        return [line.statement for line in self.brief(tenant, **options).lines]

    @property
    def person(self) -> Person:
        return Person(self.world.database, Tenant("acme"), "test", self.world.environment, Role.API)

    def id_of(self, statement: str) -> UUID:
        [(belief_id,)] = self.world.rows("select belief_id from beliefs where statement = %s", (statement,))
        return UUID(str(belief_id))


def copy(admin: psycopg.Connection[TupleRow], count: int, statement: str) -> None:
    """Add copies of the only belief, each fading a minute before the one before it."""
    admin.execute(
        f"""
        insert into beliefs (belief_id, slice_id, kind, statement, statement_hash, words_version, confidence,
            confirmed_at, first_seen_at, importance, decay_class, fades_at, trust, sources, origins, created_at,
            updated_at)
        select gen_random_uuid(), slice_id, kind, {statement}, g, words_version, confidence,
            confirmed_at - make_interval(mins => g), first_seen_at - make_interval(mins => g), importance,
            decay_class, fades_at - make_interval(mins => g), trust, sources, origins, created_at, updated_at
        from beliefs, generate_series(1, {count}) g
        """
    )


@pytest.fixture
def told(database: Database, tmp_path: Path) -> Told:
    made: Told = Told(open_world(database, tmp_path, lambda request: [made.claims[p.text] for p in request.passages]))
    return made


def test_importance_comes_before_confidence_and_each_line_has_its_id(told: Told) -> None:
    told.believe("The shed is green.", confidence=0.9)
    told.believe("The boat leaks badly.", confidence=0.4, importance="critical")
    told.believe("The barn is red.", confidence=0.95)
    brief = told.brief()
    assert [line.statement for line in brief.lines] == [
        "The boat leaks badly.",
        "The barn is red.",
        "The shed is green.",
    ]
    assert brief.complete
    lines = brief.text.splitlines()
    assert lines[1] == "Critical importance"
    assert lines[3] == "Normal importance"
    ids = [found[1] for line in lines if (found := ID.search(line))]
    assert ids == [str(line.belief_id) for line in brief.lines]
    assert told.brief() == brief


def test_confidence_is_aged_to_the_moment_of_reading(told: Told) -> None:
    told.believe("Ines plans a trip.", confidence=0.95, decay_class="fast_decay")
    told.believe("Tariq works at Orbit.", confidence=0.6, decay_class="slow_decay")
    told.believe("Noor was born in Lyon.", confidence=0.5, decay_class="permanent")
    assert told.statements() == ["Ines plans a trip.", "Tariq works at Orbit.", "Noor was born in Lyon."]
    told.world.now += timedelta(days=21)
    assert told.statements() == ["Tariq works at Orbit.", "Noor was born in Lyon.", "Ines plans a trip."]
    told.world.now += timedelta(days=60)
    assert told.statements() == ["Noor was born in Lyon.", "Tariq works at Orbit.", "Ines plans a trip."]
    told.world.now += timedelta(days=30)  # faded, though no pass has archived it
    assert told.statements() == ["Noor was born in Lyon.", "Tariq works at Orbit."]


def test_a_confirmation_and_an_archive_show_at_once(told: Told) -> None:
    told.believe("The shed is green.", confidence=0.5)
    told.believe("The barn is red.", confidence=0.6)
    told.person.confirm(told.id_of("The shed is green."), now=told.world.now, new_id=uuid7)
    assert told.statements() == ["The shed is green.", "The barn is red."]
    told.person.archive(told.id_of("The shed is green."), now=told.world.now, new_id=uuid7)
    assert told.statements() == ["The barn is red."]
    told.person.restore(told.id_of("The shed is green."), now=told.world.now, new_id=uuid7)
    assert told.statements() == ["The shed is green.", "The barn is red."]


def test_what_holds_no_longer_or_not_yet_is_left_out(told: Told) -> None:
    told.believe("The pass was open.", valid_until="2026-05-30T00:00:00+00:00")
    told.believe("The bridge opens.", valid_from="2026-06-03T00:00:00+00:00")
    told.believe("The road is closed.", valid_from="2026-05-01T00:00:00+00:00", valid_until="2026-07-01T00:00:00+00:00")
    assert told.statements() == ["The road is closed."]
    told.world.now += timedelta(days=3)
    assert sorted(told.statements()) == ["The bridge opens.", "The road is closed."]


def test_untrusted_and_disputed_beliefs_are_marked(told: Told, admin: psycopg.Connection[TupleRow]) -> None:
    told.believe("The shed is green.", trust=Trust.UNTRUSTED)
    told.believe("The barn is red.", "The boat is blue.")
    for statement, standing in (("The barn is red.", "review"), ("The boat is blue.", "upcoming")):
        admin.execute(
            "insert into timelines (slice_id, belief_id, holds_from, standing, subject, attribute, derived_at) "
            "select slice_id, belief_id, now(), %s, 's', 'a', now() from beliefs where statement = %s",
            (standing, statement),
        )
    text = told.brief().text
    assert "- The shed is green. (0.50, fact, untrusted) [" in text
    assert "- The barn is red. (0.80, fact, disputed) [" in text
    assert "boat" not in text


@pytest.mark.parametrize("characters", [200, 333, 500, 2_000, 50_000])
def test_it_is_bounded_and_no_line_is_cut(told: Told, admin: psycopg.Connection[TupleRow], characters: int) -> None:
    told.believe("The shed is green.", decay_class="slow_decay")
    # Statements that imitate the marks of recalled text grow where the marks are taken out.
    copy(admin, 60, "'Boat ' || g || repeat(' <dreaming-recall 🦊', g % 7)")
    told.world.environment["DREAMING_BRIEF_CHARACTERS"] = str(characters)
    brief = told.brief()
    assert len(brief.text) <= characters
    assert len(marked(brief)) <= characters
    assert brief.complete == (characters == 50_000)
    assert len([line for line in brief.text.splitlines() if ID.search(line)]) == len(brief.lines)
    told.world.environment["DREAMING_BRIEF_CHARACTERS"] = "50000"
    assert list(brief.lines) == list(told.brief().lines)[: len(brief.lines)]
    if characters >= 500:
        assert brief.lines


def test_marked_for_an_agent_it_is_stripped_when_it_comes_back(told: Told) -> None:
    told.believe("The shed is green.")
    text = marked(told.brief())
    assert "The shed is green." in text
    assert strip(f"before {text} after") == "before \n after"
    assert marked(told.brief(Tenant("nobody"))) == ""


def test_a_users_brief_adds_their_own_beliefs_and_nobody_elses(told: Told) -> None:
    told.world.enrol("bakery")
    told.believe("The shed is green.")
    told.believe("Ana sails alone.", key=ANA)
    told.believe("Ben sails alone.", key=BEN)
    told.believe("The oven is hot.", key=SliceKey("bakery"))
    assert told.statements() == ["The shed is green."]
    assert sorted(told.statements(Tenant("acme", "ana"))) == ["Ana sails alone.", "The shed is green."]
    assert "Ana sails alone. (0.80, fact, private) [" in told.brief(Tenant("acme", "ana")).text
    assert told.statements(Tenant("acme", "ana"), scope=Scope.PRIVATE) == ["Ana sails alone."]
    assert told.statements(Tenant("acme", "carl")) == ["The shed is green."]
    assert told.statements(Tenant("bakery", "ana")) == ["The oven is hot."]
    with pytest.raises(InvalidInput, match="user"):
        told.brief(scope=Scope.PRIVATE)


def test_it_reads_few_of_many_beliefs(told: Told, admin: psycopg.Connection[TupleRow]) -> None:
    """Of 20,000 beliefs of one importance the plan reads as many as a brief can hold, as the API's role."""
    from dreaming.beliefs.briefs.store import read_lines
    from dreaming.beliefs.rules import Ageing

    told.believe("The shed is green.", decay_class="slow_decay", importance="high")
    copy(admin, 20_000, "'Boat ' || g")
    admin.execute("analyze beliefs")
    with told.world.database.transaction(Tenant("acme"), role=Role.API) as tx:
        executed: list[tuple[str, Any]] = []

        class Spy:
            def execute(self, query: str, parameters: Any) -> Any:
                executed.append((query, parameters))
                return tx.execute(query, parameters)

        lines = read_lines(Spy(), Tenant("acme"), [Scope.ORG], Ageing(), now=told.world.now, most=41)  # type: ignore[arg-type]
        plan = tx.execute(f"explain (analyze, format json) {executed[0][0]}", executed[0][1]).fetchone()
    assert plan is not None
    assert len(lines) == 41
    assert max(line.aged for line in lines) == lines[0].aged
    assert _rows_read(plan[0][0]["Plan"], "beliefs") < 42


def _rows_read(node: dict[str, Any], table: str) -> float:
    own = 0.0
    if node.get("Relation Name") == table:
        removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        own = (node["Actual Rows"] + removed) * node["Actual Loops"]
    return own + sum(_rows_read(child, table) for child in node.get("Plans", []))
