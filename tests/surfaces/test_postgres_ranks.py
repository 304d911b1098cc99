"""`retrieval=server` in an address: the database ranks, nothing is copied, and the answers are the same."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from support.factories import entry, fingerprint, query, vector
from support.postgres_server import PostgresServer
from twofold import Index
from twofold.domain.errors import NotAllowedError
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import Scope, Store
from twofold.stores.database_address import address_of, with_index
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.memory import MemoryStore
from twofold.stores.postgres.store import PostgresStore

TEXTS = {
    "cat.txt": "The cat sat on the mat. It purred all afternoon.",
    "tower.txt": "The Eiffel tower stands in Paris. It was finished in 1889.",
    "git.txt": "To undo the last commit but keep your changes, reset softly.",
}


def run(home: Path, *arguments: str) -> tuple[int, Any, str]:
    """Run the command with a home of its own; return its exit status, what it printed as JSON, and its errors."""
    command = [sys.executable, "-m", "twofold", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "TWOFOLD_HOME": str(home)}
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def filled(where: str, home: Path) -> None:
    with Index(where, overrides={"embedder": "hashing", "home": str(home)}) as index:
        for source, text in TEXTS.items():
            index.add(text, source=source)
        index.compact()


def test_a_search_ranked_by_the_database_copies_no_segment_and_finds_the_same(pgvector: str, tmp_path: Path) -> None:
    filled(pgvector, tmp_path / "writer")
    asked = ("search", "who sat on the mat in paris", "--json", "--explain", "--index")
    code, here, _ = run(tmp_path / "copies", *asked, pgvector)
    there_code, there, _ = run(tmp_path / "thin", *asked, f"{pgvector}&retrieval=server")
    assert (code, there_code) == (0, 0)
    assert [hit["source"] for hit in here["hits"]][:2] == ["cat.txt", "tower.txt"]
    assert here["hits"] == there["hits"]
    assert list((tmp_path / "copies").rglob("*.segment")) != []
    assert list((tmp_path / "thin").rglob("*.segment")) == []


def test_another_kind_of_retrieval_is_refused(postgres: str, tmp_path: Path) -> None:
    code, _, said = run(tmp_path, "search", "cat", "--json", "--index", f"{postgres}&retrieval=nowhere")
    assert code == 2
    assert "`retrieval` of an address is `client` or `server`" in said


def test_who_only_reads_searches_what_a_writer_has_made(postgres_server: PostgresServer, tmp_path: Path) -> None:
    database, role = postgres_server.create_database(f"roles-{secrets.token_hex(4)}"), f"reader_{secrets.token_hex(4)}"
    where = with_index(database, "kb")
    filled(where, tmp_path / "writer")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN; GRANT pg_read_all_data TO {role}".encode())
    thin = f"{where.replace('postgres@', f'{role}@')}&retrieval=server"
    with pytest.raises(NotAllowedError, match="no posting rows"):
        PostgresStore(address_of(thin), create=False)
    PostgresStore(address_of(f"{where}&retrieval=server"), create=False).close()
    with Index(thin, overrides={"embedder": "hashing", "home": str(tmp_path / "reader")}, create=False) as index:
        assert index.search("cat").hits[0].source == "cat.txt"


def many(store: Store) -> None:
    store.ensure_fingerprint(fingerprint())
    store.upsert(
        [entry(f"word{number} cat", f"{number}.txt", {"of": number % 20, "even": number % 2}) for number in range(80)]
    )


def test_a_graph_of_many_vectors_finds_k_and_through_a_narrow_filter_all(pgvector: str) -> None:
    """pgvector's scan of a graph ends before it has found all that a filter lets through; then all are compared."""
    options = "&options=-c%20enable_seqscan%3Doff"
    address = address_of(f"{pgvector}{options}&retrieval=server")
    store, model = PostgresStore(address, upkeep=Upkeep(graph_from=50)), MemoryStore()
    for one in (store, model):
        many(one)
    store.compact()
    with psycopg.connect(address.dsn) as connection:
        rows = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'near_1'").fetchall()
    assert any("hnsw" in definition for (definition,) in rows)
    with store.view() as view, model.view() as expected:
        for scope in (Scope(), Scope(Condition("of", Operator.EQ, 3)), Scope(Condition("even", Operator.EQ, 0))):
            for k in (1, 4, 30):
                found = view.search_vectors(vector("word7 cat"), k, scope)
                assert found == expected.search_vectors(vector("word7 cat"), k, scope)
        assert view.search_bm25(query("word7 cat"), 9) == expected.search_bm25(query("word7 cat"), 9)
    store.close()


def test_posting_rows_that_were_lost_are_found_by_verify_and_made_again(pgvector: str) -> None:
    store = PostgresStore(address_of(f"{pgvector}&retrieval=server"))
    many(store)
    with store._changing() as connection:
        connection.execute("DELETE FROM posting WHERE row % 3 = 0")
    assert [finding.where for finding in store.verify()] == ["posting"]
    store.compact()
    assert store.verify() == []
    with store.view() as view:
        assert len(view.search_bm25(query("cat"), 99)) == 80
    store.close()


def test_vectors_of_every_half_float_are_compared_as_they_are_stored(pgvector: str) -> None:
    """The trigger reads half floats from bytes: normal ones, subnormal ones and zeros of both signs."""
    store = PostgresStore(address_of(f"{pgvector}&retrieval=server"))
    store.ensure_fingerprint(fingerprint())
    with store._changing() as connection:
        half = np.array([1.0, -1.0, 0.0, -0.0, 6e-8, -6e-5, 0.333, 65504.0], dtype=np.float16)
        (read,) = connection.execute(
            "SELECT (halves(?)::public.vector::real[])::float8[]", (half.tobytes(),)
        ).fetchone() or (None,)
    assert np.array_equal(np.array(read), half.astype(np.float64))
    store.close()
