"""Strangers who repeat something, however often, make it no surer than one of them and keep nothing alive."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dreaming.notes.records import Trust
from tests.ageing_world import AgeingWorld
from tests.world import World, note

TEA = "Ines drinks green tea in the morning"
FAST: dict[str, Any] = {"decay_class": "fast_decay", "importance": "high"}


def mail(world: World, *, times: int, text: str = TEA, begin: int = 0) -> None:
    """So many mails of today, each a conversation of its own."""
    world.ingest(
        *(
            note(f"m{begin}-{place}", text, trust=Trust.UNTRUSTED, source="mail", origin=f"mail-{begin}-{place}",
                 occurred_at=world.now)
            for place in range(times)
        )
    )  # fmt: skip
    world.drain()


def test_forty_mails_are_believed_no_more_than_one(world: World) -> None:
    mail(world, times=40)
    assert world.beliefs() == [(TEA, 0.5, 40, 40)]
    world.check()


def test_forty_mails_do_not_make_a_trusted_belief_surer_or_younger(world: World) -> None:
    world.ingest(note("n", TEA))
    world.drain()
    query = "select statement, confidence, confirmed_at, fades_at, importance, trust from beliefs"
    before = world.rows(query)
    world.now += timedelta(days=100)
    mail(world, times=40)
    assert world.rows(query) == before
    assert world.beliefs() == [(TEA, 0.8, 41, 41)]
    world.ingest(note("n2", TEA, occurred_at=world.now))
    world.drain()
    assert world.beliefs() == [(TEA, pytest.approx(0.82), 42, 42)]
    world.check()


def test_mail_neither_takes_a_warning_back_nor_delays_what_fades(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    ageing.at(85).run_pass()
    warned_at = ageing.column("warned_at", TEA)
    assert warned_at == ageing.now
    for day in (86, 88, 91):
        ageing.at(day)
        mail(ageing.world, times=2, begin=day)
        ageing.run_pass()
        assert ageing.column("warned_at", TEA) == warned_at
        assert ageing.live() == [TEA]
    ageing.at(92).run_pass()
    assert ageing.archived() == {TEA: "faded"}
    mail(ageing.world, times=3, begin=92)
    assert ageing.archived() == {TEA: "faded"}
    ageing.say(TEA, **FAST)
    assert ageing.live() == [TEA]
    ageing.check()


def test_what_only_mail_says_ages_from_its_latest_mail(ageing: AgeingWorld) -> None:
    ageing.claims[TEA] = FAST
    mail(ageing.world, times=1)
    first = ageing.column("confirmed_at", TEA)
    ageing.at(10)
    mail(ageing.world, times=1, begin=1)
    assert ageing.column("confirmed_at", TEA) == first + timedelta(days=10)
    assert ageing.column("confidence", TEA) == 0.5
