"""Every view over a lived month: what it shows, for whom it can be used, and that nothing else is asked."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, Visit, settle
from tests.browser.month import HOSTILE

pytestmark = pytest.mark.browser

SHOWN = {
    "overview": ("Consolidation, organization", "provider answers 429", "Private: ana", "Runs of each pass"),
    "beliefs": ("The watering pumps run on the Heron controller.", "By confidence today", "2 origins"),
    "fading": ("The old pear tree by the gate has buds.", "announced", "Beliefs that fade, by week"),
    "conflicts": ("The harvest fair is on 12 September.", "The harvest fair is on 13 September.", "Keep the left"),
    "notes": ("scan-10", "Malformed", "Read all again", "diary-59"),
    "autonomy": ("buyer", "approval-required", "Why the score does not move", "Score over time"),
    "recall?q=frost seedlings": ("talk-06", "How do we keep frost off the seedlings?"),
    "settings": ("model_consent", "archive_threshold", "dreaming.beliefs.service", "Who changed what"),
}
LOOKS: dict[str, dict[str, Any]] = {
    "wide and light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "narrow and dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "has_touch": True},
}


def test_every_view_shows_what_happened_without_a_complaint(site: Site) -> None:
    for view, words in SHOWN.items():
        page = site.open(view)
        for one in words:
            expect(page.locator("main")).to_contain_text(one)
        expect(page.locator("h1")).to_have_count(1)
        expect(page.locator("main")).not_to_contain_text(re.compile(r"undefined|NaN|\[object|\bnull\b"))
        page.close()
    assert site.complaints == []
    assert {urlsplit(one).netloc for one in site.addresses if not one.startswith("data:")} == {
        urlsplit(site.url).netloc
    }


@pytest.mark.parametrize("look", LOOKS)
def test_a_reader_of_any_kind_can_use_every_view(visit: Visit, look: str) -> None:
    """Axe-core finds no violation: names, labels, roles, order, and contrast; and nothing is wider than the screen."""
    with visit(**LOOKS[look]) as site:
        found = {}
        for view in SHOWN:
            page = site.open(view)
            found[view] = violations(page)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
            assert page.evaluate(OVERLAPS) == [], view
            if view == "beliefs":
                page.locator(".list button").first.click()
                expect(page.get_by_role("dialog")).to_contain_text("Evidence")
                found["why"] = violations(page)
            page.close()
        assert {view: those for view, those in found.items() if those} == {}


OVERLAPS = """() => [...document.querySelectorAll(".list button, .setting")].flatMap((item) => {
  const parts = [...item.children].map((part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return [part, range.getBoundingClientRect()];
  });
  return parts.flatMap(([one, a], at) => parts.slice(at + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
    .map(([other]) => `${one.textContent} / ${other.textContent}`));
})"""
"""The parts of list items whose contents lie on each other."""


def violations(page: Page) -> list[str]:
    settle(page)
    return [
        f"{one['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for one in Axe().run(page).response["violations"]
        for node in one["nodes"]
    ]


def test_why_shows_the_quotes_in_their_context_and_the_arithmetic(site: Site) -> None:
    page = site.open("beliefs?q=watering pumps")
    page.get_by_role("button", name="The watering pumps run on the Heron controller.").click()
    why = page.get_by_role("dialog")
    expect(why.locator("mark")).to_have_text(
        ["The watering pumps run on the Heron controller.", re.compile("For the record")]
    )
    expect(why.locator("blockquote").first).to_have_text(
        "Morning all. The watering pumps run on the Heron controller. I checked yesterday."
    )
    expect(why).to_contain_text("min(1, 0.90 + 0.02 × 1 corroboration) = 0.92")
    expect(why).to_contain_text("Corroborated")


def test_what_was_read_is_shown_as_text_and_never_becomes_markup(site: Site) -> None:
    page = site.open("beliefs?q=gate")
    row = page.get_by_role("button", name=HOSTILE)
    expect(row).to_be_visible()
    row.click()
    expect(page.get_by_role("dialog").locator("mark")).to_have_text(HOSTILE)
    assert page.locator("main img, dialog img").count() == 0
    assert site.complaints == []


def test_filters_and_search_narrow_the_list_and_stay_in_the_address(site: Site) -> None:
    page = site.open("beliefs")
    page.get_by_role("combobox", name="Kind").select_option("decision")
    expect(page.locator(".list li")).to_have_count(8)
    page.get_by_label("Search").fill("walnut")
    expect(page.locator(".list li")).to_have_count(1)
    assert page.url.endswith("#/beliefs?q=walnut&kind=decision")
    page.reload()
    expect(page.locator(".list li")).to_have_count(1)
    page.get_by_label("Search").fill("nothing like it")
    expect(page.locator("main")).to_contain_text("Nothing fits")


def test_a_long_list_grows_by_pages(site: Site) -> None:
    page = site.open("beliefs")
    expect(page.locator(".list li")).to_have_count(25)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".list li")).to_have_count(50)
    expect(page.locator(".list li button").nth(25)).to_be_focused()


def test_another_slice_shows_only_its_own(site: Site) -> None:
    page = site.open("beliefs")
    page.get_by_role("combobox", name="Slice").select_option("private")
    expect(page.locator(".list li")).to_have_count(1)
    expect(page.locator(".list")).to_contain_text("Ana is saving for a canoe.")


def test_a_table_stands_behind_each_chart(site: Site) -> None:
    page = site.open("overview")
    figure = page.locator("figure", has_text="Runs of each pass")
    expect(figure.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"^Runs of each pass\. \d+ runs, 3 held runs, 0 failed runs\.$")
    )
    figure.get_by_text("As a table").click()
    expect(figure.get_by_role("row", name=re.compile("^1 Jun, consolidation 1 0 1"))).to_be_visible()


def test_the_keyboard_reaches_everything_and_is_never_caught(site: Site) -> None:
    page = site.open("beliefs")
    page.reload()
    settle(page)
    page.keyboard.press("Tab")
    expect(page.locator("#skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    rows = page.locator(".list button")
    for _ in range(30):
        page.keyboard.press("Tab")
        if rows.first.evaluate("row => row === document.activeElement"):
            break
    expect(rows.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(rows.nth(2)).to_be_focused()
    assert rows.nth(2).evaluate("row => getComputedStyle(row).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Show more")).to_be_focused()


def test_an_empty_system_says_what_to_do_next(empty_site: Site) -> None:
    said = {
        "overview": "Nothing is consolidated",
        "beliefs": "Nothing is believed yet",
        "fading": "Nothing ages",
        "conflicts": "Nothing needs you",
        "notes": "No notes yet",
        "autonomy": "No agent is known yet",
        "recall?q=frost": "Conversations are not kept",
    }
    for view, words in said.items():
        page = empty_site.open(view)
        expect(page.locator("main")).to_contain_text(words)
        page.close()
    assert empty_site.complaints == []
