"""SIGKILL while an index is branched or imported: there is a whole one under the new name, or none."""

import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from reliability.processes import PROCESSES, branch_in_bucket, make_copies
from reliability.workload import open_in_bucket
from support.factories import entries, fingerprint, pending
from support.s3_server import S3Server
from twofold.config.load import load_settings
from twofold.domain.ports import Store
from twofold.domain.types import Document, TermCounts
from twofold.factory.copies import copy_index, export_index, import_index
from twofold.stores.database_address import address_of
from twofold.stores.export_file import entries_of
from twofold.stores.local.store import LocalStore
from twofold.stores.s3.heads import Pace
from twofold.stores.s3.store import S3Store

DOCUMENTS = 300
IN_BUCKET = 60


@pytest.mark.parametrize("what", ["branch", "import"])
@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.soak)])
def test_a_killed_copy_is_whole_or_absent(quick_path: Path, what: Literal["branch", "import"], kills: int) -> None:
    store = LocalStore(quick_path / "kb")
    store.ensure_fingerprint(fingerprint())
    made = entries(f"the cat {number}\nsat on the mat {number}" for number in range(DOCUMENTS))
    store.upsert([*made[:-1], pending(made[-1])])
    store.create_snapshot("monday", 1_000_000)
    export_index(store.at("monday"), quick_path / "kb.twofold")
    expected = held_by(store)
    with store.view() as view:
        waiting = view.pending
    random_ = random.Random(7)  # noqa: S311
    for _ in range(kills):
        kill_a_copier(quick_path, what, random_.uniform(0.0, 0.1))
        named = [path for path in (quick_path / "made").iterdir() if not path.name.startswith(".")]
        assert named
        for path in named:
            copy = LocalStore(path, create=False)
            assert held_by(copy) == expected
            with copy.view() as view:
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


@pytest.mark.parametrize("kills", [2, pytest.param(200, marks=pytest.mark.soak)])
def test_a_killed_branch_into_a_bucket_is_whole_or_absent(s3: str, s3_server: S3Server, kills: int) -> None:
    with closing(open_in_bucket(f"{s3}/kb")) as store:
        store.ensure_fingerprint(fingerprint())
        store.upsert(entries(f"the cat {number}\nsat on the mat {number}" for number in range(IN_BUCKET)))
        store.create_snapshot("monday", 1_000_000)
        store.delete([one.document.id for one in entries(["the cat"])])
        expected = held_by(store.at("monday"))
        random_ = random.Random(11)  # noqa: S311
        for number in range(kills):
            made = f"{s3}/{number}"
            arguments = (f"{s3}/kb", made, dict(s3_server.environment))
            kill_after_one(branch_in_bucket, arguments, random_.uniform(0.0, 0.4))
            names = S3Store.names(address_of(made))
            assert [str(at) for at in range(len(names))] == sorted(names, key=int)
            copy_index(store.at("monday"), f"{made}/{len(names)}", load_settings())  # nothing is in its way
            for at in {0, len(names) - 1, len(names)}:
                where = address_of(f"{made}/{at}")
                with closing(S3Store(where, create=False, pace=Pace(fresh=0.0, grace=0.0))) as copy:
                    assert held_by(copy) == expected
                    assert copy.verify() == []
                    copy.compact()
                    head = copy._place.heads.newest
                    kept = set(head.named).union(*(keys for _, keys in head.dropped))
                    assert {key for key, _ in copy._place.bucket.objects()} <= kept  # what was left is swept


def held_by(store: Store) -> list[tuple[Document, list[TermCounts]]]:
    with store.view() as view:
        return [(one.document, [held.terms for held in one.chunks]) for one in entries_of(view)]


def kill_a_copier(folder: Path, what: Literal["branch", "import"], seconds: float) -> None:
    kill_after_one(make_copies, (folder, what), seconds)


def kill_after_one(target: Callable[..., None], given: tuple[object, ...], seconds: float) -> None:
    """Let a process make copies until at least one is whole, and kill it so many seconds later."""
    pipe, end = PROCESSES.Pipe(duplex=False)
    child = PROCESSES.Process(target=target, args=(*given, end))
    child.start()
    end.close()
    assert pipe.poll(60)
    pipe.recv_bytes()
    pipe.poll(seconds)
    child.kill()
    child.join()
    pipe.close()
