"""Tokens over HTTP, for an admin of the server: list, make, revoke. A token is shown once, by what made it."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.server.auth import MAX_TOKEN_NAME_LENGTH, Action, TokenRecord, parse_scope
from twofold.server.schemas.requests import Strict
from twofold.server.service import GuardedRoute, Here, needs

router = APIRouter(prefix="/v1/tokens", tags=["tokens"], route_class=GuardedRoute)
TokenId = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="The id of a token.")]


class TokenRequest(Strict):
    """A token to be made: whose it is, and scopes such as `read:notes` or `admin:*`."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_TOKEN_NAME_LENGTH)]
    scopes: Annotated[list[Annotated[str, Field(max_length=80)]], Field(min_length=1, max_length=64)]


@dataclass(frozen=True, slots=True)
class TokenResponse:
    """A token without its secret. Times are in UTC; `revoked` is empty while it is good."""

    id: str
    name: str
    scopes: tuple[str, ...]
    created: str
    revoked: str


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
        record, token = service.tokens.create(asked.name, [parse_scope(one) for one in asked.scopes])
        return CreatedToken(token, _given(record))

    return await service.write(made, 201)


@router.delete("/{token}", status_code=204, response_class=Response, openapi_extra=needs(Action.ADMIN))
async def revoke_token(token: TokenId, service: Here) -> Response:
    """Make a token worthless from now on."""
    await service.write(lambda: service.tokens.revoke(token).id)
    return Response(status_code=204)


def _given(record: TokenRecord) -> TokenResponse:
    return TokenResponse(record.id, record.name, tuple(map(str, record.scopes)), record.created, record.revoked)
