"""Writes what rules and judge decided: merges, timelines, what is out of sight, what is remembered of pairs.

The caller holds the slice's belief lock. Everything is read again here, so what changed since the judge
was asked counts as it is now: a verdict on words that were changed is no longer one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.merging.service import merge
from dreaming.beliefs.records import ArchiveReason
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import write_changes
from dreaming.beliefs.workspace import Workspace
from dreaming.database import Transaction
from dreaming.identifiers import NewId
from dreaming.passes.contradictions import store
from dreaming.passes.contradictions.belief_readings import fingerprint
from dreaming.passes.contradictions.examined import store as examined_store
from dreaming.passes.contradictions.lines import Neighbourhood, Pair, pair_of
from dreaming.passes.contradictions.neighbourhood import Surroundings, refreshed, survey
from dreaming.passes.contradictions.prompt import JUDGE_PROMPT_VERSION
from dreaming.passes.contradictions.records import MAX_ATTEMPTS, DecidedBy, Judgement, Relation, Standing
from dreaming.passes.contradictions.relations import Ruling, rule
from dreaming.passes.contradictions.timeline import overall
from dreaming.passes.contradictions.timelines import store as timelines_store

_BY_TIME = frozenset({ArchiveReason.SUPERSEDED, ArchiveReason.REJECTED})


def settle(
    tx: Transaction,
    slice_id: int,
    focus: Sequence[UUID],
    verdicts: Mapping[Pair, Judgement],
    *,
    ageing: Ageing,
    now: datetime,
    new_id: NewId,
    run_id: UUID | None,
    similar: Mapping[Pair, str] | None = None,
) -> Counter[str]:
    """Apply everything to the beliefs in `focus` and their neighbours; return counts for the run.

    `similar` are pairs that a search found before the lock was taken; without them nothing is searched.
    """
    counts: Counter[str] = Counter()

    def around_now() -> Surroundings:
        return survey(tx, slice_id, focus, ageing=ageing, now=now, verdicts=verdicts, similar=similar)

    found = around_now()
    if miscounted := _miscounted(found.around):
        _count_anew(tx, slice_id, miscounted, ageing=ageing, now=now, new_id=new_id, run_id=run_id)
        found = around_now()
    ruling = rule(found.around)
    touched: set[UUID] = set()
    while duplicates := _duplicates(found.around, ruling):
        merged = _merge_all(tx, slice_id, found, duplicates, ageing=ageing, now=now, new_id=new_id, run_id=run_id)
        counts["beliefs_merged"] += len(merged)
        touched |= {one for pair in merged for one in pair}
        found = refreshed(tx, slice_id, found, {one for pair in merged for one in pair}) or around_now()
        ruling = rule(found.around)
    _write_lines(tx, slice_id, found.around, ruling, now)
    touched |= _archive(
        tx, slice_id, found.around, ruling, counts, ageing=ageing, now=now, new_id=new_id, run_id=run_id
    )
    judgements, passing = _judgements(found.around, ruling, run_id)
    judgements |= verdicts
    passing -= judgements.keys()
    _remember(tx, slice_id, found.around, judgements, now)
    store.forget(tx, slice_id, sorted(passing & found.recorded))
    settled = {pair for pair, one in judgements.items() if one.relation is not None} | passing
    store.drop_queued(tx, slice_id, sorted(settled & found.queued))
    asked = [pair for pair, _ in ruling.open_pairs]
    counts["pairs_dropped"] += store.drop_open(tx, slice_id, focus, asked, max_attempts=MAX_ATTEMPTS)
    counts["pairs_decided"] += len(settled)
    counts["pairs_open"] += len(judgements) - len(settled - passing)
    _finish(tx, slice_id, found, touched, now)
    return counts


def _miscounted(around: Neighbourhood) -> list[UUID]:
    """The beliefs whose rows do not have the number of their live sources, as an erasure once left some."""
    return sorted(one for one, examined in around.beliefs.items() if examined.belief.sources != len(examined.sources))


def _count_anew(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, ageing: Ageing, now: datetime, new_id: NewId,
    run_id: UUID | None,
) -> None:  # fmt: skip
    workspace = Workspace(beliefs_store.load(tx, slice_id, belief_ids), ageing=ageing, now=now, new_id=new_id)
    for belief_id in belief_ids:
        workspace.touch(belief_id)
    write_changes(tx, slice_id, workspace.changes(), run_id=run_id, now=now)


def _merge_all(
    tx: Transaction,
    slice_id: int,
    found: Surroundings,
    duplicates: Sequence[tuple[UUID, UUID, Judgement]],
    *,
    ageing: Ageing,
    now: datetime,
    new_id: NewId,
    run_id: UUID | None,
) -> list[Pair]:
    """Merge pairs in order, each belief as long as it says what it said; return those merged, the kept one first."""
    merged: list[Pair] = []
    gone: set[UUID] = set()
    for kept, other, judgement in duplicates:
        if kept in gone or other in gone:
            continue
        _remember(tx, slice_id, found.around, {pair_of(kept, other): judgement}, now)
        evidence = {"reason": judgement.reason, "model": judgement.model}
        decided = judgement.decided_by.value if judgement.decided_by else DecidedBy.RULE.value
        merge(
            tx, slice_id, kept=kept, merged=other, decided_by=decided, evidence=evidence, ageing=ageing, now=now,
            new_id=new_id, run_id=run_id,
        )  # fmt: skip
        merged.append((kept, other))
        gone.add(other)
        if fingerprint(beliefs_store.load(tx, slice_id, [kept])[kept][0]) != found.around.beliefs[kept].fingerprint:
            gone.add(kept)
    return merged


def _duplicates(around: Neighbourhood, ruling: Ruling) -> list[tuple[UUID, UUID, Judgement]]:
    """Return pairs to merge as (kept, merged, judgement), in an order that no arrival decides."""
    found: dict[Pair, Judgement] = {
        pair: _judgement(around, pair, relation, DecidedBy.RULE, reason)
        for pair, (relation, reason) in ruling.relations.items()
        if relation is Relation.DUPLICATE
    }
    found |= {
        pair: one
        for pair, one in around.judged.items()
        if one.relation is Relation.DUPLICATE and one.decided_by is not DecidedBy.RULE
    }
    mergeable = []
    for pair, judgement in found.items():
        if not all(one in around.beliefs and _may_merge(around, one) for one in pair):
            continue
        known = around.judged.get(pair)
        if known is not None and known.decided_by is DecidedBy.PERSON and known.relation is not Relation.DUPLICATE:
            continue
        kept, merged = sorted(pair, key=lambda one: _seniority(around, one))
        mergeable.append((kept, merged, judgement))
    return sorted(mergeable, key=lambda one: (_seniority(around, one[0]), _seniority(around, one[1])))


def _may_merge(around: Neighbourhood, belief_id: UUID) -> bool:
    belief = around.beliefs[belief_id].belief
    return belief.sources > 0 and (belief.live or belief.archive_reason in _BY_TIME)


def _seniority(around: Neighbourhood, belief_id: UUID) -> tuple[object, ...]:
    belief = around.beliefs[belief_id].belief
    return belief.trust.value != "trusted", belief.first_seen_at, belief.statement, belief_id


def _write_lines(tx: Transaction, slice_id: int, around: Neighbourhood, ruling: Ruling, now: datetime) -> None:
    lines = [line for line in ruling.lines if len(line.beliefs) > 1 or line.stretches]
    timelines_store.replace_timelines(tx, slice_id, sorted(_in_scope(around)), lines, now=now)


def _in_scope(around: Neighbourhood) -> set[UUID]:
    """The beliefs whose whole subject is at hand."""
    scope = set(around.focus)
    for one, examined in around.beliefs.items():
        if examined.reading is not None and around.is_complete(examined.reading):
            scope.add(one)
    return scope


def _archive(
    tx: Transaction,
    slice_id: int,
    around: Neighbourhood,
    ruling: Ruling,
    counts: Counter[str],
    *,
    ageing: Ageing,
    now: datetime,
    new_id: NewId,
    run_id: UUID | None,
) -> set[UUID]:
    """Take out of sight what is past or rejected, bring back what is neither any more."""
    stretches = [one for line in ruling.lines for one in line.stretches]
    standing = overall(stretches)
    successors = {
        one.belief_id: one.successor
        for one in stretches
        if one.successor is not None and standing[one.belief_id] is one.standing
    }
    counts["conflicts_for_review"] += sum(one is Standing.REVIEW for one in standing.values())
    wanted: dict[UUID, ArchiveReason | None] = {}
    for belief_id in _in_scope(around):
        examined = around.beliefs.get(belief_id)
        if examined is None or not examined.belief.sources:
            continue
        wanted[belief_id] = _reason(standing.get(belief_id), belief_id in successors, around.tells_of_past(belief_id))
    changing = {
        belief_id: reason
        for belief_id, reason in wanted.items()
        if (around.beliefs[belief_id].belief.archive_reason in (None, *_BY_TIME))
        and around.beliefs[belief_id].belief.archive_reason != reason
    }
    if not changing:
        return set()
    workspace = Workspace(beliefs_store.load(tx, slice_id, changing), ageing=ageing, now=now, new_id=new_id)
    for belief_id in sorted(changing):
        reason = changing[belief_id]
        successor = successors.get(belief_id)
        if reason is None:
            workspace.restore(belief_id, {"because": "nothing holds in its place"})
            counts["beliefs_restored"] += 1
        else:
            workspace.archive(belief_id, reason, {"by": str(successor)} if successor else {})
            counts["beliefs_superseded" if reason is ArchiveReason.SUPERSEDED else "beliefs_rejected"] += 1
    write_changes(tx, slice_id, workspace.changes(), run_id=run_id, now=now)
    return set(changing)


def _reason(standing: Standing | None, has_successor: bool, tells_of_past: bool) -> ArchiveReason | None:
    if standing is Standing.REJECTED:
        return ArchiveReason.REJECTED
    return ArchiveReason.SUPERSEDED if standing is Standing.PAST and has_successor and not tells_of_past else None


def _judgement(
    around: Neighbourhood,
    pair: Pair,
    relation: Relation | None,
    by: DecidedBy | None,
    reason: str,
    run_id: UUID | None = None,
) -> Judgement:
    known = around.judged.get(pair)
    return Judgement(
        left=pair[0],
        right=pair[1],
        relation=relation,
        decided_by=by,
        reason=reason,
        left_fingerprint=around.beliefs[pair[0]].fingerprint,
        right_fingerprint=around.beliefs[pair[1]].fingerprint,
        attempts=known.attempts if known else 0,
        last_failure=known.last_failure if known else None,
        run_id=run_id if by is not None or known is None else known.run_id,
    )


def _judgements(around: Neighbourhood, ruling: Ruling, run_id: UUID | None) -> tuple[dict[Pair, Judgement], set[Pair]]:
    """What is to be remembered of pairs with a belief in focus: what a rule decided, and what is open.

    The second are pairs of which a rule says, each time anew, that nothing is between them.
    """
    found: dict[Pair, Judgement] = {}
    passing: set[Pair] = set()
    for pair, (relation, reason) in ruling.relations.items():
        known = around.judged.get(pair)
        if not around.in_focus(pair):
            continue
        if not (known and known.attempts) and _says_nothing(around, pair, relation):
            passing.add(pair)
        elif known is None or known.relation is not relation or known.reason != reason:
            found[pair] = _judgement(around, pair, relation, DecidedBy.RULE, reason, run_id)
    for pair, reason in ruling.open_pairs:
        known = around.judged.get(pair)
        if known is None:
            found[pair] = _judgement(around, pair, None, None, reason)
    return found, passing


def _says_nothing(around: Neighbourhood, pair: Pair, relation: Relation) -> bool:
    """Tell whether a rule's word on a pair need not be remembered, since the rule says it again whenever it is asked.

    Of two names for one thing it is remembered, so that what erases the one finds the other.
    """
    if relation is Relation.COEXISTING:
        names = {reading.subject for one in pair if (reading := around.beliefs[one].reading) is not None}
        return len(names) == 1
    return relation is Relation.UNRELATED


def _remember(
    tx: Transaction, slice_id: int, around: Neighbourhood, judgements: Mapping[Pair, Judgement], now: datetime
) -> None:
    """Write judgements of pairs that are still there; a merged belief keeps those from before."""
    kept = [one for one in judgements.values() if one.left in around.beliefs and one.right in around.beliefs]
    store.write_judgements(tx, slice_id, kept, prompt_version=JUDGE_PROMPT_VERSION, now=now)


def _finish(tx: Transaction, slice_id: int, found: Surroundings, touched: set[UUID], now: datetime) -> None:
    """Write the aliases, and mark everything that was examined or changed here as seen."""
    store.replace_aliases(tx, slice_id, found.aliases)
    around = found.around
    rows = []
    for belief_id in sorted({*around.focus, *touched}):
        examined = around.beliefs.get(belief_id)
        if examined is not None:
            reading = examined.reading
            rows.append(
                (
                    belief_id,
                    examined.fingerprint,
                    reading.subject if reading else None,
                    reading.attribute if reading else None,
                    (reading.sense if reading else None) or "",
                )
            )
    examined_store.mark_examined(tx, slice_id, rows, now=now)
    if found.renamed:
        names = sorted(
            {subject for subject in examined_store.subjects(tx, slice_id) if around.mentions(subject, found.renamed)}
        )
        examined_store.examine_again(tx, slice_id, names, but=sorted({*around.focus, *touched}))
