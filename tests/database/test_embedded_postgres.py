"""The embedded server: started once for all who ask, found again, replaced when it was killed."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from dreaming.errors import Misconfigured
from dreaming.local.full_disk import disk_full
from dreaming.local.postgres import EmbeddedPostgres, _pid_file, _start, ensure_running
from dreaming.local.postgres_programs import Programs, SystemUser, can_enter, is_postgres, packaged_folder, programs_of

PROGRAM = """
import sys
from pathlib import Path
from dreaming.local.postgres import ensure_running
print(ensure_running(Path(sys.argv[1]), keep=sys.argv[2] == "keep"), flush=True)
if sys.argv[2] != "keep":
    sys.stdin.read()
"""


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A state folder with a space in its name; its server is gone at the end."""
    folder = tmp_path / "a state"
    yield folder
    EmbeddedPostgres(folder).remove()


def answer(url: str) -> object:
    with psycopg.connect(url) as connection:
        return connection.execute("select current_database()").fetchone()


def pid_of(server: EmbeddedPostgres) -> int:
    pid, _ = _pid_file(server.folder / "data")
    assert pid is not None
    return pid


def child(state: Path, how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(state), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_keeps_its_data_over_a_restart_and_wants_its_password(state: Path) -> None:
    server = EmbeddedPostgres(state, durable=False)
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("create table kept (n integer)")
    server.stop()
    with pytest.raises(psycopg.OperationalError):
        answer(url)
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("select * from kept")
    with pytest.raises(psycopg.OperationalError, match="password"):
        answer(url.replace("postgres:", "postgres:x", 1))
    assert stat.S_IMODE((server.folder / "password").stat().st_mode) == 0o600


def test_a_running_server_is_found_again(state: Path) -> None:
    url = EmbeddedPostgres(state, durable=False).start()
    assert EmbeddedPostgres(state).start() == url


def test_two_at_once_get_the_same_server(state: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        urls = set(threads.map(lambda _: EmbeddedPostgres(state, durable=False).start(), range(3)))
    assert len(urls) == 1


def test_a_killed_server_is_replaced(state: Path) -> None:
    server = EmbeddedPostgres(state)
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("create table kept (n integer)")
    os.kill(pid_of(server), signal.SIGKILL)
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("select * from kept")


def test_a_pid_that_another_program_has_by_now_is_not_taken_for_the_server(state: Path) -> None:
    server = EmbeddedPostgres(state, durable=False)
    server.start()
    server.stop()
    pid_file = server.folder / "data" / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{server.folder / 'data'}\n0\n1\n\n127.0.0.1\n", encoding="utf-8")
    assert not is_postgres(os.getpid())
    assert answer(server.start()) == ("dreaming",)


def test_a_server_to_be_kept_outlives_the_process_that_started_it(state: Path) -> None:
    process = child(state, "keep")
    url, _ = process.communicate()
    assert process.returncode == 0
    assert answer(url.strip()) == ("dreaming",)
    EmbeddedPostgres(state).stop()
    with pytest.raises(psycopg.OperationalError):
        answer(url.strip())


def test_the_last_one_out_stops_a_server_that_is_not_to_be_kept(state: Path) -> None:
    first, second = child(state, "leave"), child(state, "leave")
    assert first.stdout is not None
    assert second.stdout is not None
    url = first.stdout.readline().strip()
    assert second.stdout.readline().strip() == url
    first.communicate()
    assert answer(url) == ("dreaming",)
    second.communicate()
    assert (first.returncode, second.returncode) == (0, 0)
    with pytest.raises(psycopg.OperationalError):
        answer(url)


def test_a_server_left_by_a_killed_process_is_used_again(state: Path) -> None:
    process = child(state, "leave")
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    process.kill()
    process.communicate()
    assert ensure_running(state) == url


def test_a_failing_start_names_the_log_and_the_remedy(state: Path) -> None:
    server = EmbeddedPostgres(state, durable=False)
    server.start()
    server.stop()
    settings = server.folder / "data" / "postgresql.conf"
    settings.write_text("nonsense = 1\n", encoding="utf-8")
    with pytest.raises(Misconfigured, match=r"did not start; see .*server\.log, or set DATABASE_URL"):
        server.start()


def test_programs_that_find_no_room_tell_of_the_full_disk(tmp_path: Path) -> None:
    for name in ("pg_ctl", "initdb"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'FATAL: could not write: No space left on device'\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    programs, data = Programs(tmp_path, None), tmp_path / "data"
    for begin in (
        lambda: programs.initialise(data, tmp_path / "password"),
        lambda: _start(programs, data, tmp_path / "server.log", 1, ""),
    ):
        with pytest.raises(OSError, match="No space left") as caught:
            begin()
        assert f"disk full at {data}:" in str(disk_full(caught.value, tmp_path))


def test_data_of_another_version_are_named(state: Path) -> None:
    server = EmbeddedPostgres(state, durable=False)
    server.start()
    server.stop()
    (server.folder / "data" / "PG_VERSION").write_text("12\n", encoding="utf-8")
    with pytest.raises(Misconfigured, match="another PostgreSQL version; move it away"):
        server.start()


def test_a_build_for_another_processor_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "package" / "pginstall" / "bin"
    folder.mkdir(parents=True)
    for name in ("postgres", "initdb", "pg_ctl"):
        (folder / name).write_text("#!/bin/sh\nkill -ILL $$\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="programs-of-dreaming-test-") as cache:
        Path(cache).chmod(0o755)
        programs = programs_of(folder) if os.geteuid() else programs_of(folder, Path(cache))
        with pytest.raises(Misconfigured, match="another processor; set DATABASE_URL"):
            programs.run("postgres", [], log=tmp_path / "log")


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(Misconfigured, match="no_such_package is not installed; install dreaming"):
        packaged_folder("no_such_package")


def test_whether_another_user_can_enter_a_folder_is_read_from_the_modes_above_it() -> None:
    stranger = SystemUser("stranger", 54321, 54321)
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="modes-of-dreaming-test-") as name:
        outer = Path(name)
        outer.chmod(0o755)
        assert can_enter(outer / "not yet there" / "nor this", stranger)
        outer.chmod(0o700)
        assert not can_enter(outer / "not yet there", stranger)
        assert can_enter(outer, SystemUser("we", os.geteuid(), os.getegid()))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
def test_root_copies_programs_that_the_servers_user_cannot_reach(tmp_path: Path, state: Path) -> None:
    hidden = tmp_path / "hidden"
    package = packaged_folder().parent.parent
    shutil.copytree(package, hidden / package.name, symlinks=True)
    shutil.copytree(package.with_name(f"{package.name}.libs"), hidden / f"{package.name}.libs")
    hidden.chmod(0o700)
    with tempfile.TemporaryDirectory(prefix="cache-of-dreaming-test-") as cache:
        Path(cache).chmod(0o755)
        programs = programs_of(hidden / package.name / "pginstall" / "bin", Path(cache) / "cache")
        assert programs.folder.is_relative_to(cache)
        assert programs.run("postgres", ["--version"], log=tmp_path / "log") == 0
        assert "PostgreSQL" in (tmp_path / "log").read_text(encoding="utf-8")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root keeps the data apart")
def test_data_kept_apart_go_with_their_state_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    state = tmp_path / "state"
    server = EmbeddedPostgres(state, durable=False)
    assert not server.folder.is_relative_to(state)
    with psycopg.connect(server.start()) as connection:
        connection.execute("create table old (n integer)")
    shutil.rmtree(state)
    try:
        with psycopg.connect(EmbeddedPostgres(state, durable=False).start()) as connection:
            assert connection.execute("select to_regclass('old')").fetchone() == (None,)
    finally:
        server.remove()
    assert not server.folder.exists()
