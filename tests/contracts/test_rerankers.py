"""What every reranker promises, tried on each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.http_server import reranking, serving
from twofold.domain.ports import Reranker
from twofold.models.catalog.entries import MS_MARCO
from twofold.models.catalog.files import is_present
from twofold.models.rerankers.factory import open_reranker
from twofold.testing import RerankerContract


@pytest.fixture(
    scope="module", params=["word-overlap", "endpoint", pytest.param(MS_MARCO.name, marks=pytest.mark.model)]
)
def reranker(request: pytest.FixtureRequest, real_models: Path) -> Iterator[Reranker]:
    spec: str = request.param
    if spec == "endpoint":
        with serving(reranking) as address:
            made = open_reranker(f"{address}/v1#overlap", cache=real_models, offline=True)
            assert made is not None
            yield made
        return
    if spec == MS_MARCO.name and not is_present(MS_MARCO, real_models):
        pytest.skip(f"no {MS_MARCO.name} in {real_models}: run `twofold models pull {MS_MARCO.name}`")
    made = open_reranker(spec, cache=real_models, max_tokens=128, offline=True)
    assert made is not None
    yield made
    made.close()
    made.close()


class TestEveryReranker(RerankerContract):
    """The suite that users have too."""
