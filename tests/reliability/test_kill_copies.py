"""SIGKILL while an index is branched or imported: there is a whole one under the new name, or none."""

import random
import shutil
from pathlib import Path
from typing import Literal

import pytest

from reliability.processes import PROCESSES, make_copies
from support.factories import entries, fingerprint, pending
from twofold.config.load import load_settings
from twofold.factory.copies import export_index, import_index
from twofold.stores.export_file import entries_of
from twofold.stores.local.store import LocalStore

DOCUMENTS = 300


@pytest.mark.parametrize("what", ["branch", "import"])
@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.soak)])
def test_a_killed_copy_is_whole_or_absent(quick_path: Path, what: Literal["branch", "import"], kills: int) -> None:
    store = LocalStore(quick_path / "kb")
    store.ensure_fingerprint(fingerprint())
    made = entries(f"the cat {number}\nsat on the mat {number}" for number in range(DOCUMENTS))
    store.upsert([*made[:-1], pending(made[-1])])
    store.create_snapshot("monday", 1_000_000)
    export_index(store.at("monday"), quick_path / "kb.twofold")
    with store.view() as view:
        expected = [(one.document, [held.terms for held in one.chunks]) for one in entries_of(view)]
        waiting = view.pending
    random_ = random.Random(7)  # noqa: S311
    for _ in range(kills):
        kill_a_copier(quick_path, what, random_.uniform(0.0, 0.1))
        named = [path for path in (quick_path / "made").iterdir() if not path.name.startswith(".")]
        assert named
        for path in named:
            copy = LocalStore(path, create=False)
            with copy.view() as view:
                assert [(one.document, [held.terms for held in one.chunks]) for one in entries_of(view)] == expected
                assert view.pending == waiting > 0
            assert copy.verify() == []
            copy.close()
            shutil.rmtree(path)
    for left_over in list((quick_path / "made").iterdir()):
        name = left_over.name.split(".making-")[0].removeprefix(".")
        import_index(quick_path / "kb.twofold", quick_path / "made" / name, load_settings())
        shutil.rmtree(quick_path / "made" / name)
    assert list((quick_path / "made").iterdir()) == []
    store.close()


def kill_a_copier(folder: Path, what: Literal["branch", "import"], seconds: float) -> None:
    """Let a process make copies until at least one is whole, and kill it so many seconds later."""
    pipe, end = PROCESSES.Pipe(duplex=False)
    child = PROCESSES.Process(target=make_copies, args=(folder, what, end))
    child.start()
    end.close()
    assert pipe.poll(60)
    pipe.recv_bytes()
    pipe.poll(seconds)
    child.kill()
    child.join()
    pipe.close()
