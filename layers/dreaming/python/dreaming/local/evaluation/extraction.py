"""How extraction fares on labelled notes: what it finds, what it makes up, what it believes and must not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dreaming.beliefs.records import Kind
from dreaming.local.evaluation.labelled_notes import Expected, LabelledNote, Trap
from dreaming.local.evaluation.matching import Kept, believed, found
from dreaming.local.evaluation.reading import Reading
from dreaming.local.evaluation.records import Figure

VERSION = 1
"""Changes with the matching rule or the meaning of a figure: results of two versions are not compared."""

FABRICATED = ("quote_missing", "quote_spliced", "quote_prompt")
"""The checks that fail because the quote is not a stretch of its note."""

GOALS: Mapping[str, tuple[str, float]] = {
    "all.precision": (">=", 80.0),
    "all.traps": ("<=", 5.0),
    "all.fabricated_kept": ("<=", 0.0),
}


@dataclass(frozen=True, slots=True)
class Marked:
    """One note's claims held against its labels.

    `found` are the expected claims that were found, `right` the kept claims that found one, `sprung` the
    traps that were believed, `kinds_right` how many of the right ones have a kind that fits.
    """

    note: LabelledNote
    kept: tuple[Kept, ...]
    right: tuple[Kept, ...]
    found: tuple[Expected, ...]
    sprung: tuple[Trap, ...]
    kinds_right: int

    @property
    def wanted(self) -> list[Expected]:
        """The expected claims whose absence counts."""
        return [expected for expected in self.note.claims if not expected.optional]

    @property
    def missed(self) -> list[Expected]:
        """The expected claims that are not there."""
        return [expected for expected in self.wanted if expected not in self.found]

    @property
    def wrong(self) -> list[Kept]:
        """The kept claims that found nothing expected."""
        return [claim for claim in self.kept if claim not in self.right]

    @property
    def problems(self) -> list[str]:
        """What went wrong, for people."""
        return [
            *(f"believed ({trap.why}): {trap.statement}" for trap in self.sprung),
            *(f"not expected: {claim.statement}" for claim in self.wrong),
            *(f"missed: {expected.statement}" for expected in self.missed),
        ]


def mark(note: LabelledNote, kept: Sequence[Kept]) -> Marked:
    """Hold a note's kept claims against its labels; a claim that is nearer to a trap than to a label believes it."""
    met: list[Expected] = []
    right: list[Kept] = []
    sprung: list[Trap] = []
    kinds_right = 0
    for claim in kept:
        matches = {expected: found(claim, expected, note) for expected in note.claims}
        best = max(matches.values(), default=0.0)
        traps = [trap for trap in note.traps if believed(claim, trap, note) > best]
        sprung += [trap for trap in traps if trap not in sprung]
        if best and not traps:
            matching = [expected for expected, share in matches.items() if share]
            right.append(claim)
            kinds_right += any(claim.kind in expected.kind for expected in matching)
            met += [expected for expected in matching if expected not in met]
    return Marked(note, tuple(kept), tuple(right), tuple(met), tuple(sprung), kinds_right)


def mark_all(notes: Sequence[LabelledNote], kept: Mapping[str, Sequence[Kept]]) -> list[Marked]:
    """Hold every note's claims against its labels."""
    return [mark(note, kept.get(note.id, ())) for note in notes]


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a million tokens of a model, in and out."""

    tokens_in: float
    tokens_out: float

    def cost(self, reading: Reading) -> float:
        """Return what a reading's calls cost, in dollars."""
        return (reading.input_tokens * self.tokens_in + reading.output_tokens * self.tokens_out) / 1_000_000


def figures(marked: Sequence[Marked], reading: Reading, prices: Prices | None) -> dict[str, Figure]:
    """Return the figures of all notes, then those by language, form, kind of claim and kind of trap.

    A share of nothing is left out, and so is a cost without prices.
    """
    values: dict[str, tuple[float, str]] = {}
    for name, part, whole in _shares("all", marked):
        values[name] = (100 * part / whole, "%")
    rejected = sum(reading.rejected.values())
    fabricated = sum(reading.rejected.get(rule, 0) for rule in FABRICATED)
    kept = sum(len(one.kept) for one in marked)
    if reading.extracted:
        values["all.fabricated"] = (100 * fabricated / reading.extracted, "%")
        values["all.rejected"] = (100 * rejected / reading.extracted, "%")
    values["all.fabricated_kept"] = (100 * reading.misquoted / max(1, kept), "%")
    values["all.claims"] = (kept / len(marked), "a note")
    values["all.calls"] = (reading.calls / len(marked), "a note")
    values["all.tokens_in"] = (reading.input_tokens / len(marked), "a note")
    values["all.tokens_out"] = (reading.output_tokens / len(marked), "a note")
    if prices is not None:
        values["all.cost"] = (1_000 * prices.cost(reading) / len(marked), "$ a 1,000 notes")
    values["all.notes_failed"] = (float(len(reading.failed)), "notes")
    for group, chosen in (("language", _language), ("form", _form)):
        for key in sorted({chosen(one) for one in marked}):
            for name, part, whole in _shares(f"{group}.{key}", [one for one in marked if chosen(one) == key]):
                values[name] = (100 * part / whole, "%")
    values.update(_by_kind(marked))
    values.update(_by_trap(marked))
    return {name: Figure.of(value, unit, GOALS.get(name)) for name, (value, unit) in values.items()}


def _language(one: Marked) -> str:
    return one.note.language


def _form(one: Marked) -> str:
    return one.note.form


def _shares(prefix: str, marked: Sequence[Marked]) -> Iterator[tuple[str, int, int]]:
    """Yield each share as how many of how many, where there are any."""
    kept = sum(len(one.kept) for one in marked)
    right = sum(len(one.right) for one in marked)
    wanted = sum(len(one.wanted) for one in marked)
    found = wanted - sum(len(one.missed) for one in marked)
    quiet = [one for one in marked if not one.note.claims]
    shares = {
        "precision": (right, kept),
        "recall": (found, wanted),
        "traps": (sum(len(one.sprung) for one in marked), sum(len(one.note.traps) for one in marked)),
        "kinds": (sum(one.kinds_right for one in marked), right),
        "silent": (sum(not one.kept for one in quiet), len(quiet)),
    }
    for name, (part, whole) in shares.items():
        if whole:
            yield f"{prefix}.{name}", part, whole


def _by_kind(marked: Sequence[Marked]) -> Iterator[tuple[str, tuple[float, str]]]:
    """Yield the recall of each kind; a claim that may be of several counts under the first."""
    for kind in Kind:
        wanted = [expected for one in marked for expected in one.wanted if expected.kind[0] is kind]
        missed = [expected for one in marked for expected in one.missed if expected.kind[0] is kind]
        if wanted:
            yield f"kind.{kind.value}.recall", (100 * (len(wanted) - len(missed)) / len(wanted), "%")


def _by_trap(marked: Sequence[Marked]) -> Iterator[tuple[str, tuple[float, str]]]:
    """Yield how many traps of each sort were believed."""
    traps = [trap for one in marked for trap in one.note.traps]
    sprung = [trap for one in marked for trap in one.sprung]
    for why in sorted({trap.why for trap in traps}):
        number = sum(trap.why == why for trap in traps)
        yield f"trap.{why}.traps", (100 * sum(trap.why == why for trap in sprung) / number, "%")


def details(marked: Sequence[Marked], reading: Reading) -> dict[str, Any]:
    """Return what the figures depend on: how much there was, and which checks refused how many claims."""
    return {
        "notes": len(marked),
        "claims_expected": sum(len(one.wanted) for one in marked),
        "claims_kept": sum(len(one.kept) for one in marked),
        "traps": sum(len(one.note.traps) for one in marked),
        "claims_extracted": reading.extracted,
        "rejected_by_check": dict(reading.rejected),
        "calls": reading.calls,
        "notes_failed": list(reading.failed),
    }
