"""Results are saved, compared and drawn: what is refused, which way is better, what the page holds."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dreaming.errors import InvalidInput
from dreaming.local.cli import Exit, dream
from dreaming.local.evaluation.page import page
from dreaming.local.evaluation.plots import Bar, Line, Lines, bars, lines
from dreaming.local.evaluation.records import Figure, Report
from dreaming.local.evaluation.results import (
    Verdict,
    better_when_lower,
    compare,
    digest,
    read_result,
    require_comparable,
    write_result,
)

ENVIRONMENT = {"dreaming": "0.1.0", "evaluation_version": 1, "set": "abc", "file": "notes.jsonl", "half": "all"}


def report(**values: float) -> Report:
    figures = {name.replace("__", "."): Figure.of(value, "%", None) for name, value in values.items()}
    return Report("extraction", figures, ENVIRONMENT)


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(dream, ["evaluate", *map(str, arguments)])


def test_a_result_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_result(path, report(all__recall=40.0))
    assert read_result(path) == report(all__recall=40.0)
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[]", "the whole"),
        ('{"name": "dedup", "environment": {}}', "figures"),
        ('{"name": "dedup", "environment": {}, "figures": {}}', "figures"),
        ('{"name": "dedup", "environment": {}, "figures": {"a.b": {"value": "x", "unit": "%"}}}', "figures.a.b"),
    ],
)
def test_a_file_that_is_no_result_is_refused_with_the_field(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=re.escape(problem)):
        read_result(path)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"name": "dedup"}, "a result of dedup, this is extraction"),
        (
            {"environment": ENVIRONMENT | {"evaluation_version": 2}},
            "another version of the evaluator (2) than this one (1)",
        ),
        ({"environment": ENVIRONMENT | {"set": "xyz", "half": "reported"}}, "xyz, notes.jsonl, reported"),
        ({"environment": {}}, "another version of the evaluator (None)"),
    ],
)
def test_results_of_another_evaluator_version_or_set_are_not_compared(changed: dict[str, Any], problem: str) -> None:
    before = replace(report(all__recall=1.0), **changed)
    with pytest.raises(InvalidInput, match=re.escape(problem)):
        require_comparable(Path("a.json"), before, "extraction", ENVIRONMENT)
    require_comparable(Path("a.json"), report(), "extraction", ENVIRONMENT | {"dreaming": "9", "model": "other"})


def test_each_change_is_better_worse_or_neither_by_what_the_figure_means() -> None:
    before = report(all__recall=40.0, all__traps=4.0, all__claims=1.0, all__precision=80.0, old__recall=1.0)
    now = report(all__recall=41.0, all__traps=6.0, all__claims=2.0, all__precision=79.5, new__recall=1.0)
    found = compare(now, before, tolerance=0.5)
    assert {name: delta.verdict for name, delta in found.deltas.items()} == {
        "all.recall": Verdict.BETTER,
        "all.traps": Verdict.WORSE,
        "all.claims": Verdict.CHANGED,
        "all.precision": Verdict.SAME,
    }
    assert (found.worse, found.only_now, found.only_before) == (("all.traps",), ("new.recall",), ("old.recall",))
    assert found.deltas["all.traps"].change == 2


def test_every_figure_with_a_goal_has_a_direction_that_agrees_with_it() -> None:
    from dreaming.local.evaluation import autonomy, contradictions, dedup, extraction

    goals = {**extraction.GOALS, **autonomy.GOALS, **dedup._GOALS, **contradictions._GOALS}
    assert {name: better_when_lower(name) for name in goals} == {name: goal[0] == "<=" for name, goal in goals.items()}


def test_a_set_is_known_by_its_texts_and_their_borders() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest(["ab"]) == digest(iter(["ab"]))


def test_the_page_is_one_file_that_asks_no_host_and_obeys_no_text(tmp_path: Path) -> None:
    wicked = '<script>alert("x")</script>'
    before = report(all__recall=40.0, language__de__recall=10.0)
    now = Report(
        "extraction",
        {"all.recall": Figure.of(50.0, "%", (">=", 60.0)), "language.de.recall": Figure.of(5.0, "%", None)},
        ENVIRONMENT | {"file": wicked},
    )
    course = Lines("Courses", wicked, "actions", "score", [Line(wicked, [(0, 75), (10, 80)])], 40, 100, [("70", 70)])
    made = page(now, {"recall": wicked}, compare(now, before), [course], [(wicked, [wicked])])
    assert "<script" not in made
    assert not re.search(r"https?://|src=|@import|url\(", made)
    assert "1 of 1 goals missed" in made
    assert made.count("<svg") == made.count("</svg>") >= 2
    assert 'name="viewport"' in made
    assert "prefers-color-scheme: dark" in made
    assert "▼ -5 worse" in made


def test_bars_end_where_their_value_is_and_lines_are_named_apart() -> None:
    drawn = bars("recall", [Bar("all", 50.0, "50 %", False, 25.0, 75.0)], largest=100.0)
    assert 'class="bar missed" x="0" y="23" width="170.0"' in drawn
    assert 'class="before" d="M85.0' in drawn
    assert 'class="goal" d="M255.0' in drawn
    crowd = [Line(f"n{place}", [(0, 75), (10, 90)]) for place in range(4)]
    heights = [
        float(found)
        for found in re.findall(r'class="end g0"[^>]* y="([\d.]+)"', lines(Lines("", "", "", "", crowd, 40, 100)))
    ]
    assert len(heights) == 4
    assert min(below - above for above, below in pairwise(heights)) >= 11


def pairs(folder: Path) -> Path:
    path = folder / "pairs.tsv"
    path.write_text("Ada likes tea\tAda likes tea!\tparaphrase\nAda likes tea\tThe ink is dry\tunrelated\n", "utf-8")
    return path


def test_dedup_is_saved_compared_and_drawn(tmp_path: Path) -> None:
    file, saved, drawn = pairs(tmp_path), tmp_path / "a.json", tmp_path / "a.html"
    assert invoke("dedup", file, "--save", saved, "--html", drawn).exit_code == Exit.DONE
    assert "<svg" in drawn.read_text("utf-8")
    same = invoke("dedup", file, "--against", saved, "--fail-if-worse")
    assert same.exit_code == Exit.DONE
    assert "0 better, 0 worse" in same.output
    earlier = json.loads(saved.read_text("utf-8"))
    earlier["figures"]["jaccard.wrong_merges"] |= {"value": -10.0}
    saved.write_text(json.dumps(earlier), "utf-8")
    worse = invoke("dedup", file, "--against", saved, "--fail-if-worse", "--json")
    assert worse.exit_code == Exit.PROBLEMS_FOUND
    told = json.loads(worse.stdout)
    assert told["against"]["worse"] == ["jaccard.wrong_merges"]
    assert told["against"]["deltas"]["jaccard.wrong_merges"]["verdict"] == "worse"
    assert invoke("dedup", file, "--against", saved).exit_code == Exit.DONE
    assert invoke("dedup", file, "--against", saved, "--fail-if-worse", "--tolerance", "10").exit_code == Exit.DONE


def test_what_cannot_be_written_or_compared_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    file, saved = pairs(tmp_path), tmp_path / "a.json"
    write_result(saved, report(all__recall=1.0))
    for arguments, problem in (
        (("--html", tmp_path / "none" / "a.html"), "is no folder"),
        (("--against", tmp_path / "none.json"), "No such file"),
        (("--against", saved), "a result of extraction, this is dedup"),
        (("--fail-if-worse",), "--against"),
    ):
        done = invoke("dedup", file, *arguments)
        assert done.exit_code == Exit.BAD_INPUT
        assert problem in done.output


@pytest.mark.parametrize("name", ["extraction", "dedup", "contradictions", "recall", "autonomy"])
def test_every_evaluator_teaches_by_example_and_takes_the_options_of_results(name: str) -> None:
    told = invoke(name, "--help").output
    assert f"dream evaluate {name}" in told
    assert all(
        option in told for option in ("--html", "--save", "--against", "--fail-if-worse", "--tolerance", "--json")
    )
    assert name in invoke("--help").output
