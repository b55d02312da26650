"""The home folder keeps variables line by line, and is its owner's alone."""

from pathlib import Path

import pytest

from dreaming.errors import InvalidInput
from dreaming.local.home import DeploymentEnvironment, deployment_environment, home_folder, keep_variable


def test_a_kept_variable_is_read_again_and_the_process_wins(tmp_path: Path) -> None:
    home = tmp_path / "home"
    keep_variable(home, "DREAMING_ENABLED", "true")
    keep_variable(home, "DREAMING_CHAT_MODEL", "a=b c")
    assert deployment_environment(home, {"DREAMING_ENABLED": "false"}) == {
        "DREAMING_ENABLED": "false",
        "DREAMING_CHAT_MODEL": "a=b c",
    }
    keep_variable(home, "DREAMING_CHAT_MODEL", None)
    assert deployment_environment(home, {}) == {"DREAMING_ENABLED": "true"}


@pytest.mark.parametrize("separator", ["\n", "\r", "\u2028", "\u0085", "\x1c"])
def test_a_value_cannot_bring_a_second_variable_along(tmp_path: Path, separator: str) -> None:
    with pytest.raises(InvalidInput, match="more than one line"):
        keep_variable(tmp_path, "DREAMING_CHAT_MODEL", f"x{separator}DREAMING_ENABLED=true")
    assert deployment_environment(tmp_path, {}) == {}


@pytest.mark.parametrize("content", [b"\xff\xfe=x\n", b"no equals sign\n", b"=x\n"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "environment").write_bytes(content)
    with pytest.raises(InvalidInput, match="environment"):
        deployment_environment(tmp_path, {})


def test_a_new_home_is_its_owners_alone(tmp_path: Path) -> None:
    keep_variable(tmp_path / "deep" / "home", "DREAMING_ENABLED", "true")
    assert (tmp_path / "deep" / "home").stat().st_mode & 0o777 == 0o700


def test_the_home_folder_is_named_by_variable_or_by_xdg(tmp_path: Path) -> None:
    assert home_folder({"DREAMING_HOME": str(tmp_path)}) == tmp_path
    assert home_folder({"XDG_DATA_HOME": str(tmp_path)}) == tmp_path / "dreaming"


def test_a_process_that_lives_long_sees_what_is_changed_meanwhile(tmp_path: Path) -> None:
    environment = DeploymentEnvironment(tmp_path, {"DREAMING_OWN": "1"})
    assert dict(environment) == {"DREAMING_OWN": "1"}
    keep_variable(tmp_path, "DREAMING_ENABLED", "true")
    assert environment["DREAMING_ENABLED"] == "true"
    keep_variable(tmp_path, "DREAMING_ENABLED", "false")
    keep_variable(tmp_path, "DREAMING_OWN", "2")
    assert dict(environment) == {"DREAMING_ENABLED": "false", "DREAMING_OWN": "1"}
    keep_variable(tmp_path, "DREAMING_ENABLED", None)
    assert "DREAMING_ENABLED" not in environment
