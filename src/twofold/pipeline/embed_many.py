"""Many questions embedded at once: one call of the model for a whole batch of searches (checklist 69)."""

from collections.abc import Sequence

from twofold.domain.ports import Embedder
from twofold.domain.types import Vector


def embed_together(embedder: Embedder, questions: Sequence[str]) -> tuple[Vector | None, ...]:
    """Embed the words of many questions, in the order given; None for one without words.

    The model is called once, with each text once, and not at all where there is nothing to embed. Raises ModelError.
    """
    texts = list(dict.fromkeys(words for words in questions if words.strip()))
    if not texts:
        return (None,) * len(questions)
    made = dict(zip(texts, embedder.embed_queries(texts), strict=True))
    return tuple(made.get(words) for words in questions)
