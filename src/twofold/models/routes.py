"""Where a call of a server goes, and how its key is carried: as OpenAI has it, or as Azure OpenAI has it.

OpenAI, and most servers:  {address}/embeddings                                         Authorization: Bearer KEY
Azure OpenAI:              {address}/openai/deployments/{model}/embeddings?api-version=…    api-key: KEY
"""

import re
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import quote

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

API_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}(-preview)?")


@dataclass(frozen=True, slots=True)
class Route:
    """An address and the headers that carry the key, which no message shows."""

    url: str
    credentials: Mapping[str, str] = field(repr=False)


def route_of(address: str, model: str, call: str, key: str, api_version: str = "") -> Route:
    """Return where a `call` such as `embeddings` goes; with an `api_version` it is Azure's, and `model` a deployment.

    >>> route_of("https://a.openai.azure.com", "ada", "embeddings", "", "2024-10-21").url
    'https://a.openai.azure.com/openai/deployments/ada/embeddings?api-version=2024-10-21'
    """
    base = address.rstrip("/")
    if api_version:
        url = f"{base}/openai/deployments/{quote(model, safe='')}/{call}?api-version={api_version}"
        return Route(url, {"api-key": key} if key else {})
    return Route(f"{base}/{call}", {"Authorization": f"Bearer {key}"} if key else {})


def checked_version(text: str) -> str:
    """Return a version of Azure's interface, empty for none. Raises InvalidInputError for an invalid one."""
    if text and not API_VERSION.fullmatch(text):
        raise InvalidInputError(f"{text!r} cannot be the api_version.", "Write a date, such as 2024-10-21.")
    return text
