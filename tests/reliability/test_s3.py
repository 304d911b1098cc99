"""An index in a bucket: many writers, clients killed at every step, torn uploads, lost connections, damaged objects."""

import logging
import random
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import obstore
import pytest

from reliability.processes import PROCESSES, write_to_bucket_until_killed
from reliability.workload import BUSY, Model, after, difference, open_in_bucket, steps
from support.cut_proxy import CutProxy
from support.factories import entries, entry, fingerprint, query
from support.s3_server import SECRET, S3Server
from twofold.config.load import load_settings
from twofold.domain.errors import CorruptError, InvalidInputError, NotFoundError, StoreError
from twofold.domain.types import Document, IndexedChunk
from twofold.factory.copies import copy_index
from twofold.stores.database_address import address_of
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.s3.bucket import Bucket, HeadMovedError
from twofold.stores.s3.heads import Pace
from twofold.stores.s3.store import S3Store

WRITERS = 8
ROUNDS = 6
SECONDS = 120.0
KILLS_AN_INDEX = 20

logger = logging.getLogger(__name__)


class StopError(Exception):
    """The writer ends here, as if it had been killed."""


class StoppingBucket(Bucket):
    """Ends its writer at one call of those that change the bucket, before or after it is done."""

    def __init__(self, where: str, at: int = 0, *, done: bool = False) -> None:
        bucket, _, prefix = where.removeprefix("s3://").partition("/")
        super().__init__(bucket, prefix)
        self.calls = 0
        self._at, self._done = at, done
        self._lock = threading.Lock()

    def put(self, key: str, data: bytes | memoryview) -> None:
        stops = self._stops()
        if not stops or self._done:
            super().put(key, data)
        self._stop(stops)

    def swap_head(self, data: bytes, tag: str | None) -> str:
        stops = self._stops()
        made = "" if stops and not self._done else super().swap_head(data, tag)
        self._stop(stops)
        return made

    def _stops(self) -> bool:
        with self._lock:
            self.calls += 1
            return self._at > 0 and self.calls >= self._at  # a killed writer makes no further call

    @staticmethod
    def _stop(stops: bool) -> None:  # noqa: FBT001
        if stops:
            raise StopError


def opened(
    where: str,
    *,
    pace: Pace = Pace(fresh=0.0),
    upkeep: Upkeep = Upkeep(flush_from=4),
    bucket: Bucket | None = None,
    cache: Path | None = None,
) -> S3Store:
    store = S3Store(address_of(where), wait_seconds=SECONDS, upkeep=upkeep, pace=pace, bucket=bucket, cache=cache)
    store.ensure_fingerprint(fingerprint())
    return store


def texts(store: S3Store) -> set[str]:
    with store.view() as view:
        return {found.source for found in view.documents()}


def keys(s3_server: S3Server, where: str) -> set[str]:
    prefix = where.removeprefix("s3://").partition("/")[2]
    found = obstore.list(s3_server.client(), prefix=prefix).collect()
    return {one["path"].removeprefix(f"{prefix}/") for one in found}


def test_of_eight_writers_exactly_one_wins_each_round_and_in_the_end_each_has_written(s3: str) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        stores = list(pool.map(lambda _: opened(s3), range(WRITERS)))
        begun = threading.Barrier(WRITERS)

        def compete(number: int) -> bool:
            stores[number]._place.heads.refresh(now=True)
            begun.wait(SECONDS)
            try:
                with stores[number]._changing() as connection:
                    connection.execute("INSERT INTO preference VALUES (?, ?)", (secrets.token_hex(4), "x"))
                    begun.wait(SECONDS)
            except HeadMovedError:
                return False
            return True

        for done in range(1, ROUNDS + 1):
            assert sorted(pool.map(compete, range(WRITERS))) == [False] * (WRITERS - 1) + [True]
            assert len(stores[0].get_settings()) == done
        list(pool.map(lambda number: stores[number].upsert([entry(f"cat {number}", f"{number}.txt")]), range(WRITERS)))
    assert texts(stores[0]) == {f"{number}.txt" for number in range(WRITERS)}
    assert stores[0].verify() == []
    for store in stores:
        store.close()


def write(store: S3Store) -> None:
    """Make changes of several kinds, which flush and merge segments on the way."""
    for number in range(5):
        store.upsert(entries([f"cat {number} {part}" for part in range(3)]))
        store.upsert([entry(f"dog {number}", f"dog{number}.txt")])
    store.delete([entry("", "dog1.txt").document.id])
    store.compact()


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.soak)])
def test_a_writer_that_ends_at_any_step_leaves_what_was_before_or_after_its_change(s3: str, every: int) -> None:
    whole = StoppingBucket(s3)
    with closing(opened(s3, bucket=whole)) as store:
        write(store)
    assert whole.calls > 40
    for at in range(1, whole.calls + 1, every):
        for done in (False, True):
            where = f"{s3}-{at}-{done}"
            with suppress(StopError):
                store = opened(where, bucket=StoppingBucket(where, at, done=done))
                write(store)
            with closing(opened(where)) as after_it:
                assert after_it.verify() == []
                assert texts(after_it) <= {f"00{number}.txt" for number in range(3)} | {
                    f"dog{number}.txt" for number in range(5)
                }
                after_it.upsert([entry("owl", "last.txt")])
                with after_it.view() as view:
                    assert len(view.search_bm25(query("owl"), 9)) == 1
                assert after_it.verify() == []


def acknowledgements(pipe: Connection, deadline: float) -> Iterator[bytes]:
    with suppress(EOFError, OSError):
        while pipe.poll(max(0.0, deadline - time.monotonic())):
            yield pipe.recv_bytes()


def interrupted(where: str, environment: Mapping[str, str], seed: int) -> int:
    """Let a writer work for a random while, kill it, and give how many steps it acknowledged."""
    random_ = random.Random(seed)  # noqa: S311
    pipe, end = PROCESSES.Pipe(duplex=False)
    writer = PROCESSES.Process(target=write_to_bucket_until_killed, args=(where, dict(environment), seed, end))
    writer.start()
    end.close()
    pipe.poll(SECONDS)
    count = sum(1 for _ in acknowledgements(pipe, time.monotonic() + random_.uniform(0.0, 0.3)))
    writer.kill()
    writer.join()
    count += sum(1 for _ in acknowledgements(pipe, time.monotonic() + SECONDS))
    pipe.close()
    writer.close()
    return count


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.soak)])
def test_a_killed_client_loses_nothing_it_acknowledged(s3: str, s3_server: S3Server, kills: int) -> None:
    acknowledged = 0
    model: Model = {}
    for number in range(kills):
        where = f"{s3}-{number // KILLS_AN_INDEX}"
        model = model if number % KILLS_AN_INDEX else {}
        count = interrupted(where, s3_server.environment, number)
        done = steps(number)
        for _ in range(count):
            model = after(model, next(done))
        further = after(model, next(done))
        with closing(open_in_bucket(where)) as store:
            store.ensure_fingerprint(fingerprint())
            wrong = difference(store, model)
            if wrong and difference(store, further) == "":
                model, wrong = further, ""
            assert wrong == ""
            assert store.verify() == []
        acknowledged += count
    logger.info("%d clients killed, %d acknowledged steps", kills, acknowledged)
    assert acknowledged > 0


def send_half(url: str, body: bytes) -> None:
    """Begin to upload an object, and break off in its middle."""
    parts = urlsplit(url)
    head = f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((parts.hostname, parts.port)) as server:
        server.sendall(head.encode() + body[: len(body) // 2])
        server.shutdown(socket.SHUT_WR)
        server.settimeout(SECONDS)
        with suppress(OSError):
            server.recv(1)


def test_a_torn_upload_is_invisible(s3: str, s3_server: S3Server) -> None:
    with closing(opened(s3)) as store:
        store.upsert([entry("cat", "a.txt")])
        before = keys(s3_server, s3)
        prefix = s3.removeprefix("s3://").partition("/")[2]
        for key in (f"{prefix}/objects/0011223344556677/1", f"{prefix}/head"):
            send_half(obstore.sign(s3_server.client(), "PUT", key, timedelta(hours=1)), b"x" * 400_000)
        assert keys(s3_server, s3) == before
        with closing(opened(s3)) as other:
            assert texts(other) == {"a.txt"}
            assert other.verify() == []


def test_a_lost_connection_is_one_clear_error_and_changes_nothing(
    s3: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CutProxy(s3_server.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        store = opened(s3)
        store.upsert([entry("cat", "a.txt")])
        proxy.sever()
        with pytest.raises(StoreError, match="cannot be reached"):
            store.upsert([entry("dog", "b.txt")])
        with pytest.raises(StoreError, match="cannot be reached"), store.view():
            pass
        proxy.cut = False
        assert texts(store) == {"a.txt"}
        store.upsert([entry("dog", "b.txt")])
        assert store.verify() == []
        store.close()
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.endpoint)
    with closing(opened(s3)) as again:
        assert texts(again) == {"a.txt", "b.txt"}


def test_a_head_whose_answer_is_lost_was_written_once(
    s3: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CutProxy(s3_server.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        store = opened(s3)
        number = store._place.heads.newest.number
        proxy.swallows = lambda data: data.startswith(b"PUT ") and b"/head " in data[:200] and proxy.swallowed == 0
        assert store.delete([entry("", "none.txt").document.id]) == 0
        assert proxy.swallowed == 1
        assert store._place.heads.refresh(now=True).number == number + 1
        store.close()


def test_a_branch_is_whole_although_the_answer_to_its_head_is_lost(
    s3: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = f"{s3}-branch"
    with CutProxy(s3_server.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        with closing(opened(s3)) as store:
            store.upsert(entries([f"cat {number}" for number in range(9)]))
            proxy.swallows = lambda data: data.startswith(b"PUT ") and b"-branch/head " in data[:200]
            copy_index(store, branch, load_settings())
            expected = texts(store)
        assert proxy.swallowed > 0
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.endpoint)
    with closing(opened(branch)) as made:
        assert texts(made) == expected
        assert made.verify() == []


def test_keys_that_are_wrong_or_missing_are_one_clear_error_and_never_shown(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(s3).close()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", f"not-{SECRET}")
    with pytest.raises(StoreError, match="refuses the credentials") as refused:
        S3Store(address_of(s3))
    assert SECRET not in str(refused.value)
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name)
    with pytest.raises(InvalidInputError, match="no credentials"):
        S3Store(address_of(s3))


def test_what_is_dropped_stays_for_readers_and_is_deleted_after_the_grace_period(s3: str, s3_server: S3Server) -> None:
    with closing(opened(s3)) as store:
        store.upsert([entry("cat", "a.txt")])
        with store.view() as view:
            for number in range(4):
                store.upsert([entry(f"dog {number}", f"{number}.txt")])
            assert [found.source for found in view.documents()] == ["a.txt"]
        kept = keys(s3_server, s3)
        assert len(kept) > len(store._place.heads.newest.named) + 1
        obstore.put(s3_server.client(), f"{s3.partition('library/')[2]}/objects/0011223344556677/1", b"left over")

    with closing(opened(s3, pace=Pace(fresh=0.0, grace=-60.0))) as later:
        later.set_settings({"a": "b"})
        later.compact()
        assert texts(later) == {"a.txt", *(f"{number}.txt" for number in range(4))}
        later.set_settings({})
        later.set_settings({"a": "b"})
        head = later._place.heads.newest
        assert keys(s3_server, s3) == {"head", *head.named, *(key for _, some in head.dropped for key in some)}
        assert later.verify() == []


@pytest.mark.parametrize("gone", [False, True])
def test_a_damaged_block_is_found_and_a_damaged_segment_is_made_again(
    s3: str, s3_server: S3Server, *, gone: bool
) -> None:
    with closing(opened(s3)) as store:
        store.upsert(entries([f"cat {number}" for number in range(8)]))
        head = store._place.heads.newest
    prefix = s3.partition("library/")[2]
    (segment,) = head.segments.values()
    for key in (segment.key, head.blocks[0].key):
        if gone:
            obstore.delete(s3_server.client(), f"{prefix}/{key}")
        else:
            obstore.put(s3_server.client(), f"{prefix}/{key}", b"x" * segment.length)
        if key == segment.key:
            with closing(opened(s3)) as again:
                with again.view() as view:
                    assert len(view.search_bm25(query("cat"), 99)) == 8
                assert {finding.repairable for finding in again.verify()} == {True}
                again.compact()
                assert again.verify() == []
                head = again._place.heads.newest
    for one in head.blocks:
        obstore.put(s3_server.client(), f"{prefix}/{one.key}", b"x")
    with pytest.raises(CorruptError, match="fails its checksum"):
        opened(s3)


def test_an_index_that_was_deleted_and_made_again_is_read_from_its_beginning(s3: str, tmp_path: Path) -> None:
    reader = opened(s3, cache=tmp_path)
    reader.upsert(entries(["cat one", "cat two"]))
    assert len(texts(reader)) == 2
    S3Store.drop(address_of(s3), 1.0)
    with pytest.raises(NotFoundError, match="no longer"), reader.view():
        pass
    with closing(opened(s3)) as made:
        made.upsert([entry("dog", "new.txt")])
        assert texts(reader) == {"new.txt"}
        reader.upsert([entry("owl", "newer.txt")])
        assert texts(made) == {"new.txt", "newer.txt"}
        with reader.view() as view, made.view() as other:
            assert view.search_bm25(query("dog owl"), 9) == other.search_bm25(query("dog owl"), 9)
        assert made.verify() == []
    reader.close()


def test_what_others_write_during_a_reindex_is_in_the_next_edition(s3: str) -> None:
    reindexing, writing = opened(s3, upkeep=Upkeep(documents_at_once=2)), opened(s3)
    reindexing.upsert(entries(["cat one", "cat two", "cat three"]))

    def remake(documents: list[Document]) -> list[tuple[IndexedChunk, ...]]:
        if any("three" in one.text for one in documents):
            writing.upsert([entry("cat four", "003.txt"), entry("cat other", "000.txt")])
            writing.delete([entry("", "001.txt").document.id])
        return [entry(one.text, one.source).chunks for one in documents]

    reindexing.rebuild(fingerprint("next"), remake)  # type: ignore[arg-type]  # lists are what is given
    with writing.view() as view:
        found = view.search_bm25(query("cat"), 9).keys.tolist()
        assert {one.text for one in view.chunks(found)} == {"cat three", "cat four", "cat other"}
    assert reindexing.verify() == []
    reindexing.close()
    writing.close()


def test_readers_in_threads_see_each_document_whole_while_a_writer_writes(s3: str, tmp_path: Path) -> None:
    with closing(opened(s3, upkeep=BUSY)) as writer, closing(opened(s3, cache=tmp_path)) as reader:
        over = threading.Event()

        def read() -> int:
            last = 0
            while not over.is_set():
                with reader.view() as view:
                    found = view.search_bm25(query("every"), 999)
                    documents = len(list(view.documents()))
                    assert len(found) == 3 * documents >= last
                    assert len(list(view.chunks(found.keys.tolist()))) == len(found)
                    last = 3 * documents
            return last

        with ThreadPoolExecutor(2) as pool:
            reading = [pool.submit(read) for _ in range(2)]
            try:
                for number in range(30):
                    writer.upsert([entry(f"every a\nevery b{number}\nevery c", f"{number}.txt")])
            finally:
                over.set()
            assert all(one.result(SECONDS) <= 90 for one in reading)
        assert len(texts(reader)) == 30
