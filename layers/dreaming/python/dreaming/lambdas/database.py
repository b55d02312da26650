"""Where a function's database is, and how the function logs in: by a URL, or by an IAM token over TLS.

DATABASE_URL                                      a whole address with its password (laptop, emulator)
DATABASE_HOST, DATABASE_NAME, DATABASE_USER       an Aurora cluster, without a password anywhere
DATABASE_PORT                                     5432 unless given
DATABASE_SSLROOTCERT                              file of the certificates that vouch for the cluster
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dreaming.database import Database
from dreaming.database.address import address_of
from dreaming.database.waiting import Password
from dreaming.errors import Misconfigured
from dreaming.lambdas.database_token import Credentials, database_token
from dreaming.passes.records import Clock

DATABASE_URL = "DATABASE_URL"
HOST = "DATABASE_HOST"


@dataclass(frozen=True, slots=True)
class Login:
    """An address, and what makes the password of each new connection when the address holds none."""

    url: str = field(repr=False)
    password: Password | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], clock: Clock) -> Login:
        """Read the variables above; raises `Misconfigured` naming the one that is missing or wrong."""
        url = environment.get(DATABASE_URL)
        if url:
            return cls(url)
        if not environment.get(HOST):
            raise Misconfigured(f"neither {DATABASE_URL} nor {HOST} is set; set one in the function's environment")
        host, name, user = (_required(environment, part) for part in (HOST, "DATABASE_NAME", "DATABASE_USER"))
        port = environment.get("DATABASE_PORT") or "5432"
        if not port.isascii() or not port.isdecimal():
            raise Misconfigured(f"DATABASE_PORT is {port!r}; use a number such as 5432")
        certificates = _required(environment, "DATABASE_SSLROOTCERT")
        if not Path(certificates).is_file():
            raise Misconfigured(f"DATABASE_SSLROOTCERT names {certificates}, which is no file; deploy it in a layer")
        Credentials.from_environment(environment)
        address = address_of(
            host=host, port=port, dbname=name, user=user, sslmode="verify-full", sslrootcert=certificates
        )
        return cls(address, partial(_token, environment, host, int(port), user, clock))

    def open(self, *, wait_seconds: float, pool_size: int = 4) -> Database:
        """Return the database; the first connection is made when it is first needed."""
        return Database(self.url, password=self.password, wait_seconds=wait_seconds, pool_size=pool_size)


def _token(environment: Mapping[str, str], host: str, port: int, user: str, clock: Clock) -> str:
    # Read anew each time: a sandbox may be given other credentials while it lives.
    credentials = Credentials.from_environment(environment)
    return database_token(credentials, host=host, port=port, user=user, now=clock())


def _required(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name)
    if not value:
        raise Misconfigured(f"{name} is not set; set it in the function's environment")
    return value
