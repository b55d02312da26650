"""Reading of lines from a file, plain or gzip, that may be broken."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from dreaming.notes.connectors.records import Skipped

_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line by its number from 1, as text or as the reason why it is none; `done` in bytes of the file."""

    number: int
    content: str | Skipped
    done: int


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file that are not blank; a byte order mark also tells UTF-16.

    A line in another encoding is skipped alone. Where the file breaks off, the whole lines before are
    yielded, and then the break.
    """
    number = 0
    with path.open("rb") as file:
        try:
            stream = _opened(file)
            while raw := stream.readline():
                number += 1
                if raw.strip():
                    yield Line(number, _decoded(raw, number), file.tell())
        except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
            number += 1
            yield Line(number, Skipped(f"line {number}", f"the file breaks off: {_reason(error)}"), file.tell())


def _opened(file: IO[bytes]) -> IO[bytes] | IO[str]:
    start = file.read(2)
    file.seek(0)
    stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if start == _GZIP else file
    buffered = io.BufferedReader(cast("io.RawIOBase", stream))
    if buffered.peek(2)[:2] in _UTF_16:
        return io.TextIOWrapper(buffered, encoding="utf-16", newline="\n")
    return buffered


def _decoded(raw: bytes | str, number: int) -> str | Skipped:
    if isinstance(raw, str):
        return raw
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return Skipped(f"line {number}", f"is not UTF-8 at byte {error.start + 1}")
    return text.removeprefix("\ufeff") if number == 1 else text


def _reason(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the compressed data is cut off"
    return str(error)
