"""What clients may send to the routes of twofold's own: strict shapes with limits, and what they mean to the engine."""

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from twofold.config.load import Settings
from twofold.domain.access import MAX_READERS
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, Filter
from twofold.models.catalog.identities import HASHING, embedder_entry, members_of
from twofold.query.filter_json import filter_from_json
from twofold.query.filter_syntax import parse_filter
from twofold.query.history import Turn
from twofold.search.engine import PLAIN, Effort, ResultOptions, SearchOptions
from twofold.search.result import Hit, SearchResult
from twofold.server.auth import Grant
from twofold.server.limits import DEFAULT_LIMITS

MAX_NAME_LENGTH = 1_000
MAX_FIELDS = 64
MAX_TURNS = 100
MAX_NAMES = 100
SETTABLE = frozenset({"search", "fusion", "diversity", "metadata_boost", "boost"})
ALSO_SETTABLE = frozenset(
    {
        "rerank.candidates",
        "rerank.top_n",
        "rerank.weight",
        "rerank.threshold",
        "answer.unsupported",
    }
)
SETTABLE_PARTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"prf": frozenset({"dense_terms"}), "query": frozenset({"intent_filter"})}
)
"""What a request may set for itself: nothing that names a model, an address or a file."""

Scalar = Annotated[str, Field(max_length=10_000)] | bool | int | float
MetadataFields = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=200)], Scalar | list[Scalar]],
    Field(max_length=MAX_FIELDS, description="Fields to filter by: text, numbers, truth values, or lists of them."),
]
IndexText = Annotated[str, Field(pattern="^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$", examples=["notes"])]
Query = Annotated[str, Field(min_length=1, max_length=DEFAULT_LIMITS.query_characters, description="A question.")]
TopK = Annotated[int, Field(ge=1, le=DEFAULT_LIMITS.k, description="How many passages to give.")]
FilterField = Annotated[
    str | dict[str, Any] | None,
    Field(description="`type == '.md' and year >= 2020`, or a tree in JSON; see docs/filters.md."),
]


class Strict(BaseModel):
    """A shape in which nothing is guessed and nothing is left over."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


class TurnRequest(Strict):
    """One entry of the conversation before."""

    role: Literal["user", "assistant"]
    text: Annotated[str, Field(max_length=DEFAULT_LIMITS.turn_characters)]


SearchMode = Literal["hybrid", "bm25", "vector"]


class QueryOptions(Strict):
    """What a request may set for itself; what is left out is as the index says."""

    k: TopK | None = None
    offset: Annotated[int, Field(ge=0, le=10_000, description="Passes over this many of the best.")] = 0
    filter: FilterField = None
    profile: Annotated[str, Field(max_length=64, description="The name of a profile.")] | None = None
    rerank: Annotated[bool, Field(description="`false` leaves out reranking.")] = True
    budget_ms: Annotated[float, Field(ge=0, le=60_000)] | None = None
    settings: Annotated[
        dict[str, Any],
        Field(max_length=MAX_FIELDS, description="Other settings of a search by their dotted names: `fusion.method`."),
    ] = Field(default_factory=dict)
    history: Annotated[list[TurnRequest], Field(max_length=MAX_TURNS)] = Field(default_factory=list)

    @property
    def retrievers(self) -> SearchMode | None:
        """Which retrievers search; None for what the index says."""
        return None

    def options(self, _: Grant) -> SearchOptions:
        """Return the options for the engine. Raises InvalidInputError."""
        budget = {} if self.budget_ms is None else {"timeouts": {"search": self.budget_ms / 1000.0}}
        return SearchOptions(
            k=self.k,
            mode=self.retrievers,
            filter=filter_of(self.filter),
            rerank=None if self.rerank else "none",
            profile=self.profile,
            settings={**allowed(self.settings), **budget},
            history=tuple(Turn(turn.role, turn.text) for turn in self.history),
            offset=self.offset,
        )


class ForSearch(QueryOptions):
    """The options of a search."""

    mode: Annotated[SearchMode | None, Field(description="Which retrievers search.")] = None

    @property
    def retrievers(self) -> SearchMode | None:
        """Which retrievers search; None for what the index says."""
        return self.mode


RESULT_FIELDS = tuple(one.name for one in fields(ResultOptions))
DEFAULT_RESULTS: Mapping[str, object] = MappingProxyType(
    {name: [] if getattr(PLAIN, name) == () else getattr(PLAIN, name) for name in RESULT_FIELDS}
)
NameList = Annotated[list[Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]], Field(max_length=MAX_NAMES)]


class ForResults(ForSearch):
    """What a search may ask of its results; see docs/results.md."""

    facets: Annotated[NameList, Field(description="Fields to count by: `author`, `modified:year`.")] = []
    sort: Annotated[NameList, Field(description="Fields to order by: `modified:desc`.")] = []
    collapse: Annotated[bool, Field(description="One passage of each document.")] = False
    boosts: Annotated[dict[str, float], Field(max_length=8, description='`{"title": 3}`.')] = {}
    recency: Annotated[str, Field(max_length=300, description="A half-life: `modified:30d`.")] = ""
    pin: Annotated[NameList, Field(description="Documents or passages to show first.")] = []
    hide: Annotated[NameList, Field(description="Documents or passages to leave out.")] = []
    mmr: Annotated[float, Field(ge=0, le=1, description="1 is relevance alone, 0 novelty alone.")] | None = None
    score: Annotated[str, Field(max_length=1_000, description="A formula that replaces the score.")] = ""
    extract_filters: bool | None = None
    keep: Annotated[NameList, Field(description="Phrases of the question that are no filters.")] = []
    cursor: Annotated[str, Field(max_length=100, description="`start`, or a `next_cursor`.")] = ""

    @property
    def results(self) -> ResultOptions:
        """What is asked of the results."""
        asked = {name: getattr(self, name) for name in RESULT_FIELDS}
        return PLAIN if asked == DEFAULT_RESULTS else ResultOptions(**asked)

    def options(self, caller: Grant) -> SearchOptions:
        """Return the options for the engine. Raises InvalidInputError."""
        return replace(super().options(caller), results=self.results)


class ForAnswer(QueryOptions):
    """The options of an answer."""

    stream: Annotated[bool, Field(description="Send events as they come, or the whole answer.")] = True
    mode: Annotated[
        Literal["generated", "extractive"],
        Field(description="Written by the language model, where the server has one, or sentences of the documents."),
    ] = "generated"
    model: Annotated[
        str, Field(max_length=200, description="Who writes: one of `models` of `GET /v1/server`; empty for its own.")
    ] = ""
    search_mode: Annotated[SearchMode | None, Field(description="Which retrievers search.")] = None
    effort: Annotated[
        Effort,
        Field(
            description="Further searches for what the answer leaves open: `low` none, `medium` one for a question "
            "with two parts, `high` up to three."
        ),
    ] = "low"

    @property
    def retrievers(self) -> SearchMode | None:
        """Which retrievers search; None for what the index says."""
        return self.search_mode

    def options(self, caller: Grant) -> SearchOptions:
        """Return the options for the engine. Raises InvalidInputError."""
        return replace(super().options(caller), effort=self.effort)


AsOfField = Annotated[str, Field(max_length=64, description="A snapshot's name, or a date or time in UTC.")]


class InSession(QueryOptions):
    """The options of a request to one index, as it is or as it was, and its conversation."""

    session: Annotated[str, Field(max_length=100)] = ""
    as_of: AsOfField = ""

    def options(self, caller: Grant) -> SearchOptions:
        """Return the options for the engine; different callers have different sessions. Raises InvalidInputError."""
        return replace(super().options(caller), session=caller.conversation(self.session))


class SearchRequest(ForResults, InSession):
    """A search."""

    query: Query
    highlight: Annotated[bool, Field(description="Say where in each passage words of the question stand.")] = False


class BatchRequest(ForResults, InSession):
    """Many searches, alike but for the question."""

    queries: Annotated[list[Query], Field(min_length=1, max_length=DEFAULT_LIMITS.batch)]


class SynonymsRequest(Strict):
    """The rules of an index's synonyms."""

    rules: Annotated[
        str, Field(max_length=1_000_000, description="One rule a line: `car, automobile`, or `nyc => new york`.")
    ]


class WhyNotRequest(ForResults, InSession):
    """A search, and the document that one would have expected."""

    query: Query
    document: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, description="Its id or its source.")]


ReadersField = Annotated[
    list[Annotated[str, Field(max_length=300)]] | None,
    Field(max_length=MAX_READERS, description="Principals: user:ann, group:legal, public."),
]


class IndexRequest(Strict):
    """An index to be made."""

    name: IndexText
    embedder: Annotated[
        str | None, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="The name of a known model.")
    ] = None
    analyzer: Annotated[
        str | None, Field(pattern="^[a-z_]{1,32}([+][2-4])?$", description="A language, auto, or simple.")
    ] = None


class TextRequest(Strict):
    """A document by its text. Without a `source` the text names it; an `id` replaces the one made from the source."""

    text: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(max_length=MAX_NAME_LENGTH)] = ""
    title: Annotated[str, Field(max_length=MAX_NAME_LENGTH)] = ""
    id: Annotated[str, Field(pattern="^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$")] = ""
    metadata: MetadataFields = Field(default_factory=dict)
    readers: ReadersField = None


class ReadersRequest(Strict):
    """Who may read a document; null for the index's default, an empty list for nobody but the index's owner."""

    readers: ReadersField


class FieldsRequest(Strict):
    """Fields of a document to be set."""

    metadata: MetadataFields


class TextsRequest(Strict):
    """Documents to be added, or put in the place of those with the same source."""

    documents: Annotated[list[TextRequest], Field(min_length=1, max_length=1_000)]


class SyncRequest(Strict):
    """Folders and files of the server, within the roots that it was started with."""

    paths: Annotated[list[Annotated[str, Field(min_length=1, max_length=4_096)]], Field(min_length=1, max_length=100)]


class FeedbackRequest(Strict):
    """What somebody thinks of an answer: `rating` from -1 (bad) to 1 (good), of a passage or of the whole."""

    query: Query
    rating: Annotated[int, Field(ge=-1, le=1)]
    chunk_id: Annotated[str, Field(max_length=200)] = ""
    document: Annotated[str, Field(max_length=200)] = ""
    comment: Annotated[str, Field(max_length=4_000)] = ""


def filter_of(said: str | dict[str, Any] | None) -> Filter:
    """Read a filter in either of its two forms. Raises InvalidInputError."""
    if said is None:
        return MATCH_ALL
    return parse_filter(said) if isinstance(said, str) else filter_from_json(said)


def allowed(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let through what a request may set for itself. Raises InvalidInputError for anything else."""
    for key, value in settings.items():
        if not (_is_settable(key) or _names_settable_parts(key, value)):
            raise InvalidInputError(
                f"{key[:100]!r} cannot be set in a request.", "Set it where the server is started, or for the index."
            )
    return settings


def _is_settable(key: str) -> bool:
    return key in ALSO_SETTABLE or key.partition(".")[0] in SETTABLE


def _names_settable_parts(key: str, value: object) -> bool:
    return isinstance(value, Mapping) and value.keys() <= SETTABLE_PARTS.get(key, frozenset())


def settings_for(asked: IndexRequest, settings: Settings) -> Settings:
    """Return the settings that a new index is made with. Raises NotFoundError for a model outside the catalog."""
    if asked.embedder not in {None, HASHING, settings.embedder}:
        for one in members_of(asked.embedder or ""):
            embedder_entry(one)
    return replace(settings, embedder=asked.embedder or settings.embedder, analyzer=asked.analyzer or settings.analyzer)


class Lenient(BaseModel):
    """A shape that is somebody else's: further fields may come, and mean nothing here."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, frozen=True)


ModelName = Annotated[str, Field(min_length=1, max_length=200)]


def share(hit: Hit) -> float:
    """Return how good a passage is in [0, 1]: the reranker's relevance, else its cosine, else its score held to that.

    Clients of these protocols set thresholds, which mean something for a relevance or a cosine and nothing for a
    fused rank.
    """
    read = hit.trace.rerank
    if read is not None and read.relevance is not None:
        return min(1.0, max(0.0, read.relevance))
    vector = hit.trace.vector
    value = hit.score if vector is None or vector.raw is None else vector.raw
    return min(1.0, max(0.0, value))


def above(found: SearchResult, threshold: float) -> list[tuple[Hit, float]]:
    """Return passages that are good enough, each with its share, in the order of the search."""
    return [(hit, share(hit)) for hit in found.hits if share(hit) >= threshold]
