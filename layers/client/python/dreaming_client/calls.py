"""Every call of the API as data: what is sent, and how its answer is read. No network, no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from dreaming_client import records
from dreaming_client.errors import UnexpectedAnswer
from dreaming_client.reading import read

T = TypeVar("T")
BRAIN = "/brain"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call; sent twice, with one key, it does what it does once."""

    method: str
    path: str
    read: Callable[[Any], T]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list, and where it goes on."""

    items: tuple[T, ...]
    next_cursor: str | None


def _get(path: str, kind: type[T], /, **query: Any) -> Call[T]:
    return Call("GET", BRAIN + path, lambda answer: read(kind, answer), _query(query))


def _post(path: str, kind: type[T], body: Any = None, /, **query: Any) -> Call[T]:
    return Call("POST", BRAIN + path, lambda answer: read(kind, answer), _query(query), body)


def _list(path: str, name: str, kind: type[T], /, **query: Any) -> Call[Page[T]]:
    def page(answer: Any) -> Page[T]:
        if not isinstance(answer, dict) or not isinstance(answer.get(name), list):
            raise UnexpectedAnswer(f"the answer has no list of {name}")
        return Page(tuple(read(kind, one) for one in answer[name]), answer.get("next_cursor"))

    return Call("GET", BRAIN + path, page, _query(query))


def remember(notes: Iterable[Mapping[str, Any]], scope: str) -> Call[records.Ingested]:
    """Bring in notes."""
    return _post("/notes", records.Ingested, {"notes": [_body(note) for note in notes]}, scope=scope)


def note(note_id: str) -> Call[records.NoteText]:
    """Read a note."""
    return _get(f"/notes/{_part(note_id)}", records.NoteText)


def notes(**query: Any) -> Call[Page[records.Note]]:
    """List notes."""
    return _list("/notes", "notes", records.Note, **query)


def retired(**query: Any) -> Call[Page[records.RetiredNote]]:
    """List retired notes."""
    return _list("/notes/retired", "notes", records.RetiredNote, **query)


def beliefs(**query: Any) -> Call[Page[records.Belief]]:
    """List or search beliefs."""
    return _list("/beliefs", "beliefs", records.Belief, **query)


def why(belief_id: str) -> Call[records.Why]:
    """Explain a belief."""
    return _get(f"/beliefs/{_part(belief_id)}", records.Why)


def act(belief_id: str, what: str) -> Call[records.BeliefChanged]:
    """Confirm, archive or restore a belief."""
    return _post(f"/beliefs/{_part(belief_id)}/{what}", records.BeliefChanged)


def brief(scope: str | None) -> Call[records.Brief]:
    """Tell what is believed now."""
    return _get("/brief", records.Brief, scope=scope)


def conflicts(scope: str, limit: int) -> Call[Page[records.Conflict]]:
    """List what needs a person."""
    return _list("/conflicts", "conflicts", records.Conflict, scope=scope, limit=limit)


def resolve(left_id: str, right_id: str, keep: str) -> Call[None]:
    """Decide a conflict."""
    body = {"left_id": left_id, "right_id": right_id, "keep": keep}
    return Call("POST", f"{BRAIN}/conflicts/resolve", _nothing, body=body)


def capture(
    conversation_id: str, turns: Iterable[Mapping[str, Any]], agent: str | None, scope: str
) -> Call[records.Captured]:
    """Capture a conversation."""
    body = {"conversation_id": conversation_id, "turns": [_body(turn) for turn in turns], "agent": agent}
    return _post("/conversations", records.Captured, body, scope=scope)


def recall(query: str, scope: str | None, limit: int) -> Call[records.Recalled]:
    """Find past conversations."""
    return _get("/recall", records.Recalled, q=query, scope=scope, limit=limit)


def status(pass_name: str, runs: int) -> Call[records.Status]:
    """Read how far a pass has come."""
    return _get("/dream/status", records.Status, **{"pass": pass_name}, runs=runs)


def runs(**query: Any) -> Call[Page[records.Run]]:
    """List runs."""
    return _list("/dream/runs", "runs", records.Run, **query)


def log_actions(actions: Iterable[Mapping[str, Any]]) -> Call[records.Logged]:
    """Log an agent's actions."""
    return _post("/autonomy/actions", records.Logged, {"actions": [_body(one) for one in actions]})


def permission(agent_id: str, risk: str) -> Call[records.Permission]:
    """Ask what an agent may do."""
    return _get(f"/autonomy/agents/{_part(agent_id)}/permission", records.Permission, risk=risk)


def capabilities() -> Call[records.Capabilities]:
    """Read settings and consents."""
    return _get("/capabilities", records.Capabilities)


def change_setting(name: str, value: Any) -> Call[records.Changed]:
    """Change a setting or a consent."""
    path = f"{BRAIN}/settings/{_part(name)}"
    return Call("PUT", path, lambda answer: read(records.Changed, answer), body={"value": value})


def reset_setting(name: str) -> Call[records.Changed]:
    """Return a setting to its default."""
    return Call("DELETE", f"{BRAIN}/settings/{_part(name)}", lambda answer: read(records.Changed, answer))


def _nothing(_answer: object) -> None:
    return None


def _part(text: str) -> str:
    if not text:
        raise ValueError("an empty text names nothing")
    return quote(text, safe="")


def _query(given: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in given.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _time(value) if isinstance(value, datetime) else str(value)


def _body(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _time(value) if isinstance(value, datetime) else value for name, value in given.items()}


def _time(value: datetime) -> str:
    if value.utcoffset() is None:
        raise ValueError("a time without an offset says nothing; use datetime.now(UTC) or another zone")
    return value.isoformat()


def as_notes(given: Iterable[str | Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return notes as objects, where some are only their text."""
    return [{"text": one} if isinstance(one, str) else one for one in given]
