"""Where the database is, as far as a message may say it: never with the password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from dreaming.errors import Misconfigured

_HOST = re.compile(r"[A-Za-z0-9._:%/,\- ]*")
_DATABASE = re.compile(r"[^@?]*")
_PORT = re.compile(r"[0-9,]*")
_BAD_URL = (
    "the database URL cannot be read; write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, "
    "with special characters of USER and PASSWORD percent-encoded"
)


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """A checked connection string, and a description of it that is safe to show."""

    conninfo: str = field(repr=False)
    password: str | None = field(repr=False)
    description: str

    @classmethod
    def parse(cls, url: str) -> DatabaseAddress:
        """Read a `postgresql://` URL or a libpq connection string.

        A password with an unescaped `@`, `/` or `:` would end up in the host, the port or the
        database name, and from there in messages: such a URL is refused without being quoted.

        Raises:
            Misconfigured: the text is empty or is no connection string.
        """
        if not url.strip():
            raise Misconfigured("the database URL is empty; set DATABASE_URL")
        try:
            parts = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
        except psycopg.ProgrammingError:
            raise Misconfigured(_BAD_URL) from None
        host, port, database = (parts.get(name, "") for name in ("host", "port", "dbname"))
        if not (_HOST.fullmatch(host) and _PORT.fullmatch(port) and _DATABASE.fullmatch(database)):
            raise Misconfigured(_BAD_URL)
        parts.setdefault("application_name", "dreaming")
        return cls(
            conninfo=make_conninfo("", **parts),
            password=parts.get("password"),
            description=f"{host or 'the local socket'}:{port or '5432'}/{database}",
        )

    def redact(self, error: BaseException, *secrets: str) -> str:
        """Return the first line of an error's message, with the password and `secrets` blotted out."""
        lines = str(error).strip().splitlines()
        message = lines[0] if lines else type(error).__name__
        for secret in (self.password, *secrets):
            message = message.replace(secret, "***") if secret else message
        return message


def address_of(**parameters: str) -> str:
    """Return a connection string of libpq parameters, each quoted as it needs."""
    return make_conninfo("", **parameters)
