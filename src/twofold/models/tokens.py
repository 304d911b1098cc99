"""Words to the numbers a model reads: the model's own tokenizer, and its truncation."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts as a model reads them: token numbers, and 0 or 1 for each, for the text that it is of."""

    ids: Sequence[int]
    kinds: Sequence[int]


def load_tokenizer(path: Path, sha256: str, hint: str) -> Any:  # noqa: ANN401 - tokenizers.Tokenizer has no types
    """Read a `tokenizer.json` whose hash is known, with truncation and padding off."""
    import tokenizers

    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"The tokenizer {path} cannot be read: {error.strerror}.", hint) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ModelError(f"The tokenizer {path} is damaged.", hint)
    tokenizer = tokenizers.Tokenizer.from_str(content.decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def load_pair_tokenizer(path: Path, sha256: str, hint: str, max_tokens: int) -> Any:  # noqa: ANN401
    """Read a tokenizer that gives a pair at most `max_tokens`, special ones included, the longer text cut first."""
    tokenizer = load_tokenizer(path, sha256, hint)
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    return tokenizer


def encode_pairs(tokenizer: Any, query: str, texts: Sequence[str]) -> list[Pair]:  # noqa: ANN401
    """Return the tokens of the query paired with each text."""
    asked = encodable(query)
    encodings = tokenizer.encode_batch_fast([(asked, encodable(text)) for text in texts])
    return [Pair(encoding.ids, encoding.type_ids) for encoding in encodings]


def encode(tokenizer: Any, texts: Sequence[str], max_tokens: int) -> list[list[int]]:  # noqa: ANN401
    """Return each text's token numbers with the special ones, at most `max_tokens`; what is cut is the text's end."""
    encodings = tokenizer.encode_batch_fast([encodable(text) for text in texts])
    return [_truncated(encoding.ids, max_tokens) for encoding in encodings]


def count(tokenizer: Any, texts: Sequence[str]) -> list[int]:  # noqa: ANN401
    """Count each text's tokens, without special ones or truncation."""
    encodings = tokenizer.encode_batch_fast([encodable(text) for text in texts], add_special_tokens=False)
    return [len(encoding) for encoding in encodings]


def _truncated(ids: list[int], max_tokens: int) -> list[int]:
    return ids if len(ids) <= max_tokens else [*ids[: max_tokens - 1], ids[-1]]


def encodable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer takes and which broken documents contain."""
    return text.encode("utf-8", "replace").decode()
