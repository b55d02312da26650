"""The two layers under every function: our package, and what it depends on."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Annotations
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from dreaming.errors import Misconfigured
from infra.config import LAMBDA_PYTHON, Configuration
from infra.paths import CERTIFICATES_IN_LAYER, LAYERS_BUILT, PACKAGE_LAYER

ARCHITECTURE = lambda_.Architecture.ARM_64
RUNTIME = lambda_.Runtime(f"python{LAMBDA_PYTHON}", lambda_.RuntimeFamily.PYTHON)
NOT_DEPLOYED = ["**/__pycache__", "**/*.pyc"]


class Layers(Construct):
    """Both layers. Each has one folder `python`, which Lambda puts on the path as `/opt/python`."""

    def __init__(self, scope: Construct, construct_id: str, *, configuration: Configuration) -> None:
        """Take the package from the source tree and the dependencies from what `make layers` built.

        Raises:
            Misconfigured: the dependencies have not been built.
        """
        super().__init__(scope, construct_id)
        bundle = LAYERS_BUILT / ("host" if configuration.is_local else "lambda")
        # The command line stays at home.
        package = self._layer("Package", PACKAGE_LAYER, [*NOT_DEPLOYED, "python/dreaming/local"])
        if not configuration.is_local and not (bundle / CERTIFICATES_IN_LAYER).is_file():
            Annotations.of(self).add_warning_v2(
                "dreaming:certificates",
                "The layer has no certificates of Amazon RDS, so no function can log in to the database. "
                "Run `make certificates layers` before a deployment.",
            )
        self.all = [package, self._layer("Dependencies", bundle, [])]

    def _layer(self, name: str, folder: Path, exclude: list[str]) -> lambda_.LayerVersion:
        if not (folder / "python").is_dir():
            raise Misconfigured(f"{folder} holds no folder 'python'; run `make layers` first")
        return lambda_.LayerVersion(
            self,
            name,
            code=lambda_.Code.from_asset(str(folder), exclude=exclude),
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
            description=f"Dreaming: {name.lower()}",
        )
