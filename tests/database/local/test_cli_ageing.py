"""`dream fading`, `decay`, `confirm`, `archive`, `restore`, and relationships in `dream why`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from tests.database.local.conftest import Dream

Admin = psycopg.Connection[TupleRow]
TEA = "Ines drinks green tea in the morning"
JOB = "Tariq works at Orbit"
SONG = "Lena sings in the choir"
RULES: dict[str, dict[str, Any]] = {
    TEA: {"decay_class": "fast_decay"},
    JOB: {"decay_class": "permanent", "relations": [{"type": "works_at", "target": "Orbit"}]},
    SONG: {"decay_class": "fast_decay", "importance": "critical"},
}


@pytest.fixture
def believed(dream: Dream) -> Dream:
    """Three beliefs of 80 days ago, of confidence 1: two fade in some eleven days, one of them announced before."""
    dream.switch_on()
    claims = [
        {"kind": "fact", "statement": line, "quote": line, "confidence": 1.0, **fields}
        for line, fields in RULES.items()
    ]
    dream.script(default={"claims": claims})
    at = (datetime.now(UTC) - timedelta(days=80)).isoformat()
    dream.notes({"id": "n1", "text": "\n".join(RULES), "at": at, "author": "Ines"})
    dream("drain", "consolidation")
    return dream


def age(admin: Admin, days: int) -> None:
    """Let everything be confirmed so many days earlier."""
    admin.execute("update sources set occurred_at = occurred_at - make_interval(days => %s)", [days])
    for table in ("beliefs", "relationships"):
        admin.execute(
            f"update {table} set confirmed_at = confirmed_at - make_interval(days => %s),"
            " first_seen_at = first_seen_at - make_interval(days => %s),"
            " fades_at = fades_at - make_interval(days => %s)",
            [days, days, days],
        )
    admin.execute("update due_times set due_at = now()")


def ids(dream: Dream, *arguments: str) -> dict[str, str]:
    return {one["statement"]: one["belief_id"] for one in dream.json("beliefs", *arguments)["beliefs"]}


def test_the_forecast_counts_weeks_and_lists_the_next(believed: Dream) -> None:
    forecast = believed.json("fading")["forecast"]
    assert forecast["ageing"] == 3
    assert [week["beliefs"] for week in forecast["weeks"]] == [0, 2, *[0] * 10]
    assert [one["statement"] for one in forecast["next_ones"]] == [TEA, SONG, "Orbit"] or [
        one["statement"] for one in forecast["next_ones"]
    ] == [SONG, TEA, "Orbit"]
    assert next(one for one in forecast["next_ones"] if one["statement"] == SONG)["warns"] is True
    shown = believed("fading").stdout
    assert "3 beliefs age; 2 fade within 12 weeks" in shown
    assert "█" * 48 + " 2" in shown


def test_a_dry_run_says_what_a_pass_does_and_writes_nothing(believed: Dream, admin: Admin) -> None:
    age(admin, 12)
    before = everything(admin)
    preview = believed.json("decay", "--dry-run")["preview"]
    assert everything(admin) == before
    assert (preview["archived"], preview["warned"], preview["held"]) == (1, 1, 0)
    assert [one["statement"] for one in preview["to_archive"]] == [TEA]
    assert [one["statement"] for one in preview["to_warn"]] == [SONG]
    assert believed.json("decay")["counts"]["beliefs_archived"] == 1
    assert set(ids(believed)) == {JOB, SONG, "Orbit"}
    assert believed.json("decay", "--dry-run")["preview"]["held"] == 1


def test_a_dry_run_under_new_settings_recomputes_and_undoes_it(believed: Dream, admin: Admin) -> None:
    believed("settings", "set", "fast_decay_days", "5")
    before = everything(admin)
    preview = believed.json("decay", "--dry-run")["preview"]
    assert (preview["recomputed"], preview["archived"]) == (True, 1)
    assert believed.json("fading")["forecast"]["faded"] == 2
    assert everything(admin) == before


def everything(admin: Admin) -> list[list[tuple[Any, ...]]]:
    tables = [row[0] for row in admin.execute("select tablename from pg_tables where schemaname = 'dreaming'")]
    return [sorted(admin.execute(f"select t::text from {table} t".encode()).fetchall()) for table in sorted(tables)]


def test_confirm_archive_and_restore_say_what_they_did(believed: Dream) -> None:
    belief_id = ids(believed)[TEA]
    assert "fades on" in believed("confirm", belief_id[-8:]).stdout
    [confirmed] = [one for one in believed.json("beliefs")["beliefs"] if one["belief_id"] == belief_id]
    assert (confirmed["provenance"], confirmed["aged_confidence"]) == ("person", pytest.approx(1.0, abs=1e-3))
    assert believed.json("archive", belief_id)["beliefs"][0]["changed"] is True
    assert believed.json("archive", belief_id)["beliefs"][0]["changed"] is False
    assert ids(believed, "--archived") == {TEA: belief_id}
    assert "archived as person" in believed("confirm", belief_id, code=2).stderr
    assert believed.json("restore", belief_id)["beliefs"][0]["changed"] is True
    assert TEA in ids(believed)
    believed("doctor")


def test_an_unknown_id_changes_nothing(believed: Dream) -> None:
    belief_id = ids(believed)[TEA]
    believed("archive", belief_id, "0000dead", code=2)
    assert TEA in ids(believed)


def test_why_lists_relationships_in_both_directions(believed: Dream) -> None:
    shown = believed("why", ids(believed)[JOB]).stdout
    assert "→ works at  Orbit" in shown
    assert f"← works at  {JOB}" in believed("why", ids(believed)["Orbit"]).stdout
    [edge] = believed.json("why", ids(believed)[JOB])["relationships"]
    assert (edge["relationship"]["type"], edge["other_statement"], edge["outgoing"]) == ("works_at", "Orbit", True)


def test_without_the_master_switch_nothing_is_archived(believed: Dream) -> None:
    believed("settings", "set", "enabled", "false")
    assert "disabled" in believed("decay", code=4).stdout


def test_an_empty_installation_says_so(dream: Dream) -> None:
    assert "nothing in this slice" in dream("fading").stdout
    assert dream.json("decay", "--dry-run") == {"preview": None}
