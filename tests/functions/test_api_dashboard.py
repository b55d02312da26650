"""The page as it is answered: without a caller, sealed, whole, small; and who may not frame or feed it."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest

from dreaming.api.dashboard.page import Page, SignIn, page
from dreaming.errors import Misconfigured
from tests.functions.http import request
from tests.functions.sandbox import Sandbox
from tests.world import World

ISSUER = SignIn(issuer="https://login.example.test/pool", client_id="page", token_origin="https://tokens.example.test")


def policy(made: Page) -> dict[str, list[str]]:
    parts = (part.split() for part in made.headers["Content-Security-Policy"].split("; "))
    return {part[0]: part[1:] for part in parts}


def inline(made: Page, tag: str) -> list[str]:
    return re.findall(rf"<{tag}>(.*?)</{tag}>", made.html, re.DOTALL)


def test_a_sign_in_may_come_back_to_the_page_with_anything(api: Sandbox) -> None:
    query = {"code": "a-code", "state": "s", "iss": "https://login.example.test", "error": "access_denied"}
    assert api.invoke(request("/brain/dashboard", query=query, authorizer=None), seconds=29)["statusCode"] == 200


def test_the_page_is_answered_to_anybody_and_asks_no_database(api: Sandbox, installed: World) -> None:
    installed.database.close()
    answer: dict[str, Any] = api.invoke(request("/brain/dashboard", authorizer=None), seconds=29)
    assert answer["statusCode"] == 200
    headers = {name.lower(): value for name, value in answer["headers"].items()}
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-cache"
    assert answer["body"].startswith("<!doctype html>")
    assert "acme" not in answer["body"]


def test_data_stays_in_no_cache(api: Sandbox) -> None:
    for path, authorizer in (("/brain/beliefs", {"jwt": {"claims": {"org_id": "acme"}}}), ("/brain/beliefs", None)):
        answer = api.invoke(request(path, authorizer=authorizer), seconds=29)
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


def test_the_page_is_small_and_loads_nothing_else() -> None:
    made = page(ISSUER)
    assert len(made.html.encode()) < 300_000
    assert (
        re.findall(
            r"<(?:script|link|img|iframe|object|embed|base|form)\b[^>]*(?:src|href|action)=\"(?!data:)", made.html
        )
        == []
    )
    assert re.findall(r"(?:@import|url\()", made.html) == []
    assert {one for one in re.findall(r"https?://[^\"'\s<`]+", made.html) if "w3.org" not in one} == {ISSUER.issuer}


def test_only_the_pages_own_scripts_and_styles_are_allowed() -> None:
    made = page(SignIn())
    rules = policy(made)
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (text,) = inline(made, tag)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert rules[directive] == [f"'sha256-{digest}'"]
    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == ["'none'"]
    assert rules["connect-src"] == ["'self'"]
    assert re.findall(r"<[^>]+\s(?:on[a-z]+|style)=", made.html.replace(inline(made, "script")[0], "")) == []


def test_the_scripts_make_text_and_never_markup() -> None:
    (script,) = inline(page(SignIn()), "script")
    ways = (
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment"),
        *("eval(", "new Function", "localStorage"),
    )
    assert [way for way in ways if way in script] == []


def test_the_page_may_reach_its_issuer_and_nobody_else() -> None:
    made = page(ISSUER)
    assert policy(made)["connect-src"] == ["'self'", "https://login.example.test", "https://tokens.example.test"]
    assert '<meta name="oidc-scope" content="openid">' in made.html
    asked = page(SignIn(issuer=ISSUER.issuer, client_id='a"><script>alert(1)</script>', scope="read openid"))
    assert len(inline(asked, "script")) == 1
    assert 'content="read openid"' in asked.html


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "http://login.example.test"},
        {"issuer": "login.example.test"},
        {"issuer": "https://login.example.test; script-src *"},
        {"issuer": "https://[::1"},
        {"token_origin": "https://tokens.example.test *"},
        {"client_id": ""},
    ],
)
def test_an_address_that_is_none_is_a_misconfiguration(changes: dict[str, str]) -> None:
    values = {"issuer": ISSUER.issuer, "client_id": ISSUER.client_id, "token_origin": "", **changes}
    with pytest.raises(Misconfigured, match="dashboard_oidc"):
        page(SignIn(**values))
