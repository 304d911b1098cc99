"""A collection's own settings: how many it may have and how long they may be, in every store alike."""

from collections.abc import Mapping

from twofold.domain.errors import InvalidInputError

MOST_PREFERENCES = 256
LONGEST_NAME = 128  # characters
LONGEST_VALUE = 16_384
MOST_CHARACTERS = 65_536


def checked(values: Mapping[str, str]) -> dict[str, str]:
    """Give a copy by rising name. Raises InvalidInputError where it is too much, or text is not Unicode.

    A name such as `search.k` has 1 to 128 characters.
    """
    if len(values) > MOST_PREFERENCES or sum(map(len, (*values, *values.values()))) > MOST_CHARACTERS:
        raise InvalidInputError(
            f"An index keeps at most {MOST_PREFERENCES} settings of {MOST_CHARACTERS:,} characters in all.",
            "Keep fewer with the index, and the others in a twofold.yaml.",
        )
    for name, value in values.items():
        if not 0 < len(name) <= LONGEST_NAME or len(value) > LONGEST_VALUE or not _is_unicode(name + value):
            raise InvalidInputError(
                f"An index cannot keep the setting {name[:40]!r}.",
                f"A name has up to {LONGEST_NAME} characters, a value up to {LONGEST_VALUE:,}, all of them Unicode.",
            )
    return dict(sorted(values.items()))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
