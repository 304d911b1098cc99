"""The stores of several collections, read as one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple, NoReturn

from twofold.domain.errors import CorruptError, InvalidInputError, MismatchError, StoreError
from twofold.domain.ports import Finding, Recipe, Remake, Store, StoreInfo
from twofold.domain.types import Entry, Metadata
from twofold.pipeline.joint import JointView, LostCollectionError, Named


class Collection(NamedTuple):
    """A collection's store, and the name it goes by among several."""

    name: str
    store: Store


class JointStore:
    """Reads several collections as one; each is written by itself.

    Their passages must have been made alike: by one analyser, and where `by_meaning` by one embedder.
    """

    def __init__(self, collections: Sequence[Collection], *, by_meaning: bool = True) -> None:
        self._collections = tuple(collections)
        self._by_meaning = by_meaning

    @contextmanager
    def view(self) -> Iterator[JointView]:
        """Open one consistent state of each.

        Raises MismatchError where they were made differently, and LostCollectionError for one that fails, now or while
        the view is used.
        """
        named: list[Named] = []
        joint: JointView | None = None
        opening = ""
        try:
            with ExitStack() as stack:
                for opening, store in self._collections:
                    named.append(Named(opening, stack.enter_context(store.view())))
                joint = JointView(named)
                check_alike([(one.name, one.view.recipe) for one in named], by_meaning=self._by_meaning)
                yield joint
        except (CorruptError, StoreError) as error:
            # A store turns what its own parts raised into one of these only when its view is closed.
            if len(self._collections) == 1:
                raise
            raise LostCollectionError(opening if joint is None else joint.asked, error) from error

    def info(self) -> StoreInfo:
        """Describe them all: sizes added up."""
        infos = [store.info() for _, store in self._collections]
        return StoreInfo(
            recipe=next((info.recipe for info in infos if info.recipe is not None), None),
            documents=sum(info.documents for info in infos),
            chunks=sum(info.chunks for info in infos),
            generation=sum(info.generation for info in infos),
            segments=sum(info.segments for info in infos),
            bytes_on_disk=sum(info.bytes_on_disk for info in infos),
        )

    def recipe(self) -> Recipe | None:
        """Return the first recipe there is."""
        recipes = (store.recipe() for _, store in self._collections)
        return next((recipe for recipe in recipes if recipe is not None), None)

    def verify(self) -> Sequence[Finding]:
        """Verify each."""
        return [finding for _, store in self._collections for finding in store.verify()]

    def preferences(self) -> Mapping[str, str]:
        """Have none: each keeps its own."""
        return {}

    def adopt(self, recipe: Recipe) -> None:
        """Refuse to write."""
        _refuse(recipe)

    def put(self, entries: Sequence[Entry]) -> None:
        """Refuse to write."""
        _refuse(entries)

    def delete(self, documents: Sequence[str]) -> int:
        """Refuse to write."""
        _refuse(documents)

    def rebuild(self, recipe: Recipe, remake: Remake) -> None:
        """Refuse to write."""
        _refuse(recipe, remake)

    def prefer(self, values: Mapping[str, str]) -> None:
        """Refuse to write."""
        _refuse(values)

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Refuse to write."""
        _refuse(changes)

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Refuse to write."""
        _refuse(roots)

    def compact(self) -> None:
        """Refuse to write."""
        _refuse()

    def close(self) -> None:
        """There is nothing to close: whoever opened the stores closes them."""


def check_alike(recipes: Sequence[tuple[str, Recipe | None]], *, by_meaning: bool) -> None:
    """Refuse collections whose scores cannot be compared. Raises MismatchError."""
    made = [(name, recipe) for name, recipe in recipes if recipe is not None]
    for name, recipe in made[1:]:
        first, held = made[0]
        if recipe.analyser != held.analyser:
            _differ(f"{first!r} and {name!r} were made with different analysers")
        if by_meaning and recipe.embedder != held.embedder:
            embedders = f"the embedders {held.embedder.name!r} and {recipe.embedder.name!r}"
            _differ(f"{first!r} and {name!r} were made with {embedders}")


def _differ(how: str) -> NoReturn:
    raise MismatchError(f"{how}: their scores cannot be compared.", "Join them by rank: `search.across=rrf`.")


def _refuse(*_: object) -> NoReturn:
    raise InvalidInputError("Several collections cannot be written as one.", "Write each by itself.")
