"""Secrets that are known by what stands in front of them: "password: …", "密码是…", "API_KEY=…".

A label is followed by a separator, by a verb, or for passwords by nothing but white space; the less
directly, the more the value has to look made rather than written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_PASSWORD_LABELS = (
    *_words(
        """
        password passwort passwd passcode passphrase passwrd pwd kennwort wachtwoord senha contraseña contrasena
        lösenord adgangskode passord salasana heslo hasło hasła parola şifre пароль пароля паролем 密码 密碼 口令
        パスワード 暗証番号 비밀번호 암호 पासवर्ड סיסמה รหัสผ่าน κωδικός κωδικος
        """
    ),
    *("mot de passe", "mật khẩu", "kata sandi", "kata laluan", "كلمة المرور", "كلمة السر"),
    r"pass(?<![a-z]pass)(?=[\"'`*]?\s?[:=])",
    r"pass(?<=[_-]pass)(?![a-z])",
)
_KEY_LABELS = (
    *("api[ _.-]?key", "access[ _.-]?key", "secret[ _.-]?(?:access[ _.-]?)?key", "private[ _.-]?key"),
    *("account[ _-]?key", "shared[ _-]?access[ _-]?key", "signing[ _-]?(?:key|secret)", "encryption[ _-]?key"),
    *("master[ _-]?key", "license[ _-]?key", "client[ _.-]?secret", "credential", "authtoken", "accesstoken"),
    *("refreshtoken", "bottoken", "sessiontoken", r"token(?<![a-z]token)(?![a-z])", "jsessionid", "phpsessid"),
    r"secret(?<![a-z]secret)(?!s|ar|ly|i)",
    *("密钥", "密鑰", "秘钥", "令牌", "私钥", "トークン", "秘密鍵", "api-schlüssel", "clé api", "clé secrète"),
    *("clave api", "clave secreta", "токен", "ключ api"),
)
_PIN_LABELS = tuple(
    rf"{name}(?<![a-z]{name})(?![a-z])"
    for name in ("pin", "pin code", "pin number", "cvv", "cvv2", "cvc", "cvc2", "otp", "one-time code", "security code")
)
_PLAIN_START = re.compile(r"[^\[(?\\]+")
# One pattern each, with the plain text it begins with: such a search is many times quicker than one for all.
_LABELS = tuple(
    (kind, _PLAIN_START.findall(label)[0], re.compile(label))
    for kind, labels in (("password", _PASSWORD_LABELS), ("key", _KEY_LABELS), ("pin", _PIN_LABELS))
    for label in labels
)

_COPULAS = (
    "is now|is still|is set to|is:?|was|are|set to|changed to|to|ist:?|lautet:?|war|von|auf|est:?|était|es:?|era|è|é"
    "|är|er|это|jest|je|là|adalah|είναι"
)
_BETWEEN = re.compile(
    rf"""
    (?P<suffix>(?:(?<=[A-Za-z])[A-Za-z0-9_-]{{0,24}}+)?)
    (?:["'`*\])】」』）]{{0,4}}+)
    (?:
        (?P<sign>[^\S\n]{{0,4}}+(?:[:=：＝]+>?|->|=>|→|—|–)\s{{0,4}}+)
      | (?P<han>[^\S\n]?(?:是|为|為|叫|改成|改为|設為|设为|は|が|는|은|이|가)[^\S\n]?[:：]?[^\S\n]?)
      | (?P<verb>(?:[^\S\n]{{1,4}}[\w'/.-]{{1,24}}+){{0,6}}?
          (?:[^\S\n]{{1,4}}(?:{_COPULAS})[^\S\n]{{1,4}}|[:：]\s{{1,4}}))
      | (?P<space>[^\S\n]{{1,4}})
      | (?P<glued>)
    )
    (?P<mark>["'`*_\[({{<«“„「『‘]{{0,3}})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|apikey)\s{1,4}", re.IGNORECASE)
# A value ends at white space, at quotes and brackets, and where a script without spaces begins.
_VALUE = re.compile(
    "[^\\s\"'`<>{}\\[\\],;“”„«»\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]++"
)
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "‘": "’"}
_QUOTED_LENGTH = 256


def labelled(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of what stands after a label and looks as a secret of its kind does.

    `lowered` is the text in lower case, every character at its place.
    """
    end = 0
    found_labels = (_places(kind, pattern, lowered) for kind, needs, pattern in _LABELS if needs in lowered)
    for start, negated_end, kind in merge(*found_labels):
        if start < end:
            continue  # the label stands inside the one before, or inside its secret
        end = -negated_end
        between = _BETWEEN.match(text, end)
        found = _value(text, kind, between) if between else None
        if found is not None:
            end = found[1]
            yield kind, *found


def _places(kind: str, pattern: re.Pattern[str], lowered: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, negated end and kind: so sorted, of two that begin together the longer comes first."""
    for match in pattern.finditer(lowered):
        yield match.start(), -match.end(), kind


def _value(text: str, kind: str, between: re.Match[str]) -> tuple[int, int] | None:
    start = between.end()
    mark = between.group("mark")[-1:]
    if mark in _CLOSING:
        closing = text.find(_CLOSING[mark], start, start + _QUOTED_LENGTH)
        if closing > start and "\n" not in text[start:closing]:
            return (start, closing) if _is_quoted_secret(text[start:closing], kind, between) else None
    if scheme := _SCHEME.match(text, start):
        start = scheme.end()
    match = _VALUE.match(text, start)
    if match is None:
        return None
    value = match.group().rstrip(".!?:*_)")
    if "&" in value and "=" in value:  # further parameters of an address
        value = value.partition("&")[0]
    end = start + len(value)
    if not _is_secret(value, kind, between, text[end : end + 24]):
        return None
    while text[end : end + 1] == "!":  # as likely a part of the secret as the sentence's
        end += 1
    return start, end


def _is_quoted_secret(value: str, kind: str, between: re.Match[str]) -> bool:
    if not value.strip() or _is_no_secret(value):
        return False
    if kind == "password":
        return len(value) >= 3 and (between.group("verb") is None or _is_made(value) or " " not in value)
    return _is_made(value) and " " not in value and len(value) >= (4 if kind == "pin" else 8)


def _is_secret(value: str, kind: str, between: re.Match[str], after: str) -> bool:
    """Judge an unquoted value by its label, by how directly it follows, and by its own look."""
    if _is_no_secret(value):
        return False
    direct = between.group("sign") is not None or between.group("han") is not None or _is_for_something(between)
    if kind == "password":
        return _is_password(value, between, after, direct=direct)
    if not direct and between.group("verb") is None:
        return False
    if kind == "pin":
        return _PIN.fullmatch(value) is not None
    return len(value) >= (8 if direct else 12) and (_is_made(value) or _LONG.fullmatch(value) is not None)


def _is_for_something(between: re.Match[str]) -> bool:
    """Say whether what lies between only tells whose secret it is: "for the gate: …"."""
    return _FOR.fullmatch(between.group("verb") or "") is not None


_FOR = re.compile(r"\s+(?:for|für|fürs|of|to|pour|de|del|para|von|zum|zur)\b.*[:：]\s*", re.IGNORECASE)
_PIN = re.compile("[0-9]{3,8}")
_LONG = re.compile("[A-Za-z0-9+/=_-]{24,}")


def _is_password(value: str, between: re.Match[str], after: str, *, direct: bool) -> bool:
    made = len(value) >= 4 and _is_made(value)
    if between.group("glued") is not None:
        before = between.string[between.start() - 1]
        return made and not between.group("suffix") and not before.isascii()
    if between.group("space") is not None:
        return made and len(value) >= 6 and any(map(str.islower, value)) and not between.group("suffix")
    if made or not direct or len(value) < 4:
        return made
    if between.group("suffix"):
        return value.isdecimal()
    # NAME=value, as shells and files of settings write it, needs no end of a clause behind it.
    assigned = between.group() == "="
    return value.isdecimal() or assigned or _CLAUSE_END.match(after) is not None


_CLAUSE_END = re.compile(
    r"[\"'`*_)\]}>]{0,3}(?:\s*$|[^\S\n]*\n|[.,;!?，。；、！]|[^\S\n]+(?:and|und|et|y|for|für)\b|[\u2e80-\u9fff])"
)


def _is_no_secret(value: str) -> bool:
    """Say whether a value is a word about secrets, a piece of program, or an address."""
    return value.casefold().strip("()") in _NO_SECRETS or _NO_VALUE.match(value) is not None


_NO_VALUE = re.compile(
    r"[$%{<]|os\.|process\.|self\.|env[.(\[]|\.{2,}|\*{3,}|x{4,}$|[a-z_][\w.]*\(|[a-z_]+(?:\.[a-z_]+)+$"
    r"|[a-z][a-z0-9+.-]{1,20}://",
    re.IGNORECASE,
)
_NO_SECRETS = frozenset(
    _words(
        """
        required optional none null nil true false yes no string str text bytes int bool boolean integer unknown
        changed reset expired missing incorrect wrong invalid valid hidden redacted masked secret password passwort
        token empty forgotten lost weak strong strength policy protected login username user name email see ask todo
        tbd tba n/a stored encrypted hashed rotated revoked needed unset undefined default manager here below above
        same unchanged the this that your not must should will can has may leer falsch geändert vergessen abgelaufen
        nötig erforderlich siehe unbekannt keins kein oublié requis incorrecto requerida requerido olvidada olvidado
        """
    )
)


def _is_made(value: str) -> bool:
    """Say whether a text looks made rather than written: digits or signs among letters, or capitals inside."""
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdecimal, value))
    if not letters or digits:
        return bool(letters) and _MEASURE.fullmatch(value) is None
    signs = len(value) - letters - sum(map(value.count, "-'./"))
    return signs > 0 or (any(map(str.isupper, value[1:])) and not value.isupper())


_MEASURE = re.compile(
    r"[0-9]{1,4}(?:st|nd|rd|th|ms|s|m|h|d|k|kb|mb|gb|px|am|pm|x|%)|v?[0-9]+(?:\.[0-9]+)+"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T\S*)?",
    re.IGNORECASE,
)
