"""Finding out how a text file is encoded."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_PROBE_BYTES = 1 << 16


def decode(data: bytes) -> str | None:
    """Return `data` as text, or None when it is no text in an encoding that can be told.

    A byte order mark decides; else UTF-8, UTF-16 as its zero bytes show it, and last Windows-1252 or
    Latin-1, which hold any bytes but are only tried on data without control characters.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data, encoding)
    probe = data[:_PROBE_BYTES]
    if b"\x00" in probe:
        wide = _wide_encoding(probe)
        return _decoded(data, wide) if wide else None
    text = _decoded(data, "utf-8")
    if text is not None or _BINARY.search(probe):
        return text
    text = _decoded(data, "cp1252")
    return text if text is not None else data.decode("latin-1")


def _wide_encoding(probe: bytes) -> str | None:
    """UTF-16 without a mark: of mostly Latin text every other byte is zero."""
    halves = {"utf-16-be": probe[0::2], "utf-16-le": probe[1::2]}
    shares = {name: half.count(0) / max(1, len(half)) for name, half in halves.items()}
    if min(shares.values()) < 0.05 and max(shares.values()) > 0.4:
        return max(shares, key=lambda name: shares[name])
    return None


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
