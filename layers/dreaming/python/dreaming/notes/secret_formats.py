r"""Secrets that are known by their own shape: keys and tokens with a prefix, signed tokens, private keys.

Each pattern takes time linear in the text. A prefix stands in front, so that the search for it is a plain
one; no repetition is followed by something that could fail, unless what may repeat cannot begin anew inside
itself. A prefix counts where no ASCII letter or digit stands before it, so a token glued to Han or any
other script is found, which `\b` would miss.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALNUM = "A-Za-z0-9"
_URL_SAFE = r"A-Za-z0-9_\-"
_HEX = "0-9a-f"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of secret: the text that has to occur for it, its pattern, and whether it must hold a digit.

    What counts is the pattern's group `secret`, or all of it when it has none.
    """

    kind: str
    needs: str
    pattern: re.Pattern[str]
    digit: bool = False


def _prefixed(kind: str, prefixes: str, body: str, least: int, *, digit: bool = False) -> list[Format]:
    """Return one format for each of the prefixes, followed by at least so many of the characters."""
    return [
        Format(
            kind,
            prefix,
            re.compile(f"{re.escape(prefix)}(?<![{_ALNUM}]{re.escape(prefix)})[{body}]{{{least},}}"),
            digit,
        )
        for prefix in prefixes.split()
    ]


# No possessive group: Python before 3.11.4 gives up a match that such a group must find.
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]*(?:-(?!----)[^-]*)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:[\s>]|\\[nr]){0,20}[A-Za-z0-9+/=]{40,})+)"
)
"""A private key in PEM or PGP armour; one whose end is missing counts as far as its lines go."""

FORMATS: tuple[Format, ...] = (
    Format("private key", "PRIVATE KEY", _PRIVATE_KEY),
    *_prefixed("aws access key", "AKIA ASIA ABIA ACCA", "A-Z0-9", 16),
    Format(
        "aws secret key",
        "IA",
        re.compile(r"A[KS]IA[A-Z0-9]{16}[\s,;:|/'\"]{1,10}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    ),
    *_prefixed("github token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", "A-Za-z0-9_", 20),
    *_prefixed(
        "gitlab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        f"{_URL_SAFE}.",
        20,
    ),
    *_prefixed(
        "slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", f"{_URL_SAFE}.%", 10
    ),
    Format(
        "slack webhook",
        "hooks.slack.com/",
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    ),
    *_prefixed("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_", "A-Za-z0-9+/=", 10),
    *_prefixed("anthropic key", "sk-ant-", _URL_SAFE, 16),
    *_prefixed("openai key", "sk-", _URL_SAFE, 16, digit=True),
    *_prefixed("google api key", "AIza", _URL_SAFE, 35),
    *_prefixed("google oauth", "ya29. GOCSPX- 1//0", f"{_URL_SAFE}.", 20),
    Format("azure client secret", "8Q~", re.compile(r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,}")),
    Format("azure signature", "sig=", re.compile(r"[?&]sig=(?P<secret>[A-Za-z0-9%+/=_-]{30,})")),
    Format(
        "json web token",
        "eyJ",
        re.compile(rf"eyJ(?<![{_URL_SAFE}]eyJ)[{_URL_SAFE}]{{8,}}+\.[{_URL_SAFE}]{{8,}}+(?:\.[{_URL_SAFE}]*+){{1,3}}"),
    ),
    *_prefixed("npm token", "npm_", _ALNUM, 36),
    *_prefixed("pypi token", "pypi-", _URL_SAFE, 40),
    *_prefixed("rubygems key", "rubygems_", _HEX, 32),
    *_prefixed("twilio key", "SK AC", _HEX, 32),
    *_prefixed("sendgrid key", "SG.", f"{_URL_SAFE}.", 40),
    *_prefixed("mailgun key", "key-", _HEX, 32),
    Format("mailchimp key", "-us", re.compile(rf"(?<![{_ALNUM}])[{_HEX}]{{32}}-us\d{{1,2}}(?!\d)")),
    *_prefixed("brevo key", "xkeysib- xsmtpsib-", _URL_SAFE, 40),
    Format("telegram token", ":AA", re.compile(rf"(?<![{_ALNUM}])\d{{8,10}}:AA[{_URL_SAFE}]{{32,}}")),
    Format(
        "discord token",
        ".",
        re.compile(rf"[MNO](?<![{_URL_SAFE}][MNO])[A-Za-z\d_-]{{22,27}}\.[{_URL_SAFE}]{{6,7}}\.[{_URL_SAFE}]{{27,}}"),
    ),
    Format(
        "discord webhook",
        "/api/webhooks/",
        re.compile(rf"/api/webhooks/\d{{16,20}}/(?P<secret>[{_URL_SAFE}]{{40,}})"),
    ),
    *_prefixed("hugging face token", "hf_ api_org_", _ALNUM, 30),
    *_prefixed("replicate token", "r8_", _ALNUM, 30),
    *_prefixed("groq key", "gsk_", _ALNUM, 40),
    *_prefixed("xai key", "xai-", _ALNUM, 60),
    *_prefixed("perplexity key", "pplx-", _ALNUM, 40),
    *_prefixed("nvidia key", "nvapi-", _URL_SAFE, 40),
    *_prefixed("langsmith key", "lsv2_pt_ lsv2_sk_", "0-9a-f_", 32),
    *_prefixed("tavily key", "tvly-", _URL_SAFE, 20, digit=True),
    *_prefixed("databricks token", "dapi", "0-9a-f-", 32),
    *_prefixed("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", _HEX, 64),
    *_prefixed("shopify token", "shpat_ shpca_ shppa_ shpss_", "0-9a-fA-F", 32),
    *_prefixed("square token", "sq0atp- sq0csp- EAAA", _URL_SAFE, 22, digit=True),
    *_prefixed("notion token", "ntn_ secret_", _ALNUM, 40),
    *_prefixed("linear key", "lin_api_ lin_oauth_", _ALNUM, 32),
    *_prefixed("figma token", "figd_ figo_", _URL_SAFE, 36),
    *_prefixed("postman key", "PMAK-", "0-9a-f-", 50),
    *_prefixed("doppler token", "dp.pt. dp.st. dp.ct. dp.sa.", f"{_URL_SAFE}.", 40),
    *_prefixed("vault token", "hvs. hvb. hvr.", _URL_SAFE, 24),
    Format(
        "terraform token", ".atlasv1.", re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}")
    ),
    *_prefixed("new relic key", "NRAK- NRAL- NRJS-", _ALNUM, 19, digit=True),
    *_prefixed("grafana token", "glsa_ glc_", "A-Za-z0-9_+/=", 32),
    *_prefixed("sentry token", "sntrys_ sntryu_", "A-Za-z0-9_+/=", 40),
    *_prefixed("atlassian token", "ATATT3 ATCTT3 ATBB", f"{_URL_SAFE}=", 28),
    *_prefixed("docker token", "dckr_pat_ dckr_oat_", _URL_SAFE, 27),
    *_prefixed("airtable token", "pat", f"{_ALNUM}.", 79, digit=True),
    *_prefixed("supabase token", "sbp_ sb_secret_", "A-Za-z0-9_", 30),
    *_prefixed("planetscale token", "pscale_tkn_ pscale_pw_", f"{_URL_SAFE}.", 32),
    *_prefixed("fly token", "fo1_ fm2_", f"{_URL_SAFE}+/=", 40),
    *_prefixed("heroku key", "HRKU-", _URL_SAFE, 36),
    *_prefixed("contentful token", "CFPAT-", _URL_SAFE, 40),
    *_prefixed("tailscale key", "tskey-", _URL_SAFE, 20, digit=True),
    *_prefixed("artifactory key", "AKCp", _ALNUM, 60),
    *_prefixed("sourcegraph token", "sgp_", "0-9a-fA-F_", 40),
    *_prefixed("resend key", "re_", "A-Za-z0-9_", 30, digit=True),
    *_prefixed("facebook token", "EAACEdEose0cBA EAAG EAAJ", _ALNUM, 60),
    *_prefixed("age key", "AGE-SECRET-KEY-1", "0-9A-Z", 58),
    *_prefixed("1password token", "ops_eyJ", _URL_SAFE, 100),
    Format(
        "url credentials", "://", re.compile(r"://[^\s:/?#@\"'<>]{0,128}:(?P<secret>[^\s/\"'<>]{1,256})@(?=[^\s@])")
    ),
    Format("url credentials", "://", re.compile(r"://(?P<secret>[A-Za-z0-9_-]{20,}+)@(?=[^\s@])"), digit=True),
)
"""Every format with a shape of its own."""
