"""A collection's own settings: how many it may have and how long they may be, in every store alike."""

from collections.abc import Mapping

from twofold.domain.errors import InvalidInputError
from twofold.kernels import are_unicode

MAX_PREFERENCES = 256
MAX_NAME_LENGTH = 128  # characters
MAX_VALUE_LENGTH = 16_384
MAX_CHARACTERS = 65_536


def checked(values: Mapping[str, str]) -> dict[str, str]:
    """Return a copy by rising name. Raises InvalidInputError where it is too much, or text is not Unicode.

    A name such as `search.k` has 1 to 128 characters.
    """
    if len(values) > MAX_PREFERENCES or sum(map(len, (*values, *values.values()))) > MAX_CHARACTERS:
        raise InvalidInputError(
            f"An index keeps at most {MAX_PREFERENCES} settings of {MAX_CHARACTERS:,} characters in all.",
            "Keep fewer with the index, and the others in a twofold.yaml.",
        )
    for name, value in values.items():
        if not 0 < len(name) <= MAX_NAME_LENGTH or len(value) > MAX_VALUE_LENGTH or not are_unicode([name + value]):
            raise InvalidInputError(
                f"An index cannot keep the setting {name[:40]!r}.",
                f"A name has up to {MAX_NAME_LENGTH} characters, a value up to {MAX_VALUE_LENGTH:,}, all Unicode.",
            )
    return dict(sorted(values.items()))
