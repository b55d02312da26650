"""Where in the repository the app finds what it deploys."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
FUNCTIONS = ROOT / "functions"
PACKAGE_LAYER = ROOT / "layers" / "dreaming"
LAYERS_BUILT = ROOT / "build" / "layers"
"""What `make layers` makes: `lambda/` for the cloud, `host/` for an emulator on this machine."""
CERTIFICATES_FETCHED = ROOT / "build" / "certificates" / "rds-global-bundle.pem"
"""What `make certificates` fetches: the certificate authorities of Amazon RDS."""
CERTIFICATES_IN_LAYER = Path("certificates") / CERTIFICATES_FETCHED.name
"""Where the dependencies layer holds them; Lambda unpacks layers into `/opt`."""
