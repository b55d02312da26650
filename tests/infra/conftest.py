"""The stacks, synthesized once for the whole run, and read as plain JSON.

One app holds every variant that the tests look at:

    prod    endpoints, a JWT authorizer, Bedrock, a budget
    dev     NAT, an IAM authorizer, a provider outside of AWS
    local   the emulator's stage, with a second pass in the list

Another app holds stage prod with an event bus, and one pass for each combination of what a pass may be.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.infra.templates import Assembly

if TYPE_CHECKING:
    from aws_cdk import App

CHOICES: dict[str, dict[str, Any]] = {
    "prod": {
        "authorization": "jwt",
        "jwt_issuer": "https://login.example.test/",
        "jwt_audience": "dreaming",
        "bedrock_models": "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "bedrock_embedders": "amazon.titan-embed-text-v2:0",
        "alarm_email": "operators@example.test",
        "monthly_budget_usd": "50",
        "settings": {"enabled": True},
    },
    "dev": {
        "egress": "nat",
        "settings": {"enabled": True, "chat_provider": "openai", "chat_model": "a-model"},
    },
    "local": {"database_url": "postgresql://user:word@127.0.0.1:5432/dreaming"},
}


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both apps' output; the first worker that asks makes it, the others wait for it."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = root / "synthesized"
    with (root / "synthesized.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").is_file():
            _synthesize(folder)
            (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def assembly(synthesized: Path) -> Assembly:
    """All stacks of all variants."""
    return Assembly(synthesized / "out")


@pytest.fixture(scope="session")
def combinations(synthesized: Path) -> Assembly:
    """Stage prod with a pass for each combination of what a pass may be."""
    return Assembly(synthesized / "combinations")


def _synthesize(folder: Path) -> None:
    # Imported here, so that a worker that only reads starts no Node.
    from infra.config import PASSES, PassDefinition
    from infra.paths import CERTIFICATES_IN_LAYER, FUNCTIONS

    for bundle in ("lambda", "host"):
        (folder / "layers" / bundle / "python").mkdir(parents=True)
        (folder / "layers" / bundle / "python" / "dependency.py").write_text(f"bundle = '{bundle}'\n", "utf-8")
    certificates = folder / "layers" / "lambda" / CERTIFICATES_IN_LAYER
    certificates.parent.mkdir()
    certificates.write_text("certificates\n", "utf-8")
    second = PassDefinition("second_pass", memory_mb=256, max_concurrency=2, self_enqueuing=False, calls_models=False)
    combined = [
        PassDefinition(
            f"pass_{number}",
            memory_mb=256,
            max_concurrency=2,
            self_enqueuing=False,
            calls_models=chats,
            calls_embedders=embeds,
            announces=announces,
        )
        for number, (chats, embeds, announces) in enumerate(product((False, True), repeat=3))
    ]
    functions = folder / "functions"
    for name in ("api", "migrate", *(definition.function for definition in (*PASSES, second, *combined))):
        (functions / name).mkdir(parents=True)
        source = FUNCTIONS / name / "handler.py"
        text = source.read_text("utf-8") if source.is_file() else "handler = print\n"
        (functions / name / "handler.py").write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infra.constructs.layers.LAYERS_BUILT", folder / "layers")
        patch.setattr("infra.constructs.function.FUNCTIONS", functions)
        app = _app(folder / "out")
        _add(app, "prod")
        _add(app, "dev")
        patch.setattr("infra.stacks.application.PASSES", (*PASSES, second))
        _add(app, "local")
        _write(app)
        patch.setattr("infra.stacks.application.PASSES", combined)
        app = _app(folder / "combinations")
        _add(app, "prod", event_bus="memory")
        _write(app)


def _app(outdir: Path) -> App:
    from aws_cdk import App

    from infra.paths import ROOT

    context: Mapping[str, Any] = json.loads((ROOT / "infra" / "cdk.json").read_text("utf-8"))["context"]
    # As the command line does; SAM finds the functions' code by these.
    options = {"aws:cdk:enable-asset-metadata": True, "aws:cdk:bundling-stacks": []}
    return App(context={**context, **options}, outdir=str(outdir))


def _add(app: App, stage: str, **more: str) -> None:
    from infra.app import add_stacks
    from infra.config import Configuration

    choices = {"stage": stage, **CHOICES[stage], **more}
    add_stacks(app, Configuration.from_context({f"dreaming:{name}": value for name, value in choices.items()}))


def _write(app: App) -> None:
    from aws_cdk import Validations
    from cdk_nag import AwsSolutionsChecks

    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    try:
        app.synth()
    except RuntimeError as error:
        # The templates are written all the same; the report has a test of its own.
        if "ValidationFailed" not in str(error):
            raise
