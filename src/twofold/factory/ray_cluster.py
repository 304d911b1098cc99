"""A connection to a Ray cluster: where it is, how many cores it has, and what its errors mean to people."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twofold.domain.errors import InvalidInputError, MissingExtraError, TwofoldError, first_line

LOCAL = "ray:local"
OUTSIDE = "ray://"
OBJECT_STORE_BYTES = 256 * 1024**2
ANYWHERE: Mapping[str, Any] = {"num_cpus": 0, "scheduling_strategy": "SPREAD"}
"""How actors are placed: without a core of their own they can be started again on a machine that is left."""


@contextmanager
def connected(where: str, hint: str) -> Iterator[Any]:
    """Yield the module `ray`, connected to `ray:local`, `ray://HOST:PORT`, or `ray:HOST:PORT` from one of its nodes.

    Raises InvalidInputError, MissingExtraError; TwofoldError with the hint where the cluster fails.
    """
    if not where.startswith("ray:") or where in {"ray:", OUTSIDE}:
        raise InvalidInputError(f"{where!r} is no place to work on.", f"Write {LOCAL} or ray://HOST:PORT.")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if where.startswith(OUTSIDE) and _has_token():
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # a client sends its token only then; read when Ray is imported
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("Ray is not installed.", "Run `pip install 'twofold[ray]'`.") from error
    api: Any = ray
    try:
        _connect(api, where)
        yield api
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, TwofoldError):
            raise error.cause from error
        raise
    except (ray.exceptions.RayError, ConnectionError) as error:
        raise TwofoldError(f"The Ray cluster failed: {first_line(error)}.", hint) from error
    finally:
        api.shutdown()


def cores_of(api: Any) -> int:  # noqa: ANN401  # the module of Ray has no types here
    """Count the cores of the cluster, one at least."""
    return max(1, int(api.cluster_resources().get("CPU", 1)))


def _connect(api: Any, where: str) -> None:  # noqa: ANN401
    if where == LOCAL:
        api.init(
            address="local",  # not another cluster that runs on this machine
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            log_to_driver=False,
            configure_logging=False,
            _node_ip_address="127.0.0.1",
        )
    else:
        address = where if where.startswith(OUTSIDE) else where.removeprefix("ray:")
        api.init(address=address, log_to_driver=False, configure_logging=False)


def _has_token() -> bool:
    """Return whether Ray would find a token of a cluster."""
    named = any(os.environ.get(name) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))
    return named or (Path.home() / ".ray" / "auth_token").is_file()
