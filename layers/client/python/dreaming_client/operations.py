"""What the API does, each as a call: the methods of both clients are made of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from dreaming_client import records, upkeep
from dreaming_client.calls import BRAIN, Call, Pages, body_of, get, pages, part, post, put
from dreaming_client.reading import read


def health() -> Call[upkeep.Health]:
    """Tell whether the service runs, and its version."""
    return Call("GET", "/health", lambda answer: read(upkeep.Health, answer))


def remember(*notes: str | Mapping[str, Any], scope: str = "org") -> Call[records.Ingested]:
    """Bring in notes, all or none; the next run of consolidation reads them.

    A note is its text, or an object with `text` and any of source, external_id, occurred_at, author,
    participants, origin, trust and metadata. The same external_id again is an edit.
    """
    sent = [{"text": one} if isinstance(one, str) else body_of(one) for one in notes]
    return post("/notes", records.Ingested, {"notes": sent}, scope=scope)


def note(note_id: str) -> Call[records.NoteText]:
    """Return a note with its text."""
    return get(f"/notes/{part(note_id)}", records.NoteText)


def notes(
    *, scope: str = "org", state: str | None = None, source: str | None = None, page: int = 100
) -> Pages[records.Note]:
    """Go through notes, the latest brought in first, `page` at a time."""
    return pages("/notes", "notes", records.Note, scope=scope, state=state, source=source, limit=page)


def withdraw(source: str, *external_ids: str, scope: str = "org") -> Call[upkeep.Withdrawn]:
    """Let notes that are gone upstream stop counting."""
    body = {"source": source, "external_ids": external_ids}
    return post("/notes/withdraw", upkeep.Withdrawn, body, scope=scope)


def retired(*, scope: str = "org", page: int = 100) -> Pages[records.RetiredNote]:
    """Go through the notes that were given up, the latest first, `page` at a time."""
    return pages("/notes/retired", "notes", records.RetiredNote, scope=scope, limit=page)


def retry_retired(*note_ids: str, scope: str = "org") -> Call[upkeep.Retried]:
    """Let retired notes wait again; without an id, all of the slice."""
    return post("/notes/retired/retry", upkeep.Retried, {"note_ids": note_ids or None}, scope=scope)


def beliefs(
    *,
    scope: str = "org",
    kind: str | None = None,
    min_confidence: float = 0.0,
    archived: bool = False,
    as_of: datetime | None = None,
    believed_at: datetime | None = None,
    page: int = 100,
) -> Pages[records.Belief]:
    """Go through beliefs by aged confidence, `page` at a time.

    `as_of`: what held then, by all that is known today. `believed_at`: what was believed then.
    """
    asked: dict[str, Any] = {"scope": scope, "kind": kind, "min_confidence": min_confidence, "archived": archived}
    asked |= {"as_of": as_of, "believed_at": believed_at, "limit": page}
    return pages("/beliefs", "beliefs", records.Belief, **asked)


def search(
    query: str, *, limit: int = 10, scope: str = "org", kind: str | None = None
) -> Call[tuple[records.Belief, ...]]:
    """Return the beliefs that fit a query best, by words and by meaning."""
    found = search_all(query, scope=scope, kind=kind, page=limit).page(None)
    return Call(found.method, found.path, lambda answer: found.read(answer).items, found.query)


def search_all(query: str, *, scope: str = "org", kind: str | None = None, page: int = 50) -> Pages[records.Belief]:
    """Go through everything that fits a query, the best match first, `page` at a time."""
    return pages("/beliefs", "beliefs", records.Belief, q=query, limit=page, scope=scope, kind=kind)


def beliefs_summary(*, scope: str = "org") -> Call[upkeep.BeliefSummary]:
    """Count the live beliefs by kind, confidence and age."""
    return get("/beliefs/summary", upkeep.BeliefSummary, scope=scope)


def why(belief_id: str) -> Call[records.Why]:
    """Return the quotes, the arithmetic and the history behind a belief."""
    return get(f"/beliefs/{part(belief_id)}", records.Why)


def confirm(belief_id: str) -> Call[records.BeliefChanged]:
    """Vouch for a belief as of now."""
    return post(f"/beliefs/{part(belief_id)}/confirm", records.BeliefChanged)


def archive(belief_id: str) -> Call[records.BeliefChanged]:
    """Take a belief out of sight, whatever notes say."""
    return post(f"/beliefs/{part(belief_id)}/archive", records.BeliefChanged)


def restore(belief_id: str) -> Call[records.BeliefChanged]:
    """Bring an archived belief back."""
    return post(f"/beliefs/{part(belief_id)}/restore", records.BeliefChanged)


def unmerge(belief_id: str) -> Call[records.TwoBeliefs]:
    """Take back the latest merge of a belief; the two are never merged again by themselves."""
    return post(f"/beliefs/{part(belief_id)}/unmerge", records.TwoBeliefs)


def split(belief_id: str, source_id: str) -> Call[records.TwoBeliefs]:
    """Give one source of a belief a belief of its own."""
    return post(f"/beliefs/{part(belief_id)}/sources/{part(source_id)}/split", records.TwoBeliefs)


def brief(*, scope: str | None = None) -> Call[records.Brief]:
    """Return what is believed now, in few words, for an agent's system prompt."""
    return get("/brief", records.Brief, scope=scope)


def forecast(*, scope: str = "org", limit: int = 50) -> Call[upkeep.Forecast]:
    """Return how many beliefs fade in each of the next 12 weeks, and the first to go."""
    return get("/fading", upkeep.Forecast, scope=scope, limit=limit)


def fading(*, scope: str = "org", page: int = 100) -> Pages[upkeep.FadingBelief]:
    """Go through the beliefs that age, the first to fade first, `page` at a time."""
    return pages("/fading", "next_ones", upkeep.FadingBelief, scope=scope, limit=page)


def conflicts(*, scope: str = "org", page: int = 20) -> Pages[records.Conflict]:
    """Go through the pairs of beliefs that need a person, `page` at a time."""
    return pages("/conflicts", "conflicts", records.Conflict, scope=scope, limit=page)


def resolve(left_id: str, right_id: str, keep: str) -> Call[records.Resolved]:
    """Decide a conflict: `keep` is left, right, both or merge."""
    return post("/conflicts/resolve", records.Resolved, {"left_id": left_id, "right_id": right_id, "keep": keep})


def capture(
    conversation_id: str, turns: Iterable[Mapping[str, Any]], *, agent: str | None = None, scope: str = "org"
) -> Call[records.Captured]:
    """Keep a conversation so far; a turn has `text` and may have `speaker` and `said_at`."""
    body = {"conversation_id": conversation_id, "turns": [body_of(turn) for turn in turns], "agent": agent}
    return post("/conversations", records.Captured, body, scope=scope)


def recall(query: str, *, scope: str | None = None, limit: int = 10) -> Call[records.Recalled]:
    """Find past conversations from a paraphrase."""
    return get("/recall", records.Recalled, q=query, scope=scope, limit=limit)


def status(pass_name: str = "consolidation", *, runs: int = 5) -> Call[records.Status]:
    """Return how far a pass has come, and why it holds or does not start."""
    return get("/dream/status", records.Status, **{"pass": pass_name}, runs=runs)


def runs(*, page: int = 100) -> Pages[records.Run]:
    """Go through the runs of all passes, the latest start first, `page` at a time."""
    return pages("/dream/runs", "runs", records.Run, limit=page)


def timeline(*, days: int = 30) -> Call[upkeep.Timeline]:
    """Return how the runs of each day ended, and every pass that is held now."""
    return get("/dream/timeline", upkeep.Timeline, days=days)


def agents(*, page: int = 100) -> Pages[upkeep.Agent]:
    """Go through the agents by name, with score and band, `page` at a time."""
    return pages("/autonomy", "agents", upkeep.Agent, limit=page)


def agent(agent_id: str, *, limit: int = 50) -> Call[upkeep.AgentHistory]:
    """Return an agent's score, and the latest changes of it."""
    return get(f"/autonomy/agents/{part(agent_id)}", upkeep.AgentHistory, limit=limit)


def score_changes(agent_id: str, *, page: int = 100) -> Pages[upkeep.ScoreChange]:
    """Go through the changes of an agent's score, the latest first, `page` at a time."""
    return pages(f"/autonomy/agents/{part(agent_id)}", "changes", upkeep.ScoreChange, limit=page)


def set_score(agent_id: str, score: int, reason: str, *, new: bool = False) -> Call[upkeep.ScoreChange]:
    """Set an agent's score by hand, with a reason; `new` for one without a record. For administrators."""
    return put(f"/autonomy/agents/{part(agent_id)}", upkeep.ScoreChange, {"score": score, "reason": reason, "new": new})


def permission(agent_id: str, risk: str) -> Call[records.Permission]:
    """Ask whether an agent may do an action of a risk now; where it raises, it may not."""
    return get(f"/autonomy/agents/{part(agent_id)}/permission", records.Permission, risk=risk)


def log_actions(*actions: Mapping[str, Any]) -> Call[records.Logged]:
    """Log what agents did: agent_id, external_id, tool, summary, risk, and the outcome where it is known."""
    return post("/autonomy/actions", records.Logged, {"actions": [body_of(one) for one in actions]})


def actions(*, agent: str | None = None, scoring: str | None = None, page: int = 100) -> Pages[upkeep.Action]:
    """Go through logged actions, the latest first, `page` at a time."""
    return pages("/autonomy/actions", "actions", upkeep.Action, agent=agent, scoring=scoring, limit=page)


def dead_actions(*, agent: str | None = None, page: int = 100) -> Pages[upkeep.DeadAction]:
    """Go through the actions that the judge could not score, the latest given up first, `page` at a time."""
    return pages("/autonomy/actions/dead", "actions", upkeep.DeadAction, agent=agent, limit=page)


def retry_dead_actions(*action_ids: str) -> Call[upkeep.Retried]:
    """Let given-up actions be judged again; without an id, all of them."""
    return post("/autonomy/actions/retry", upkeep.Retried, {"action_ids": action_ids or None})


def capabilities() -> Call[records.Capabilities]:
    """Return every setting and consent in force."""
    return get("/capabilities", records.Capabilities)


def change_setting(name: str, value: Any) -> Call[records.Changed]:
    """Change a setting or a consent of the organization, from the next tick on. For administrators."""
    return put(f"/settings/{part(name)}", records.Changed, {"value": value})


def reset_setting(name: str) -> Call[records.Changed]:
    """Return a setting to its default. For administrators."""
    return Call("DELETE", f"{BRAIN}/settings/{part(name)}", lambda answer: read(records.Changed, answer))


def audit(*, kind: str | None = None, page: int = 100) -> Pages[upkeep.AuditEntry]:
    """Go through what was changed, the latest first; `kind` is settings, beliefs or erasure."""
    return pages("/settings/audit", "entries", upkeep.AuditEntry, kind=kind, limit=page)


def erase_notes(*note_ids: str) -> Call[upkeep.Erased]:
    """Erase notes for good with every wording of theirs; `complete` tells whether to call again."""
    return post("/erasure/notes", upkeep.Erased, {"note_ids": note_ids})


def lift_erasure(source: str, *external_ids: str, scope: str = "org") -> Call[upkeep.Lifted]:
    """Let erased notes come in again; what was erased does not come back by itself."""
    body = {"source": source, "external_ids": external_ids}
    return post("/erasure/notes/lift", upkeep.Lifted, body, scope=scope)


def erase_mine(confirm: str) -> Call[upkeep.Erased]:
    """Erase everything on the caller for good; `confirm` is the caller's user id."""
    return post("/erasure/mine", upkeep.Erased, {"confirm": confirm})


def erase_organization(confirm: str) -> Call[upkeep.Erased]:
    """Erase everything of the organization for good; `confirm` is its id. For administrators."""
    return post("/erasure/organization", upkeep.Erased, {"confirm": confirm})


def export(*, scope: str | None = None, page: int = 500) -> Pages[upkeep.ExportRecord]:
    """Go through everything held on the caller, or in a slice, as rows, `page` at a time."""
    return pages("/export", "records", upkeep.ExportRecord, scope=scope, limit=page)
