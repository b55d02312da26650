"""Who works on an installation is known, and what a killed process left behind is of nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dreaming.errors import Misconfigured
from dreaming.local.home import make_home, private_file
from dreaming.local.occupation import DRAIN, UP, Occupant, beside_others, occupant, occupied


def test_a_second_one_is_told_who_is_there(tmp_path: Path) -> None:
    with occupied(tmp_path, UP) as claim:
        claim.tell("http://127.0.0.1:8377")
        assert occupant(tmp_path, UP) == Occupant(UP, os.getpid(), "http://127.0.0.1:8377")
        told = rf"process {os.getpid()}, at http://127.0.0.1:8377"
        with pytest.raises(Misconfigured, match=told), occupied(tmp_path, UP):
            raise AssertionError("two at once")
        assert occupant(tmp_path, DRAIN) is None
    assert occupant(tmp_path, UP) is None
    with occupied(tmp_path, UP):
        assert occupant(tmp_path, UP) == Occupant(UP, os.getpid())


def test_others_go_on_beside_and_know_of_each_other(tmp_path: Path) -> None:
    with occupied(tmp_path, UP), beside_others(tmp_path, DRAIN) as first:
        assert [one.what for one in first] == [UP]
        with beside_others(tmp_path, DRAIN) as second:
            assert [one.what for one in second] == [UP, DRAIN]
        assert occupant(tmp_path, DRAIN) is not None
    assert occupant(tmp_path, DRAIN) is None


def test_a_killed_process_leaves_nothing_that_is_in_the_way(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from dreaming.local.occupation import UP, Occupation; "
        "claim = Occupation(Path(sys.argv[1]), UP); claim.tell('http://x'); print('there', flush=True); time.sleep(600)"
    )
    other = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "there\n"
    assert occupant(tmp_path, UP) == Occupant(UP, other.pid, "http://x")
    other.kill()
    other.communicate()
    assert (tmp_path / "up.lock").read_text("utf-8")
    assert occupant(tmp_path, UP) is None
    with occupied(tmp_path, UP):
        assert occupant(tmp_path, UP) == Occupant(UP, os.getpid())


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_home_and_what_is_above_it_are_their_owners_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_home(tmp_path / "a" / "b" / "home")
        private_file(tmp_path / "a" / "file")
        (tmp_path / "wide").touch(0o644)
        (tmp_path / "wide").chmod(0o644)
        private_file(tmp_path / "wide")
    finally:
        os.umask(before)
    folders = [tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "home"]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a" / "file", tmp_path / "wide")} == {0o600}


def test_a_home_that_cannot_be_made_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(Misconfigured, match="name another with --home"):
            make_home(home)
