"""Two notes through reading, rules and judge, in memory: what is believed of them in the end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from dreaming.beliefs.records import Belief, DecayClass, Importance, Kind, Provenance, Source, SourceType
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.terms.words import looked_up
from dreaming.local.evaluation.stories import Outcome, Story, StoryNote
from dreaming.local.evaluation.story_models import StoryModel
from dreaming.models.protocols import ChatRequest, Passage
from dreaming.notes.records import Trust
from dreaming.passes.consolidation.parsing import parse_answer
from dreaming.passes.contradictions.aliases import canonical_names, resolve, told_aliases
from dreaming.passes.contradictions.belief_readings import Examined, fingerprint, read_belief
from dreaming.passes.contradictions.lines import Neighbourhood, Pair
from dreaming.passes.contradictions.records import DecidedBy, Judgement, Relation, Standing
from dreaming.passes.contradictions.relations import rule
from dreaming.passes.contradictions.timeline import overall
from dreaming.passes.contradictions.verdicts import verdict_stands

BEFORE = datetime(2025, 3, 3, 9, tzinfo=UTC)
AFTER = datetime(2025, 6, 16, 9, tzinfo=UTC)
NOW = datetime(2025, 12, 1, tzinfo=UTC)
_OLD, _NEW = UUID(int=1), UUID(int=2)
_PAIR: Pair = (_OLD, _NEW)


@dataclass(frozen=True)
class Ending:
    """What became of the older and the newer of two beliefs.

    `believed`: whether each still is. `held`: since when and until when each held, None where nobody asked.
    `one`: whether they are one belief. `questioned`: whether a person is asked. `judged`: the judge's word as it
    stands.
    """

    believed: tuple[bool, bool]
    held: tuple[tuple[date, date | None] | None, tuple[date, date | None] | None]
    one: bool
    questioned: bool
    judged: tuple[Relation | None, str | None] | None


def _read(belief_id: UUID, text: str, occurred_at: datetime, author: str | None) -> Examined:
    """Return a note's first claim as a belief, read as the stories of the evaluation are."""
    note = StoryNote(text=text, occurred_at=occurred_at, author=author)
    passage = Passage("n1", text, occurred_at, "test", author)
    model = StoryModel(Story(id="pair", kind="pair", notes=(note,), expect=Outcome()))
    claim = parse_answer(model.answer(ChatRequest("", "", (passage,), 1000, 1.0)).text, truncated=False).items[0]
    told: dict[str, Any] = {name: claim.get(name) or None for name in ("subject", "attribute", "value")}
    told |= {
        "kind": Kind.FACT, "statement": claim["statement"], "confidence": claim["confidence"],
        "importance": Importance.NORMAL, "decay_class": DecayClass.SLOW, "trust": Trust.TRUSTED,
        "multi_valued": bool(claim.get("multi_valued")),
    }  # fmt: skip
    source = Source(
        source_id=UUID(int=belief_id.int + 100), source_type=SourceType.NOTE, origin=str(belief_id),
        occurred_at=occurred_at, sequence=belief_id.int, **told,
    )  # fmt: skip
    belief = Belief(
        belief_id=belief_id, confirmed_at=occurred_at, first_seen_at=occurred_at, fades_at=None, valid_from=None,
        valid_until=None, provenance=Provenance.MODEL, sources=1, origins=1, created_at=occurred_at, archived_at=None,
        archive_reason=None, **told,
    )  # fmt: skip
    return Examined(belief, (source,), read_belief(belief), fingerprint(belief), {})


def _around(members: dict[UUID, Examined], judged: dict[Pair, Judgement]) -> Neighbourhood:
    """Return both beliefs with what a search by words finds of them, the newer one in focus."""
    statements = [one.belief.statement for one in members.values()]
    canonical = canonical_names((alias.name, alias.other_name) for text in statements for alias in told_aliases(text))
    alike = set(looked_up(statements[0])) & set(looked_up(statements[1]))
    return Neighbourhood(
        beliefs=members,
        canonical=canonical,
        judged=judged,
        similar={_PAIR: "alike in words"} if alike else {},
        ageing=Ageing(),
        now=NOW,
        focus=frozenset({_NEW}),
        complete=frozenset((resolve(one.reading.subject, canonical), None) for one in members.values() if one.reading),
    )


def ending(old: str, new: str, relation: Relation, author: str | None = None) -> Ending:
    """Tell two notes, ask the judge where the rules leave the pair to one, and return what comes of it."""
    members = {_OLD: _read(_OLD, old, BEFORE, author), _NEW: _read(_NEW, new, AFTER, author)}
    judged: dict[Pair, Judgement] = {}
    around = _around(members, judged)
    ruling = rule(around)
    said = None
    if any(pair == _PAIR for pair, _ in ruling.open_pairs):
        said = verdict_stands(around, _NEW, _OLD, relation)
        by = DecidedBy.MODEL if said[0] is not None else None
        prints = members[_OLD].fingerprint, members[_NEW].fingerprint
        judged[_PAIR] = Judgement(*_PAIR, said[0], by, "told", None, *prints)
        around = _around(members, judged)
        ruling = rule(around)
    stretches = [one for line in ruling.lines for one in line.stretches]
    standing = overall(stretches)
    believed, held = [], []
    for belief_id in members:
        mine = [one for one in stretches if one.belief_id == belief_id]
        over = standing.get(belief_id) is Standing.PAST and (
            around.tells_of_past(belief_id) or any(one.successor for one in mine)
        )
        believed.append(not over and standing.get(belief_id) is not Standing.REJECTED)
        first = min(mine, key=lambda one: one.holds_from, default=None)
        held.append(
            None if first is None else (first.holds_from.date(), first.holds_until and first.holds_until.date())
        )
    duplicate = any(found is Relation.DUPLICATE for found, _ in ruling.relations.values())
    return Ending(
        (believed[0], believed[1]),
        (held[0], held[1]),
        duplicate or (said is not None and said[0] is Relation.DUPLICATE),
        Standing.REVIEW in standing.values(),
        said,
    )
