"""An index in a bucket, through the library, the command line and a server, next to a local one."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.api_client import visiting
from support.indexes import as_bits
from support.s3_server import KEY, SECRET, S3Server
from surfaces.conftest import Run
from twofold import Index
from twofold.domain.errors import InvalidInputError, MissingExtraError, NotFoundError
from twofold.stores.database_address import with_index


def test_who_may_not_read_a_document_finds_as_if_it_were_not_there(s3: str) -> None:
    with Index("without") as local, Index(s3) as shared:
        for index in (local, shared):
            index.add("The soup of the canteen is hot.", source="soup.txt", readers=("public",))
        shared.add("The soup is a secret of the canteen.", source="secret.txt", readers=("group:legal",))
        bob = shared.as_principals(["user:bob"])
        assert as_bits(bob.search("soup canteen")) == as_bits(local.search("soup canteen"))
        assert len(shared.as_principals(["group:legal"]).search("soup").hits) == 2
        shared.set_readers("soup.txt", ["user:ann"])
        assert bob.search("soup").hits == ()


def test_commands_work_on_an_address_and_show_no_key(run: Run, documents: Path, s3: str) -> None:
    written = [
        run("sync", documents, "--index", s3),
        run("search", "undo a commit", "--index", s3),
        run("ask", "How many parents has a merge commit?", "--index", s3),
        run("ls", "--index", s3),
        run("index", "info", "--index", s3),
        run("index", "verify", "--index", s3),
        run("index", "compact", "--index", s3),
        run("migrate", s3, "back", "--json"),
        run("migrate", "back", f"{s3}-copy", "--json"),
        run("index", "drop", "--yes", "--index", s3),
        run("search", "undo", "--index", s3),
        run("search", "undo", "--index", "s3://key:secret@Bucket/kb"),
        run("search", "undo", "--index", "s3://library"),
    ]
    assert "5 added" in written[0].out
    assert "reset.md" in written[1].out
    assert "two parents" in written[2].out
    assert written[7].data["digest"] == written[8].data["digest"]
    assert [one.code for one in written] == [0] * 10 + [3, 2, 2]
    shown = "".join(one.out + one.err for one in written)
    assert KEY not in shown
    assert SECRET not in shown
    assert "key:secret" not in shown


def test_a_server_serves_the_indexes_below_an_address(s3: str, tmp_path: Path) -> None:
    with Index(with_index(s3, "notes"), overrides={"embedder": "hashing"}) as index:
        index.add("The dog ran.", source="dog.txt")
    with visiting(tmp_path / "server", database=s3) as visit:
        assert visit.client.get("/v1/indexes").json()["indexes"] == ["notes"]
        assert visit.client.post("/v1/indexes", json={"name": "kb"}).status_code == 201
        found = visit.client.post("/v1/indexes/notes/search", json={"query": "dog"}).json()
        assert [hit["source"] for hit in found["hits"]] == ["dog.txt"]
        assert visit.client.get("/v1/indexes").json()["indexes"] == ["kb", "notes"]
        assert visit.client.delete("/v1/indexes/notes").status_code == 204
        assert visit.client.get("/v1/indexes").json()["indexes"] == ["kb"]


def test_what_is_no_address_of_a_bucket_is_one_clear_error(s3: str) -> None:
    with pytest.raises(NotFoundError, match="no index"):
        Index(f"{s3}-none", create=False)
    for odd in ("s3://", "s3://UPPER/kb", "s3://library/../kb", "s3://library/a b"):
        with pytest.raises(InvalidInputError, match="address of a bucket"):
            Index(odd)


def test_a_process_of_its_own_finds_what_another_wrote(documents: Path, s3: str) -> None:
    command = [sys.executable, "-m", "twofold"]
    subprocess.run([*command, "sync", documents, "--index", s3], check=True, capture_output=True)
    done = subprocess.run([*command, "search", "undo a commit", "--index", s3], capture_output=True, check=True)
    assert b"reset.md" in done.stdout


def test_without_the_extra_the_error_names_it(s3: str, s3_server: S3Server) -> None:
    code = f"import sys; sys.modules['obstore'] = None; from twofold import Index; Index({s3!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert MissingExtraError.__name__ in done.stderr
    assert "twofold[s3]" in done.stderr
    assert s3_server.port
