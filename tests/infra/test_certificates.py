"""Only certificate authorities of Amazon RDS are put into the layer."""

from __future__ import annotations

from pathlib import Path

import pytest

from layers.dependencies.certificates import ADDRESS, NotCertificates, check, fetch

# Made for this test: they vouch for nothing.
OF_RDS = """\
-----BEGIN CERTIFICATE-----
MIIB/TCCAaOgAwIBAgIUGvidDyCmSmkkoCuEkek5MjLdT4YwCgYIKoZIzj0EAwIw
UzELMAkGA1UEBhMCVVMxIjAgBgNVBAoMGUFtYXpvbiBXZWIgU2VydmljZXMsIElu
Yy4xIDAeBgNVBAMMF0FtYXpvbiBSRFMgdGVzdCBSb290IENBMCAXDTI2MTEzMDA5
NDM1OVoYDzIxMjYxMTA2MDk0MzU5WjBTMQswCQYDVQQGEwJVUzEiMCAGA1UECgwZ
QW1hem9uIFdlYiBTZXJ2aWNlcywgSW5jLjEgMB4GA1UEAwwXQW1hem9uIFJEUyB0
ZXN0IFJvb3QgQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARqKq4dnNt1ZqsF
YbL8YE+AeED7NxO2p6SL42dxIlxYGL3Rl7OcvPvAxJpSnAMkNeeH5G6C7qPDCaUN
JOStLteAo1MwUTAdBgNVHQ4EFgQUId2N3XQxTidw3xJwti1cyeQGX9UwHwYDVR0j
BBgwFoAUId2N3XQxTidw3xJwti1cyeQGX9UwDwYDVR0TAQH/BAUwAwEB/zAKBggq
hkjOPQQDAgNIADBFAiEA/sncbQvqWYeeNZ2pP1IngHyWgMTxSow7ELx5Y514D48C
IDpU4CaNC/IJ4Sn/MKxuSF3uOvGvw052dykXv9YPdw1G
-----END CERTIFICATE-----
"""
OF_SOMEBODY = """\
-----BEGIN CERTIFICATE-----
MIIB2jCCAYGgAwIBAgIUerpoxvWhac3MBP4pJiXdlvVFXqcwCgYIKoZIzj0EAwIw
QjELMAkGA1UEBhMCVVMxETAPBgNVBAoMCFNvbWVib2R5MSAwHgYDVQQDDBdBbWF6
b24gUkRTIHRlc3QgUm9vdCBDQTAgFw0yNjExMzAwOTQzNTlaGA8yMTI2MTEwNjA5
NDM1OVowQjELMAkGA1UEBhMCVVMxETAPBgNVBAoMCFNvbWVib2R5MSAwHgYDVQQD
DBdBbWF6b24gUkRTIHRlc3QgUm9vdCBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABAXNwvNWw8V+uzQRF89XCYt/vhRMRnHylRE8NCUpVOx4hpz9f8ypXfM20ehM
HO5zY2tqL+BFATpQiWWd9nNBtaKjUzBRMB0GA1UdDgQWBBQri3iNs5kDatm0f4Dx
3fg6+jht2zAfBgNVHSMEGDAWgBQri3iNs5kDatm0f4Dx3fg6+jht2zAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIEUE8fc68uUG+8IeWwnJ8zIuPhKL
vKo3yzjdmcM7GSYnAiBkrBBDUH5r/QmjYCrddjzyP0M6baVVptnNrw2bHd0odg==
-----END CERTIFICATE-----
"""


def test_authorities_of_rds_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "certificates" / "bundle.pem"
    assert fetch(lambda: OF_RDS, path) == 1
    assert path.read_text("ascii") == OF_RDS


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no certificates"),
        ("<html>not found</html>", "holds no certificates"),
        (OF_RDS.replace("M", "N", 1), "holds no certificates"),
        (OF_SOMEBODY, "not of Amazon RDS"),
        (OF_RDS + OF_SOMEBODY, "not of Amazon RDS"),
    ],
)
def test_anything_else_is_refused_and_nothing_is_kept(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "bundle.pem"
    with pytest.raises(NotCertificates, match=complaint):
        fetch(lambda: text, path)
    assert not path.exists()


def test_the_address_is_amazons_own_over_https() -> None:
    assert ADDRESS.startswith("https://truststore.pki.rds.amazonaws.com/")


def test_a_bundle_is_counted() -> None:
    assert check(OF_RDS) == 1
