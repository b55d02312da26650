"""The methods of both clients, written down once.

A method is a descriptor over a function of `operations`, whose signature and text it has. The client that it is
looked up on decides whether it answers at once or is to be awaited; type checkers see the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from dreaming_client import operations
from dreaming_client.calls import Call, Pages

P = ParamSpec("P")
T = TypeVar("T")


class AtOnce(ABC):
    """A client whose methods return answers."""

    @abstractmethod
    def ask(self, call: Call[T]) -> T:
        """Return the answer to a call."""

    @abstractmethod
    def go_through(self, pages: Pages[T]) -> Iterator[T]:
        """Yield a list; the next page is asked for when one is used up."""


class Later(ABC):
    """A client whose methods are awaited."""

    @abstractmethod
    async def ask(self, call: Call[T]) -> T:
        """Return the answer to a call."""

    @abstractmethod
    def go_through(self, pages: Pages[T]) -> AsyncIterator[T]:
        """Yield a list; the next page is asked for when one is used up."""


class _One(Generic[P, T]):
    """A method that asks for one answer."""

    def __init__(self, operation: Callable[P, Call[T]]) -> None:
        self.operation = operation
        self.__doc__ = operation.__doc__

    @overload
    def __get__(self, client: None, kind: type) -> Self: ...
    @overload
    def __get__(self, client: AtOnce, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Later, kind: type) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: Any, kind: type) -> Any:
        if client is None:
            return self

        @wraps(self.operation)
        def method(*args: P.args, **options: P.kwargs) -> Any:
            return client.ask(self.operation(*args, **options))

        return method


class _Many(Generic[P, T]):
    """A method that goes through a list."""

    def __init__(self, operation: Callable[P, Pages[T]]) -> None:
        self.operation = operation
        self.__doc__ = operation.__doc__

    @overload
    def __get__(self, client: None, kind: type) -> Self: ...
    @overload
    def __get__(self, client: AtOnce, kind: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Later, kind: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Any, kind: type) -> Any:
        if client is None:
            return self

        @wraps(self.operation)
        def method(*args: P.args, **options: P.kwargs) -> Any:
            return client.go_through(self.operation(*args, **options))

        return method


class Methods:
    """What both clients can be asked."""

    health = _One(operations.health)

    remember = _One(operations.remember)
    note = _One(operations.note)
    notes = _Many(operations.notes)
    withdraw = _One(operations.withdraw)
    retired = _Many(operations.retired)
    retry_retired = _One(operations.retry_retired)

    beliefs = _Many(operations.beliefs)
    search = _One(operations.search)
    search_all = _Many(operations.search_all)
    beliefs_summary = _One(operations.beliefs_summary)
    why = _One(operations.why)
    confirm = _One(operations.confirm)
    archive = _One(operations.archive)
    restore = _One(operations.restore)
    unmerge = _One(operations.unmerge)
    split = _One(operations.split)
    brief = _One(operations.brief)
    forecast = _One(operations.forecast)
    fading = _Many(operations.fading)
    conflicts = _Many(operations.conflicts)
    resolve = _One(operations.resolve)

    capture = _One(operations.capture)
    recall = _One(operations.recall)

    status = _One(operations.status)
    runs = _Many(operations.runs)
    timeline = _One(operations.timeline)

    agents = _Many(operations.agents)
    agent = _One(operations.agent)
    score_changes = _Many(operations.score_changes)
    set_score = _One(operations.set_score)
    permission = _One(operations.permission)
    log_actions = _One(operations.log_actions)
    actions = _Many(operations.actions)
    dead_actions = _Many(operations.dead_actions)
    retry_dead_actions = _One(operations.retry_dead_actions)

    capabilities = _One(operations.capabilities)
    change_setting = _One(operations.change_setting)
    reset_setting = _One(operations.reset_setting)
    audit = _Many(operations.audit)

    erase_notes = _One(operations.erase_notes)
    lift_erasure = _One(operations.lift_erasure)
    erase_mine = _One(operations.erase_mine)
    erase_organization = _One(operations.erase_organization)
    export = _Many(operations.export)
