"""Results as JSON: one object a line on standard output, always valid UTF-8, whatever a file's name is made of.

Characters that act on a terminal or cannot be seen are written as escapes, so that JSON can be looked at too.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np

from twofold.cli.screen import printable_json


def write_json(value: object) -> None:
    """Print one result as one line.

    Lone surrogates, which stand for bytes of a file name that are no UTF-8, become JSON's own escapes of them.
    """
    text = json.dumps(as_data(value), ensure_ascii=False, allow_nan=False)
    sys.stdout.buffer.write(printable_json(text).encode() + b"\n")
    sys.stdout.flush()


def as_data(value: object) -> object:
    """Widen one of our nouns to what JSON knows: a dataclass becomes an object with its fields in their order."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_data(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_data(one) for key, one in value.items()}
    if isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes | bytearray):
        return [as_data(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    message = f"{type(value).__name__} has no form in JSON"
    raise TypeError(message)
