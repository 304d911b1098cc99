"""What clients may send to the routes of twofold's own: strict shapes with limits, and what they mean to the engine."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import EVERYTHING, Filter
from twofold.http.limits import DEFAULT_LIMITS
from twofold.http.tokens import Grant
from twofold.models.identities import HASHING, embedder_entry
from twofold.query.filter_json import filter_from_json
from twofold.query.filters import parse_filter
from twofold.query.history import Turn
from twofold.searcher import Asking
from twofold.settings import Settings

LONGEST_NAME = 1_000
MOST_FIELDS = 64
MOST_TURNS = 100
SETTABLE = ("search.", "fusion.", "diversity.", "metadata.", "boost.")
ALSO_SETTABLE = frozenset(
    {
        "rerank.candidates",
        "rerank.keep",
        "rerank.weight",
        "rerank.threshold",
        "rewrite.feedback",
        "rewrite.by_intent",
        "answer.verify",
    }
)
NEVER_SETTABLE = frozenset({"search.extensions"})
"""What a request may set for itself: nothing that names a model, an address or a file."""

Scalar = Annotated[str, Field(max_length=10_000)] | bool | int | float
MetadataFields = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=200)], Scalar | list[Scalar]],
    Field(max_length=MOST_FIELDS, description="Fields to filter by: text, numbers, truth values, or lists of them."),
]
Query = Annotated[str, Field(min_length=1, max_length=DEFAULT_LIMITS.query_characters, description="A question.")]
TopK = Annotated[int, Field(ge=1, le=DEFAULT_LIMITS.k, description="How many passages to give.")]
FilterField = Annotated[
    str | dict[str, Any] | None,
    Field(description="`type == '.md' and year >= 2020`, or a tree in JSON; see docs/filters.md."),
]


class Strict(BaseModel):
    """A shape in which nothing is guessed and nothing is left over."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


class TurnAsked(Strict):
    """One entry of the conversation before."""

    role: Literal["user", "assistant"]
    text: Annotated[str, Field(max_length=DEFAULT_LIMITS.turn_characters)]


class Ways(Strict):
    """How to search, where it is to be otherwise than the index says."""

    k: TopK | None = None
    mode: Literal["hybrid", "bm25", "semantic"] | None = None
    filter: FilterField = None
    profile: Annotated[str, Field(max_length=64, description="The name of a profile.")] | None = None
    rerank: Annotated[bool, Field(description="`false` leaves out reranking.")] = True
    budget_ms: Annotated[float, Field(ge=0, le=60_000)] | None = None
    settings: Annotated[
        dict[str, Any],
        Field(max_length=MOST_FIELDS, description="Other settings of a search by their dotted names: `fusion.form`."),
    ] = Field(default_factory=dict)
    history: Annotated[list[TurnAsked], Field(max_length=MOST_TURNS)] = Field(default_factory=list)

    def asking(self, _: Grant) -> Asking:
        """Say it to the engine. Raises InvalidInputError."""
        budget = {} if self.budget_ms is None else {"search.budget_ms": self.budget_ms}
        return Asking(
            k=self.k,
            mode=self.mode,
            filter=filter_of(self.filter),
            rerank=None if self.rerank else "none",
            profile=self.profile,
            settings={**allowed(self.settings), **budget},
            history=tuple(Turn(turn.role, turn.text) for turn in self.history),
        )


class Options(Ways):
    """How to search one index, and in which conversation."""

    session: Annotated[str, Field(max_length=100)] = ""

    def asking(self, caller: Grant) -> Asking:
        """Say it to the engine, the sessions of different callers kept apart. Raises InvalidInputError."""
        return replace(super().asking(caller), session=caller.conversation(self.session))


class SearchAsked(Options):
    """A search."""

    query: Query


class BatchAsked(Options):
    """Many searches, alike but for the question."""

    queries: Annotated[list[Query], Field(min_length=1, max_length=DEFAULT_LIMITS.batch)]


class WhyNotAsked(Options):
    """A search, and the document that one would have expected."""

    query: Query
    document: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="Its id or its source.")]


class IndexAsked(Strict):
    """An index to be made."""

    name: Annotated[str, Field(pattern="^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$", examples=["notes"])]
    embedder: Annotated[
        str | None, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="The name of a known model.")
    ] = None
    analyser: Annotated[
        str | None, Field(pattern="^[a-z_]{1,32}([+][2-4])?$", description="A language, or simple.")
    ] = None


class TextAsked(Strict):
    """A document by its text. Without a `source` the text names it; an `id` replaces the one made from the source."""

    text: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(max_length=LONGEST_NAME)] = ""
    title: Annotated[str, Field(max_length=LONGEST_NAME)] = ""
    id: Annotated[str, Field(pattern="^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$")] = ""
    metadata: MetadataFields = Field(default_factory=dict)


class TextsAsked(Strict):
    """Documents to be added, or put in the place of those with the same source."""

    documents: Annotated[list[TextAsked], Field(min_length=1, max_length=1_000)]


class SyncAsked(Strict):
    """Folders and files of the server, within the roots that it was started with."""

    paths: Annotated[list[Annotated[str, Field(min_length=1, max_length=4_096)]], Field(min_length=1, max_length=100)]


class FeedbackAsked(Strict):
    """What somebody thinks of an answer: `rating` from -1 (bad) to 1 (good), of a passage or of the whole."""

    query: Query
    rating: Annotated[int, Field(ge=-1, le=1)]
    chunk_id: Annotated[str, Field(max_length=200)] = ""
    document: Annotated[str, Field(max_length=200)] = ""
    comment: Annotated[str, Field(max_length=4_000)] = ""


def filter_of(said: str | dict[str, Any] | None) -> Filter:
    """Read a filter in either of its two forms. Raises InvalidInputError."""
    if said is None:
        return EVERYTHING
    return parse_filter(said) if isinstance(said, str) else filter_from_json(said)


def allowed(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let through what a request may set for itself. Raises InvalidInputError for anything else."""
    for key in settings:
        if key in NEVER_SETTABLE or not (key.startswith(SETTABLE) or key in ALSO_SETTABLE):
            raise InvalidInputError(
                f"{key[:100]!r} cannot be set in a request.", "Set it where the server is started, or for the index."
            )
    return settings


def settings_for(asked: IndexAsked, settings: Settings) -> Settings:
    """Return the settings that a new index is made with. Raises NotFoundError for a model outside the catalog."""
    if asked.embedder not in {None, HASHING, settings.embedder}:
        embedder_entry(asked.embedder or "")
    return replace(settings, embedder=asked.embedder or settings.embedder, analyser=asked.analyser or settings.analyser)
