"""Keys belong to one organization, are remembered for a while, and are never shown."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.errors import InvalidInput, MissingKey
from dreaming.models.keys import EnvironmentKeys, KeyResolver, SecretKey, variable_part


class CountingSource:
    def __init__(self) -> None:
        self.keys: dict[tuple[str, str], str] = {}
        self.reads = 0

    def read(self, org_id: str, provider: str) -> str | None:
        self.reads += 1
        return self.keys.get((org_id, provider))


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def revealed(key: SecretKey | None) -> str | None:
    return key.reveal() if key else None


def test_a_key_hides_its_text() -> None:
    key = SecretKey("sk-4711\n")
    assert key.reveal() == "sk-4711"
    assert "4711" not in f"{key} {key!r} {key!s} {[key]}"
    with pytest.raises(TypeError):
        pickle.dumps(key)


@pytest.mark.parametrize("text", ["", "  ", "a b", "a\nb", "kéy", "a\x00b"])
def test_what_no_header_can_carry_is_refused_unshown(text: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        SecretKey(text)
    assert text.strip() == "" or text not in str(raised.value)


def test_the_organizations_own_key_comes_first() -> None:
    environment = {
        "DREAMING_KEY_OPENAI__ACME_2D_EU": "own",
        "DREAMING_KEY_OPENAI": "general",
        "OPENAI_API_KEY": "ordinary",
    }
    keys = EnvironmentKeys(environment)
    assert keys.read("acme-eu", "openai") == "own"
    assert keys.read("acme", "openai") == "general"
    del environment["DREAMING_KEY_OPENAI"]
    assert keys.read("acme", "openai") == "ordinary"


def test_an_openai_key_is_not_given_to_other_servers() -> None:
    keys = EnvironmentKeys({"OPENAI_API_KEY": "ordinary", "DREAMING_KEY_OPENAI": "general"})
    assert keys.read("acme", "compatible") is None


def test_an_anthropic_key_has_its_usual_name_too() -> None:
    keys = EnvironmentKeys({"ANTHROPIC_API_KEY": "ordinary", "OPENAI_API_KEY": "other"})
    assert keys.read("acme", "anthropic") == "ordinary"
    with pytest.raises(MissingKey, match="set DREAMING_KEY_ANTHROPIC or ANTHROPIC_API_KEY, in the environment or"):
        KeyResolver(EnvironmentKeys({}), clock=Clock()).require("acme", "anthropic")


def test_a_blank_variable_is_no_key() -> None:
    assert (
        EnvironmentKeys({"DREAMING_KEY_OPENAI": " ", "OPENAI_API_KEY": "ordinary"}).read("acme", "openai") == "ordinary"
    )


@given(st.text(max_size=12), st.text(max_size=12))
def test_two_organizations_never_share_a_variable(first: str, second: str) -> None:
    assert (variable_part(first) == variable_part(second)) == (first == second)
    assert variable_part(first).replace("_", "A").isalnum() or not first


def test_a_key_is_remembered_for_its_time_and_its_organization_only() -> None:
    source, clock = CountingSource(), Clock()
    source.keys = {("a", "openai"): "one", ("b", "openai"): "two"}
    resolver = KeyResolver(source, clock=clock, time_to_live=10)
    assert [revealed(resolver.resolve(org, "openai")) for org in "aabb"] == ["one", "one", "two", "two"]
    assert source.reads == 2
    source.keys["a", "openai"] = "rotated"
    clock.seconds = 9.9
    assert revealed(resolver.resolve("a", "openai")) == "one"
    clock.seconds = 10
    assert revealed(resolver.resolve("a", "openai")) == "rotated"


def test_only_so_many_keys_are_remembered() -> None:
    source = CountingSource()
    source.keys = {(org, "openai"): org for org in "abc"}
    resolver = KeyResolver(source, clock=Clock(), capacity=2)
    for org in "abac":
        resolver.resolve(org, "openai")
    reads = source.reads
    resolver.resolve("a", "openai")
    assert source.reads == reads
    resolver.resolve("b", "openai")
    assert source.reads == reads + 1


def test_a_missing_key_is_an_error_that_names_what_to_set_and_a_new_one_works_at_once() -> None:
    source = CountingSource()
    resolver = KeyResolver(source, clock=Clock())
    assert resolver.resolve("a", "openai") is None
    with pytest.raises(MissingKey, match="set DREAMING_KEY_OPENAI or OPENAI_API_KEY"):
        resolver.require("a", "openai")
    source.keys["a", "openai"] = "new"
    assert resolver.require("a", "openai").reveal() == "new"


def test_an_unusable_key_is_missing_and_unshown() -> None:
    source = CountingSource()
    source.keys["a", "openai"] = "two words"
    with pytest.raises(MissingKey) as raised:
        KeyResolver(source, clock=Clock()).resolve("a", "openai")
    assert "two words" not in str(raised.value)
