"""The stacks, synthesized once for the whole run, and read as plain JSON.

One app holds every variant that the tests look at:

    prod    endpoints, a JWT authorizer, Bedrock, a budget
    dev     NAT, an IAM authorizer, a provider outside of AWS
    local   the emulator's stage, with a second pass in the list
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.infra.templates import Assembly

CHOICES: dict[str, dict[str, Any]] = {
    "prod": {
        "authorization": "jwt",
        "jwt_issuer": "https://login.example.test/",
        "jwt_audience": "dreaming",
        "bedrock_models": "us.anthropic.claude-haiku-4-5-20251001-v1:0, amazon.titan-embed-text-v2:0",
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
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """All stacks of all variants; the first worker that asks makes them, the others wait for it."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = root / "synthesized"
    with (root / "synthesized.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "out" / "manifest.json").is_file():
            _synthesize(folder)
    return Assembly(folder / "out")


def _synthesize(folder: Path) -> None:
    # Imported here, so that a worker that only reads starts no Node.
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from infra.app import add_stacks
    from infra.config import PASSES, Configuration, PassDefinition
    from infra.paths import CERTIFICATES_IN_LAYER, FUNCTIONS, ROOT

    for bundle in ("lambda", "host"):
        (folder / "layers" / bundle / "python").mkdir(parents=True)
        (folder / "layers" / bundle / "python" / "dependency.py").write_text(f"bundle = '{bundle}'\n", "utf-8")
    certificates = folder / "layers" / "lambda" / CERTIFICATES_IN_LAYER
    certificates.parent.mkdir()
    certificates.write_text("certificates\n", "utf-8")
    functions = folder / "functions"
    for name in ("consolidate", "api", "migrate", "second_pass"):
        (functions / name).mkdir(parents=True)
        source = FUNCTIONS / name / "handler.py"
        text = source.read_text("utf-8") if source.is_file() else "handler = print\n"
        (functions / name / "handler.py").write_text(text, "utf-8")
    context = json.loads((ROOT / "infra" / "cdk.json").read_text("utf-8"))["context"]
    second = PassDefinition("second_pass", memory_mb=256, max_concurrency=2, self_enqueuing=False, calls_models=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infra.constructs.layers.LAYERS_BUILT", folder / "layers")
        patch.setattr("infra.constructs.function.FUNCTIONS", functions)
        # As the command line does; SAM finds the functions' code by these.
        context |= {"aws:cdk:enable-asset-metadata": True, "aws:cdk:bundling-stacks": []}
        app = App(context=context, outdir=str(folder / "out"))
        for stage, choices in CHOICES.items():
            if stage == "local":
                patch.setattr("infra.stacks.application.PASSES", (*PASSES, second))
            keys = {f"dreaming:{name}": value for name, value in {"stage": stage, **choices}.items()}
            add_stacks(app, Configuration.from_context(keys))
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        try:
            app.synth()
        except RuntimeError as error:
            # The templates are written all the same; the report has a test of its own.
            if "ValidationFailed" not in str(error):
                raise
