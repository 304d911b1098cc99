"""The tools that read: functions from an index and arguments to a result that fits a budget of tokens."""

from dataclasses import replace
from typing import NamedTuple

from twofold.answer.context import approximate_tokens
from twofold.answer.types import Answer, Citation
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.filters import MATCH_ALL
from twofold.domain.types import Document, DocumentInfo
from twofold.index import Index
from twofold.mcp import results as given
from twofold.mcp.budget import OVERHEAD, cursor_at, cut_to, fitting, offset_of
from twofold.mcp.links import Links, name_of, user_fields
from twofold.search.engine import Effort, SearchOptions
from twofold.search.explain import explained
from twofold.search.remedies import Fix
from twofold.search.result import Hit, SearchResult
from twofold.search.why_not import WhyNot

EXPLAINED_K = 100
LISTED_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class ToolContext:
    """An open index, its addresses, and how many tokens an answer may have."""

    index: Index
    links: Links
    budget: int

    def url(self, hit: Hit) -> str:
        """Return where a passage can be opened."""
        return self.links.passage(hit.source, hit.document, hit.start, hit.end, hit.page)


def search(held: ToolContext, query: str) -> given.SearchRows:
    """Return passages as connectors list them: id, title, url."""
    rows = [given.SearchRow(hit.chunk_id, _title(hit), held.url(hit)) for hit in held.index.search(query).hits]
    return given.SearchRows(tuple(fitting(rows, held.budget)))


def _title(hit: Hit) -> str:
    name = name_of(hit.title, hit.source)
    section = " › ".join(one for one in hit.heading if one != name)
    where = section or (f"page {hit.page}" if hit.page else "")
    return f"{name}: {where}" if where else name


def fetch(held: ToolContext, identity: str) -> given.Fetched:
    """Return the document of a passage, or as much of it around the passage as fits."""
    document, page, start, end = _found(held.index, identity)
    most = held.budget - OVERHEAD
    begins, text = 0, cut_to(document.text, most)
    whole = len(text) == len(document.text)
    if not whole and start:
        begins = max(0, start - max(0, most * 3 - (end - start)) // 2)
        text = cut_to(document.text[begins : begins + 4 * most + 1], most)
    said = {
        "source": document.source,
        "document": document.id,
        "start": str(begins),
        "end": str(begins + len(text)),
        "characters": str(len(document.text)),
        "truncated": "false" if whole else "true",
    }
    said |= {"page": str(page)} if page is not None and not whole else {}
    url = held.links.passage(document.source, document.id, start, end, page)
    return given.Fetched(identity, name_of(document.title, document.source), text, url, said)


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """Which passages `search_passages` is to find, and how much of each; `cursor` is empty for the first page."""

    k: int = 8
    filter: str = ""
    mode: str = ""
    max_chars: int = 2_000
    cursor: str = ""


def search_passages(held: ToolContext, query: str, wanted: PassageQuery) -> given.Passages:
    """Return passages with texts, scores and places, from the cursor on."""
    asked = ("search_passages", query, replace(wanted, cursor=""))
    offset = offset_of(wanted.cursor, *asked)
    condition = wanted.filter or MATCH_ALL
    found = held.index.search(query, k=wanted.k, mode=wanted.mode or None, filter=condition, offset=offset)
    rows = [_passage(held, hit, wanted.max_chars) for hit in found.hits]
    kept = fitting(rows, held.budget)
    if kept and approximate_tokens(kept[0].text) > held.budget - OVERHEAD:
        kept = (replace(kept[0], text=cut_to(kept[0].text, held.budget - OVERHEAD), truncated=True),)
    more = len(rows) == wanted.k or len(kept) < len(rows)
    after = cursor_at(offset + len(kept), *asked) if kept and more else ""
    return given.Passages(query, tuple(kept), found.p_answerable, _warnings(found), after)


def _passage(held: ToolContext, hit: Hit, max_chars: int) -> given.Passage:
    text = hit.text[:max_chars]
    return given.Passage(
        hit.chunk_id, hit.document, name_of(hit.title, hit.source), hit.source, held.url(hit), hit.score, hit.page,
        hit.heading, hit.start, hit.end, text, len(text) < len(hit.text), user_fields(hit.metadata),
    )  # fmt: skip


def read(held: ToolContext, identity: str, around: int, max_chars: int, cursor: str) -> given.Reading:
    """Return a passage with `around` neighbors on either side, or a document from its beginning, from the cursor on."""
    asked = ("read", identity, around, max_chars)
    document, page, begin, end = _found(held.index, identity, around)
    start = max(begin, offset_of(cursor, *asked))
    text = cut_to(document.text[start : min(end, start + max_chars)], held.budget - OVERHEAD)
    stop = start + len(text)
    url = held.links.passage(document.source, document.id, start, stop, page)
    return given.Reading(
        identity, document.id, name_of(document.title, document.source), document.source, url, start, stop,
        len(document.text), text, cursor_at(stop, *asked) if start < stop < end else "",
    )  # fmt: skip


def outline(held: ToolContext, identity: str, cursor: str) -> given.Outline:
    """Return the sections of a document, of the passage's document where a passage is named."""
    document = _found(held.index, identity).document
    sections: list[given.Section] = []
    for chunk in held.index.chunks(document.id):
        if sections and sections[-1].path == chunk.heading:
            sections[-1] = replace(sections[-1], passages=sections[-1].passages + 1)
        else:
            sections.append(given.Section(chunk.heading, chunk.id, chunk.page, 1))
    offset = offset_of(cursor, "outline", identity)
    kept = fitting(sections[offset:], held.budget)
    after = cursor_at(offset + len(kept), "outline", identity) if offset + len(kept) < len(sections) else ""
    title = name_of(document.title, document.source)
    return given.Outline(document.id, title, document.source, tuple(kept), after)


def ask(held: ToolContext, question: str, effort: Effort = "low") -> given.AnswerResult:
    """Answer a question with citations."""
    found = held.index.ask(question, effort=effort)
    cited = [_cited(held, one) for one in found.citations]
    text = cut_to(found.text, held.budget // 2)
    left = held.budget - approximate_tokens(text)
    kept = tuple(fitting(cited, left))
    cut = text != found.text or len(kept) < len(cited)
    warnings = _warnings(found)
    return given.AnswerResult(
        question, text, found.refused, found.mode, found.p_answerable, found.p_correct, kept, warnings, cut
    )


def _cited(held: ToolContext, one: Citation) -> given.Cited:
    url = held.links.passage(one.source, one.document, one.start, one.end, one.page)
    title = name_of(one.title, one.source)
    return given.Cited(one.number, one.chunk_id, title, one.source, url, one.page, one.start, one.end, one.quote)


def list_documents(held: ToolContext, filter: str, cursor: str) -> given.DocumentRows:  # noqa: A002
    """Return the documents that pass a filter, by source, from the cursor on."""
    asked = ("list_documents", filter)
    offset = offset_of(cursor, *asked)
    found = held.index.documents(filter=filter or MATCH_ALL)
    rows = [_row(info) for info in found[offset : offset + LISTED_ROWS]]
    kept = fitting(rows, held.budget)
    after = cursor_at(offset + len(kept), *asked) if offset + len(kept) < len(found) else ""
    return given.DocumentRows(tuple(kept), len(found), after)


def _row(info: DocumentInfo) -> given.DocumentRow:
    return given.DocumentRow(
        info.id, name_of(info.title, info.source), info.source, info.media_type, info.chunks, info.characters,
        user_fields(info.metadata),
    )  # fmt: skip


def explain(held: ToolContext, query: str, identity: str) -> given.Explanation:
    """Return where a passage's score comes from. Raises NotFoundError where the search does not find it."""
    found = held.index.search(query, k=EXPLAINED_K)
    rank = next((hit.rank for hit in found.hits if identity in (hit.chunk_id, hit.document)), 0)
    if not rank:
        raise NotFoundError(
            f"{identity} is not among the best {EXPLAINED_K} passages for this query.", "Ask `why_not` for the reason."
        )
    (hit,) = explained(held.index.search(query, k=1, offset=rank - 1), held.index.settings.analyzer).hits
    parts = tuple(given.Part(one.retriever, one.rank, one.raw, one.part) for one in hit.trace.retrievers)
    terms = tuple(given.Term(one.word or one.term, one.frequency, one.idf, one.score) for one in hit.trace.terms)
    changes = tuple(given.Change(one.stage, one.before, one.after) for one in hit.trace.steps)
    notes = tuple(note for one in found.stages if one.name in {"bm25", "vector"} for note in one.notes)
    return given.Explanation(query, hit.chunk_id, hit.rank, hit.score, found.fusion, parts, terms, changes, notes)


def why_not(held: ToolContext, query: str, document: str) -> given.Missed:
    """Return which stage of a search lost a document."""
    found: WhyNot = held.index.why_not(query, document, SearchOptions())
    fix = {} if found.fix is None else {name: str(value) for name, value in _changed(found.fix).items()}
    return given.Missed(
        query, found.document, found.rank, found.stage, found.reason, fix, found.rank_after_fix, found.hint
    )


def _changed(fix: Fix) -> dict[str, object]:
    named = {name: getattr(fix, name) for name in ("query", "k", "mode", "filter", "rerank", "settings")}
    return {name: value for name, value in named.items() if value}


def _warnings(found: SearchResult | Answer) -> tuple[str, ...]:
    return tuple(one.message for one in found.warnings)


class _Stretch(NamedTuple):
    """A document with what of it is meant: all of it, or `text[start:end]`; `page` is that of its first passage."""

    document: Document
    page: int | None
    start: int
    end: int


def _found(index: Index, identity: str, around: int = 0) -> _Stretch:
    """Return a document as a whole, or of a passage the stretch that it and its neighbors fill.

    Raises NotFoundError for an id that is neither.
    """
    name, mark, ordinal = identity.rpartition("_chunk_")
    if mark and ordinal.isdecimal() and len(ordinal) < 10:  # noqa: PLR2004  # digits of an ordinal
        document, chunks = index.document(name), index.chunks(name)
        near = [one for one in chunks if abs(one.ordinal - int(ordinal)) <= around]
        if any(one.ordinal == int(ordinal) for one in near):
            return _Stretch(document, near[0].page, near[0].start, near[-1].end)
        raise NotFoundError(f"There is no passage {identity!r}.", "Take ids from `search` or `search_passages`.")
    document = index.document(identity)
    chunks = index.chunks(document.id)
    if not chunks:
        raise InvalidInputError(f"The document {identity!r} has no text.", "`list_documents` shows what there is.")
    return _Stretch(document, chunks[0].page, 0, len(document.text))
