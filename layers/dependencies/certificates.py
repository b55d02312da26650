"""Fetches the certificate authorities of Amazon RDS, which no Python package and no Lambda runtime brings.

    python -m layers.dependencies.certificates

Aurora's own certificates are signed by authorities of Amazon that are in no public trust store. AWS
publishes them at one address ("Using SSL/TLS to encrypt a connection to a DB cluster", Amazon Aurora
User Guide); we take them from there, over HTTPS, and nothing but them.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from infra.paths import CERTIFICATES_FETCHED

ADDRESS = "https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem"
_TIMEOUT = 30  # seconds
_OWNER = "Amazon Web Services, Inc."
_NAME = "Amazon RDS"


class NotCertificates(Exception):
    """What was fetched is not what was meant."""


def check(text: str) -> int:
    """Return how many authorities `text` holds; raises `NotCertificates` unless all are of Amazon RDS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError) as error:
        raise NotCertificates(f"it holds no certificates: {error}") from error
    authorities: list[dict[str, Any]] = [*context.get_ca_certs()]
    if not authorities:
        raise NotCertificates("it holds no certificate of an authority")
    for authority in authorities:
        subject = {key: value for pair in authority["subject"] for key, value in pair}
        if subject.get("organizationName") != _OWNER or not str(subject.get("commonName")).startswith(_NAME):
            raise NotCertificates(f"it holds an authority that is not of Amazon RDS: {subject}")
    return len(authorities)


def fetch(read: Callable[[], str], into: Path = CERTIFICATES_FETCHED) -> int:
    """Keep what `read` returns if it is what was meant, and return how many authorities it holds."""
    text = read()
    count = check(text)
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(text, "ascii")
    return count


def _read() -> str:
    with urlopen(ADDRESS, timeout=_TIMEOUT) as response:
        return str(response.read().decode("ascii"))


def main() -> int:
    """Fetch and say what came; returns the exit code."""
    try:
        count = fetch(_read)
    except (URLError, NotCertificates, UnicodeDecodeError) as error:
        sys.stderr.write(f"{ADDRESS}: {error}\n")
        return 1
    sys.stdout.write(f"{count} certificate authorities of Amazon RDS\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
