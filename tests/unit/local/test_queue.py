"""The local queue behaves as SQS FIFO does where the passes rely on it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dreaming.errors import InvalidInput
from dreaming.local.queue import LocalQueue, QueueCounts, Received

START = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


class Clock:
    """A clock that moves only when a test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queues of dreaming.sqlite"


@pytest.fixture
def queue(path: Path, clock: Clock) -> Iterator[LocalQueue]:
    with LocalQueue(path, "consolidation", clock=clock) as opened:
        yield opened


def send(queue: LocalQueue, body: str, group: str = "a", deduplication_id: str | None = None) -> str:
    return queue.send(body, group_id=group, deduplication_id=deduplication_id or body)


def take(queue: LocalQueue, *, seconds: float = 30, holder: str = "worker") -> Received:
    received = queue.receive(holder=holder, visibility_timeout=seconds)
    assert received is not None
    return received


def nothing(queue: LocalQueue) -> bool:
    return queue.receive(holder="worker", visibility_timeout=30) is None


def test_a_message_arrives_with_what_was_sent(queue: LocalQueue, clock: Clock) -> None:
    message_id = queue.send('{"slice_id": 1}', group_id="slice-1", deduplication_id="run:1:1")
    clock.advance(2)
    received = take(queue)
    assert (received.message_id, received.body) == (message_id, '{"slice_id": 1}')
    assert (received.group_id, received.deduplication_id) == ("slice-1", "run:1:1")
    assert (received.receive_count, received.sent_at) == (1, START)
    assert received.first_received_at == START + timedelta(seconds=2)


def test_messages_of_a_group_arrive_in_order_and_one_at_a_time(queue: LocalQueue) -> None:
    for body in ("one", "two", "three"):
        send(queue, body)
    first = take(queue)
    assert first.body == "one"
    assert nothing(queue)
    assert queue.delete(first.receipt)
    assert take(queue).body == "two"


def test_groups_do_not_wait_for_each_other(queue: LocalQueue) -> None:
    send(queue, "a1", "a")
    send(queue, "a2", "a")
    send(queue, "b1", "b")
    assert [take(queue).body, take(queue).body] == ["a1", "b1"]
    assert nothing(queue)


def test_queues_of_one_file_do_not_mix(queue: LocalQueue, path: Path, clock: Clock) -> None:
    with LocalQueue(path, "decay", clock=clock) as other:
        send(queue, "mine", deduplication_id="same")
        send(other, "theirs", deduplication_id="same")
        assert take(other).body == "theirs"
        assert nothing(other)
        received = take(queue)
        assert not other.delete(received.receipt)
        assert queue.delete(received.receipt)


def test_an_expired_message_comes_back_before_its_successors(queue: LocalQueue, clock: Clock) -> None:
    send(queue, "one")
    send(queue, "two")
    take(queue, seconds=30)
    clock.advance(29.5)
    assert nothing(queue)
    clock.advance(0.5)
    again = take(queue, seconds=30)
    assert (again.body, again.receive_count) == ("one", 2)
    assert again.first_received_at == START


def test_a_replaced_receipt_deletes_nothing(queue: LocalQueue, clock: Clock) -> None:
    send(queue, "one")
    stale = take(queue, seconds=10)
    clock.advance(10)
    fresh = take(queue, seconds=10)
    assert not queue.delete(stale.receipt)
    assert not queue.change_visibility(stale.receipt, 0)
    assert queue.counts() == QueueCounts(visible=0, in_flight=1, dead=0)
    assert queue.delete(fresh.receipt)
    assert not queue.delete(fresh.receipt)


def test_an_expired_receipt_deletes_nothing(queue: LocalQueue, clock: Clock) -> None:
    send(queue, "one")
    late = take(queue, seconds=10)
    clock.advance(10)
    assert not queue.delete(late.receipt)
    assert take(queue).body == "one"


def test_visibility_can_be_shortened_and_extended(queue: LocalQueue, clock: Clock) -> None:
    send(queue, "one")
    first = take(queue, seconds=30)
    assert queue.change_visibility(first.receipt, 0)
    second = take(queue, seconds=30)
    assert queue.change_visibility(second.receipt, 100)
    clock.advance(99)
    assert nothing(queue)
    clock.advance(1)
    assert take(queue).receive_count == 3


@pytest.mark.parametrize(("later", "arrives"), [(0, False), (299.9, False), (300, True), (4_000, True)])
def test_a_repeated_id_is_swallowed_for_five_minutes(
    queue: LocalQueue, clock: Clock, later: float, arrives: bool
) -> None:
    first = send(queue, "one", deduplication_id="run:1:1")
    assert queue.delete(take(queue).receipt)
    clock.advance(later)
    second = send(queue, "again", deduplication_id="run:1:1")
    assert (second != first) == arrives
    assert nothing(queue) != arrives


def test_a_swallowed_repeat_does_not_prolong_the_window(queue: LocalQueue, clock: Clock) -> None:
    send(queue, "one", deduplication_id="id")
    clock.advance(200)
    send(queue, "two", deduplication_id="id")
    clock.advance(100)
    send(queue, "three", deduplication_id="id")
    assert queue.counts().visible == 2


def test_the_same_body_under_two_ids_arrives_twice(queue: LocalQueue) -> None:
    send(queue, "same", deduplication_id="1")
    send(queue, "same", deduplication_id="2")
    assert queue.counts().visible == 2


def test_the_window_outlives_the_process(path: Path, clock: Clock) -> None:
    with LocalQueue(path, "consolidation", clock=clock) as before:
        send(before, "one")
        assert before.delete(take(before).receipt)
    with LocalQueue(path, "consolidation", clock=clock) as after:
        send(after, "one")
        assert after.counts() == QueueCounts(visible=0, in_flight=0, dead=0)


def fail(queue: LocalQueue, times: int) -> None:
    for _ in range(times):
        assert queue.change_visibility(take(queue).receipt, 0)


def test_the_fifth_failure_makes_a_dead_letter_and_frees_the_group(queue: LocalQueue, clock: Clock) -> None:
    poison = send(queue, "poison")
    send(queue, "next")
    fail(queue, 4)
    assert queue.dead_letters() == ()
    fail(queue, 1)
    assert take(queue).body == "next"
    (dead,) = queue.dead_letters()
    assert (dead.message_id, dead.body, dead.receive_count, dead.dead_at) == (poison, "poison", 5, clock.now)
    assert queue.counts() == QueueCounts(visible=0, in_flight=1, dead=1)


def test_the_fifth_receiver_may_still_finish(queue: LocalQueue) -> None:
    send(queue, "slow")
    fail(queue, 4)
    last = take(queue)
    assert queue.counts() == QueueCounts(visible=0, in_flight=1, dead=0)
    assert queue.delete(last.receipt)
    assert queue.dead_letters() == ()


def test_redrive_sends_dead_letters_again_behind_their_group(queue: LocalQueue) -> None:
    send(queue, "poison")
    fail(queue, 5)
    send(queue, "next")
    assert queue.redrive() == 1
    assert queue.dead_letters() == ()
    following = take(queue)
    assert following.body == "next"
    assert queue.delete(following.receipt)
    again = take(queue)
    assert (again.body, again.receive_count) == ("poison", 1)
    assert queue.redrive() == 0


def test_release_frees_only_what_the_dead_process_held(queue: LocalQueue) -> None:
    for group in ("a", "b", "c"):
        send(queue, group, group)
    held = take(queue, holder="host:41:1")
    take(queue, holder="host:412:1")
    assert queue.release("host:41:") == 1
    assert not queue.delete(held.receipt)
    assert queue.counts() == QueueCounts(visible=2, in_flight=1, dead=0)
    assert take(queue).body == "a"


def test_release_reads_the_prefix_literally(queue: LocalQueue) -> None:
    send(queue, "one")
    take(queue, holder="host:41")
    assert queue.release("%") == 0
    with pytest.raises(InvalidInput, match="holder_prefix"):
        queue.release("")


@pytest.mark.parametrize(
    ("act", "field"),
    [
        (lambda queue: queue.send("x", group_id="", deduplication_id="d"), "group_id"),
        (lambda queue: queue.send("x", group_id="g", deduplication_id="d" * 129), "deduplication_id"),
        (lambda queue: queue.send("x" * 1_048_577, group_id="g", deduplication_id="d"), "body"),
        (lambda queue: queue.receive(holder="w", visibility_timeout=-1), "visibility_timeout"),
        (lambda queue: queue.receive(holder="w", visibility_timeout=43_201), "visibility_timeout"),
    ],
)
def test_what_sqs_refuses_is_refused(queue: LocalQueue, act: Callable[[LocalQueue], object], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        act(queue)
    assert queue.counts() == QueueCounts(visible=0, in_flight=0, dead=0)


def test_threads_never_share_a_message(queue: LocalQueue) -> None:
    for number in range(60):
        send(queue, str(number), group=str(number % 6))

    def drain(_: int) -> list[int]:
        numbers = []
        while (counts := queue.counts()).visible or counts.in_flight:
            received = queue.receive(holder="thread", visibility_timeout=600)
            if received is not None:
                numbers.append(int(received.body))
                assert queue.delete(received.receipt)
        return numbers

    with ThreadPoolExecutor(4) as pool:
        drained = list(pool.map(drain, range(4)))
    assert sorted(number for numbers in drained for number in numbers) == list(range(60))
    for numbers in drained:
        for group in range(6):
            of_group = [number for number in numbers if number % 6 == group]
            assert of_group == sorted(of_group)


DRAIN = """
import sys
from pathlib import Path
from dreaming.local.queue import LocalQueue

with LocalQueue(Path(sys.argv[1]), "consolidation") as queue:
    print("ready", flush=True)
    sys.stdin.readline()
    while (counts := queue.counts()).visible or counts.in_flight:
        received = queue.receive(holder="drain", visibility_timeout=600)
        if received is not None:
            print(received.group_id, received.body, flush=True)
            assert queue.delete(received.receipt)
"""

HOLD = """
import sys
from datetime import datetime
from pathlib import Path
from dreaming.local.queue import LocalQueue

now = datetime.fromisoformat(sys.argv[2])
queue = LocalQueue(Path(sys.argv[1]), "consolidation", clock=lambda: now)
print(queue.receive(holder="victim:1", visibility_timeout=180).body, flush=True)
sys.stdin.readline()
"""


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_processes_never_share_a_message_and_keep_the_order_of_groups(path: Path) -> None:
    with LocalQueue(path, "consolidation") as queue:
        for number in range(120):
            queue.send(str(number), group_id=f"group-{number % 5}", deduplication_id=str(number))
    processes = [start(DRAIN, str(path)) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    outputs = [process.communicate("go\n", timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    seen = [line.split() for output in outputs for line in output.splitlines()]
    assert sorted(int(body) for _, body in seen) == list(range(120))
    for output in outputs:
        for group in range(5):
            bodies = [int(line.split()[1]) for line in output.splitlines() if line.startswith(f"group-{group} ")]
            assert bodies == sorted(bodies)


def test_many_processes_may_create_the_file_at_once(path: Path) -> None:
    processes = [start(DRAIN, str(path)) for _ in range(6)]
    for process in processes:
        process.communicate("go\n", timeout=60)
    assert [process.returncode for process in processes] == [0] * 6


@pytest.fixture
def killed_receiver(queue: LocalQueue, path: Path) -> None:
    send(queue, "one")
    victim = start(HOLD, str(path), START.isoformat())
    assert victim.stdout is not None
    assert victim.stdout.readline() == "one\n"
    victim.kill()
    victim.communicate()
    assert victim.returncode == -signal.SIGKILL


@pytest.mark.usefixtures("killed_receiver")
def test_a_killed_receiver_delays_its_message_by_the_visibility_timeout(queue: LocalQueue, clock: Clock) -> None:
    clock.advance(179)
    assert nothing(queue)
    clock.advance(1)
    assert take(queue).receive_count == 2


@pytest.mark.usefixtures("killed_receiver")
def test_what_a_killed_receiver_held_can_be_released(queue: LocalQueue) -> None:
    assert nothing(queue)
    assert queue.release("victim:") == 1
    assert take(queue).receive_count == 2


def test_only_some_groups_are_received_and_counted(queue: LocalQueue) -> None:
    for number, group in enumerate(("a", "a", "b")):
        queue.send(str(number), group_id=group, deduplication_id=str(number))
    assert queue.receive(holder="h", visibility_timeout=60, groups=[]) is None
    received = queue.receive(holder="h", visibility_timeout=60, groups=["b", "c"])
    assert received is not None
    assert received.body == "2"
    assert queue.receive(holder="h", visibility_timeout=60, groups=["b"]) is None
    assert queue.counts(["b"]) == QueueCounts(visible=0, in_flight=1, dead=0)
    assert queue.counts() == QueueCounts(visible=2, in_flight=1, dead=0)


def test_redrive_can_be_of_some_groups_alone(path: Path, clock: Clock) -> None:
    with LocalQueue(path, "consolidation", clock=clock, max_receive_count=1) as queue:
        for group in ("a", "b"):
            send(queue, f"of {group}", group)
        for _ in range(2):
            take(queue, seconds=1)
        clock.advance(2)
        assert queue.counts().dead == 2
        assert queue.redrive([]) == 0
        assert queue.redrive(["b"]) == 1
        assert take(queue).body == "of b"
        assert [letter.body for letter in queue.dead_letters()] == ["of a"]
