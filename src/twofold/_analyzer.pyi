# `twofold.text.analyzer` describes these methods and is their oracle; `_analyzer_python` and
# `twofold.text.phrases` have the functions.
from collections.abc import Callable, Iterator, Mapping
from typing import Self

from twofold.text.analyzer import Token
from twofold.text.tokenizer import Kind

class Runs:
    def __new__(
        cls,
        term_of: Callable[[str], str],
        count_run: Callable[[str], tuple[list[str], list[str], str | None, str | None]],
        place_run: Callable[[str], tuple[object, ...]],
        token: type[Token],
        kinds: tuple[Kind, ...],
        splits: bool,
        humps: bool,
        /,
    ) -> Self: ...
    def count(self, text: str, /) -> tuple[Mapping[str, int], int]: ...
    def place(self, text: str, /) -> list[Token]: ...

class Counts(Mapping[str, int]):  # what `Runs.count` returns, in the order in which terms are first met; or a dict
    def __getitem__(self, term: str, /) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

def number_terms(
    counts: Mapping[str, int], ids: dict[str, int], last: int, fresh: list[str], name: int, /
) -> bytes: ...
def unknown_terms(counts: Mapping[str, int], ids: dict[str, int], name: int, /) -> list[str]: ...
def squeeze_text(text: str, fold: Callable[[str], str], /) -> str: ...
def shape_tokens(text: str, classes: bytes, /) -> tuple[list[str], str] | None: ...
