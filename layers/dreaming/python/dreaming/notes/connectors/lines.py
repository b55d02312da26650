"""Reading of lines from a file, plain or gzip, that may be broken."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import cast

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.marks import Mark
from dreaming.notes.connectors.records import Skipped

_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLOCK_BYTES = 1 << 20

BREAKS = (EOFError, OSError, zlib.error)
"""What reading raises where a file breaks off."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line by its number from 1, as text or as the reason why it is none; `done` in bytes of the file.

    `end` marks the position behind the line, unless more may yet be appended to it.
    """

    number: int
    content: str | Skipped
    done: int
    end: Mark | None = None


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, to the last byte before it breaks off: a longer read would lose what it had begun."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = gzip.GzipFile(fileobj=file)

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Put what is there into a buffer and return how much that is."""
        found = self._file.read1(len(into))
        into[: len(found)] = found
        return len(found)


class LineStream:
    """The lines of a file, plain or gzip, with the position: bytes and lines, uncompressed, and their hash."""

    def __init__(self, file: io.BufferedReader) -> None:
        """Read from the start of `file`."""
        self._file = file
        self._rewind()

    def _rewind(self) -> None:
        self._file.seek(0)
        start = self._file.read(2)
        self._file.seek(0)
        self.buffered = self._file
        if start == _GZIP:
            self.buffered = io.BufferedReader(_Unpacked(self._file))
        self._hash = sha256()
        self.bytes = 0
        self.lines = 0

    @property
    def done(self) -> int:
        """How far the reading is, in bytes of the file as it is stored."""
        return self._file.tell()

    @property
    def position(self) -> Mark:
        """What has been read, as a mark."""
        return {"bytes": self.bytes, "lines": self.lines, "sha256": self._hash.hexdigest()}

    def resume(self, mark: Mark | None) -> bool:
        """Go to the position of `mark` when all before it is unchanged; else stay at the start."""
        if mark is None or not isinstance(mark.get("bytes"), int) or not isinstance(mark.get("lines"), int):
            return False
        left = cast("int", mark["bytes"])
        try:
            while left and (block := self.buffered.read(min(left, _BLOCK_BYTES))):
                self._hash.update(block)
                left -= len(block)
        except BREAKS:
            left = -1
        if left or self._hash.hexdigest() != mark.get("sha256"):
            self._rewind()
            return False
        self.bytes, self.lines = cast("int", mark["bytes"]), cast("int", mark["lines"])
        return True

    def readline(self) -> bytes:
        """Return the next line with its end, or nothing at the end of the file."""
        line = self.buffered.readline()
        if line:
            self._hash.update(line)
            self.bytes += len(line)
            self.lines += 1
        return line


def check_packing(path: Path) -> None:
    """Refuse a file that is called `.gz` and is no gzip file, as one that broke off when it was fetched.

    Raises:
        InvalidInput: names the file.
        OSError: it cannot be opened.
    """
    if path.suffix.lower() != ".gz":
        return
    with path.open("rb") as file:
        if file.read(len(_GZIP)) != _GZIP:
            problem = f"{str(path)!r} is called .gz and is no gzip file"
            raise InvalidInput("path", problem, "fetch it again, or rename it if it is not compressed")


def read_lines(path: Path, known: Mark | None = None) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file that are not blank; a byte order mark also tells UTF-16.

    A line in another encoding is skipped alone. Where the file breaks off, the whole lines before are
    yielded, and then the break. With a mark `known` the lines before it are left out, if the file still
    begins with them; a UTF-16 file has no marks.
    """
    with path.open("rb") as file:
        stream = LineStream(file)
        number = 0
        try:
            if stream.buffered.peek(2)[:2] in _UTF_16:
                wide = io.TextIOWrapper(stream.buffered, "utf-16", newline="\n")
                while text := wide.readline():
                    number += 1
                    if text.strip():
                        yield Line(number, text, stream.done)
                return
            stream.resume(known)
            number = stream.lines
            while raw := stream.readline():
                number = stream.lines
                if raw.strip():
                    end = stream.position if raw.endswith(b"\n") else None
                    yield Line(number, _decoded(raw, number), stream.done, end)
        except (*BREAKS, UnicodeDecodeError) as error:
            place = f"line {number + 1}"
            read = f"{path.name}, after {number:,} whole lines, which were read"
            why = f"the file breaks off: {break_reason(error)} ({read})"
            yield Line(number + 1, Skipped(place, why), stream.done)


def break_reason(error: Exception) -> str:
    """Say why a file breaks off."""
    return "the compressed data is cut off" if isinstance(error, EOFError) else str(error)


def _decoded(raw: bytes, number: int) -> str | Skipped:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return Skipped(f"line {number}", f"is not UTF-8 at byte {error.start + 1}")
    return text.removeprefix("\ufeff") if number == 1 else text
