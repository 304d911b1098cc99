"""QueryDecomposer, HyDEGenerator and PerformanceTracker, as programs for the system `localgpt` know them."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from twofold.config.load import load_settings
from twofold.domain.errors import InvalidInputError
from twofold.domain.generators import Generator, complete
from twofold.models.generators.factory import open_generator
from twofold.query.expansion import ask_hypothetical, ask_sub_questions, read_passage, read_sub_questions
from twofold.search.metrics import Metrics

_REPLY_TOKENS = 256
_STAGES = {
    "embedding_time": ("embed",),
    "retrieval_time": ("retrieve", "bm25", "vector"),
    "reranking_time": ("rerank",),
    "synthesis_time": ("generate", "extract"),
}


class _AsksModel:
    """Asks a language model, by its name (`ollama/qwen3:0.6b`, `http://host/v1#model`) or one of your own."""

    def __init__(self, model: str | Generator) -> None:
        self._generator = _opened(model) if isinstance(model, str) else model

    def close(self) -> None:
        """Free the model."""
        self._generator.close()


class QueryDecomposer(_AsksModel):
    """Breaks a question into simpler ones. Raises InvalidInputError for no model, and what opening one raises."""

    def decompose_query(self, query: str) -> list[str]:
        """Return two to four simpler questions; none where the model gives fewer. Raises ModelError."""
        reply = complete(self._generator, ask_sub_questions(query), max_tokens=_REPLY_TOKENS)
        return list(read_sub_questions(reply))


class HyDEGenerator(_AsksModel):
    """Writes passages that could answer a question. Errors as for `QueryDecomposer`."""

    def generate_hypothetical_doc(self, query: str) -> str:
        """Return a passage as a document with the answer might have it. Raises ModelError."""
        return read_passage(complete(self._generator, ask_hypothetical(query), max_tokens=_REPLY_TOKENS))


class PerformanceTracker:
    """Counts questions, their time in seconds, and errors; each question once, whatever becomes of it."""

    def __init__(self) -> None:
        self._queries = self._errors = 0
        self._seconds = 0.0
        self._of_index: Metrics | None = None

    @contextmanager
    def track_query(self, query: str) -> Iterator[None]:
        """Count what is done in the block as one question. What is raised in it is counted and raised."""
        del query  # its name is part of the call
        began = time.perf_counter()
        self._queries += 1
        try:
            yield
        except BaseException:
            self._errors += 1
            raise
        self._seconds += time.perf_counter() - began

    def observe(self, metrics: Metrics) -> None:
        """Take the times of stages and the share of answers from memory from an index's own figures."""
        self._of_index = metrics

    @property
    def metrics(self) -> Mapping[str, float]:
        """Return the eight figures; times are means in seconds, rates are shares of all questions."""
        answered = self._queries - self._errors
        held = self._of_index
        stages = {} if held is None else held.stages
        return {
            "query_count": self._queries,
            "avg_response_time": self._seconds / answered if answered else 0.0,
            "cache_hit_rate": 0.0 if held is None else held.cache_hit_rate,
            "error_rate": self._errors / self._queries if self._queries else 0.0,
            **{
                name: sum(stages[one].mean_ms for one in known if one in stages) / 1e3
                for name, known in _STAGES.items()
            },
        }


def _opened(spec: str) -> Generator:
    settings = load_settings()
    made = open_generator(spec, cache=settings.models, offline=settings.offline)
    if made is None:
        raise InvalidInputError("There is no model to ask.", "Name one, such as ollama/qwen3:0.6b.")
    return made
