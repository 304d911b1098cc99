"""Tokens over HTTP, for an admin of the server: list, make, revoke. A token is shown once, by what made it."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from twofold.domain.access import PUBLIC
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import NotAllowedError
from twofold.server.auth import MAX_TOKEN_NAME_LENGTH, Action, TokenRecord, parse_scope
from twofold.server.schemas.requests import Strict
from twofold.server.service import GuardedRoute, Here, Service, needs

router = APIRouter(prefix="/v1/tokens", tags=["tokens"], route_class=GuardedRoute)
TokenId = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="The id of a token.")]


class TokenRequest(Strict):
    """A token to be made: whose it is, and scopes such as `read:notes` or `admin:*`."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_TOKEN_NAME_LENGTH)]
    scopes: Annotated[list[Annotated[str, Field(max_length=80)]], Field(min_length=1, max_length=64)]
    principals: Annotated[
        list[Annotated[str, Field(max_length=300)]] | None,
        Field(min_length=1, max_length=1_000, description="What it may read; left out, every document."),
    ] = None


@dataclass(frozen=True, slots=True)
class TokenResponse:
    """A token without its secret. Times are in UTC; `revoked` is empty while it is good."""

    id: str
    name: str
    scopes: tuple[str, ...]
    created: str
    revoked: str
    principals: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TokenList:
    """All tokens, the revoked ones too."""

    tokens: tuple[TokenResponse, ...]


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A new token, shown this once, and its record."""

    token: str
    record: TokenResponse


@router.get("", response_model=TokenList, openapi_extra=needs(Action.ADMIN))
async def list_tokens(service: Here) -> Response:
    """List all tokens in the order in which they were made."""
    return await service.answer(lambda: TokenList(tuple(map(_given, service.tokens.records()))))


@router.post("", response_model=CreatedToken, status_code=201, openapi_extra=needs(Action.ADMIN))
async def create_token(asked: TokenRequest, service: Here) -> Response:
    """Make a token. From the first one on the server answers nobody without a token."""

    def made() -> CreatedToken:
        _check_given(service, asked)
        scopes = [parse_scope(one) for one in asked.scopes]
        record, token = service.tokens.create(asked.name, scopes, asked.principals)
        return CreatedToken(token, _given(record))

    return await service.write(made, 201)


@router.delete("/{token}", status_code=204, response_class=Response, openapi_extra=needs(Action.ADMIN))
async def revoke_token(token: TokenId, service: Here) -> Response:
    """Make a token worthless from now on."""
    await service.write(lambda: service.tokens.revoke(token).id)
    return Response(status_code=204)


def _check_given(service: Service, asked: TokenRequest) -> None:
    """Refuse to give away more than the caller may read. Raises NotAllowedError."""
    own = service.speaker.principals()
    if own is not None and (asked.principals is None or not {*asked.principals} <= {*own, PUBLIC}):
        raise NotAllowedError(
            "The new token could read more than yours.", "Give it principals that your own token has."
        )


def _given(record: TokenRecord) -> TokenResponse:
    scopes = tuple(map(str, record.scopes))
    return TokenResponse(record.id, record.name, scopes, record.created, record.revoked, record.principals)
