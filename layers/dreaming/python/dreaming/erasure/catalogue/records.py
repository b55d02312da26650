"""Tables as the catalogue of the database describes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table of tenants' rows; `columns` and `key` (the primary key, in order) hold SQL types by name."""

    name: str
    columns: dict[str, str]
    key: dict[str, str]

    @property
    def tenant_column(self) -> str | None:
        """What tells whose a row is: `slice_id`, else `org_id`."""
        return next((name for name in ("slice_id", "org_id") if name in self.columns), None)


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: rows of `child` name rows of `parent` by these columns."""

    child: str
    child_columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All tables of tenants by name, and how they refer to each other."""

    tables: dict[str, Table]
    references: tuple[Reference, ...]

    def referring_to(self, parent: str) -> list[Reference]:
        """Return the foreign keys to a table, except those of its own rows."""
        return [one for one in self.references if one.parent == parent and one.child != parent]
