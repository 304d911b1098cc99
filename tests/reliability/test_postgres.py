"""An index in a database: two writers, killed clients and servers, lost connections, and a server without room."""

import logging
import random
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import psycopg
import pytest

from reliability.processes import PROCESSES, write_shared_until_killed
from reliability.workload import Model, after, difference, open_shared, steps
from support.factories import entries, entry, fingerprint, query
from support.postgres_server import PostgresServer
from twofold import Index
from twofold.domain.errors import StorageFullError, StoreError, WriterBusyError
from twofold.domain.types import Document, IndexedChunk
from twofold.evaluation.dataset import load
from twofold.indexing.migrate import migrate
from twofold.stores.database_address import address_of
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.postgres.store import PostgresStore

KILLS_AN_INDEX = 20

logger = logging.getLogger(__name__)


def opened(where: str, wait_seconds: float = 10.0, upkeep: Upkeep = Upkeep(flush_from=4)) -> PostgresStore:
    store = PostgresStore(address_of(where), wait_seconds=wait_seconds, upkeep=upkeep)
    store.ensure_fingerprint(fingerprint())
    return store


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may kill."""
    server = PostgresServer()
    yield server
    server.remove()


def acknowledgements(pipe: Connection, deadline: float) -> Iterator[bytes]:
    with suppress(EOFError, OSError):
        while pipe.poll(max(0.0, deadline - time.monotonic())):
            yield pipe.recv_bytes()


def interrupted(where: str, seed: int, server: PostgresServer | None) -> int:
    """Let a writer work for a random while, kill it, or its server, and give how many steps it acknowledged."""
    random_ = random.Random(seed)  # noqa: S311
    pipe, end = PROCESSES.Pipe(duplex=False)
    writer = PROCESSES.Process(target=write_shared_until_killed, args=(where, seed, end))
    writer.start()
    end.close()
    pipe.poll(30)
    count = sum(1 for _ in acknowledgements(pipe, time.monotonic() + random_.uniform(0.0, 0.3)))
    if server is None:
        writer.kill()
    else:
        server.kill()
    writer.join()
    count += sum(1 for _ in acknowledgements(pipe, time.monotonic() + 5))
    pipe.close()
    writer.close()
    if server is not None:
        server.start()
    return count


def settled(where: str, model: Model, seed: int, acknowledged: int) -> Model:
    """Find which of the two legal states an index is in: all that was acknowledged, or one step more."""
    done = steps(seed)
    for _ in range(acknowledged):
        model = after(model, next(done))
    further = after(model, next(done))
    store = open_shared(where)
    store.ensure_fingerprint(fingerprint())
    store.set_settings({})  # waits until what a killed client left has ended
    wrong = difference(store, model)
    if wrong and difference(store, further) == "":
        model, wrong = further, ""
    assert wrong == ""
    assert store.verify() == []
    store.close()
    return model


@pytest.mark.parametrize("kills", [6, pytest.param(120, marks=pytest.mark.soak)])
def test_a_killed_client_loses_nothing_it_acknowledged(postgres: str, kills: int) -> None:
    acknowledged = 0
    model: Model = {}
    for number in range(kills):
        where = f"{postgres}-{number // KILLS_AN_INDEX}"
        model = model if number % KILLS_AN_INDEX else {}
        count = interrupted(where, number, None)
        model = settled(where, model, number, count)
        acknowledged += count
    logger.info("%d clients killed, %d acknowledged steps", kills, acknowledged)
    assert acknowledged > kills


@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.soak)])
def test_a_killed_server_loses_nothing_it_acknowledged(own_server: PostgresServer, kills: int) -> None:
    acknowledged = 0
    model: Model = {}
    where = own_server.address(index="kb")
    for number in range(kills):
        count = interrupted(where, 1_000 + number, own_server)
        model = settled(where, model, 1_000 + number, count)
        acknowledged += count
    logger.info("server killed %d times, %d acknowledged steps", kills, acknowledged)
    assert acknowledged > kills


def test_a_second_writer_is_refused_while_the_first_writes_and_goes_on_after_it(postgres: str) -> None:
    first, second = opened(postgres), opened(postgres, wait_seconds=0.05)
    with first._changing(), pytest.raises(WriterBusyError, match="Another process"):
        second.upsert([entry("dog", "b.txt")])
    second.upsert([entry("dog", "b.txt")])
    first.upsert([entry("cat", "a.txt")])
    with second.view() as view:
        assert len(view.search_bm25(query("cat dog"), 9)) == 2
    first.close()
    second.close()


def test_two_writers_in_turn_number_the_same_terms_alike(postgres: str) -> None:
    stores = [opened(postgres), opened(postgres)]
    for number in range(12):
        stores[number % 2].upsert([entry(f"word{number} shared word{number // 2}", f"{number}.txt")])
    for store in stores:
        with store.view() as view:
            assert len(view.search_bm25(query("shared"), 99)) == 12
            assert len(view.search_bm25(query("word3"), 99)) == 3
        assert store.verify() == []
        store.close()


def test_what_others_write_during_a_reindex_is_in_the_next_edition(postgres: str) -> None:
    reindexing, writing = opened(postgres, upkeep=Upkeep(documents_at_once=2)), opened(postgres)
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


def test_of_two_reindexes_at_once_one_is_refused(postgres: str) -> None:
    slow, quick = opened(postgres), opened(postgres)
    slow.upsert(entries(["cat one", "cat two"]))

    def made(documents: list[Document]) -> list[tuple[IndexedChunk, ...]]:
        return [entry(one.text, one.source).chunks for one in documents]

    def overtaken(documents: list[Document]) -> list[tuple[IndexedChunk, ...]]:
        quick.rebuild(fingerprint("quick"), made)  # type: ignore[arg-type]
        return made(documents)

    with pytest.raises(WriterBusyError, match="reindexed"):
        slow.rebuild(fingerprint("slow"), overtaken)  # type: ignore[arg-type]
    with slow.view() as view:
        assert view.fingerprint == fingerprint("quick")
        assert len(view.search_bm25(query("cat"), 9)) == 2
    slow.close()
    quick.close()


def cut_off(where: str) -> None:
    """End every other session of the database, as a network or a restart does."""
    with psycopg.connect(address_of(where).dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND application_name = 'twofold'"
        )


def test_a_connection_lost_inside_a_transaction_changes_nothing(own_server: PostgresServer) -> None:
    where = own_server.address(index="kb")
    store = opened(where)
    store.upsert([entry("cat", "a.txt")])
    with pytest.raises(StoreError, match="cannot be reached"), store._changing() as connection:  # noqa: PT012
        connection.execute("DELETE FROM chunk")
        cut_off(where)
        connection.execute("SELECT 1")
    with store.view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 1
    with pytest.raises(StoreError, match="cannot be reached"), store.view() as view:  # noqa: PT012
        cut_off(where)
        view.document("nobody")
    store.upsert([entry("dog", "b.txt")])
    assert store.verify() == []
    store.close()


def test_a_restarted_server_is_found_again(own_server: PostgresServer) -> None:
    where = own_server.address(index="kb")
    store = opened(where)
    store.upsert(entries(["cat one", "cat two", "dog"]))
    own_server.stop()
    with pytest.raises(StoreError, match="cannot be reached"), store.view():
        pass
    own_server.start()
    with store.view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 2
    store.upsert([entry("cat three", "c.txt")])
    with store.view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 3
    assert store.verify() == []
    store.close()


@pytest.fixture
def replica(own_server: PostgresServer) -> Iterator[PostgresServer]:
    """A server that has all that `own_server` acknowledges."""
    made = PostgresServer(own_server)
    try:
        with psycopg.connect(own_server.address(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
            connection.execute("SELECT pg_reload_conf()")
            deadline = time.monotonic() + 60
            while not connection.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").fetchall():
                assert time.monotonic() < deadline
                connection.execute("SELECT pg_sleep(0.05)")
        yield made
    finally:
        made.remove()


def test_a_replica_answers_and_takes_over_with_all_that_was_acknowledged(
    own_server: PostgresServer, replica: PostgresServer
) -> None:
    store = opened(f"postgresql://postgres@/postgres?host={own_server.folder},{replica.folder}&index=kb")
    store.upsert(entries(["cat one", "cat two", "dog"]))
    store.create_snapshot("monday", 1_000_000)
    store.delete([entry("", "001.txt").document.id])

    own_server.kill()
    with store.view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 1
    with store.at("monday").view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 2
    with pytest.raises(StoreError, match="replica or read-only"):
        store.upsert([entry("cat three", "c.txt")])

    with psycopg.connect(replica.address(), autocommit=True) as connection:
        connection.execute("SELECT pg_promote()")
    store.upsert([entry("cat three", "c.txt")])
    with store.view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 2
    assert store.verify() == []
    store.close()


def test_a_server_without_room_is_a_typed_error_and_loses_nothing(own_server: PostgresServer) -> None:
    store = opened(own_server.address(index="kb"))
    store.upsert([entry("cat", "a.txt")])
    own_server.stop()
    own_server.start(kibibytes_a_file=17 * 1024)  # a file of the server's log fits, a table beyond it does not
    with pytest.raises(StorageFullError, match="no room"):
        store.upsert([entry(f"dog {secrets.token_hex(600_000)}", f"{number}.txt") for number in range(20)])
    own_server.stop()
    own_server.start()
    with store.view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 1
    store.upsert([entry("owl", "z.txt")])
    assert store.verify() == []
    store.close()


def test_a_dump_restored_into_another_database_is_the_same_index(postgres_server: PostgresServer) -> None:
    names = [f"dumped-{secrets.token_hex(4)}" for _ in range(2)]
    first, second = (postgres_server.create_database(name) + "&index=kb" for name in names)
    store = opened(first)
    store.upsert(entries([f"cat {number}" for number in range(8)]))
    store.delete([entry("", "003.txt").document.id])
    store.close()
    host = ["-h", str(postgres_server.folder), "-U", "postgres"]
    file = str(postgres_server.folder / names[0])
    postgres_server.run(postgres_server.programs / "pg_dump", *host, "-Fc", "-f", file, names[0])
    postgres_server.run(postgres_server.programs / "pg_restore", *host, "-d", names[1], file)

    here, there = opened(first), opened(second)
    there.upsert([entry("owl cat", "new.txt")])
    here.upsert([entry("owl cat", "new.txt")])
    with here.view() as expected, there.view() as view:
        assert view.search_bm25(query("cat owl"), 99) == expected.search_bm25(query("cat owl"), 99)
        assert list(view.documents()) == list(expected.documents())
    assert there.verify() == []
    here.close()
    there.close()


def test_a_role_that_may_only_read_searches_and_is_refused_to_write(postgres_server: PostgresServer) -> None:
    where = postgres_server.create_database(f"roles-{secrets.token_hex(4)}") + "&index=kb"
    role = f"reader{secrets.token_hex(4)}"
    store = opened(where)
    store.upsert([entry("cat", "a.txt")])
    with psycopg.connect(address_of(where).dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN; GRANT pg_read_all_data TO {role}".encode())
    reader = PostgresStore(address_of(where.replace("postgres@", f"{role}@")), create=False)
    with reader.view() as view:
        assert len(view.search_bm25(query("cat"), 9)) == 1
    assert reader.verify() == []
    with pytest.raises(StoreError, match="may not do this"):
        reader.upsert([entry("dog", "b.txt")])
    reader.close()
    store.close()


@pytest.mark.parametrize("damage", ["UPDATE segment_part SET data = '\\x00'", "DELETE FROM segment_part"])
def test_a_damaged_segment_is_made_again_and_found_by_verify(postgres: str, damage: str) -> None:
    store = opened(postgres)
    store.upsert(entries([f"cat {number}" for number in range(8)]))
    assert store.info().segments == 1
    with store._changing() as connection:
        connection.execute(damage)
    again = opened(postgres)
    with again.view() as view:
        assert len(view.search_bm25(query("cat"), 99)) == 8
    assert [finding.repairable for finding in again.verify()] == [True]
    again.compact()
    assert again.verify() == []
    again.close()
    store.close()


@pytest.mark.soak
@pytest.mark.parametrize("retrieval", ["client", "server"])
@pytest.mark.parametrize("collection", ["cacm", "scifact"])
def test_every_question_of_a_judged_collection_is_answered_as_by_a_local_index_bit_for_bit(
    shared: Path, tmp_path: Path, pgvector: str, collection: str, retrieval: str
) -> None:
    postgres = f"{pgvector}&retrieval={retrieval}"
    judged, overrides, answered = load(shared / "data" / collection), {"embedder": "hashing"}, 0
    for one in judged.documents:
        (tmp_path / f"{one.id}.txt").write_text(f"{one.title}\n\n{one.text}", encoding="utf-8")
    with Index("local", overrides=overrides) as local:
        assert len(local.sync(tmp_path).added) == len(judged.documents)
        made = PostgresStore(address_of(postgres))
        migrate(local._base, made, lambda _done, _total: None)
        made.close()
        with Index(postgres, overrides=overrides) as there:
            for question in judged.queries:
                for mode in ("hybrid", "bm25", "vector"):
                    found, expected = (
                        [
                            (hit.source, hit.score.hex(), repr(hit.trace))
                            for hit in index.search(question.text, mode=mode, k=100).hits
                        ]
                        for index in (there, local)
                    )
                    assert found == expected, (mode, question.text)
                    answered += bool(found)
    logger.info(
        "%s, %s: %d questions in three modes, %d answered", collection, retrieval, len(judged.queries), answered
    )
    assert answered > len(judged.queries)
