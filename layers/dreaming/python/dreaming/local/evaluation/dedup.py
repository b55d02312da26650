"""How deduplication fares on labelled pairs: what it merges wrongly, what it finds, what it leaves to a judge.

The pass's own decision, on two statements at a time: the left one believed, the right one claimed. Words
and vectors are asked by themselves and together, with the guards and without, so that each one's share can
be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from dreaming.beliefs.words import fold
from dreaming.errors import InvalidInput
from dreaming.local.evaluation.records import Figure
from dreaming.models.protocols import Embedder
from dreaming.passes.consolidation.deduplication import decide, like
from dreaming.passes.consolidation.guards import DEFAULT_GUARDS
from dreaming.passes.consolidation.nearness import Bands, Nearness, by_statement
from dreaming.passes.consolidation.records import Candidate, CandidateState

PARAPHRASE = "paraphrase"
APART = frozenset({"same_topic", "unrelated"})
"""The labels with a meaning of their own; every other one names a kind of contradiction."""

_COLUMNS = ("left", "right", "label")
_EMBED_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, and how they relate."""

    left: str
    right: str
    label: str

    @property
    def reported(self) -> bool:
        """Whether the pair is of the half whose figures are reported; pairs with one left statement stay together."""
        return sha256(fold(self.left).encode()).digest()[0] % 2 == 1


class Half(StrEnum):
    """Which pairs of a set are taken."""

    DEVELOPMENT = "development"
    REPORTED = "reported"
    ALL = "all"


class Outcome(StrEnum):
    """What becomes of a pair."""

    MERGED = "merged"
    QUEUED = "queued"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which similarity of words two statements match, and the bands of their vectors' cosine."""

    jaccard: float
    cosine: Bands


_BELIEVED = UUID(int=0)
_NEVER = 1.01  # more than any similarity


@dataclass(frozen=True, slots=True)
class Rules:
    """One way to decide: which similarities count, whether guards may object, whether a grey band is queued."""

    name: str
    title: str
    jaccard: bool
    cosine: bool
    guards: bool
    grey: bool

    def decide(self, pair: Pair, thresholds: Thresholds, nearness: Nearness) -> Outcome:
        """Return what these rules make of a pair: the pass's decision with what does not count switched off."""
        bands = thresholds.cosine if self.grey else replace(thresholds.cosine, grey=thresholds.cosine.threshold)
        decision = decide(
            pair.right,
            [Candidate(_BELIEVED, pair.left, CandidateState.LIVE)],
            threshold=thresholds.jaccard if self.jaccard else _NEVER,
            nearness=replace(nearness, bands=bands) if self.cosine else None,
            guards=DEFAULT_GUARDS if self.guards else (),
        )
        if decision.match is not None:
            return Outcome.MERGED
        return Outcome.QUEUED if decision.queued else Outcome.APART


ALL_RULES = (
    Rules("jaccard", "Jaccard alone", jaccard=True, cosine=False, guards=False, grey=False),
    Rules("jaccard_guards", "Jaccard, guards", jaccard=True, cosine=False, guards=True, grey=False),
    Rules("cosine", "cosine alone", jaccard=False, cosine=True, guards=False, grey=False),
    Rules("both", "both, no guards", jaccard=True, cosine=True, guards=False, grey=True),
    Rules("semantic", "both, guards, grey band", jaccard=True, cosine=True, guards=True, grey=True),
)
"""Every way that is compared; the last is deduplication as it is with `semantic_dedup` on."""

_GOALS = {"wrong_merges": ("<=", 2.0), "wrong_merge_rate": ("<=", 2.0), "paraphrases_found": (">=", 60.0),
          "others_queued": ("<=", 20.0)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair, its similarities, and what each way made of it, by the name of the rules."""

    pair: Pair
    jaccard: float
    cosine: float
    outcomes: Mapping[str, Outcome]

    def is_wrong(self, rules: str) -> bool:
        """Whether the rules did what they must not: merge what differs, or miss or queue without need."""
        outcome = self.outcomes[rules]
        if self.pair.label == PARAPHRASE:
            return outcome is Outcome.APART
        return outcome is Outcome.MERGED or (self.pair.label in APART and outcome is Outcome.QUEUED)


def read_pairs(path: Path) -> list[Pair]:
    """Read a TSV file of the columns left, right and label; a first line that names them gives their order.

    Empty lines and lines that begin with `#` are skipped. Labels are compared in lower case, with `_`
    for spaces and hyphens.

    Raises:
        InvalidInput: a line lacks a column, the file is not UTF-8 text, or it has no pair.
    """
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(str(path), "is not UTF-8 text", "save it as UTF-8") from error
    order: tuple[str, ...] = _COLUMNS
    pairs: list[Pair] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not line.strip() or line.startswith("#"):
            continue
        if not pairs and {cell.casefold() for cell in cells} >= set(_COLUMNS):
            order = tuple(cell.casefold() for cell in cells)
            continue
        values = dict(zip(order, cells, strict=False))
        if not all(values.get(name) for name in _COLUMNS):
            raise InvalidInput(
                f"{path}, line {number}", "lacks a column", "write left, right and label with tabs between"
            )
        label = values["label"].casefold().replace(" ", "_").replace("-", "_")
        pairs.append(Pair(values["left"], values["right"], label))
    if not pairs:
        raise InvalidInput(str(path), "has no pair", "write one line for each: left, right and label with tabs between")
    return pairs


def half_of(pairs: Iterable[Pair], half: Half) -> list[Pair]:
    """Return the pairs of a half, in their order."""
    return [pair for pair in pairs if half is Half.ALL or pair.reported is (half is Half.REPORTED)]


def judge(pairs: Sequence[Pair], embedder: Embedder, thresholds: Thresholds) -> list[Judged]:
    """Return what each way makes of each pair; every statement is embedded once."""
    statements = list(dict.fromkeys(statement for pair in pairs for statement in (pair.left, pair.right)))
    vectors = embedder.embed(statements, timeout=_EMBED_SECONDS)
    nearness = Nearness(embedder.name, thresholds.cosine, by_statement(zip(statements, vectors, strict=True)))
    judged = []
    for pair in pairs:
        likeness = like(pair.right, pair.left, nearness)
        outcomes = {rules.name: rules.decide(pair, thresholds, nearness) for rules in ALL_RULES}
        judged.append(Judged(pair, likeness.jaccard, likeness.cosine or 0.0, outcomes))
    return judged


def figures(judged: Sequence[Judged]) -> dict[str, Figure]:
    """Return the figures of every way, in percent; the goals are those of the last one.

    `wrong_merges` is the share of merges that should not be, `wrong_merge_rate` the share of the pairs
    that must stay apart. A share of nothing is left out.
    """
    found: dict[str, Figure] = {}
    for rules in ALL_RULES:
        for name, (part, whole) in _shares(judged, rules.name).items():
            if whole:
                goal = _GOALS.get(name) if rules is ALL_RULES[-1] else None
                found[f"{rules.name}.{name}"] = Figure.of(100 * part / whole, "%", goal)
    return found


def _shares(judged: Sequence[Judged], rules: str) -> dict[str, tuple[int, int]]:
    """Return each figure as how many of how many."""
    paraphrases = [one.outcomes[rules] for one in judged if one.pair.label == PARAPHRASE]
    others = [one.outcomes[rules] for one in judged if one.pair.label in APART]
    against = [one.outcomes[rules] for one in judged if one.pair.label not in APART | {PARAPHRASE}]
    wrong = [*others, *against].count(Outcome.MERGED)
    merged = paraphrases.count(Outcome.MERGED)
    return {
        "wrong_merges": (wrong, wrong + merged),
        "wrong_merge_rate": (wrong, len(others) + len(against)),
        "paraphrases_merged": (merged, len(paraphrases)),
        "paraphrases_found": (len(paraphrases) - paraphrases.count(Outcome.APART), len(paraphrases)),
        "others_queued": (others.count(Outcome.QUEUED), len(others)),
        "contradictions_queued": (against.count(Outcome.QUEUED), len(against)),
    }
