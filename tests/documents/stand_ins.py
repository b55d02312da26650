"""The programs that pages call: `dream` itself, and what stands in for those that a test cannot run.

STAND_INS is the one list of them, each with the reason why the real program does not run and with what is checked in
its place. TOOLS are the ordinary programs that run as they are. A page that calls anything else fails its test.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.architecture.modules import ROOT

TOOLS = (
    "bash",
    "cat",
    "cp",
    "cut",
    "env",
    "git",
    "grep",
    "gzip",
    "head",
    "ls",
    "mkdir",
    "mv",
    "rm",
    "sed",
    "sort",
    "tail",
)

ACCOUNT_URL = "https://abc.execute-api.eu-central-1.amazonaws.com"


@dataclass(frozen=True, slots=True)
class StandIn:
    """What takes the place of a program, and why; `check` gets the arguments and returns the exit code."""

    reason: str
    check: Callable[[Sequence[str]], int]


ARGUMENTS_ONLY = {
    ("evaluate",): "measures for minutes with the packaged embedding model; its own tests run it on a few rows",
    ("mcp",): "talks over standard input until that ends; tests/client holds a conversation with it",
}
"""Commands of `dream` that are only asked whether they take their arguments, and why."""


def run(name: str, arguments: Sequence[str]) -> int:
    """Be the program `name`."""
    if name == "dream":
        return dream(arguments)
    return STAND_INS[name].check(arguments)


def dream(arguments: Sequence[str]) -> int:
    """Run the command; a server takes any free port, and the cluster of an account is the test's database."""
    from dreaming.local.cli import main

    if ".amazonaws.com" in os.environ.get("DATABASE_URL", ""):
        os.environ["DATABASE_URL"] = os.environ["DOCUMENTS_DATABASE"]
    if any(tuple(arguments[: len(words)]) == words for words in ARGUMENTS_ONLY):
        return _takes(arguments)
    served = {"up", "dashboard"} & set(arguments)
    sys.argv = ["dream", *arguments, *(["--port", "0"] if served and "--port" not in arguments else [])]
    return main()


def _takes(arguments: Sequence[str]) -> int:
    """Let click parse the arguments of a command, and of those below it, without running it."""
    import click

    from dreaming.local.cli import dream as found

    command: click.Command = found
    parent, rest = click.Context(command, obj={}), list(arguments)
    while True:
        parent = command.make_context(command.name, rest, parent=parent)
        if not isinstance(command, click.Group):
            return 0
        rest = [*parent._protected_args, *parent.args]
        inner = command.get_command(parent, rest.pop(0))
        if inner is None:
            sys.exit(f"dream: no command {arguments}")
        command = inner


def _make(arguments: Sequence[str]) -> int:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    for argument in arguments:
        name, given, _ = argument.partition("=")
        if given and f"$({name})" not in makefile and f"or $({name})" not in makefile:
            sys.exit(f"make: the Makefile reads no variable {name}")
        if not given and name not in targets:
            sys.exit(f"make: there is no target {name}")
    install(Path.cwd())
    if "demo" in arguments:
        return dream(["demo", "--repository", os.environ["DOCUMENTS_REPOSITORY"]])
    return 0


def install(folder: Path) -> None:
    """Give a folder what `make setup` gives it: `dream` and `python` in .venv/bin."""
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name in ("dream", "python", "pip"):
        link = programs / name
        if not link.is_symlink():
            link.symlink_to(Path(os.environ["DOCUMENTS_CLIENT"]))


def _python(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["-m"]:
        return _module(arguments[1], arguments[2:])
    script = Path(arguments[0]).resolve()
    sys.argv = [str(script), *arguments[1:]]
    sys.path.insert(0, str(script.parent))
    _point_at_this_machine()
    runpy.run_path(str(script), run_name="__main__")
    return 0


def _point_at_this_machine() -> None:
    """Let a client of the account, if it can say who it is, talk to the API of this machine."""
    import httpx

    from dreaming_client import Dreaming, SigV4Auth
    from dreaming_client.installation import local_api

    begin = Dreaming.__init__

    def begin_here(self: Dreaming, url: str, token: Any = None, *, auth: Any = None, **options: Any) -> None:
        if url == ACCOUNT_URL:
            if isinstance(auth, SigV4Auth):
                auth.sign(httpx.Request("GET", url))
            elif not token:
                sys.exit("the client says to nobody who it is")
            url, token = local_api(None, os.environ)
            auth = None
        begin(self, url, token, auth=auth, **options)

    Dreaming.__init__ = begin_here  # type: ignore[method-assign]


def _module(name: str, arguments: Sequence[str]) -> int:
    """Only the deployment's own module is called by pages; the CDK behind it takes an account or minutes."""
    from infra.config import PREFIX, Configuration

    if name != "infra.cdk" or arguments[0] not in {"bootstrap", "diff", "destroy", "deploy", "synth", "install"}:
        sys.exit(f"python -m {name} {' '.join(arguments)}: not among the calls that are checked")
    known = {f"{PREFIX}{name}" for name in Configuration.model_fields}
    for flag, value in pairwise(arguments):
        if flag == "-c" and value.partition("=")[0] not in known:
            sys.exit(f"infra: there is no choice {value.partition('=')[0]}")
    return 0


def _pip(arguments: Sequence[str]) -> int:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    if arguments[0] != "install":
        sys.exit(f"pip {arguments[0]}: not among the calls that are checked")
    for wanted in (one for one in arguments[1:] if not one.startswith("-")):
        match = re.fullmatch(r"(?P<project>[\w./-]+?)(?:\[(?P<extras>[\w,]+)\])?", wanted)
        project = match["project"] if match else wanted
        asked = set((match["extras"] or "").split(",")) - {""} if match else set()
        if project not in {"dreaming", "."} and not (ROOT / project / "pyproject.toml").is_file():
            sys.exit(f"pip: {wanted} is no project of this repository")
        if not asked <= set(extras):
            sys.exit(f"pip: {wanted} has no extra {', '.join(sorted(asked - set(extras)))}")
    return 0


def _sam(arguments: Sequence[str]) -> int:
    known = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
    if arguments[0] != "validate" or arguments[1] != "--config-env" or arguments[2] not in known:
        sys.exit(f"sam {' '.join(arguments)}: not what samconfig.toml knows")
    return 0


def _curl(arguments: Sequence[str]) -> int:
    """Ask the API of this machine what a page asks that of an account, with its token for the signature."""
    parser = argparse.ArgumentParser("curl", exit_on_error=True)
    parser.add_argument("-s", "-S", "-f", action="count")
    parser.add_argument("-X", default="GET")
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("-d")
    parser.add_argument("--aws-sigv4")
    parser.add_argument("--user")
    parser.add_argument("url")
    asked = parser.parse_args(list(arguments))
    home = _home()
    local = (home / "api-url").read_text("ascii").strip()
    headers = dict(line.split(": ", 1) for line in asked.H) | {
        "Authorization": f"Bearer {(home / 'api-token').read_text('ascii').strip()}"
    }
    request = urllib.request.Request(
        asked.url.replace(ACCOUNT_URL, local),
        method=asked.X,
        headers=headers,
        data=asked.d.encode() if asked.d else None,
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            sys.stdout.write(answer.read().decode())
    except urllib.error.HTTPError as error:
        sys.exit(f"curl: {asked.X} {asked.url}: {error.code} {error.read().decode()}")
    return 0


def _home() -> Path:
    from dreaming.local.home import home_folder

    return home_folder(os.environ)


_GLOBAL = frozenset({"--query", "--output", "--region", "--profile", "--cli-binary-format", "--no-cli-pager"})
_OUTPUTS = {
    ("cloudformation", "describe-stacks"): ACCOUNT_URL,
    ("rds", "describe-db-clusters"): "dreaming.cluster-abc.eu-central-1.rds.amazonaws.com",
    ("configure", "get"): "eu-central-1",
    ("configure", "export-credentials"): "\n".join(
        f"export AWS_{name}=EXAMPLE" for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN")
    ),
    ("rds", "generate-db-auth-token"): "token",
}
_OF_THE_CLI = {
    ("configure", "get"): set[str](),
    ("configure", "export-credentials"): {"--format"},
    ("rds", "generate-db-auth-token"): {"--hostname", "--port", "--username"},
}


def check_aws(arguments: Sequence[str]) -> str | None:
    """Return what is wrong with the arguments of an `aws` command, by the service model, or None."""
    import botocore.session
    from botocore import xform_name

    service, operation = arguments[0], arguments[1]
    flags = {one for one in arguments[2:] if one.startswith("--")} - _GLOBAL
    if (service, operation) in _OF_THE_CLI:
        unknown = flags - _OF_THE_CLI[service, operation]
        return f"aws {service} {operation} takes no {unknown}" if unknown else None
    session = botocore.session.get_session()
    if service not in session.get_available_services():
        return f"aws has no service {service}"
    model = session.get_service_model(service)
    by_name = {xform_name(name, "-"): name for name in model.operation_names}
    if operation not in by_name:
        return f"aws {service} has no operation {operation}"
    shape = model.operation_model(by_name[operation]).input_shape
    members = {} if shape is None else shape.members
    known = {f"--{xform_name(name, '-')}" for name in members}
    if flags - known:
        return f"aws {service} {operation} takes no {', '.join(sorted(flags - known))}"
    required = {f"--{xform_name(name, '-')}" for name in (shape.required_members if shape else ())}
    lacking = required - flags if flags else set()
    return f"aws {service} {operation} lacks {', '.join(sorted(lacking))}" if lacking else None


def _aws(arguments: Sequence[str]) -> int:
    if wrong := check_aws(arguments):
        sys.exit(wrong)
    service, operation = arguments[0], arguments[1]
    if (service, operation) == ("lambda", "invoke"):
        return _invoke(arguments[arguments.index("--function-name") + 1])
    sys.stdout.write(_OUTPUTS.get((service, operation), "{}") + "\n")
    return 0


def _invoke(function: str) -> int:
    from dreaming.passes.records import PASS_FUNCTIONS

    names = {name.replace("_", "-"): pass_name for pass_name, name in PASS_FUNCTIONS.items()}
    stage_and_name = function.removeprefix("dreaming-").split("-", 1)
    if len(stage_and_name) != 2 or stage_and_name[1] not in names:
        sys.exit(f"aws lambda invoke: no pass has the function {function}")
    return dream(["drain", names[stage_and_name[1]]])


STAND_INS: dict[str, StandIn] = {
    "make": StandIn(
        "its targets install, test, measure or deploy, for minutes",
        _make,
    ),
    "python": StandIn("the environment of a checkout; scripts run, and calls of the CDK are checked", _python),
    "pip": StandIn("downloads; that the projects and the extras exist is checked", _pip),
    "aws": StandIn("needs an account; service, operation and parameters are checked against botocore's models", _aws),
    "sam": StandIn("needs a program of its own; that the environment is configured is checked", _sam),
    "curl": StandIn("asks an account; the API of this machine is asked the same", _curl),
}
