"""What went wrong, as RFC 9457 writes it: `application/problem+json` with what to do about it."""

import re
from http import HTTPStatus

import msgspec
from starlette.responses import Response

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import DOCUMENT, NotFoundError, TwofoldError

MEDIA_TYPE = "application/problem+json"
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class ErrorLocation:
    """One part of a request that is invalid: its path, such as `["body", "k"]`, and why."""

    loc: tuple[str | int, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal. `type` is a stable word for programs, `detail` one line for people, `hint` what to do about it."""

    type: str
    title: str
    status: int
    detail: str
    hint: str = ""
    errors: tuple[ErrorLocation, ...] = ()


class ProblemError(Exception):
    """A request that is refused. `retry_after` are seconds after which it may go better; 0 where it will not."""

    def __init__(self, problem: Problem, retry_after: int = 0, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(problem.type)
        self.problem = problem
        self.retry_after = retry_after
        self.headers = headers

    def response(self) -> Response:
        """Write it as a response."""
        return response_of(self.problem, self.retry_after, self.headers)


def refused(status: HTTPStatus, detail: str, hint: str = "", *, kind: str = "", retry_after: int = 0) -> ProblemError:
    """Refuse a request with a status of HTTP's own."""
    word = kind or status.phrase.lower().replace(" ", "-").replace("'", "")
    return ProblemError(Problem(word, status.phrase, status.value, detail, hint), retry_after)


def unauthorized(detail: str) -> ProblemError:
    """Refuse a request that says not, or wrongly, who asks."""
    asked = Problem("unauthorized", "Unauthorized", 401, detail, "Send `Authorization: Bearer TOKEN`.")
    return ProblemError(asked, headers=(("WWW-Authenticate", 'Bearer realm="twofold"'),))


def problem_of(error: TwofoldError) -> Problem:
    """Return an error of the engine as a problem; its type is the class's name: `NotFoundError` is `not-found`."""
    status = HTTPStatus(error.http_status)
    word = _WORDS.sub("-", type(error).__name__.removesuffix("Error")).lower()
    names_document = isinstance(error, NotFoundError) and error.what == DOCUMENT
    hint = "`GET …/documents` of the index lists them." if names_document else error.hint
    return Problem(word, status.phrase, status.value, error.message, hint)


_OPENAI = re.compile(r"/v1/(chat/completions|models|embeddings|files|vector_stores|responses)\b")


def for_client_of(path: str, response: Response) -> Response:
    """Return a problem as it is, and on OpenAI's routes with the member `error` that its clients show."""
    if response.media_type != MEDIA_TYPE or not _OPENAI.match(path):
        return response
    problem = msgspec.json.decode(bytes(response.body), type=Problem)
    message = f"{problem.detail} {problem.hint}".strip()
    where = problem.errors[0].loc[1:] if problem.errors else ()
    param = ".".join(map(str, where)) or None
    body = {
        **msgspec.to_builtins(problem),
        "error": {"message": message, "type": problem.type, "param": param, "code": problem.type},
    }
    kept = {name: value for name, value in response.headers.items() if name not in ("content-length", "content-type")}
    return Response(msgspec.json.encode(body), problem.status, kept, MEDIA_TYPE)


def response_of(problem: Problem, retry_after: int = 0, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """Write a problem as a response. Busy and passing failures say when to come again."""
    waits = retry_after or (1 if problem.status in (423, 503) else 0)
    extra = {"Retry-After": str(waits)} if waits else {}
    return Response(msgspec.json.encode(problem), problem.status, {**extra, **dict(headers)}, MEDIA_TYPE)
