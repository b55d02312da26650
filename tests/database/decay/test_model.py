"""Random histories of evidence, people, passes, settings and clocks against a simple reference in Python."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from tests.ageing_world import AgeingWorld, open_ageing_world
from tests.databases import at_database, created_database
from tests.world import NOON

pytestmark = pytest.mark.slow

STATEMENTS = {
    "Ines works at Orbit": ("fast_decay", "normal"),
    "Tariq works at Orbit": ("slow_decay", "high"),
    "Lena sings in the choir": ("fast_decay", "critical"),
    "Noor was born in Lyon": ("permanent", "normal"),
}
HISTORIES = int(os.environ.get("DREAMING_TEST_HISTORIES", "12"))
RELATED = [name for name in STATEMENTS if name.endswith("Orbit")]


@dataclass
class Remembered:
    """A belief of the reference: claims (time, confidence) by origin, confirmations by person."""

    decay_class: str
    importance: str
    claims: list[tuple[datetime, float]] = field(default_factory=list)
    confirmed: dict[str, datetime] = field(default_factory=dict)
    reason: str | None = None
    warned_at: datetime | None = None
    written: datetime | None = None  # the moment of fading as it was last written


@dataclass
class Reference:
    """What the system should come to; half-lives and warnings in days."""

    now: datetime = NOON
    half_lives: dict[str, float] = field(default_factory=lambda: {"fast_decay": 21.0, "slow_decay": 180.0})
    threshold: float = 0.05
    warn_days: float = 7.0
    beliefs: dict[str, Remembered] = field(default_factory=dict)
    edges: dict[str, list[tuple[datetime, float]]] = field(default_factory=dict)
    live_edges: set[str] = field(default_factory=set)

    def fades(self, claims: list[tuple[datetime, float]], decay_class: str, people: dict[str, datetime]) -> Any:
        if decay_class == "permanent":
            return None
        confidence, at = self.folded(claims, people)
        age = max(0.0, math.log2(confidence / self.threshold)) * self.half_lives[decay_class]
        return at + timedelta(days=age)

    @staticmethod
    def folded(claims: list[tuple[datetime, float]], people: dict[str, datetime]) -> tuple[float, datetime]:
        base = 1.0 if people else min(claims, key=lambda claim: claim[0])[1]
        witnesses = len(claims) + len(people)
        at = max([time for time, _ in claims] + list(people.values()))
        return min(1.0, base + 0.02 * (witnesses - 1)), at

    def of(self, name: str) -> datetime | None:
        one = self.beliefs[name]
        found: datetime | None = self.fades(one.claims, one.decay_class, one.confirmed)
        return found

    def gone(self, moment: datetime | None) -> bool:
        return moment is not None and moment <= self.now

    def say(self, name: str, confidence: float, age: float) -> None:
        time = self.now - timedelta(days=age)
        heard = self._hear(name, *STATEMENTS[name], time, confidence)
        if name in RELATED:
            known = self._hear("Orbit", "slow_decay", "normal", time, confidence)
            if heard and known:
                self.edges.setdefault(name, []).append((time, confidence))
        self._settle()

    def _hear(self, name: str, decay_class: str, importance: str, time: datetime, confidence: float) -> bool:
        new = name not in self.beliefs
        one = self.beliefs.setdefault(name, Remembered(decay_class, importance))
        if one.reason == "person":
            return False
        one.claims.append((time, confidence))
        self._written(name, born=new)
        return True

    def _written(self, name: str, *, born: bool = False) -> None:
        one = self.beliefs[name]
        one.warned_at = None
        one.written = self.of(name)
        if born or one.reason == "faded":
            one.reason = "faded" if self.gone(one.written) else None

    def confirm(self, name: str, person: str) -> None:
        self.beliefs[name].confirmed[person] = self.now
        self._written(name)
        self._settle()

    def archive(self, name: str) -> None:
        one = self.beliefs[name]
        one.reason = "person"
        self._settle()

    def restore(self, name: str, person: str) -> None:
        one = self.beliefs[name]
        if one.reason is None:
            return
        if self.gone(self.of(name)):
            one.confirmed[person] = self.now
        one.reason = None
        self._written(name)
        self._settle()

    def run_pass(self) -> None:
        ahead = timedelta(days=self.warn_days)
        for name, one in self.beliefs.items():
            moment = self.of(name)
            if one.reason is None and moment is not None and moment != one.written:
                one.written = moment
                if moment > self.now + ahead:
                    one.warned_at = None
        for name, one in self.beliefs.items():
            moment = self.of(name)
            if one.reason is not None or moment is None or moment > self.now + ahead:
                continue
            if one.warned_at is None and one.importance != "normal":
                one.warned_at = self.now
                continue
            held = one.warned_at is not None and one.warned_at + ahead > self.now
            if moment <= self.now and not held:
                one.reason, one.warned_at = "faded", None
        self.live_edges = {name for name in self.live_edges if self._edge_stands(name)}

    def _edge_stands(self, name: str) -> bool:
        ends = self.beliefs[name].reason is None and self.beliefs["Orbit"].reason is None
        return ends and not self.gone(self.fades(self.edges[name], STATEMENTS[name][0], {}))

    def _settle(self) -> None:
        """Edges are looked at anew when they are asserted, or when one of their ends comes or goes."""
        ends = {name: (self.beliefs[name].reason, self.beliefs["Orbit"].reason) for name in self.edges}
        evidence = {name: len(claims) for name, claims in self.edges.items()}
        for name in self.edges:
            live = tuple(reason is None for reason in ends[name])
            if (live, evidence[name]) != self._seen.get(name):
                self._seen[name] = (live, evidence[name])
                self.live_edges.discard(name)
                if self._edge_stands(name):
                    self.live_edges.add(name)

    _seen: dict[str, Any] = field(default_factory=dict)


names = st.sampled_from(list(STATEMENTS))
people = st.sampled_from(["mia", "tom"])
operations = st.one_of(
    st.tuples(st.just("say"), names, st.sampled_from([0.06, 0.1, 0.5, 0.9]), st.sampled_from([0.0, 3.0, 80.0, 400.0])),
    st.tuples(st.just("confirm"), names, people),
    st.tuples(st.just("archive"), names),
    st.tuples(st.just("restore"), names, people),
    st.tuples(st.just("run_pass")),
    st.tuples(st.just("run_pass")),
    st.tuples(st.just("clock"), st.sampled_from([0.25, 3.0, 7.0, 30.0, 95.0, 400.0, -2.0, -40.0])),
    st.tuples(st.just("set"), st.sampled_from(["fast_decay_days", "slow_decay_days"]), st.sampled_from([5.0, 60.0])),
    st.tuples(st.just("set"), st.just("archive_threshold"), st.sampled_from([0.05, 0.2])),
    st.tuples(st.just("set"), st.just("warn_days"), st.sampled_from([0.0, 7.0, 20.0])),
)


@settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=st.lists(operations, min_size=4, max_size=16))
def test_any_history_comes_to_what_the_reference_comes_to(
    server_url: str, template_database: str, tmp_path: Path, history: list[tuple[Any, ...]]
) -> None:
    folder = tmp_path / uuid7().hex
    folder.mkdir()
    with created_database(server_url, template=template_database) as name:
        database = Database(at_database(server_url, name))
        try:
            _run(open_ageing_world(database, folder), history)
        finally:
            database.close()


def _run(ageing: AgeingWorld, history: list[tuple[Any, ...]]) -> None:
    reference = Reference()
    ticks = count(1)
    for operation, *arguments in [("say", "Noor was born in Lyon", 0.5, 0.0), *history, ("run_pass",)]:
        # No two events of one moment: rows are ordered by time, and the reference by what came first.
        ageing.now = reference.now = reference.now + timedelta(seconds=next(ticks))
        note(f"{reference.now:%F %T} {operation} {arguments}")
        _OPERATIONS[operation](ageing, reference, *arguments)
        _compare(ageing, reference)
        ageing.check()


def _say(ageing: AgeingWorld, reference: Reference, name: str, confidence: float, age: float) -> None:
    decay_class, importance = STATEMENTS[name]
    relations = [{"type": "works_at", "target": "Orbit"}] if name in RELATED else []
    ageing.say(
        name,
        at=ageing.now - timedelta(days=age),
        confidence=confidence,
        decay_class=decay_class,
        importance=importance,
        relations=relations,
    )
    reference.say(name, confidence, age)


def _confirm(ageing: AgeingWorld, reference: Reference, name: str, person: str) -> None:
    if name not in reference.beliefs:
        return
    act = ageing.person(person).confirm
    if reference.beliefs[name].reason == "person":
        with pytest.raises(InvalidInput, match="archived as person"):
            act(ageing.belief(name), now=ageing.now, new_id=uuid7)
        return
    act(ageing.belief(name), now=ageing.now, new_id=uuid7)
    reference.confirm(name, person)


def _archive(ageing: AgeingWorld, reference: Reference, name: str) -> None:
    if name in reference.beliefs:
        ageing.person().archive(ageing.belief(name), now=ageing.now, new_id=uuid7)
        reference.archive(name)


def _restore(ageing: AgeingWorld, reference: Reference, name: str, person: str) -> None:
    if name in reference.beliefs:
        ageing.person(person).restore(ageing.belief(name), now=ageing.now, new_id=uuid7)
        reference.restore(name, person)


def _pass(ageing: AgeingWorld, reference: Reference) -> None:
    ageing.run_pass()
    reference.run_pass()


def _clock(ageing: AgeingWorld, reference: Reference, days: float) -> None:
    ageing.now = reference.now = reference.now + timedelta(days=days)


def _set(ageing: AgeingWorld, reference: Reference, name: str, value: float) -> None:
    ageing.set(name, value)
    if name == "archive_threshold":
        reference.threshold = value
    elif name == "warn_days":
        reference.warn_days = value
    else:
        reference.half_lives[name.removesuffix("_days")] = value


_OPERATIONS: dict[str, Callable[..., None]] = {
    "say": _say,
    "confirm": _confirm,
    "archive": _archive,
    "restore": _restore,
    "run_pass": _pass,
    "clock": _clock,
    "set": _set,
}


def _compare(ageing: AgeingWorld, reference: Reference) -> None:
    found = {
        row[0]: row[1:]
        for row in ageing.rows("select statement, archive_reason, warned_at, confidence, confirmed_at from beliefs")
    }
    expected = {
        name: (one.reason, one.warned_at, *reference.folded(one.claims, one.confirmed))
        for name, one in reference.beliefs.items()
    }
    assert {name: row[:2] for name, row in found.items()} == {name: row[:2] for name, row in expected.items()}
    for name, row in found.items():
        assert row[2] == pytest.approx(expected[name][2])
        assert row[3] == expected[name][3]
    assert {left for left, _, _ in ageing.edges()} == reference.live_edges
