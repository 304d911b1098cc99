"""Refusals that the framework makes, said as ours: shapes that do not fit, paths and methods that are not there."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from twofold.domain.errors import TwofoldError
from twofold.server.errors import ErrorLocation, Problem, ProblemError, for_client_of, refused
from twofold.server.middleware import answer_to

MAX_ERRORS = 20
MAX_LENGTH = 200
MAX_NESTING = 16
_KINDS_THAT_QUOTE = frozenset({"value_error", "assertion_error", "json_invalid"})


def install(app: FastAPI) -> None:
    """Let an application answer every error with a problem."""
    app.add_exception_handler(TwofoldError, _known)
    app.add_exception_handler(ProblemError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(Exception, _known)


def invalid(errors: Sequence[Mapping[str, Any]]) -> ProblemError:
    """Refuse a request that does not have the shape; say where, and nothing of what was sent."""
    locations = tuple(ErrorLocation(_location(error["loc"]), _why(error)) for error in errors[:MAX_ERRORS])
    problem = Problem(
        "invalid-request",
        "Unprocessable Content",
        HTTPStatus.UNPROCESSABLE_ENTITY.value,
        "The request does not have the shape that is asked for.",
        "`/docs` shows what each route takes.",
        locations,
    )
    return ProblemError(problem)


def _location(path: Sequence[str | int]) -> tuple[str | int, ...]:
    """Return the path of what is invalid; names that the client chose are cut at a length."""
    return tuple(one if isinstance(one, int) else one[:MAX_LENGTH] for one in path[:MAX_NESTING])


def _why(error: Mapping[str, Any]) -> str:
    return "it cannot be read" if error["type"] in _KINDS_THAT_QUOTE else str(error["msg"])[:MAX_LENGTH]


async def _known(request: Request, error: Exception) -> Response:
    return for_client_of(request.url.path, answer_to(error))


async def _invalid(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    return for_client_of(request.url.path, invalid(found).response())


async def _framework(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return answer_to(error)
    status = HTTPStatus(error.status_code)
    said = {
        HTTPStatus.NOT_FOUND: ("There is nothing at that address.", "`/docs` shows what there is."),
        HTTPStatus.METHOD_NOT_ALLOWED: ("That cannot be done there.", "`/docs` shows what can."),
    }
    detail, hint = said.get(status, ("The request cannot be read.", "`/docs` shows what each route takes."))
    made = refused(status, detail, hint)
    return ProblemError(made.problem, headers=tuple((error.headers or {}).items())).response()
