"""What every embedder promises, tried on each of them."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.http_server import embeddings, serving
from twofold.domain.ports import Embedder
from twofold.models.catalog.entries import DEFAULT
from twofold.models.catalog.files import is_present
from twofold.models.catalog.identities import identity_of
from twofold.models.embedders.factory import open_embedder
from twofold.testing import EmbedderContract


@pytest.fixture(
    scope="module",
    params=[
        "hashing",
        "hashing:33",
        "endpoint",
        pytest.param(DEFAULT.name, marks=pytest.mark.model),
        pytest.param(f"onnxruntime:{DEFAULT.name}", marks=pytest.mark.model),
    ],
)
def embedder(request: pytest.FixtureRequest, real_models: Path) -> Iterator[Embedder]:
    spec: str = request.param
    if spec == "endpoint":
        with serving(embeddings) as address:
            yield open_embedder(f"{address}/v1#hashing", cache=real_models)
        return
    if DEFAULT.name in spec and not is_present(DEFAULT, real_models):
        pytest.skip(f"no {DEFAULT.name} in {real_models}: run `make model`")
    if spec.startswith("onnxruntime:") and find_spec("onnxruntime") is None:
        pytest.skip("onnxruntime is not installed")
    made = open_embedder(spec, cache=real_models, offline=True)
    assert made.identity == identity_of(spec)
    yield made
    made.close()
    made.close()


class TestEveryEmbedder(EmbedderContract):
    """The suite that users have too."""
