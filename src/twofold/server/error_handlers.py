"""Refusals that the framework makes, said as ours: shapes that do not fit, paths and methods that are not there."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from twofold.domain.errors import TwofoldError
from twofold.server.errors import ErrorLocation, Problem, ProblemError, for_client_of, refused
from twofold.server.middleware import answer_to

MAX_ERRORS = 20
MAX_LENGTH = 200
MAX_NESTING = 16
_KINDS_THAT_QUOTE = frozenset({"value_error", "assertion_error"})
_KINDS = frozenset({"str", "int", "float", "bool"})
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_SHOULD_BE = "Input should be "
_WORDS = {
    "missing": "it is needed",
    "extra_forbidden": "there is no such field",
    "model_attributes_type": "it must be a JSON object, sent with `Content-Type: application/json`",
}
"""What is said of the kinds of errors that the framework words for programmers of Python."""


def install(app: FastAPI) -> None:
    """Let an application answer every error with a problem."""
    app.add_exception_handler(TwofoldError, _known)
    app.add_exception_handler(ProblemError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(Exception, _known)


def invalid(errors: Sequence[Mapping[str, Any]]) -> ProblemError:
    """Refuse a request that does not have the shape; say where, and nothing of what was sent."""
    why: dict[tuple[str | int, ...], list[str]] = {}
    for error in errors[:MAX_ERRORS]:
        why.setdefault(_location(error), []).append(_why(error))
    locations = tuple(ErrorLocation(path, _joined(some)) for path, some in why.items())
    problem = Problem(
        "invalid-request",
        "Unprocessable Content",
        HTTPStatus.UNPROCESSABLE_ENTITY.value,
        _told(locations),
        "`/docs` shows what each route takes.",
        locations,
    )
    return ProblemError(problem)


def _told(locations: Sequence[ErrorLocation]) -> str:
    """Return one line: what is invalid first, and how much else is."""
    if not locations:
        return "The request does not have the shape that is asked for."
    first, others = locations[0], len(locations) - 1
    place = ".".join(map(str, first.loc[1:]))
    what = f"`{place}` of the {first.loc[0]}" if place and first.loc else "The body"
    more = f" {others} more cannot be used; `errors` says which." if others else ""
    return f"{what} cannot be used: {first.message}.{more}"


def _joined(why: Sequence[str]) -> str:
    """Join what is said of one value, which might have been of several kinds."""
    several = [one.removeprefix(_SHOULD_BE) for one in why]
    return _SHOULD_BE + " or ".join(several) if len(why) > 1 and several[0] != why[0] else "; ".join(why)


def _location(error: Mapping[str, Any]) -> tuple[str | int, ...]:
    """Return the path of what is invalid; names that the client chose are cut at a length.

    The last part may be the kind that the value was held against, one of several: it is left out.
    """
    path = error["loc"]
    if error["type"] not in _WORDS and isinstance(path[-1], str) and _is_kind(path[-1]):
        path = path[:-1]
    return tuple(one if isinstance(one, int) else one[:MAX_LENGTH] for one in path[:MAX_NESTING])


def _is_kind(part: str) -> bool:
    return part in _KINDS or "[" in part or part.startswith("constrained-")


def _why(error: Mapping[str, Any]) -> str:
    if error["type"] == "json_invalid":
        return "it is no JSON from this character on"
    if error["type"] in _KINDS_THAT_QUOTE:
        return "it cannot be read"
    return _WORDS.get(error["type"]) or str(error["msg"])[:MAX_LENGTH]


async def _known(request: Request, error: Exception) -> Response:
    return for_client_of(request.url.path, answer_to(error))


async def _invalid(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    return for_client_of(request.url.path, invalid(found).response())


async def _framework(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return answer_to(error)
    status = HTTPStatus(error.status_code)
    said = {
        HTTPStatus.NOT_FOUND: ("There is nothing at that address.", "`/docs` shows what there is."),
        HTTPStatus.METHOD_NOT_ALLOWED: ("That cannot be done there.", "`/docs` shows what can."),
    }
    detail, hint = said.get(status, ("The request cannot be read.", "`/docs` shows what each route takes."))
    made = refused(status, detail, hint)
    if status is not HTTPStatus.METHOD_NOT_ALLOWED:
        return ProblemError(made.problem, headers=tuple((error.headers or {}).items())).response()
    allowed = (("Allow", ", ".join(sorted(_methods_of(request)))),)
    if request.method == "OPTIONS":
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=dict(allowed))
    return ProblemError(made.problem, headers=allowed).response()


def _methods_of(request: Request) -> set[str]:
    """Return the methods of all routes of an address, and OPTIONS, which asks for them."""
    scopes = {method: {**request.scope, "method": method} for method in _METHODS}
    routes = request.app.routes
    found = {name for name, scope in scopes.items() if any(one.matches(scope)[0] is Match.FULL for one in routes)}
    return found | {"HEAD", "OPTIONS"} if "GET" in found else found | {"OPTIONS"}
