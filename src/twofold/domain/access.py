"""Who may read a document, and who asks: principals, and the rule that brings the two together.

A principal is `user:NAME`, `group:NAME` or `public`, which everybody is. Names are compared letter for letter, in
Unicode's composed form: `group:Legal` is not `group:legal`, and no principal stands for others by a pattern.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import field
from hashlib import blake2b
from typing import Literal, Protocol

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, check_several

PUBLIC = "public"
KINDS = ("user", "group")
MAX_PRINCIPAL_LENGTH = 256
MAX_READERS = 1_000
MAX_PRINCIPALS = 20_000

Readers = tuple[str, ...]
"""Principals that may read a document, in order, each once; none at all: nobody but the index's owner."""


def principal(text: object) -> str:
    """Return a principal in the form that is compared. Raises InvalidInputError.

    >>> principal("group:legal")
    'group:legal'
    """
    if isinstance(text, str) and text.isascii() and text == PUBLIC:
        return text
    kind, mark, name = text.partition(":") if isinstance(text, str) else ("", "", "")
    made = unicodedata.normalize("NFC", name)
    sound = mark and kind in KINDS and made and all(map(_may_stand, made))
    if not sound or len(made) > MAX_PRINCIPAL_LENGTH:
        raise InvalidInputError(
            f"{str(text)[:80]!r} is no principal.",
            f"Write user:NAME, group:NAME or public; a name has up to {MAX_PRINCIPAL_LENGTH} characters and no spaces.",
        )
    return f"{kind}:{made}"


def _may_stand(character: str) -> bool:
    """Return whether a character may stand in a name: none that is white, invisible or half a character."""
    return character.isprintable() and not character.isspace() and character not in ',"'


def readers_of(principals: Iterable[str] | None) -> Readers | None:
    """Return who may read as it is kept: None for the index's default, no principal at all for nobody.

    Raises InvalidInputError for what is no principal, one text instead of several, or more than 1,000.
    """
    if principals is None:
        return None
    return tuple(sorted(_several(principals, MAX_READERS)))


def _several(principals: Iterable[str], most: int) -> frozenset[str]:
    if isinstance(principals, str):
        raise InvalidInputError("Principals are a list, not one text.", f"Write [{principals[:80]!r}].")
    check_several("Principals", principals, "Write a list: ['user:ann'].")
    found = frozenset(map(principal, principals))
    if len(found) > most:
        raise InvalidInputError(f"{len(found):,} principals are too many.", f"Use a group; {most:,} are the most.")
    return found


@dataclass(frozen=True, slots=True)
class Viewer:
    """For whom a view is opened: nothing that they may not read is in it, is counted, or leaves a trace.

    `principals` are theirs, `public` always among them. `default` are the readers of documents that name none.
    `statistics` says what BM25 counts: `visible` passages alone, or those of all, rounded: `shared`. `key` tells
    viewers apart wherever something is kept.
    """

    principals: frozenset[str]
    default: Readers = (PUBLIC,)
    statistics: Literal["visible", "shared"] = "visible"
    key: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Make the name by which a viewer is known wherever something is kept."""
        object.__setattr__(self, "principals", self.principals | {PUBLIC})
        said = "\n".join((self.statistics, *self.default, "", *sorted(self.principals)))
        object.__setattr__(self, "key", blake2b(said.encode(), digest_size=16).hexdigest())

    def may_read(self, readers: Readers | None) -> bool:
        """Return whether a document with these readers is theirs to read."""
        return not self.principals.isdisjoint(self.default if readers is None else readers)


def viewer_of(
    principals: Iterable[str],
    default: Sequence[str] = (PUBLIC,),
    statistics: Literal["visible", "shared"] = "visible",
) -> Viewer:
    """Return a viewer of principals as a caller writes them. Raises InvalidInputError.

    >>> viewer_of(["user:ann"]).may_read(("group:legal", "user:ann"))
    True
    """
    return Viewer(_several(principals, MAX_PRINCIPALS), readers_of(default) or (), statistics)


@dataclass(frozen=True, slots=True)
class CallerIdentity:
    """What is known of a caller: the id and the name of its token, and the principals that were given to it."""

    id: str
    name: str
    principals: tuple[str, ...]


class PrincipalResolver(Protocol):
    """Knows who somebody is, such as by a directory of groups. Safe to use from several threads."""

    def principals(self, caller: CallerIdentity) -> Iterable[str]:
        """Return the principals of a caller as of now; `*` among them for one who may read every document.

        What it raises becomes an answer with status 503: never one of all documents, nor an empty one.
        """


NOBODY = "nobody"


def default_readers(text: str) -> Readers:
    """Return who may read documents that name no readers, as a setting says it. Raises InvalidInputError.

    >>> default_readers("group:staff, user:ann"), default_readers("nobody")
    (('group:staff', 'user:ann'), ())
    """
    return () if text.strip() == NOBODY else readers_of(one.strip() for one in text.split(",")) or ()


MIN_SHARED_COUNT = 10


def rounded(count: int) -> int:
    """Return a count of all documents as `shared` statistics give it: two digits, and 10 at the least.

    >>> [rounded(one) for one in (0, 1, 47, 1234)]
    [0, 10, 47, 1200]
    """
    if not count:
        return 0
    step: int = 10 ** max(len(str(count)) - 2, 0)
    return max(MIN_SHARED_COUNT, (count + step // 2) // step * step)
