"""What every store promises, tried on each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.factories import fingerprint
from support.searchers import searched_in_parts
from twofold.domain.ports import Store
from twofold.stores.database_address import address_of
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore
from twofold.stores.postgres.store import PostgresStore
from twofold.stores.s3.heads import Pace
from twofold.stores.s3.store import S3Store
from twofold.testing import StoreContract


@pytest.fixture(
    params=[
        "memory",
        "local",
        "postgres",
        pytest.param("postgres-ranks", marks=pytest.mark.soak),  # without pgvector; random worlds have it every day
        "postgres-pgvector",
        "s3",
        "searchers",
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store
    if request.param.startswith("postgres"):
        where = request.getfixturevalue("pgvector" if request.param.endswith("pgvector") else "postgres")
        where += "&retrieval=server" if request.param != "postgres" else ""
        made = PostgresStore(address_of(where), cache=tmp_path / "cache")
    elif request.param == "s3":
        made = S3Store(address_of(request.getfixturevalue("s3")), cache=tmp_path / "cache", pace=Pace(fresh=0.0))
    elif request.param == "searchers":
        made = searched_in_parts(tmp_path / "kb", 3)
    else:
        made = MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "kb")
    made.ensure_fingerprint(fingerprint())
    yield made
    assert made.verify() == []
    made.close()
    made.close()


class TestEveryStore(StoreContract):
    """The suite that users have too."""
