"""Opening an index for a command that adds documents: with its model, or for BM25 alone where a first run lacks one."""

import typer

from twofold.cli.commands.models import ensure_present
from twofold.cli.runtime import open_index, tell
from twofold.domain.errors import ModelError, NotFoundError
from twofold.index import Index
from twofold.models.no_embedder import NO_EMBEDDER


def open_to_fill(context: typer.Context, name: str | None, embedder: str | None) -> Index:
    """Open an index, made if need be, whose model's files are here; fetch them where they are not.

    If its model cannot be downloaded, a new index is made for BM25 alone; standard error says how to add vectors later.
    Raises ModelError where somebody chose the model, or the index has vectors of it.
    """
    opened = open_index(context, name, create=True, embedder=embedder)
    try:
        ensure_present(opened.settings)
    except ModelError as error:
        wanted, chosen = opened.settings.embedder, "embedder" in opened.settings.said
        filled = _holds_something(opened)
        opened.close()
        if chosen or filled:
            raise
        tell(context, _reasons(error, wanted, name))
        return open_index(context, name, create=True, embedder=NO_EMBEDDER)
    return opened


def _holds_something(opened: Index) -> bool:
    try:
        return opened.info().documents > 0
    except NotFoundError:
        return False


def _reasons(error: ModelError, model: str, name: str | None) -> tuple[str, ...]:
    of = f" {name}" if name else ""
    return (
        error.message,
        "Documents are indexed for BM25 alone: they are found by their words, not yet by their meaning.",
        f"To add that: `twofold models pull {model}`, then `twofold index reindex{of} --embedder {model}`.",
    )
