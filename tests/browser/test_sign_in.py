"""Signing in: a token in the fragment, one by hand, and a provider of identities that may lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dreaming.database import Database
from dreaming.lambdas import wiring
from tests.browser.conftest import TOKEN, Site, opened_site
from tests.browser.oidc_server import CLIENT, Provider, provider

pytestmark = pytest.mark.browser


@pytest.fixture
def issuer() -> Iterator[Provider]:
    with provider(TOKEN) as made:
        yield made


@pytest.fixture
def guarded(
    database: Database, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, issuer: Provider
) -> Iterator[Site]:
    """A deployment that signs people in at the provider."""
    monkeypatch.setattr(wiring, "_installed", [])
    environment = {
        "DREAMING_DASHBOARD_OIDC_ISSUER": issuer.url,
        "DREAMING_DASHBOARD_OIDC_CLIENT_ID": CLIENT,
        "DREAMING_DASHBOARD_OIDC_SCOPE": "dreaming/read",
    }
    with opened_site(database, browser, tmp_path, environment, now=None) as opened:
        yield opened


def sign_in(site: Site, view: str = "beliefs") -> Page:
    page = site.page()
    page.goto(f"{site.url}/brain/dashboard#/{view}")
    page.get_by_role("button", name="Sign in").click()
    return page


def test_the_token_of_the_fragment_is_taken_and_leaves_the_address(site: Site) -> None:
    page = site.open()
    assert TOKEN not in page.url
    assert page.evaluate("history.length") <= 2
    page.reload()
    expect(page.locator("h1")).to_have_text("Overview")
    assert all(TOKEN not in one for one in site.addresses if "#" not in one)


def test_without_a_token_the_page_says_how_to_get_one_and_asks_nothing(site: Site) -> None:
    page = site.page()
    page.goto(f"{site.url}/brain/dashboard")
    expect(page.locator("main")).to_contain_text("dream dashboard --open")
    expect(page.locator("main")).to_contain_text("dashboard_oidc_issuer")
    page.get_by_text("Use a token that you have").click()
    assert [one for one in site.addresses if "/brain/" in one] == [f"{site.url}/brain/dashboard"]
    page.get_by_label("Bearer token").fill(TOKEN)
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("h1")).to_have_text("Overview")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("h1")).to_have_text("You are signed out")
    page.reload()
    expect(page.locator("h1")).to_have_text("Sign in")


def test_the_code_flow_with_pkce_leads_back_to_where_one_was(guarded: Site, issuer: Provider) -> None:
    page = sign_in(guarded)
    expect(page.locator("h1")).to_have_text("Beliefs")
    assert page.url == f"{guarded.url}/brain/dashboard#/beliefs"
    assert issuer.asked["scope"] == "openid dreaming/read"
    assert (issuer.asked["response_type"], issuer.asked["code_challenge_method"]) == ("code", "S256")
    assert issuer.asked["redirect_uri"] == f"{guarded.url}/brain/dashboard"
    assert len(issuer.exchanged["code_verifier"]) >= 43
    assert "client_secret" not in issuer.exchanged
    assert guarded.complaints == []


@pytest.mark.parametrize(
    ("claims", "wrong"),
    [
        ({"nonce": "of another sign-in"}, "nonce"),
        ({"aud": "another-page"}, "audience"),
        ({"iss": "https://elsewhere.example"}, "issuer"),
        ({"exp": 1_000_000_000}, "time of expiry"),
    ],
)
def test_an_id_token_for_somebody_else_signs_nobody_in(
    guarded: Site, issuer: Provider, claims: dict[str, Any], wrong: str
) -> None:
    issuer.claims = claims
    page = sign_in(guarded)
    expect(page.get_by_role("alert")).to_contain_text(f"The ID token is not for this sign-in: wrong {wrong}.")
    assert page.evaluate("sessionStorage.getItem('dreaming.token')") is None


@pytest.mark.parametrize("echoed", [{"state": "guessed"}, {"iss": "https://elsewhere.example"}])
def test_an_answer_of_another_sign_in_is_refused(guarded: Site, issuer: Provider, echoed: dict[str, str]) -> None:
    issuer.echoed = echoed
    page = sign_in(guarded)
    expect(page.get_by_role("alert")).to_contain_text("another")
    assert issuer.exchanged == {}
    assert page.evaluate("sessionStorage.length") == 0


def test_a_code_that_nobody_asked_for_is_refused(guarded: Site, issuer: Provider) -> None:
    page = guarded.page()
    page.goto(f"{guarded.url}/brain/dashboard?code=a-code&state=planted")
    expect(page.get_by_role("alert")).to_contain_text("another sign-in")
    assert issuer.exchanged == {}


def test_a_refusal_of_the_issuer_is_told(guarded: Site, issuer: Provider) -> None:
    issuer.refuses = "The account is locked"
    page = sign_in(guarded)
    expect(page.get_by_role("alert")).to_contain_text("The issuer refused: The account is locked.")
    assert "error" not in page.url


def test_an_issuer_that_cannot_be_reached_is_told(guarded: Site, issuer: Provider) -> None:
    page = guarded.page()
    page.route(f"{issuer.url}/**", lambda route: route.abort())
    page.goto(f"{guarded.url}/brain/dashboard")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached from this page")
