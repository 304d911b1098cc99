"""Bits flipped, files cut and pages zeroed, in every file of an index: found by `verify`, and never a wrong answer."""

import logging
import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reliability.workload import BUSY, MOST, WORDS, Model, difference, entry_of, text
from support.factories import entry, fingerprint, query, vector
from twofold.domain.errors import CorruptError
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import Scope
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.local.place import CATALOG_NAME, NOTE_NAME
from twofold.stores.local.store import LocalStore

LAZY = Upkeep(flush_from=12, flush_at_close_from=4, segment_chunks=20)
SHARED_MEMORY = f"{CATALOG_NAME}-shm"
PAGE_BYTES = 8192
DAMAGES = ("flip", "cut", "zero")

logger = logging.getLogger(__name__)


def made(folder: Path, *, crashed: bool) -> Model:
    """Make an index that was closed, or one that was left with its log by a crash."""
    random_ = random.Random(7)  # noqa: S311
    model: Model = {}
    store = LocalStore(folder, upkeep=LAZY)
    store.ensure_fingerprint(fingerprint())
    for number in range(30):
        source = f"{random_.randrange(20)}.txt" if number else "long.txt"
        written = text(random_) if number else "every " + " ".join(random_.choices(WORDS, k=8_000))  # many pages
        store.upsert([entry_of(written, source)])
        model = {**model, source: written}
    if crashed:
        store._connections.close()
    else:
        store.close()
    return model


def damage(path: Path, how: str, random_: random.Random) -> bool:
    """Damage a file; say whether that changed it at all."""
    before = path.read_bytes()
    after = bytearray(before)
    at = random_.randrange(len(before))
    if how == "flip":
        after[at] ^= 1 << random_.randrange(8)
    elif how == "cut":
        del after[at:]
    else:
        start = at - at % PAGE_BYTES
        after[start : start + PAGE_BYTES] = bytes(len(after[start : start + PAGE_BYTES]))
    path.write_bytes(after)
    return bytes(after) != before


def answer(folder: Path, model: Model) -> str:
    """Open, ask everything, and say what became of it: `right`, `refused` or what was wrong."""
    try:
        store = LocalStore(folder, create=True, upkeep=LAZY)
    except CorruptError:
        return "refused"
    try:
        with store.view() as view:
            everything = Scope(filter=Condition("source", Operator.CONTAINS, "."))
            same = view.search_vectors(vector("x"), MOST, everything) == view.search_vectors(vector("x"), MOST)
            view.explain_terms(query("every"), view.search_bm25(query("every"), 1).keys.tolist()).of(0)
        wrong = difference(store, model) if same else "what a filter lets through"
    except CorruptError:
        return "refused"
    finally:
        store._connections.close()
    return wrong or "right"


def verified(folder: Path) -> str:
    """Say whether `verify` finds something: `found`, `refused` or `nothing`."""
    try:
        store = LocalStore(folder, upkeep=BUSY)
    except CorruptError:
        return "refused"
    try:
        return "found" if store.verify() else "nothing"
    except CorruptError:
        return "refused"
    finally:
        store._connections.close()


@pytest.mark.parametrize("crashed", [False, True], ids=["closed", "crashed"])
@pytest.mark.parametrize("times", [100, pytest.param(1000, marks=pytest.mark.soak)])
def test_damage_is_found_and_never_gives_a_wrong_answer(quick_path: Path, times: int, crashed: bool) -> None:  # noqa: FBT001
    sound = quick_path / "sound"
    model = made(sound, crashed=crashed)
    assert answer_of_copy(sound, quick_path / "copy", model) == "right"
    kinds = {
        kind: paths
        for kind in (CATALOG_NAME, f"{CATALOG_NAME}-wal", SHARED_MEMORY, NOTE_NAME, "segments/*")
        if (paths := [path.relative_to(sound) for path in sorted(sound.glob(kind)) if path.stat().st_size])
    }
    assert len(kinds) == (5 if crashed else 3)
    told: Counter[str] = Counter()
    for number in range(times):
        random_ = random.Random(number)  # noqa: S311
        kind = random_.choice(list(kinds))
        chosen = random_.choice(kinds[kind])
        copy = quick_path / str(number)
        shutil.copytree(sound, copy)
        if not damage(copy / chosen, random_.choice(DAMAGES), random_):
            continue
        shutil.copytree(copy, quick_path / "asked")
        found, answered = verified(copy), answer(quick_path / "asked", model)
        shutil.rmtree(copy)
        shutil.rmtree(quick_path / "asked")
        told[f"{kind}: {found}, {answered}"] += 1
        assert answered in {"right", "refused"}, (number, chosen, answered)
        mended = kind == SHARED_MEMORY or (crashed and kind == CATALOG_NAME)  # made anew, or by the log's own page
        assert found != "nothing" or (mended and answered == "right"), (number, chosen, answered)
    logger.info("%s", dict(told))


def answer_of_copy(sound: Path, copy: Path, model: Model) -> str:
    shutil.copytree(sound, copy)
    return answer(copy, model)


def test_a_catalog_that_is_gone_is_missed(quick_path: Path) -> None:
    made(quick_path / "kb", crashed=False)
    (quick_path / "kb" / CATALOG_NAME).unlink()
    with pytest.raises(CorruptError, match="has lost"):
        LocalStore(quick_path / "kb")


def test_a_log_that_is_gone_is_missed(quick_path: Path) -> None:
    made(quick_path / "kb", crashed=True)
    (quick_path / "kb" / f"{CATALOG_NAME}-wal").unlink()
    with pytest.raises(CorruptError, match=NOTE_NAME):
        LocalStore(quick_path / "kb")


def test_a_flipped_letter_of_a_long_text_is_never_shown(quick_path: Path) -> None:
    store = LocalStore(quick_path / "kb")
    store.ensure_fingerprint(fingerprint())
    long = replace(entry("every LETTER counts " * 5_000, "long.txt"), chunks=())
    store.upsert([long])
    store.close()
    catalog = quick_path / "kb" / CATALOG_NAME
    content = bytearray(catalog.read_bytes())
    content[content.index(b"LETTER", len(content) // 2)] ^= 1
    catalog.write_bytes(content)
    store = LocalStore(quick_path / "kb")
    with pytest.raises(CorruptError), store.view() as view:
        view.document(long.document.id)
    assert store.verify() != []
    store.close()
