"""Tokens over HTTP, for an admin of the server: list, make, revoke. A token is shown once, by what made it."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from twofold.domain.access import PUBLIC
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import NotAllowedError
from twofold.server.auth import MAX_TOKEN_NAME_LENGTH, Action, TokenRecord, parse_scope, unknown_token
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
    """Tokens, the revoked ones too."""

    tokens: tuple[TokenResponse, ...]


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A new token, shown this once, and its record."""

    token: str
    record: TokenResponse


@router.get("", response_model=TokenList, openapi_extra=needs(Action.ADMIN))
async def list_tokens(service: Here) -> Response:
    """List tokens in the order in which they were made: all, or those that read no more than the caller's own."""

    def listed() -> TokenList:
        own = service.speaker.principals()
        return TokenList(
            tuple(_token_response(one) for one in service.tokens.records() if _no_more(own, one.principals))
        )

    return await service.answer(listed)


@router.post("", response_model=CreatedToken, status_code=201, openapi_extra=needs(Action.ADMIN))
async def create_token(asked: TokenRequest, service: Here) -> Response:
    """Make a token. From the first one on the server answers nobody without a token."""

    def made() -> CreatedToken:
        _check_principals(service, asked)
        scopes = [parse_scope(one) for one in asked.scopes]
        record, token = service.tokens.create(asked.name, scopes, asked.principals)
        return CreatedToken(token, _token_response(record))

    return await service.write(made, 201)


@router.delete("/{token}", status_code=204, response_class=Response, openapi_extra=needs(Action.ADMIN))
async def revoke_token(token: TokenId, service: Here) -> Response:
    """Make a token worthless from now on; one that reads more than the caller's own is not there."""

    def revoked() -> str:
        own = service.speaker.principals()
        held = next((one for one in service.tokens.records() if one.id == token), None)
        if held is not None and not _no_more(own, held.principals):
            raise unknown_token(token)
        return service.tokens.revoke(token).id

    await service.write(revoked)
    return Response(status_code=204)


def _check_principals(service: Service, asked: TokenRequest) -> None:
    """Refuse to give away more than the caller may read. Raises NotAllowedError."""
    if not _no_more(service.speaker.principals(), asked.principals):
        raise NotAllowedError(
            "The new token could read more than yours.", "Give it principals that your own token has."
        )


def _no_more(own: Iterable[str] | None, other: Iterable[str] | None) -> bool:
    """Return whether somebody with the principals `other` may read nothing that one with `own` may not."""
    return own is None or (other is not None and {*other} <= {*own, PUBLIC})


def _token_response(record: TokenRecord) -> TokenResponse:
    scopes = tuple(map(str, record.scopes))
    return TokenResponse(record.id, record.name, scopes, record.created, record.revoked, record.principals)
