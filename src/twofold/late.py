"""Parts of our own that are loaded when they are first used, by their address.

A process that asks one question uses few of the parts that could be asked for: each that is not loaded is time that a
person does not wait. Imports stand at the top of a module all the same; what stands here instead is named as
`module:name`, so that all such places can be found, and tests load every one of them.
"""

from importlib import import_module
from typing import Any


def late(address: str) -> Any:  # noqa: ANN401  # a part of any kind; whoever asks says which
    """Return what stands at an address such as `twofold.search.engine:SearchEngine`, loading its module if need be."""
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)
