"""Secrets never reach a model, a quote, a belief or a log, whatever stands around them."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from dreaming.api.service import Reader, recount
from dreaming.database import Database
from dreaming.notes.secrets import MASK, mask
from tests.world import KEY, claim, note, open_world

LOWER, MIXED, HEX = "q7w8e9r1t2y3u4i5o6p7", "aB3dE5fG7hJ9kL1mN3pQ", "0a1b2c3d4e5f6071"
LETTERS = "abcdefghijklmnopqrstuvwxyzabcdefghij"
# Put together from pieces, so that no scanner takes this file for a leak.
SECRETS = {
    "aws access key": "AKIA" + "Q3EXAMPLE7KLMN2P",
    "aws session key": "ASIA" + "Q3EXAMPLE7KLMN2P",
    "github": "ghp_" + MIXED + MIXED,
    "github fine-grained": "github_pat_" + MIXED + "_" + MIXED,
    "github server": "ghs_" + MIXED + MIXED,
    "gitlab": "glpat-" + MIXED,
    "slack bot": "xoxb-" + "123456789012-123456789012-" + MIXED,
    "slack app": "xapp-" + "1-A0123456789-" + HEX,
    "stripe": "sk_live_" + MIXED,
    "stripe restricted": "rk_test_" + MIXED,
    "stripe webhook": "whsec_" + MIXED + MIXED,
    "openai": "sk-" + "TEST1234567890abcdef",
    "openai project": "sk-proj-" + MIXED + "_" + MIXED,
    "anthropic": "sk-ant-api03-" + MIXED + "-" + MIXED,
    "google": "AIza" + MIXED + MIXED[:15],
    "google oauth": "ya29." + MIXED + "-" + MIXED,
    "google client": "GOCSPX-" + MIXED + "abcdefgh",
    "azure": "a1B" + "8Q~" + MIXED + MIXED[:14],
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED,
    "npm": "npm_" + MIXED + MIXED,
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + MIXED + MIXED,
    "twilio": "SK" + HEX + HEX,
    "sendgrid": "SG." + MIXED + "ab." + MIXED + MIXED,
    "telegram": "123456789" + ":AA" + MIXED + MIXED[:13],
    "discord": "M" + MIXED + "abc." + "Gx1y2Z." + MIXED + "abcdefgh",
    "hugging face": "hf_" + LETTERS[:34],
    "replicate": "r8_" + MIXED + MIXED,
    "groq": "gsk_" + MIXED + MIXED + "abcdefgh",
    "databricks": "dapi" + HEX + HEX,
    "digitalocean": "dop_v1_" + HEX * 4,
    "shopify": "shpat_" + HEX + HEX,
    "notion": "ntn_" + MIXED + MIXED + "ab",
    "linear": "lin_api_" + MIXED + MIXED,
    "vault": "hvs." + MIXED + MIXED,
    "grafana": "glsa_" + MIXED + MIXED,
    "docker": "dckr_pat_" + MIXED + "abcdefg",
    "mailgun": "key-" + HEX + HEX,
    "mailchimp": HEX + HEX + "-us12",
    "age": "AGE-SECRET-KEY-1" + "QWERTYUIOPASDFGHJKLZXCVBNM" * 2 + "QWERTY",
    "visa": "4111 1111 1111 1111",
    "mastercard": "5555555555554444",
    "american express": "3782-822463-10005",
}
LABELLED = {
    "password: {}": "hunter2",
    "Passwort: {}": "Sommer-99",
    "mot de passe : {}": "Soleil99",
    "la contraseña es {}": "Verano2024",
    "пароль: {}": "gfhjkm77",
    "密码：{}": "abc12345",
    "我的密码是{}，别告诉别人": "hunter2",
    "パスワードは{}です": "sakura88",
    "비밀번호: {}": "abc123xy",
    "DB_PASSWORD={}": "correct-horse",
    '{{"password": "{}"}}': "correct horse battery",
    "Server=db;Uid=sa;Pwd={};Encrypt=yes": "Tr0ub4dor",
    "AccountKey={};EndpointSuffix=x": MIXED * 4 + "==",
    "AWS_SECRET_ACCESS_KEY={}": MIXED + MIXED,
    "api key: {}": LOWER,
    "X-Api-Key: {}": LOWER,
    "//registry.example.test/:_authToken={}": HEX + HEX,
    "Authorization: Bearer {}": MIXED,
    "authorization: Basic {}": "dXNlcjpwYXNzd29yZDE=",
    "postgres://bob:{}@db.example.test/app": "s3cr3t",
    "https://{}@git.example.test/x.git": LOWER,
    "https://hooks.slack.com/services/{}": "T0AB12CD3/B0AB12CD3/" + MIXED,
    "https://discord.com/api/webhooks/123456789012345678/{}": MIXED * 3,
    "https://x.blob.example.test/a?sv=1&sig={}": MIXED + "%2B" + MIXED,
    "my PIN is {}": "4821",
}
PEM = "-----BEGIN EC PRIVATE KEY-----\n" + "MHcCAQEEIB3dE5fG7hJ9kL1mN3pQ\n" * 3 + "-----END EC PRIVATE KEY-----"
AROUND = {"alone": "{}", "in a sentence": "The deploy uses {} since May.", "glued to Han": "我的密钥是{}请保管好"}


@pytest.mark.parametrize("around", AROUND.values(), ids=list(AROUND))
@pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))
def test_a_secret_is_masked_wherever_it_stands(secret: str, around: str) -> None:
    assert mask(around.format(secret)).text == around.format(MASK * len(secret))


@pytest.mark.parametrize("secret", [secret for secret in SECRETS.values() if secret[0].isalpha()])
@pytest.mark.parametrize("around", ["ключ{}", "مفتاح{}", "鍵は{}です", "키{}입니다", "คีย์{}", "où{}é"])
def test_no_script_hides_a_secret_by_standing_next_to_it(secret: str, around: str) -> None:
    assert secret not in mask(around.format(secret)).text


@pytest.mark.parametrize("around", ["{}", "So it says: {} and no more.", "记住{}"])
@pytest.mark.parametrize(("text", "secret"), LABELLED.items(), ids=list(LABELLED))
def test_what_a_label_calls_secret_is_masked(text: str, secret: str, around: str) -> None:
    whole = around.format(text.format(secret))
    assert mask(whole).text == around.format(text.format(MASK * len(secret)))


def test_a_private_key_is_masked_as_a_whole_and_keeps_its_lines() -> None:
    masked = mask(f"before\n{PEM}\nafter").text
    lines = masked.splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert set("".join(lines[1:-1])) == {MASK}
    assert len(masked) == len(f"before\n{PEM}\nafter")


def test_a_private_key_that_is_cut_off_is_masked_as_far_as_it_goes() -> None:
    cut = "-----BEGIN PRIVATE KEY-----\n" + "aB3dE5fG7hJ9kL1m" * 4 + "\nThe rest is lost."
    assert mask(cut).text.splitlines()[1:] == [MASK * 64, "The rest is lost."]


SECRET = SECRETS["openai"]


def test_neither_model_nor_quote_nor_belief_nor_answer_nor_log_sees_a_secret(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def script(request: Any) -> list[dict[str, Any]]:
        seen.append(json.dumps([request.content, *(str(passage) for passage in request.passages)]))
        return [claim(line) for passage in request.passages for line in passage.text.splitlines()]

    caplog.set_level(logging.DEBUG)
    world = open_world(database, tmp_path, script)
    world.ingest(
        note("1", f"Ada keeps the key {SECRET} in the drawer.", author=f"Ada {SECRET}"),
        note("2", f"艾达说我的密钥是{SECRET}请好好保管它"),
    )
    world.drain()
    assert len(seen) == 2
    assert SECRET not in "".join(seen)
    assert len(world.statements()) == 2
    assert f"Ada keeps the key {3 * MASK} in the drawer." in world.statements()
    kept = world.rows("select quote from sources order by quote")
    assert [quote for (quote,) in kept] == [
        f"Ada keeps the key {MASK * len(SECRET)} in the drawer.",
        f"艾达说我的密钥是{MASK * len(SECRET)}请好好保管它",
    ]
    for table in ("sources", "beliefs", "belief_history", "extractions", "dream_runs"):
        assert SECRET not in str(world.rows(f"select * from {table}"))
    assert SECRET not in caplog.text
    world.check(KEY)


def test_a_claim_that_knows_a_secret_all_the_same_is_stored_without_it(database: Database, tmp_path: Path) -> None:
    said = f"Ada keeps the key {SECRET} in the drawer."
    world = open_world(database, tmp_path, lambda request: [claim(said, subject="Ada", attribute="key", value=SECRET)])
    world.ingest(note("1", said))
    world.drain()
    assert world.rows("select statement, subject, value from beliefs") == [
        (f"Ada keeps the key {3 * MASK} in the drawer.", "Ada", 3 * MASK)
    ]
    world.check()


def test_a_model_that_miscounts_a_mask_still_has_its_quote(database: Database, tmp_path: Path) -> None:
    miscounted = f"Ada keeps the key {5 * MASK} in the drawer."
    world = open_world(database, tmp_path, lambda request: [claim(miscounted)])
    world.ingest(note("1", f"So: Ada keeps the key {SECRET} in the drawer."))
    world.drain()
    assert world.rows("select quote, quote_start from sources") == [
        (f"Ada keeps the key {MASK * len(SECRET)} in the drawer.", 4)
    ]
    world.check()


def test_what_people_read_around_a_quote_is_masked_too_even_where_it_is_cut(database: Database, tmp_path: Path) -> None:
    lease = "The office lease ends in June 2028."
    after = f"With {SECRET} in it. " + "x " * 40 + PEM.replace("\n", " ")
    world = open_world(database, tmp_path, lambda request: [claim(lease)])
    world.ingest(note("1", f"Our password is hunter2, says Bo. {lease} {after}"))
    world.drain()
    reader = Reader(database, KEY.tenant, {}, world.now)
    ((belief_id,),) = world.rows("select belief_id from beliefs")
    (source,) = reader.explain(str(belief_id)).sources
    assert source.exact
    assert source.before == f"Our password is {MASK * 7}, says Bo. "
    assert "BEGIN" not in source.after
    assert source.after.startswith(f" With {MASK * len(SECRET)} in it. ")


def test_the_check_of_stored_quotes_knows_the_mask_and_still_finds_a_wrong_quote(
    database: Database, tmp_path: Path
) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("1", f"Ada keeps the key {SECRET} in the drawer."), note("2", "The lease ends in June 2028."))
    world.drain()
    assert [(one.quotes, one.wrong_quotes) for one in recount(database)] == [(2, 0)]
    with world.transaction() as tx:
        tx.execute("update sources set quote = overlay(quote placing 'Bob' from 1)")
    assert [(one.quotes, one.wrong_quotes) for one in recount(database)] == [(2, 2)]
