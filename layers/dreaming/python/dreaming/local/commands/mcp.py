"""`dream mcp`: the memory as tools of an assistant, over standard input and output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session

if TYPE_CHECKING:
    from dreaming_client import AsyncDreaming

TOKEN = "DREAMING_API_TOKEN"


@click.command(
    cls=DreamCommand,
    examples=f"""
    dream mcp                                     # this installation's memory, for an assistant on this machine
    dream mcp --user ana                          # and Ana's private one
    {TOKEN}=... dream mcp --url https://abc.execute-api.eu-central-1.amazonaws.com
    dream mcp --url https://abc.execute-api.eu-central-1.amazonaws.com --iam eu-central-1
    """,
)
@click.option("--url", metavar="URL", help=f"A deployment's API instead; its token stands in {TOKEN}.")
@click.option("--iam", "region", metavar="REGION", help="Sign requests with the AWS credentials of the environment.")
@click.option(
    "--trust",
    type=click.Choice(["trusted", "untrusted"]),
    default="trusted",
    show_default=True,
    help="What notes of the assistant count for: untrusted where it reads strangers' texts.",
)
@with_session
def mcp(session: Session, url: str | None, region: str | None, trust: str) -> None:
    """Serve the Model Context Protocol: recall, search_beliefs, why, brief, status and remember.

    An assistant's program starts this command and speaks with it over standard input and output.
    """
    try:
        from asyncio import run

        from dreaming.local.assistant import serve
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"{error.name} is not installed; install dreaming[mcp], or in a checkout run: make setup"
        ) from error
    if region is not None and url is None:
        raise InvalidInput("--iam", "is given without --url", "name the deployment's API")
    with _client(session, url, region) as client:
        run(serve(client, trust=trust))


@contextmanager
def _client(session: Session, url: str | None, region: str | None) -> Iterator[AsyncDreaming]:
    from dreaming_client import AsyncDreaming, SigV4Auth

    if url is None:
        with _own_api(session) as (own_url, own_token):
            yield AsyncDreaming(own_url, own_token)
        return
    token = session.environment.get(TOKEN)
    if region is None and not token:
        raise Misconfigured(f"no token for {url}; set {TOKEN}, or sign with --iam REGION")
    try:
        yield AsyncDreaming(url, token, auth=None if region is None else SigV4Auth(region))
    except ValueError as error:
        raise InvalidInput("--url", str(error), "use the address that the deployment printed") from error


@contextmanager
def _own_api(session: Session) -> Iterator[tuple[str, str]]:
    """Serve this installation's API to ourselves alone, on a free port and with a token that nobody else has."""
    from secrets import token_urlsafe

    from dreaming.local.functions import Function
    from dreaming.local.web import TIMEOUT_SECONDS, LocalApi

    token = token_urlsafe(32)
    with session.runtime() as runtime:
        function = Function("api", log=session.home / "handlers.log", timeout_seconds=TIMEOUT_SECONDS)
        api = LocalApi(function, tenant=session.tenant, token=token, environment=runtime.environment, port=0)
        api.start()
        try:
            yield api.url, token
        finally:
            api.stop()
            function.close()
