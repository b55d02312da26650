"""Values from the environment and from an organization, and which of them is in force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.errors import InvalidInput
from dreaming.settings.registry import REGISTRY
from dreaming.settings.resolution import (
    Origin,
    UnknownVariable,
    allowed,
    check_value,
    environment_problems,
    parse_value,
    resolve,
    unknown_variables,
)


def test_without_anything_set_the_defaults_are_in_force() -> None:
    settings = resolve({}, {})
    assert dict(settings) == {name: setting.default for name, setting in REGISTRY.items()}
    assert {settings.resolved(name).origin for name in settings} == {Origin.DEFAULT}


def test_every_default_is_a_value_that_its_setting_takes() -> None:
    for setting in REGISTRY.values():
        assert check_value(setting, setting.default) == setting.default


def test_the_environment_replaces_the_default_and_the_organization_either() -> None:
    environment = {"DREAMING_BATCH_NOTES": "25", "DREAMING_MODEL_CONCURRENCY": "2"}
    settings = resolve(environment, {"batch_notes": 3, "model_timeout_seconds": 90})
    assert settings["batch_notes"] == 3
    assert settings["model_concurrency"] == 2
    assert settings["model_timeout_seconds"] == 90
    assert settings.resolved("batch_notes").origin is Origin.ORGANIZATION
    assert settings.resolved("model_concurrency").origin is Origin.ENVIRONMENT
    assert settings.resolved("model_concurrency").variable == "DREAMING_MODEL_CONCURRENCY"


@pytest.mark.parametrize("alias", ["QUOXDREAM_BATCH_NOTES", "QM_LTM_BATCH_NOTES"])
def test_older_names_of_variables_still_work(alias: str) -> None:
    settings = resolve({alias: "7"}, {})
    assert settings.integer("batch_notes") == 7
    assert settings.resolved("batch_notes").variable == alias


def test_the_current_name_of_a_variable_goes_before_older_ones() -> None:
    environment = {"QM_LTM_BATCH_NOTES": "1", "QUOXDREAM_BATCH_NOTES": "2", "DREAMING_BATCH_NOTES": "3"}
    assert resolve(environment, {})["batch_notes"] == 3
    del environment["DREAMING_BATCH_NOTES"]
    assert resolve(environment, {})["batch_notes"] == 2


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_variable_counts_as_unset(empty: str) -> None:
    settings = resolve({"DREAMING_BATCH_NOTES": empty, "DREAMING_CHAT_MODEL": empty}, {})
    assert settings.resolved("batch_notes").origin is Origin.DEFAULT
    assert settings.resolved("chat_model").origin is Origin.DEFAULT


@pytest.mark.parametrize(
    ("variable", "text", "problem"),
    [
        ("DREAMING_ENABLED", "yes", "DREAMING_ENABLED: is 'yes', which is not true or false; use true or false"),
        ("DREAMING_ENABLED", "True", "is 'True', which is not true or false"),
        ("DREAMING_ENABLED", "1", "is '1', which is not true or false"),
        ("DREAMING_BATCH_NOTES", "ten", "is 'ten', which is not a whole number; use a whole number from 1 to 200"),
        ("DREAMING_BATCH_NOTES", "2.5", "is '2.5', which is not a whole number"),
        ("DREAMING_BATCH_NOTES", "1_0", "is '1_0', which is not a whole number"),
        ("DREAMING_BATCH_NOTES", "٣", "which is not a whole number"),
        ("DREAMING_BATCH_NOTES", "9" * 5_000, "which is not a whole number"),
        ("DREAMING_BATCH_NOTES", "0", "is 0, below the least; use a whole number from 1 to 200"),
        ("DREAMING_BATCH_NOTES", "201", "is 201, above the most"),
        ("QM_LTM_JACCARD_THRESHOLD", "0.49", "QM_LTM_JACCARD_THRESHOLD: is 0.49, below the least"),
        ("DREAMING_JACCARD_THRESHOLD", "nan", "is 'nan', which is not a number; use a number from 0.5 to 1"),
        ("DREAMING_JACCARD_THRESHOLD", "inf", "which is not a number"),
        ("DREAMING_SLOW_DECAY_DAYS", "1e999", "which is not a number"),
        ("DREAMING_CHAT_PROVIDER", "Offline", "is 'Offline'; use one of offline, scripted, openai"),
        ("DREAMING_CHAT_MODEL", "a\nb", "contains control characters"),
        ("DREAMING_CHAT_MODEL", "a\udcff", "contains control characters"),
        ("DREAMING_CHAT_MODEL", "m" * 2_001, "has 2001 characters"),
    ],
)
def test_a_bad_variable_is_named_with_problem_and_remedy(variable: str, text: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        resolve({variable: text}, {})
    assert caught.value.field == variable
    assert problem in str(caught.value)
    assert [str(one) for one in environment_problems({variable: text})] == [str(caught.value)]


def test_all_bad_variables_are_found_at_once() -> None:
    environment = {"DREAMING_ENABLED": "on", "DREAMING_BATCH_NOTES": "0", "DREAMING_MODEL_CONCURRENCY": "4"}
    assert [problem.field for problem in environment_problems(environment)] == [
        "DREAMING_ENABLED",
        "DREAMING_BATCH_NOTES",
    ]


def test_an_override_does_not_hide_a_bad_variable() -> None:
    with pytest.raises(InvalidInput, match="DREAMING_BATCH_NOTES"):
        resolve({"DREAMING_BATCH_NOTES": "none"}, {"batch_notes": 5})


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("batch_notes", "5"),
        ("batch_notes", True),
        ("batch_notes", 5.0),
        ("batch_notes", None),
        ("batch_notes", [5]),
        ("batch_notes", 0),
        ("jaccard_threshold", "0.7"),
        ("jaccard_threshold", False),
        ("slow_decay_days", 10**400),
        ("chat_provider", "somewhere"),
        ("chat_model", 5),
    ],
)
def test_a_stored_value_that_cannot_be_read_raises(name: str, stored: object) -> None:
    with pytest.raises(InvalidInput, match=name):
        resolve({}, {name: stored})


def test_a_stored_whole_number_serves_as_a_number() -> None:
    value = resolve({}, {"slow_decay_days": 90}).number("slow_decay_days")
    assert (value, type(value)) == (90.0, float)


def test_a_stored_value_of_an_unknown_setting_raises_and_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match=r"'batch_note'.*did you mean batch_notes"):
        resolve({}, {"batch_note": 5})


def test_an_organization_cannot_override_what_belongs_to_the_deployment() -> None:
    with pytest.raises(InvalidInput, match="enabled: cannot be changed by an organization; set DREAMING_ENABLED"):
        resolve({}, {"enabled": True})


def test_a_variable_that_looks_misspelt_is_reported_with_what_was_meant() -> None:
    environment = {
        "DREAMING_BATCH_NOTE": "5",
        "QUOXDREAM_ENABELD": "true",
        "DREAMING_BATCH_NOTES": "5",
        "DREAMING_TEST_POSTGRES": "16",
        "DREAMING_HOME": "/data",
        "PATH": "/bin",
    }
    assert unknown_variables(environment) == (
        UnknownVariable("DREAMING_BATCH_NOTE", "DREAMING_BATCH_NOTES"),
        UnknownVariable("QUOXDREAM_ENABELD", "DREAMING_ENABLED"),
    )


def test_a_wrong_accessor_is_an_error_of_the_caller() -> None:
    settings = resolve({}, {})
    with pytest.raises(TypeError, match="batch_notes is not a flag"):
        settings.flag("batch_notes")
    with pytest.raises(TypeError, match="enabled is not a whole number"):
        settings.integer("enabled")
    with pytest.raises(TypeError, match="batch_notes is not a number"):
        settings.number("batch_notes")
    with pytest.raises(TypeError, match="batch_notes is not text"):
        settings.text("batch_notes")
    with pytest.raises(KeyError):
        settings.flag("no_such_setting")


@given(st.integers(min_value=1, max_value=200))
def test_what_is_written_as_text_is_read_as_the_same_number(number: int) -> None:
    assert parse_value(REGISTRY["batch_notes"], f" {number} ") == number


@given(st.floats(min_value=0.5, max_value=1.0))
def test_what_is_written_as_text_is_read_as_the_same_fraction(number: float) -> None:
    assert parse_value(REGISTRY["jaccard_threshold"], repr(number)) == number


@given(st.text(max_size=40))
def test_any_text_is_either_a_value_of_its_setting_or_refused_with_the_remedy(text: str) -> None:
    for setting in REGISTRY.values():
        try:
            outcome: object = parse_value(setting, text)
        except InvalidInput as refused:
            outcome = refused
        if isinstance(outcome, InvalidInput):
            assert allowed(setting) in outcome.remedy
        else:
            assert type(outcome) is setting.type
