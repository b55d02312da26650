"""Puts the page together from its sources: one HTML document that loads nothing else.

Its scripts and styles stand in it and are allowed by their hashes alone, so that nothing which finds
its way into the page runs (Content Security Policy Level 3).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from dreaming.errors import Misconfigured

_SOURCES = Path(__file__).parent
_STYLES = ("base.css", "parts.css", "views.css")
_SCRIPTS = (
    *("elements.js", "words.js", "session.js", "requests.js", "panels.js", "charts.js", "timeline_chart.js"),
    *("why.js", "view_overview.js", "view_beliefs.js", "view_fading.js", "view_conflicts.js", "view_notes.js"),
    *("view_autonomy.js", "view_recall.js", "view_settings.js", "page.js"),
)
_LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class SignIn:
    """Where the page signs people in (OpenID Connect, code flow with PKCE); without an issuer nowhere.

    `token_origin` is the origin of the token endpoint where it is not the issuer's.
    """

    issuer: str = ""
    client_id: str = ""
    scope: str = "openid"
    token_origin: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The document, and the headers that go with it."""

    html: str
    headers: Mapping[str, str]


@lru_cache(maxsize=8)
def page(sign_in: SignIn) -> Page:
    """Return the page of a deployment.

    Raises:
        Misconfigured: an address of the sign-in that is none, or an issuer without a client.
    """
    origins = _origins(sign_in)
    style, script = _joined(_STYLES), f'"use strict";\n{_joined(_SCRIPTS)}'
    configuration = {
        "oidc-issuer": sign_in.issuer,
        "oidc-client": sign_in.client_id,
        "oidc-scope": _scope(sign_in.scope),
    }
    metas = "".join(f'<meta name="{name}" content="{escape(value)}">\n' for name, value in configuration.items())
    html = (
        (_SOURCES / "page.html")
        .read_text("utf-8")
        .replace("<!-- configuration -->\n", metas)
        .replace("<!-- style -->", f"<style>{style}</style>")
        .replace("<!-- script -->", f"<script>{script}</script>")
    )
    policy = {
        "default-src": "'none'",
        "script-src": _allowed(script),
        "style-src": _allowed(style),
        "img-src": "data:",
        "connect-src": " ".join(["'self'", *origins]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return Page(
        html,
        {
            "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-cache",
        },
    )


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_SOURCES / name).read_text("utf-8").strip() for name in names) + "\n"


def _allowed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _scope(scope: str) -> str:
    asked = scope.split()
    return " ".join(asked if "openid" in asked else ["openid", *asked])


def _origins(sign_in: SignIn) -> list[str]:
    """Return the origins that the page must reach to sign somebody in."""
    if not sign_in.issuer:
        return []
    if not sign_in.client_id:
        raise Misconfigured("dashboard_oidc_issuer is set and dashboard_oidc_client_id is not: set both or none")
    addresses = {"dashboard_oidc_issuer": sign_in.issuer, "dashboard_oidc_token_origin": sign_in.token_origin}
    return list(dict.fromkeys(_origin(name, address) for name, address in addresses.items() if address))


def _origin(name: str, address: str) -> str:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise Misconfigured(f"{name} is no address: {error}") from error
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in _LOCAL_HOSTS)
    # Nothing but the characters of host names: the address becomes a part of the policy.
    if not secure or not host or not host.isascii() or not host.replace("-", "").replace(".", "").isalnum():
        raise Misconfigured(f"{name} is no https address of a host")
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")
