"""`dream status`, `beliefs` and `why`: what people see of what was read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.database.local.conftest import Dream

AT = "2026-11-01T10:00:00+01:00"
LEASE = "The office lease ends in June 2028."
MOON = "\x1b[31mThe [bold]moon[/bold] garden closes at nine."


def claim(statement: str, **changes: Any) -> dict[str, Any]:
    return {"kind": "fact", "statement": statement, "quote": statement, "confidence": 0.8, **changes}


@pytest.fixture
def read(dream: Dream) -> Dream:
    """Three notes that were read: two witnesses of one belief, and beliefs of several kinds."""
    dream.switch_on()
    preference = claim("Ana prefers short meetings.", kind="preference", confidence=0.5)
    price = {"kind": "fact", "confidence": 0.7, "subject": "drizzle", "attribute": "price"}
    dream.script(
        {"when": "lease", "claims": [claim(LEASE, decay_class="permanent")]},
        {"when": "meetings", "claims": [preference]},
        {"when": "89 euros", "claims": [claim("A controller costs 89 euros.", value="89", **price)]},
        {"when": "99 euros", "claims": [claim("A controller costs 99 euros.", value="99", **price)]},
    )
    before, after = "word " * 60, " word" * 60
    dream.notes(
        {"id": "1", "text": f"{before}{LEASE}{after}", "at": AT, "author": "Ana"},
        {"id": "2", "text": f"Bo says it too. {LEASE}", "at": AT, "author": "Bo"},
        {"id": "3", "text": "Ana prefers short meetings.", "at": AT, "author": "Ana"},
        {"id": "4", "text": "A controller costs 89 euros.", "at": AT, "author": "Bo"},
        {"id": "5", "text": "A controller costs 99 euros.", "at": AT, "author": "Bo"},
    )
    dream("drain")
    return dream


def ids(dream: Dream, *arguments: str) -> dict[str, str]:
    """Belief ids by statement."""
    listed = dream.json("beliefs", *arguments)["beliefs"]
    return {belief["statement"]: belief["belief_id"] for belief in listed}


def test_status_adds_up_and_counts_by_kind(read: Dream) -> None:
    found = read.json("status")["slices"][0]
    notes = found["notes"]
    assert notes["total"] == notes["consolidated"] + notes["waiting"] + notes["retired"] + notes["empty"] == 5
    assert found["beliefs"]["live"] == sum(found["beliefs"]["by_kind"].values()) == 4
    assert found["beliefs"]["by_kind"]["preference"] == 1
    assert found["cursor"]["position"] == found["last_sequence"] == 5
    assert [run["status"] for run in found["runs"]] == ["drained"]
    assert read.json("status", "--runs", "0")["slices"][0]["runs"] == []
    shown = read("status").stdout
    assert "5 = 5 consolidated + 0 waiting + 0 retired + 0 empty" in shown
    assert "drained" in shown


def test_status_of_an_organization_without_notes_says_what_to_do(dream: Dream) -> None:
    status = dream.json("status")
    assert (status["org"], status["slices"]) == ("local", [])
    assert [one["reason"] for one in status["stopped"]] == ["disabled", "not_enrolled", "no_model_consent"]
    assert "dream demo" in dream("status").stdout


@pytest.mark.parametrize("option", ["--org", "--home", "--user"])
def test_an_empty_option_is_no_default(dream: Dream, option: str) -> None:
    assert f"{option}: is empty" in dream(option, "", "erase", "organization", "--yes", code=2).stderr


def test_beliefs_come_with_the_surest_first_and_their_quotes(read: Dream) -> None:
    listed = read.json("beliefs")["beliefs"]
    assert listed[0]["statement"] == LEASE
    assert listed[0]["evidence"]["quote"] == LEASE
    assert listed[0]["evidence"]["occurred_at"].startswith("2026-11-01T")
    aged = [belief["aged_confidence"] for belief in listed]
    assert aged == sorted(aged, reverse=True)
    shown = read("beliefs").stdout
    assert shown.index(LEASE) < shown.index("Ana prefers short meetings.")
    assert "2 sources of 2 origins" in shown


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("LEASE", "office"), 1),
        (("lease", "meetings"), 2),
        (("controllers",), 2),
        (("zeppelin",), 0),
        (("--kind", "preference"), 1),
        (("--min-confidence", "0.6"), 3),
        (("--archived",), 0),
        (("100%",), 0),
        (("--limit", "2"), 2),
    ],
    ids=str,
)
def test_beliefs_are_narrowed_by_words_kind_and_confidence(
    read: Dream, arguments: tuple[str, ...], expected: int
) -> None:
    assert len(read.json("beliefs", *arguments)["beliefs"]) == expected


def test_pages_of_beliefs_fit_together(read: Dream) -> None:
    seen: list[str] = []
    cursor: list[str] = []
    while True:
        page = read.json("beliefs", "--limit", "1", *cursor)
        seen += [belief["belief_id"] for belief in page["beliefs"]]
        if page["next_cursor"] is None:
            break
        cursor = ["--cursor", page["next_cursor"]]
    assert seen == list(ids(read).values())
    assert "--cursor" in read("beliefs", "--limit", "1").stdout
    assert "cursor" in read("beliefs", "--cursor", "bm9uc2Vuc2U", code=2).stderr


def test_another_scope_that_holds_beliefs_is_named_where_nothing_fits(read: Dream) -> None:
    mine = ("--user", "ana", "--scope", "private")
    read.notes({"id": "p", "text": "Ana prefers short meetings.", "at": AT, "author": "Ana"}, options=mine)
    read("drain", *mine)
    assert "local / private of ana is another scope: --scope private" in read("beliefs", "unheard-of", *mine[:2]).stdout
    assert "--scope" not in read("beliefs", "unheard-of").stdout


def test_a_succession_counts_days_as_its_note_does(dream: Dream) -> None:
    dream.switch_on()
    text = "Lena has worked at the mill since 2021."
    dream.notes({"id": "east", "text": text, "at": "2026-05-01T10:00:00+09:00", "author": "Ana"})
    dream("drain")
    assert "2021-01-01 – …" in dream("why", "Lena", "mill").stdout


def test_nothing_found_is_said(read: Dream) -> None:
    assert "No belief matches, of 4 in local / org" in read("beliefs", "unheard-of").stdout
    for command in ("beliefs", "brief"):
        nobody = read(command, "--org", "other").stdout
        assert "Nothing is believed yet in other / org: no note was brought in" in nobody
        assert "No organization 'other' is known here" in nobody
    assert "Nothing is archived" in read("beliefs", "--archived").stdout


def test_why_leads_from_the_belief_to_the_run(read: Dream) -> None:
    found = read.json("why", ids(read)[LEASE])
    assert [source["note"]["external_id"] for source in found["sources"]] == ["1", "2"]
    first = found["sources"][0]
    assert first["exact"] is True
    assert first["before"].startswith("…")
    assert first["after"].endswith("…")
    assert (first["note"]["author"], first["note"]["version"]) == ("Ana", 1)
    assert first["run"]["status"] == "drained"
    assert first["prompt_version"]
    assert found["arithmetic"]["base"] == 0.8
    assert found["arithmetic"]["corroborations"] == 1
    assert found["arithmetic"]["confidence"] == pytest.approx(0.82)
    assert [entry["event"] for entry in found["history"]] == ["created", "corroborated"]


def test_why_shows_the_quote_in_its_context_and_the_sum(read: Dream) -> None:
    shown = re.sub(r"\s+", " ", read("why", ids(read)[LEASE][-8:]).stdout)
    assert f"word «{LEASE}» word" in shown
    assert "base 0.80 + 0.02 × 1 further origin = 0.82" in shown
    assert "permanent: it does not age" in shown
    aging = re.sub(r"\s+", " ", read("why", ids(read)["Ana prefers short meetings."]).stdout)
    assert re.search(r"aged 0\.50 × 0\.5 \^ \([0-9.]+ days / 180 days\) = 0\.\d\d today", aging)


def test_why_shows_what_may_contradict(read: Dream) -> None:
    beliefs = ids(read)
    # What the contradictions pass has decided or left to a person stands in the line of succession.
    assert "A controller costs 99 euros." in read("why", beliefs["A controller costs 89 euros."]).stdout


def test_an_ended_source_is_marked(read: Dream) -> None:
    identifier = ids(read)[LEASE]
    read("withdraw", "test", "1")
    found = read.json("why", identifier)
    assert [source["ended_reason"] for source in found["sources"]] == ["withdrawn", None]
    assert found["arithmetic"]["corroborations"] == 0
    assert "stopped counting" in read("why", identifier).stdout
    read("withdraw", "test", "2")
    gone = read("why", identifier).stdout
    assert "archived as sourceless" in gone
    assert "no source counts any more" in gone
    assert identifier in ids(read, "--archived").values()


def test_an_edited_note_is_quoted_as_it_was(read: Dream) -> None:
    identifier = ids(read)["Ana prefers short meetings."]
    read.notes({"id": "3", "text": "Ana changed her mind.", "at": AT, "author": "Ana"})
    read("drain")
    source = read.json("why", identifier)["sources"][0]
    assert (source["note"]["version"], source["note"]["current_version"]) == (1, 2)
    assert (source["exact"], source["ended_reason"]) == (True, "edited")


@pytest.mark.parametrize("given", ["abc", "nonsense", "00000000"])
def test_an_id_that_names_no_belief_is_refused(read: Dream, given: str) -> None:
    assert "dream beliefs" in read("why", given, code=2).stderr


def test_the_beginning_that_several_ids_share_is_refused_with_the_candidates(read: Dream) -> None:
    beliefs = ids(read)
    said = read("why", beliefs[LEASE][:4], code=2).stderr
    assert "several" in said
    assert beliefs[LEASE] in said


def test_another_organization_cannot_ask_why(read: Dream) -> None:
    assert "no belief" in read("why", ids(read)[LEASE], "--org", "other", code=2).stderr


def test_what_a_note_says_cannot_command_the_terminal(dream: Dream) -> None:
    dream.switch_on()
    dream.script({"when": "moon", "claims": [claim(MOON)]})
    dream.notes({"id": "1", "text": MOON, "at": AT, "author": "\x1b]0;owned\x07"})
    dream("drain")
    identifier = dream.json("beliefs")["beliefs"][0]["belief_id"]
    for command in (("beliefs",), ("why", identifier)):
        shown = dream(*command).stdout
        assert "[bold]moon[/bold]" in shown
        assert "\x1b" not in shown
