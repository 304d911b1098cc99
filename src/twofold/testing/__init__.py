"""Suites to try parts of your own with, the same that the built-in ones are held to: the extra `testing`.

    from twofold.testing import RetrieverContract

    class TestMine(RetrieverContract):
        @pytest.fixture
        def retriever(self) -> Retriever:
            return Mine()

pytest runs every test of the suite on what the fixture gives. docs/extending.md has one for each kind of part.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twofold.testing.chunkers import ChunkerContract
    from twofold.testing.embedders import EmbedderContract
    from twofold.testing.generators import GeneratorContract
    from twofold.testing.readers import ReaderContract
    from twofold.testing.rerankers import RerankerContract
    from twofold.testing.retrievers import RetrieverContract
    from twofold.testing.stores import StoreContract
    from twofold.testing.transformers import TransformerContract

__all__ = [
    "ChunkerContract",
    "EmbedderContract",
    "GeneratorContract",
    "ReaderContract",
    "RerankerContract",
    "RetrieverContract",
    "StoreContract",
    "TransformerContract",
]

_HOMES = {name: f"twofold.testing.{name.removesuffix('Contract').lower()}s" for name in __all__}
_ASSERTING = (*_HOMES.values(), "twofold.testing.store_searches")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    import pytest  # an extra; `making` does without it

    pytest.register_assert_rewrite(*_ASSERTING)  # so that a failure shows what was compared
    return getattr(import_module(_HOMES[name]), name)
