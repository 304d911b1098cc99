"""Keys of servers: from the environment alone, and for the host that each was given for.

`TWOFOLD_API_KEY` goes to the servers that the user names; with `TWOFOLD_API_KEY_HOST` to those hosts alone, which are
parted by commas: `api.example.org, localhost:8080`. A host without a port stands for all of its ports.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from twofold.domain.errors import InvalidInputError

KEY_VARIABLE = "TWOFOLD_API_KEY"
HOST_VARIABLE = "TWOFOLD_API_KEY_HOST"


def key_for(address: str, environment: Mapping[str, str]) -> str:
    """Return the key that may be sent to an address, empty for none. Raises InvalidInputError where it is no key."""
    key = key_in(environment, KEY_VARIABLE)
    return key if key and _is_for(address, environment.get(HOST_VARIABLE, "")) else ""


def key_in(environment: Mapping[str, str], name: str) -> str:
    """Return the key that a variable holds. Raises InvalidInputError, which does not show it, where it is no key."""
    key = environment.get(name, "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise InvalidInputError(f"What {name} holds is no key.", "A key has ASCII letters, digits and signs alone.")
    return key


def _is_for(address: str, hosts: str) -> bool:
    """Return whether an address is at one of the hosts; where none is named, every address is."""
    named = {host.strip().lower() for host in hosts.split(",") if host.strip()}
    parts = urlsplit(address)
    return not named or not named.isdisjoint({(parts.hostname or "").lower(), parts.netloc.lower()})
