"""The deployed system as its users and its operators reach it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx
import psycopg
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.notes.records import IncomingNote, SliceKey
from dreaming.notes.service import ingest
from dreaming.notes.store import find_slice
from dreaming.passes.records import BatchMessage
from tests.stack.deployment import STACK, Deployment
from tests.stack.emulator import REGION, Emulator

BATCH_NOTES = 10
ORGANIZATION = "acme"
SETTINGS: dict[str, object] = {
    "enabled": True,
    "chat_provider": "scripted",
    "batch_notes": BATCH_NOTES,
    "api_iam_organization": ORGANIZATION,
}


def write_script(path: Path) -> Path:
    """A model that fails on poison, and claims the lantern of each other note word for word."""
    rules: list[dict[str, Any]] = [{"when": "poison", "fail": "malformed"}]
    for number in range(400):
        sentence = lantern(number)
        claim = {"kind": "fact", "statement": sentence, "quote": sentence, "confidence": 0.8}
        rules.append({"when": sentence, "claims": [claim]})
    path.write_text(json.dumps({"rules": rules}), "utf-8")
    return path


def lantern(number: int) -> str:
    """A sentence that no other number has."""
    return f"The lantern at jetty {number} is lit every evening."


def jetties(count: int, *, poison: int | None = None) -> list[IncomingNote]:
    """Notes in order; the one at `poison` has no answer."""
    noon = datetime.now(UTC) - timedelta(days=1)
    return [
        IncomingNote(
            external_id=f"note-{number}",
            source="stack",
            text="poison" if number == poison else lantern(number),
            occurred_at=noon,
        )
        for number in range(count)
    ]


@dataclass
class System:
    """One deployed stack and its database; `folder` holds what the command wrote, `context` what was chosen."""

    emulator: Emulator
    deployment: Deployment
    database_url: str
    folder: Path
    context: dict[str, Any]

    def client(self, service: str) -> Any:
        session = boto3.Session("test", "test", region_name=REGION)
        patient = Config(read_timeout=300, retries={"max_attempts": 0})
        return session.client(service, endpoint_url=self.emulator.url, config=patient)

    @cached_property
    def sqs(self) -> Any:
        return self.client("sqs")

    @cached_property
    def database(self) -> Database:
        return Database(self.database_url)

    @cached_property
    def admin(self) -> psycopg.Connection[TupleRow]:
        connection = psycopg.connect(self.database_url, autocommit=True, options="-c search_path=dreaming,public")
        # The other passes have runs of the same slices.
        connection.execute(
            "create temporary view consolidations as select * from dream_runs where pass = 'consolidation'"
        )
        return connection

    def close(self) -> None:
        """Close the connections to the database."""
        self.database.close()
        self.admin.close()

    def output(self, name: str) -> str:
        return self.deployment.outputs[name]

    def queue_url(self, name: str) -> str:
        """A queue's address; the emulator names itself `localhost` in it."""
        return self.output(name).replace("localhost", "127.0.0.1")

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        answer = self.client("lambda").invoke(FunctionName=function, Payload=json.dumps(event).encode())
        body = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, body
        return body

    def version(self) -> str | None:
        """The version that answers at the API, or None while none does."""
        answer = self.get("/health", signed=False)
        return str(answer.json()["version"]) if answer.status_code == 200 else None

    def names_left(self) -> list[str]:
        """Everything of the stack that the account still has, and the stack itself.

        Without log groups: the emulator makes one anew for a function that still runs, which on AWS no role may do.
        """
        stacks = self.client("cloudformation").list_stacks()["StackSummaries"]
        functions = self.client("lambda").list_functions()["Functions"]
        schedules = self.client("scheduler").list_schedules()["Schedules"]
        apis = self.client("apigatewayv2").get_apis()["Items"]
        mappings = self.client("lambda").list_event_source_mappings()["EventSourceMappings"]
        roles = self.client("iam").list_roles()["Roles"]
        found = [
            *(stack["StackName"] for stack in stacks if stack["StackStatus"] != "DELETE_COMPLETE"),
            *(function["FunctionName"] for function in functions),
            *(schedule["Name"] for schedule in schedules),
            *(api["Name"] for api in apis),
            *(mapping["EventSourceArn"] for mapping in mappings),
            *(role["RoleName"] for role in roles),
            *self.sqs.list_queues().get("QueueUrls", []),
        ]
        return sorted(name for name in found if STACK in name)

    def migrate(self) -> Any:
        return self.invoke(self.output("MigrateFunction"), {})

    def ingest(self, org_id: str, notes: list[IncomingNote]) -> int:
        """Store notes and return the slice's id."""
        key = SliceKey(org_id)
        ingest(self.database, key, notes, now=datetime.now(UTC), new_id=uuid7, max_note_characters=2_000_000)
        with self.database.transaction(key.tenant) as tx:
            found = find_slice(tx, key)
        assert found is not None
        return found.slice_id

    def enrol(self, *org_ids: str) -> None:
        """Let organizations in, all at one moment."""
        self.admin.execute(
            "insert into enrolment (org_id, enrolled, model_consent, updated_at, updated_by)"
            " select org_id, true, true, now(), 'test' from unnest(%s::text[]) as org_id",
            [list(org_ids)],
        )

    def value(self, query: str, *parameters: object) -> Any:
        row = self.admin.execute(query.encode(), parameters).fetchone()
        return None if row is None else row[0]

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self.admin.execute(query.encode(), parameters).fetchall()

    def drained(self, *slice_ids: int) -> bool:
        """Whether a run of each of the slices has come to its end."""
        count = self.value(
            "select count(distinct slice_id) from consolidations where slice_id = any(%s) and status = 'drained'",
            list(slice_ids),
        )
        return bool(count == len(slice_ids))

    def send(self, body: str, *, group: str, deduplication: str) -> None:
        self.sqs.send_message(
            QueueUrl=self.queue_url("ConsolidateQueueUrl"),
            MessageBody=body,
            MessageGroupId=group,
            MessageDeduplicationId=deduplication,
        )

    def first_message(self, slice_id: int) -> BatchMessage | None:
        """The message with which a slice's first run began."""
        rows = self.rows(
            "select run_id, generation from consolidations where slice_id = %s order by started_at", slice_id
        )
        return BatchMessage(slice_id=slice_id, run_id=rows[0][0], generation=rows[0][1], batch=1) if rows else None

    def messages(self, queue: str) -> int:
        """How many messages a queue holds, in flight or not."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        attributes = self.sqs.get_queue_attributes(QueueUrl=self.queue_url(queue), AttributeNames=names)["Attributes"]
        return sum(int(attributes[name]) for name in names)

    def get(self, path: str, *, signed: bool = True) -> httpx.Response:
        """Ask the API through API Gateway.

        By the emulator's path to it: under the API's own host name it keeps `/health` for itself.
        """
        url = f"{self.emulator.url}/_aws/execute-api/{self.output('ApiId')}/$default{path}"
        request = AWSRequest("GET", url)
        if signed:
            SigV4Auth(Credentials("test", "test"), "execute-api", REGION).add_auth(request)
        return httpx.get(url, headers=dict(request.headers.items()), timeout=60)
