"""In which order tables are emptied. Pure."""

from __future__ import annotations

from graphlib import TopologicalSorter

from dreaming.erasure.catalogue.records import Catalogue


def children_first(catalogue: Catalogue) -> list[str]:
    """Return the tables so that each comes before those it refers to.

    Then no deletion reaches further than its own table, and each row is counted where it stood.
    """
    graph: dict[str, set[str]] = {name: set() for name in sorted(catalogue.tables)}
    for one in catalogue.references:
        if one.child != one.parent and one.parent in graph and one.child in graph:
            graph[one.parent].add(one.child)
    return list(TopologicalSorter(graph).static_order())


def of_slices(catalogue: Catalogue) -> list[str]:
    """Return the tables whose rows belong to a slice, children first; `slices` itself is not among them."""
    return [name for name in children_first(catalogue) if name != "slices" and _column(catalogue, name) == "slice_id"]


def of_organizations(catalogue: Catalogue) -> list[str]:
    """Return the tables whose rows belong to an organization and to no slice, children first."""
    return [name for name in children_first(catalogue) if name != "slices" and _column(catalogue, name) == "org_id"]


def _column(catalogue: Catalogue, name: str) -> str | None:
    return catalogue.tables[name].tenant_column
