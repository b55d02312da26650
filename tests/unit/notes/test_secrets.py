"""Masking leaves alone what is no secret, and keeps every place of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.notes.secrets import MASK, is_span, mask, shortened

NO_SECRETS = [
    "Commit a3f5c1e9d8b7a6f5c4d3e2f1a0b9c8d7e6f5a4b3 fixed it",
    "The digest is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Order 550e8400-e29b-41d4-a716-446655440000 was shipped",
    "Call +49 170 1234567 or (030) 123-4567, or 0049 30 1234 5678 9012",
    "It happened at 2024-02-09T10:00:00+01:00, epoch 1707469200000",
    "![logo](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)",
    "IBAN DE89 3704 0044 0532 0130 00",
    "The invoice number is 4111111111111112",
    "ISBN 978-3-16-148410-0",
    "The password is stored in the vault",
    "Password: required",
    "Passwords must have at least 12 characters",
    "The password policy was changed in 2024",
    "Reset your password at https://example.test/reset",
    "token = parser.next()",
    "password = os.environ['PASSWORD']",
    "password=${DB_PASSWORD}",
    "max_tokens: 4096",
    "The token limit is 128k per call",
    "Secret Santa: Anna draws Bo",
    "The secretary: Mrs Jones2",
    "She is the bearer of good news from head2office today",
    "sk-learn-contributors and sk-toggleable__content",
    "The pass: it closes in October",
    "pinned: 4 notes, pin it on the wall",
    "Ring me at sip://host:5060/a@b and see https://example.test:8080/a@b",
    "Write to ada@example.test",
    "密码学是一门学科",
    "他忘记了密码",
    "Das Passwort wurde geändert",
]


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text).text == text
    assert mask(text).secrets == ()


def test_places_and_kinds_are_told_in_order() -> None:
    text = "PIN: 4821, card 4111 1111 1111 1111"
    first, second = mask(text).secrets
    assert (first.kind, text[first.start : first.end]) == ("pin", "4821")
    assert (second.kind, text[second.start : second.end]) == ("card number", "4111 1111 1111 1111")


def test_a_secret_inside_a_secret_is_one() -> None:
    (secret,) = mask("password: sk-TEST1234567890abcdef").secrets
    assert (secret.start, secret.end) == (10, 33)


PIECES = st.sampled_from(
    [
        "password",
        ":",
        "=",
        "hunter2",
        "密码",
        "是",
        "sk-TEST1234567890abcdef",
        "İ",
        "ß",
        "\n",
        "4111111111111111",
        "token:a1b2c3d4e5",
        "is",
        '"',
        "'",
        "-----BEGIN",
        "PRIVATE",
        "KEY-----",
        "eyJ",
        "Bearer",
        "://",
        "bob:pw1@host",
        "pin",
        "AKIAQ3EXAMPLE7KLMN2P",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=12).map("".join) | st.lists(PIECES, max_size=12).map(" ".join)


@given(TEXTS)
def test_masking_keeps_every_place_and_changes_nothing_else(text: str) -> None:
    masked = mask(text)
    assert len(masked.text) == len(text)
    assert is_span(masked.text, text)
    hidden = {place for secret in masked.secrets for place in range(secret.start, secret.end)}
    for place, (before, after) in enumerate(zip(text, masked.text, strict=True)):
        assert after == (MASK if place in hidden and before not in "\r\n" else before)


@given(TEXTS)
def test_secrets_never_overlap(text: str) -> None:
    ends = [0, *(secret.end for secret in mask(text).secrets)]
    assert all(secret.start >= end for secret, end in zip(mask(text).secrets, ends, strict=False))


def test_a_mask_is_shortened_to_three() -> None:
    assert shortened(f"the key {MASK * 23} and {MASK}") == f"the key {MASK * 3} and {MASK}"


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "eyJ",
        "eyJaaaaaaaa.",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "token=",
        "password ",
        'password: "',
        "://a:",
        "4111 ",
        "4",
        "密码",
        "authorization: bearer ",
        " ",
        "1234567890:AA",
        "ghp_",
        "M" + "a" * 22 + ".",
    ],
)
def test_hostile_text_costs_no_more_steps_than_its_length(piece: str) -> None:
    """A text that tempts every pattern, long enough that a quadratic search would not end."""
    text = piece * (400_000 // len(piece))
    assert len(mask(text).text) == len(text)
