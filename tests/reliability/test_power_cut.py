"""Power cuts at random moments: what was not flushed is lost or torn, and nothing acknowledged was not flushed."""

import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reliability.disk import Event, RecordingVFS, after_a_power_cut
from reliability.workload import Model, after, difference, do, entry_of, open_busy, steps
from support.factories import fingerprint
from twofold.stores.local.place import NOTE_NAME

STEPS = 40
CUTS_A_LIFE = 50

logger = logging.getLogger(__name__)


@dataclass
class Life:
    """What a disk was told while a writer took its steps, and what must be there after each of them."""

    first: Mapping[str, bytes]
    events: list[Event]
    models: list[Model] = field(default_factory=list)
    segments: dict[str, bytes] = field(default_factory=dict)


def live(folder: Path, seed: int) -> Life:
    """Take some steps on a disk that remembers."""
    disk = RecordingVFS()
    store = open_busy(folder, disk.name)
    store.ensure_fingerprint(fingerprint())
    store.close()
    store = open_busy(folder, disk.name)
    life = Life({path.name: path.read_bytes() for path in folder.glob("catalog.sqlite3*")}, disk.events, [{}])
    disk.events.clear()
    done = steps(seed)
    for _ in range(STEPS):
        step = next(done)
        store = do(store, step)
        disk.events += noted(folder)
        disk.events.append(Event("step"))
        life.models.append(after(life.models[-1], step))
        life.segments |= {path.name: path.read_bytes() for path in (folder / "segments").iterdir()}
    store.close()
    return life


def noted(folder: Path) -> list[Event]:
    """Tell of the note of what was acknowledged, which is written past SQLite and never flushed."""
    note = folder / NOTE_NAME
    return [Event("write", NOTE_NAME, 0, note.read_bytes())] if note.exists() else []


def cut(life: Life, folder: Path, seed: int) -> int:
    """Make the folder that a power cut at a random moment leaves; give how many steps were acknowledged by then."""
    random_ = random.Random(seed)  # noqa: S311
    events = life.events[: random_.randrange(len(life.events) + 1)]
    (folder / "segments").mkdir(parents=True)
    for name, content in after_a_power_cut(life.first, events, random_).items():
        if not name.endswith("-shm"):
            (folder / name).write_bytes(content)
    for name, content in life.segments.items():
        whole = random_.choice([True, False])
        if whole or random_.choice([True, False]):
            at = len(content) if whole else random_.randrange(len(content))
            (folder / "segments" / name).write_bytes(content[:at])
    return sum(event.kind == "step" for event in events)


@pytest.mark.parametrize("cuts", [200, pytest.param(5000, marks=pytest.mark.soak)])
def test_a_power_cut_takes_nothing_that_was_acknowledged(quick_path: Path, cuts: int) -> None:
    lives = [live(quick_path / f"life {number}", number) for number in range(max(1, cuts // CUTS_A_LIFE))]
    further = 0
    for number in range(cuts):
        life, folder = lives[number % len(lives)], quick_path / str(number)
        acknowledged = cut(life, folder, number)
        store = open_busy(folder)
        wrong = difference(store, life.models[acknowledged])
        if wrong and acknowledged < STEPS and difference(store, life.models[acknowledged + 1]) == "":
            wrong = ""
            further += 1
        assert wrong == ""
        assert [finding for finding in store.verify() if not finding.repairable] == []
        store.upsert([entry_of("every thing goes on", "after.txt")])
        store.close()
    logger.info("%d power cuts in %d lives; %d kept a step that was not acknowledged", cuts, len(lives), further)
