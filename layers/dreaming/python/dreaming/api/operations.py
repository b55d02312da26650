"""What the API does and the `dream` command does, side by side: every route has a command or a reason for none.

And the other way round: every command without a route says why the API does not do it. Tests compare both
with the routes and the commands that there are; `docs/api.md` shows them. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """One route: its name in the description and in clients, the `dream` command that does the same, or why none."""

    name: str
    command: str = ""
    reason: str = ""


def _is(name: str, command: str) -> Operation:
    return Operation(name, command)


_PAGE = "the page draws it; the command draws the same from `dream status` and `dream beliefs`"

OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("GET", "/brain/dream/status"): _is("get_status", "status"),
    ("GET", "/brain/dream/runs"): _is("list_runs", "status --runs"),
    ("GET", "/brain/dream/timeline"): Operation("get_timeline", reason=_PAGE),
    ("POST", "/brain/notes"): _is("add_notes", "ingest"),
    ("GET", "/brain/notes"): Operation("list_notes", reason="`dream ingest` tells what it stored, and SQL is at hand"),
    ("GET", "/brain/notes/{note_id}"): _is("get_note", "why"),
    ("POST", "/brain/notes/withdraw"): _is("withdraw_notes", "withdraw"),
    ("GET", "/brain/notes/retired"): _is("list_retired_notes", "retired"),
    ("POST", "/brain/notes/retired/retry"): _is("retry_retired_notes", "retired retry"),
    ("GET", "/brain/beliefs"): _is("list_beliefs", "beliefs"),
    ("GET", "/brain/beliefs/summary"): Operation("get_beliefs_summary", reason=_PAGE),
    ("GET", "/brain/beliefs/{belief_id}"): _is("explain_belief", "why"),
    ("POST", "/brain/beliefs/{belief_id}/confirm"): _is("confirm_belief", "confirm"),
    ("POST", "/brain/beliefs/{belief_id}/archive"): _is("archive_belief", "archive"),
    ("POST", "/brain/beliefs/{belief_id}/restore"): _is("restore_belief", "restore"),
    ("POST", "/brain/beliefs/{belief_id}/unmerge"): _is("unmerge_belief", "unmerge"),
    ("POST", "/brain/beliefs/{belief_id}/sources/{source_id}/split"): _is("split_source", "unmerge --source"),
    ("GET", "/brain/brief"): _is("get_brief", "brief"),
    ("GET", "/brain/fading"): _is("get_fading", "fading"),
    ("GET", "/brain/conflicts"): _is("list_conflicts", "conflicts"),
    ("POST", "/brain/conflicts/resolve"): _is("resolve_conflict", "conflicts resolve"),
    ("POST", "/brain/conversations"): _is("capture_conversation", "converse"),
    ("GET", "/brain/recall"): _is("recall", "recall"),
    ("GET", "/brain/autonomy"): _is("list_agents", "autonomy"),
    ("GET", "/brain/autonomy/actions"): _is("list_actions", "autonomy log"),
    ("POST", "/brain/autonomy/actions"): _is("log_actions", "autonomy record"),
    ("GET", "/brain/autonomy/actions/dead"): _is("list_dead_actions", "autonomy log --dead"),
    ("POST", "/brain/autonomy/actions/retry"): _is("retry_dead_actions", "autonomy retry"),
    ("GET", "/brain/autonomy/agents/{agent_id}"): _is("get_agent", "autonomy history"),
    ("PUT", "/brain/autonomy/agents/{agent_id}"): _is("set_score", "autonomy set"),
    ("GET", "/brain/autonomy/agents/{agent_id}/permission"): _is("get_permission", "autonomy check"),
    ("GET", "/brain/capabilities"): _is("get_capabilities", "settings list"),
    ("GET", "/brain/settings/audit"): _is("list_audit", "settings audit"),
    ("PUT", "/brain/settings/{name}"): _is("change_setting", "settings set"),
    ("DELETE", "/brain/settings/{name}"): _is("reset_setting", "settings reset"),
    ("POST", "/brain/erasure/notes"): _is("erase_notes", "erase note"),
    ("POST", "/brain/erasure/notes/lift"): _is("lift_notes", "erase lift"),
    ("POST", "/brain/erasure/mine"): _is("erase_mine", "erase owner"),
    ("POST", "/brain/erasure/organization"): _is("erase_organization", "erase organization"),
    ("GET", "/brain/export"): _is("export", "export"),
    ("GET", "/brain/dashboard"): _is("get_page", "dashboard"),
    ("GET", "/health"): Operation("get_health", reason="for monitors without a login; `dream doctor` checks more"),
    ("GET", "/openapi.json"): Operation("get_description", reason="it describes the API; `dream --help` the commands"),
}
"""Every route, by its method and its path as the description writes it."""

WITHOUT_ROUTE: Mapping[str, str] = {
    "demo": "shows the system on one machine",
    "up": "is what serves the API on one machine",
    "run": "runs start on the schedule; to start one, an operator invokes the pass's function",
    "drain": "as `run`, until nothing waits",
    "decay": "the schedule does it; what it would archive is `GET /brain/fading`",
    "explain": "compares two statements by the rules alone and reads no memory",
    "embeddings": "for whoever operates the embedder; `GET /brain/dream/status?pass=embedding` tells how far it is",
    "reconsolidate": "spends model calls on whole slices, so whoever pays for the deployment starts it",
    "mcp": "is a client of this API",
    "doctor": "checks an installation of all tenants, which no caller of the API sees",
    "evaluate": "measures on labelled sets, not on anybody's memory",
    "migrate": "the function `migrate` does it when the stack is deployed",
}
"""Why the API does not do what a command does, by command."""
