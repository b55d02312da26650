"""From the registry, the environment and an organization's overrides to the values in force."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeAlias

from dreaming.errors import InvalidInput
from dreaming.settings.records import ChangedBy, Setting
from dreaming.settings.registry import REGISTRY

Value: TypeAlias = bool | int | float | str

MAX_TEXT_LENGTH = 2_000

_PREFIXES = ("DREAMING_", "QUOXDREAM_", "QM_LTM_")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Origin(StrEnum):
    """Where a value comes from."""

    DEFAULT = "default"
    ENVIRONMENT = "environment"
    ORGANIZATION = "organization"


@dataclass(frozen=True, slots=True)
class ResolvedSetting:
    """A setting, the value in force, and where that comes from (`variable`: the one that was set)."""

    setting: Setting
    value: Value
    origin: Origin
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownVariable:
    """An environment variable that sets nothing and looks like one that would."""

    name: str
    meant: str


class Settings(Mapping[str, Value]):
    """The values in force for one organization, by name.

    An unknown name is a `KeyError`, a wrong accessor a `TypeError`: both are faults of the caller.
    """

    def __init__(self, resolved: Mapping[str, ResolvedSetting]) -> None:
        self._resolved = dict(resolved)

    def __getitem__(self, name: str) -> Value:
        """Return the value of the setting `name`."""
        return self._resolved[name].value

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in the registry's order."""
        return iter(self._resolved)

    def __len__(self) -> int:
        """Count the settings."""
        return len(self._resolved)

    def resolved(self, name: str) -> ResolvedSetting:
        """Return the setting `name` with its value and origin."""
        return self._resolved[name]

    def flag(self, name: str) -> bool:
        """Return a setting that is true or false."""
        value = self[name]
        if not isinstance(value, bool):
            raise TypeError(f"the setting {name} is not a flag")
        return value

    def integer(self, name: str) -> int:
        """Return a setting that is a whole number."""
        value = self[name]
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"the setting {name} is not a whole number")
        return value

    def number(self, name: str) -> float:
        """Return a setting that is a number with a fraction."""
        value = self[name]
        if not isinstance(value, float):
            raise TypeError(f"the setting {name} is not a number with a fraction")
        return value

    def text(self, name: str) -> str:
        """Return a setting that is text."""
        value = self[name]
        if not isinstance(value, str):
            raise TypeError(f"the setting {name} is not text")
        return value


def resolve(environment: Mapping[str, str], overrides: Mapping[str, object]) -> Settings:
    """Return every setting: the organization's override, else the environment's value, else the default.

    Raises:
        InvalidInput: a variable or an override has a value that its setting does not allow, or an
            override names no setting or one that only the deployment may change.
    """
    resolved = {name: _from_environment(setting, environment) for name, setting in REGISTRY.items()}
    for name, value in overrides.items():
        setting = find_setting(name)
        require_organization_may_change(setting)
        resolved[name] = ResolvedSetting(setting, check_value(setting, value), Origin.ORGANIZATION)
    return Settings(resolved)


def resolve_some(environment: Mapping[str, str], *names: str) -> Settings:
    """Return only these settings, as the deployment has them, whatever stands in the variables of others.

    Raises:
        InvalidInput: there is no such setting, or its variable has a value that it does not allow.
    """
    return Settings({name: _from_environment(find_setting(name), environment) for name in names})


def find_setting(name: str) -> Setting:
    """Return the setting `name`.

    Raises:
        InvalidInput: there is none; the remedy names one that is spelt alike.
    """
    setting = REGISTRY.get(name)
    if setting is None:
        alike = get_close_matches(name, REGISTRY, n=1)
        remedy = f"did you mean {alike[0]}?" if alike else f"use one of {', '.join(REGISTRY)}"
        raise InvalidInput(_shown(name), "is not a setting", remedy)
    return setting


def require_organization_may_change(setting: Setting) -> None:
    """Raise `InvalidInput` when only the deployment's environment may change the setting."""
    if setting.changed_by is not ChangedBy.ORGANIZATION:
        raise InvalidInput(
            setting.name, "cannot be changed by an organization", f"set {setting.environment} in the environment"
        )


def parse_value(setting: Setting, text: str, *, field: str | None = None) -> Value:
    """Read a value from text, as the environment and the command line hold it.

    Raises:
        InvalidInput: the text is not what the setting takes; the message names `field`.
    """
    field = field or setting.name
    stripped = text.strip()
    value: object = stripped
    if setting.type is bool:
        value = {"true": True, "false": False}.get(stripped, stripped)
    elif setting.type is int and _WHOLE_NUMBER.fullmatch(stripped):
        value = int(stripped)
    elif setting.type is float and _NUMBER.fullmatch(stripped):
        value = float(stripped)
    return check_value(setting, value, field=field)


def check_value(setting: Setting, value: object, *, field: str | None = None) -> Value:
    """Return `value` in the setting's own type.

    A whole number serves where a number is meant; nothing else is converted.

    Raises:
        InvalidInput: another type, out of bounds, or not among the choices.
    """
    typed = _typed(setting, value)
    problem = f"is {_shown(value)}, which is not {_kind(setting)}" if typed is None else _breach(setting, typed)
    if typed is None or problem is not None:
        raise InvalidInput(field or setting.name, str(problem), f"use {allowed(setting)}")
    return typed


def allowed(setting: Setting) -> str:
    """Say what the setting takes, e.g. `a whole number from 1 to 200`."""
    if setting.choices:
        return "one of " + ", ".join(setting.choices)
    if setting.type is bool:
        return "true or false"
    if setting.type is str:
        return f"up to {MAX_TEXT_LENGTH} characters without line breaks"
    if setting.minimum is None or setting.maximum is None:
        return _kind(setting)
    return f"{_kind(setting)} from {_plain(setting.minimum)} to {_plain(setting.maximum)}"


def environment_problems(environment: Mapping[str, str]) -> tuple[InvalidInput, ...]:
    """Return what is wrong with the environment's settings, all of it, in the registry's order."""
    problems = []
    for setting in REGISTRY.values():
        try:
            _from_environment(setting, environment)
        except InvalidInput as problem:
            problems.append(problem)
    return tuple(problems)


def unknown_variables(environment: Mapping[str, str]) -> tuple[UnknownVariable, ...]:
    """Return the variables that set nothing and are spelt almost like one that would."""
    known = {
        variable: setting.environment
        for setting in REGISTRY.values()
        for variable in (setting.environment, *setting.aliases)
    }
    found: list[UnknownVariable] = []
    for name in sorted(environment):
        if name.startswith(_PREFIXES) and name not in known:
            prefix = next(prefix for prefix in _PREFIXES if name.startswith(prefix))
            alike = get_close_matches(name, [one for one in known if one.startswith(prefix)], n=1, cutoff=0.85)
            found.extend(UnknownVariable(name, known[meant]) for meant in alike)
    return tuple(found)


def _from_environment(setting: Setting, environment: Mapping[str, str]) -> ResolvedSetting:
    for variable in (setting.environment, *setting.aliases):
        text = environment.get(variable, "")
        if text.strip():  # an empty variable counts as unset
            return ResolvedSetting(setting, parse_value(setting, text, field=variable), Origin.ENVIRONMENT, variable)
    return ResolvedSetting(setting, setting.default, Origin.DEFAULT)


def _typed(setting: Setting, value: object) -> Value | None:
    if isinstance(value, bool):
        return value if setting.type is bool else None
    if setting.type is float and isinstance(value, int | float):
        # False for NaN, the infinities, and whole numbers that no float can hold.
        return float(value) if abs(value) < 1e300 else None
    if setting.type is int and isinstance(value, int):
        return value
    if setting.type is str and isinstance(value, str):
        return value
    return None


def _breach(setting: Setting, value: Value) -> str | None:
    if isinstance(value, str):
        return _text_breach(setting, value)
    if setting.minimum is not None and value < setting.minimum:
        return f"is {value}, below the least"
    if setting.maximum is not None and value > setting.maximum:
        return f"is {value}, above the most"
    return None


def _text_breach(setting: Setting, value: str) -> str | None:
    if setting.choices and value not in setting.choices:
        return f"is {_shown(value)}"
    if len(value) > MAX_TEXT_LENGTH:
        return f"has {len(value)} characters"
    return "contains control characters" if _UNSTORABLE.search(value) else None


def _kind(setting: Setting) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[setting.type]


def _plain(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
