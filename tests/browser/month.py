"""A month in the life of an organization, made by the real passes with a clock that is moved on day by day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from dreaming.database import Database
from dreaming.errors import Throttled
from dreaming.local.queue import LocalQueue
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, Scope, SliceKey, Tenant
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from tests.ageing_world import AgeingWorld
from tests.autonomy_world import AutonomyWorld, open_autonomy_world
from tests.database.contradictions.worlds import Examined
from tests.world import KEY, NOON, World, note, open_world

DAYS = 30
START = NOON - timedelta(days=DAYS)
PRIVATE = SliceKey(KEY.org_id, Scope.PRIVATE, "ana")
CALLER = Tenant(KEY.org_id, "ana")
ENVIRONMENT = {"DREAMING_CONVERSATION_MEMORY": "true", "DREAMING_WARN_DAYS": "14"}
POISON = "%PDF-1.4 garbled"
HOSTILE = "<img src=x onerror=alert(1)> is written on the gate of the yard."

Claim = tuple[str, Mapping[str, Any]]
HIGH = {"importance": "high"}
FAST, PERMANENT = {"decay_class": "fast_decay"}, {"decay_class": "permanent"}

# What is said on which day: source, author, text, and what the model makes of it.
TOLD: dict[int, list[tuple[str, str, str, list[Claim]]]] = {
    0: [
        ("chat", "Mira", "Morning all. The watering pumps run on the Heron controller. I checked yesterday.",
         [("The watering pumps run on the Heron controller.", {**HIGH, "confidence": 0.9, **PERMANENT})]),
        ("wiki", "Tom", "House rules. Nobody sprays before 9 in the morning. Gloves hang by the door.",
         [("Nobody sprays before 9 in the morning.", {"kind": "constraint", "importance": "critical", **PERMANENT}),
          ("Gloves hang by the door.", {"confidence": 0.6})]),
    ],
    3: [
        ("chat", "Ida", "I prefer the seed trays made of wood pulp. They hold together well enough.",
         [("Ida prefers the seed trays made of wood pulp.", {"kind": "preference", "confidence": 0.75})]),
        ("git", "Tom", "Decided in review: we decided to keep the sensor readings in Postgres. No other store for now.",
         [("The team decided to keep the sensor readings in Postgres.",
           {"kind": "decision", **HIGH, "confidence": 0.92})]),
    ],
    6: [("chat", "Lena", "For the record, the watering pumps run on the Heron controller. It beeps at night.",
         [("The watering pumps run on the Heron controller.", {"confidence": 0.85})])],
    9: [
        ("mail", "Bo", "Hello! The harvest fair is on 12 September. Bring boxes.",
         [("The harvest fair is on 12 September.", {"confidence": 0.8})]),
        ("mail", "Uma", "Dear all, The harvest fair is on 13 September. See you there.",
         [("The harvest fair is on 13 September.", {"confidence": 0.8})]),
    ],
    12: [
        ("chat", "Bo", "Lena works at the bakery. She said so at lunch.", [("Lena works at the bakery.", {})]),
        ("chat", "Uma", "Lena works at the mill. I saw her there.", [("Lena works at the mill.", {})]),
    ],
    15: [("wiki", "Tom", HOSTILE, [(HOSTILE, {"kind": "observation", "confidence": 0.55})])],
    18: [("chat", "Ida", "The propane tank is refilled in May. Ask Bo for the key.",
          [("The propane tank is refilled in May.", {"kind": "observation", **FAST, "confidence": 0.7})])],
    21: [("git", "Mira", "The tomato line moved to drip hoses. Saves water.",
          [("The tomato line moved to drip hoses.", {"kind": "decision", "confidence": 0.8})])],
}  # fmt: skip

# A line for each small note: kind, decay class, sentence.
DIARY = (Path(__file__).parent / "diary.txt").read_text("utf-8").splitlines()
_A_DAY = 2


@dataclass
class Month:
    """The organization's worlds over one database and one clock."""

    database: Database
    world: World
    ageing: AgeingWorld
    examined: Examined
    autonomy: AutonomyWorld
    claims: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    outage: bool = False

    def answer(self, request: ChatRequest) -> Any:
        """The model: the claims whose quotes stand in the notes, or what a bad day makes of it."""
        if self.outage:
            return Throttled("the provider answers 429")
        if any(POISON in passage.text for passage in request.passages):
            return "I am sorry, here is a poem about it instead."
        return [
            {"note": passage.label, "kind": "fact", "statement": statement, "confidence": 0.8, **fields}
            for passage in request.passages
            for statement, fields in self.claims.items()
            if str(fields["quote"]) in passage.text
        ]

    def say(self, name: str, text: str, claims: list[Claim], *, key: SliceKey = KEY, **changes: Any) -> None:
        """Bring in a note of now, or of another time."""
        self.claims |= {statement: {**fields, "quote": _quote(statement, text)} for statement, fields in claims}
        incoming: IncomingNote = note(name, text, **{"occurred_at": self.world.now, **changes})
        self.world.ingest(incoming, key=key)

    def run_passes(self) -> None:
        """What the schedules would run at this hour."""
        self.world.drain()
        self.examined.examine()
        self.ageing.run_pass()
        self.autonomy.now = self.world.now
        self.autonomy.run()


def live_a_month(database: Database, folder: Path) -> Month:
    """Live from `START` to `NOON`: notes of every day, outages, notes that cannot be read, agents at work."""
    month = _begin(database, folder)
    for day in range(DAYS + 1):
        month.world.now = START + timedelta(days=day)
        _tell(month, day)
        month.outage = day in {13, 14, DAYS}
        _act(month, day)
        month.run_passes()
    return month


def _begin(database: Database, folder: Path) -> Month:
    (folder / "autonomy").mkdir()
    world = open_world(database, folder, now=START)
    world.environment |= ENVIRONMENT
    ageing = AgeingWorld(world, LocalQueue(folder / "decay.sqlite", "decay", clock=world.clock), {})
    autonomy = open_autonomy_world(database, folder / "autonomy", now=START)
    month = Month(database, world, ageing, Examined(world, folder), autonomy)
    world.model = ScriptedChatModel(month.answer)
    return month


def _tell(month: Month, day: int) -> None:
    for number, (source, author, text, claims) in enumerate(TOLD.get(day, [])):
        month.say(f"{source}-{day:02d}-{number}", text, claims, source=source, author=author)
    for place in range(day * _A_DAY, min((day + 1) * _A_DAY, len(DIARY))):
        kind, ageing, said = DIARY[place].split(" ", 2)
        importance = {"importance": "high"} if place % 4 == 2 else {}
        fields = {"kind": kind, "decay_class": f"{ageing}_decay" if ageing != "permanent" else ageing, **importance}
        month.say(
            f"diary-{place:02d}",
            f"Walked the grounds. {said} Nothing else of note.",
            [(said, {**fields, "confidence": 0.35 + (place * 7 % 13) / 20})],
            source="diary",
            author=("Ida", "Tom", "Bo", "Uma")[place % 4],
            occurred_at=month.world.now - timedelta(days=place * 17 % 90),
        )
    if day == 1:
        said = "The old pear tree by the gate has buds."
        month.say(
            "buds", said, [(said, {"kind": "observation", **HIGH, **FAST})], occurred_at=START - timedelta(days=45)
        )
    if day in {10, 20}:
        month.say(f"scan-{day}", f"{POISON} {day}", [], source="scans")
    if day == 5:
        month.say("diary", "I am saving for a canoe.", [("Ana is saving for a canoe.", {})], key=PRIVATE, author="Ana")
    if day == 25:
        month.say("blank", " \u200b ", [], source="scans")


def _act(month: Month, day: int) -> None:
    autonomy = month.autonomy
    autonomy.now = month.world.now
    if day == 0:
        autonomy.set_score(75, "gardener", "starts here")
        autonomy.set_score(82, "buyer", "starts here")
    good = ["approved"] * 5 + (["denied"] if day % 5 == 4 else [])
    autonomy.log_many(good, agent_id="gardener", stated_confidence=0.9)
    autonomy.log_many(["approved", "denied" if day % 2 else "rejected"], agent_id="buyer")
    if day == 27:
        autonomy.set_score(72, "gardener", "a bed was sown twice")
    if day % 6 == 0:
        _talk(month, day)


def _talk(month: Month, day: int) -> None:
    subjects = {
        0: "Which pump feeds the north beds?",
        6: "How do we keep frost off the seedlings?",
        12: "When do the bees arrive?",
        18: "What did we pay for the glass roof?",
        24: "Who repairs the tractor?",
        30: "Can we store onions in the shed?",
    }
    turns = (
        IncomingTurn(speaker="ana", text=subjects[day]),
        IncomingTurn(speaker="helper", text=f"You asked: {subjects[day]} I found it in the notes of day {day}."),
    )
    capturing = Capturing(month.database, ENVIRONMENT, lambda *_: None, lambda: month.world.now, lambda _: None)
    capturing.capture(
        CALLER, IncomingConversation(conversation_id=f"talk-{day:02d}", turns=turns, agent="helper"), scope=Scope.ORG
    )


def _quote(statement: str, text: str) -> str:
    """The statement where it stands in the text, or the sentence that shares the most words with it."""
    if statement in text:
        return statement
    return max(text.split(". "), key=lambda part: len(set(part.split()) & set(statement.split())))
