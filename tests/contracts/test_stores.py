"""What every store promises, tried on each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.factories import fingerprint
from twofold.domain.ports import Store
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore
from twofold.testing import StoreContract


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "kb")
    made.ensure_fingerprint(fingerprint())
    yield made
    assert made.verify() == []
    made.close()
    made.close()


class TestEveryStore(StoreContract):
    """The suite that users have too."""
