"""What a deployer may choose, and how a wrong choice is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dreaming.errors import Misconfigured
from infra.config import PASSES, Configuration, Stage

LOCAL = {"database_url": "postgresql://127.0.0.1/dreaming"}


def read(stage: str, **choices: Any) -> Configuration:
    return Configuration.from_context({f"dreaming:{name}": v for name, v in {"stage": stage, **choices}.items()})


def test_context_of_the_cdk_itself_is_left_alone() -> None:
    context = {"dreaming:stage": "dev", "@aws-cdk/core:something": True, "availability-zones": ["a"]}
    assert Configuration.from_context(context).stage is Stage.DEV


@pytest.mark.parametrize("stage", [None, "", "staging", 3])
def test_a_stage_must_be_named(stage: object) -> None:
    with pytest.raises(Misconfigured, match="name one of dev, prod, local"):
        Configuration.from_context({"dreaming:stage": stage})


def test_what_the_command_line_gives_as_text_is_read() -> None:
    chosen = read(
        "prod",
        max_capacity="16",
        deletion_protection="false",
        bedrock_models="one, two",
        settings='{"batch_notes": 5, "enabled": true, "jaccard_threshold": 0.8}',
    )
    assert chosen.max_capacity == 16
    assert chosen.deletion_protection is False
    assert chosen.bedrock_models == ("one", "two")
    assert chosen.environment == {
        "DREAMING_BATCH_NOTES": "5",
        "DREAMING_ENABLED": "true",
        "DREAMING_JACCARD_THRESHOLD": "0.8",
    }


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [
        ({"egres": "nat"}, "dreaming:egres"),
        ({"egress": "tunnel"}, "dreaming:egress"),
        ({"log_days": "soon"}, "dreaming:log_days"),
        ({"backup_days": 0}, "dreaming:backup_days"),
        ({"alarm_email": "nobody"}, "dreaming:alarm_email"),
        ({"tick": "hourly"}, "dreaming:tick"),
        ({"tick": "cron(0 * * * *)"}, "is no schedule of six fields"),
        ({"tick": "rate(1 fortnight)"}, "is no schedule"),
        ({"ticks": {"consolidation": "rate(1 day)"}}, "'consolidation' is no pass"),
        ({"ticks": {"consolidate": "daily"}}, "dreaming:ticks"),
        ({"ticks": "rate(1 day)"}, "dreaming:ticks"),
        ({"ticks": "[]"}, "not an object of passes"),
        ({"bedrock_models": "a model"}, "is no id and no ARN"),
        ({"bedrock_embedders": "arn:aws:s3:::bucket"}, "is no id and no ARN"),
        ({"event_bus": "a bus"}, "dreaming:event_bus"),
        ({"max_capacity": "1.3"}, "dreaming:max_capacity"),
        ({"monthly_budget_usd": 50}, "needs alarm_email"),
        ({"jwt_issuer": "login.example.test"}, "dreaming:jwt_issuer"),
        ({"jwt_issuer": "http://login.example.test"}, "dreaming:jwt_issuer"),
        ({"timeout_seconds": 901}, "dreaming:timeout_seconds"),
        ({"settings": "{"}, "dreaming:settings"),
        ({"settings": "[]"}, "dreaming:settings"),
        ({"settings": {"batch_note": 3}}, "'batch_note' is no setting"),
        ({"settings": {"batch_notes": 0}}, "DREAMING_BATCH_NOTES: is 0"),
        ({"settings": {"enabled": "maybe"}}, "true or false"),
        ({"authorization": "jwt"}, "needs jwt_issuer and jwt_audience"),
        ({"authorization": "jwt", "jwt_issuer": "https://login.example.test"}, "needs jwt_issuer and jwt_audience"),
        ({"database_url": "postgresql://x"}, "other stages have a database of theirs"),
        ({"visibility_seconds": 1079}, "at least 6 times"),
        ({"settings": {"chat_provider": "openai"}}, "is not reached by an endpoint"),
        ({"settings": {"chat_provider": "anthropic"}}, "is not reached by an endpoint"),
        ({"settings": {"chat_provider": "bedrock", "chat_model": "eu.a"}}, "'eu.a', which bedrock_models must name"),
        ({"settings": {"embedding_provider": "openai"}}, "embedding_provider openai is not reached by an endpoint"),
        (
            {"settings": {"embedding_provider": "bedrock", "embedding_model": "titan"}, "bedrock_models": "titan"},
            "'titan', which bedrock_embedders must name",
        ),
        ({"settings": {"embedding_provider": "minilm"}}, "its model is in no layer"),
    ],
)
def test_a_wrong_choice_is_refused_with_its_name(choices: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        read("dev", **choices)
    assert complaint in str(caught.value)


def test_an_emulator_needs_a_database() -> None:
    with pytest.raises(Misconfigured, match="which needs it"):
        read("local")


def test_a_test_may_shorten_the_visibility_but_not_below_the_time_out() -> None:
    assert read("local", **LOCAL, timeout_seconds=3, visibility_seconds=3).visibility == 3
    with pytest.raises(Misconfigured, match="between the time-out and"):
        read("local", **LOCAL, timeout_seconds=3, visibility_seconds=2)


def test_six_longest_time_outs_are_within_what_a_queue_takes() -> None:
    assert read("prod", timeout_seconds=900).visibility == 5400


def test_a_provider_outside_needs_a_way_out() -> None:
    settings = {"chat_provider": "openai", "chat_model": "a-model"}
    assert read("dev", egress="nat", settings=settings).environment["DREAMING_CHAT_PROVIDER"] == "openai"


def test_a_schedule_of_one_pass_goes_before_that_of_all_and_that_before_its_own() -> None:
    slow = replace(PASSES[0], tick="cron(0 4 * * ? *)")
    assert read("dev").schedule(slow) == slow.tick
    assert read("dev", tick="rate(2 hours)").schedule(slow) == "rate(2 hours)"
    chosen = {"ticks": '{"consolidate": "cron(0 */6 * * ? *)"}', "tick": "rate(2 hours)"}
    assert read("dev", **chosen).schedule(slow) == "cron(0 */6 * * ? *)"
    assert read("local", **LOCAL).schedule(slow) == "rate(1 minute)"


def test_every_setting_of_an_emulators_stage_can_be_replaced() -> None:
    assert read("local", **LOCAL).environment == {"DREAMING_ENABLED": "true"}
    assert read("local", **LOCAL, settings={"batch_notes": 2}).environment == {"DREAMING_BATCH_NOTES": "2"}


def test_defaults_of_the_stages() -> None:
    dev, prod = read("dev"), read("prod")
    assert (dev.deletion_protection, prod.deletion_protection) == (False, True)
    assert (dev.timeout_seconds, dev.visibility) == (180, 1080)
    assert prod.log_days > dev.log_days


def test_passes_are_named_once_and_within_the_limits_of_aws() -> None:
    names = [definition.function for definition in PASSES]
    assert len(set(names)) == len(names)
    for definition in PASSES:
        assert 2 <= definition.max_concurrency <= 1000
        assert 128 <= definition.memory_mb <= 10_240
        assert read("dev", ticks={definition.function: definition.tick}).schedule(definition) == definition.tick


def test_the_committed_key_of_every_choice_is_documented() -> None:
    from tests.architecture.modules import ROOT

    page = (ROOT / "infra" / "README.md").read_text("utf-8")
    assert [name for name in Configuration.model_fields if f"`dreaming:{name}`" not in page] == []


def test_a_retention_that_cloudwatch_does_not_know_is_refused() -> None:
    from infra.constructs.retention import retention

    with pytest.raises(Misconfigured, match="choose one of 1, 7, 14"):
        retention(2)
