"""Whom a request speaks for: its token's principals, or what a resolver of the operator's own makes of them."""

from twofold.domain.access import CallerIdentity, PrincipalResolver
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import AccessUnknownError, NotAllowedError
from twofold.index import Index
from twofold.server.auth import EVERY_DOCUMENT, EVERYTHING_GRANTED, Grant, checked_principal

NOBODY = Grant("nobody", (), principals=())
"""A caller of whom nothing is known: what everybody may read."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whom a request speaks for. Every index that a route uses is opened through `seen`."""

    grant: Grant = NOBODY
    resolver: PrincipalResolver | None = None

    def principals(self) -> tuple[str, ...] | None:
        """Return the caller's principals; None for one who may read every document. Raises AccessUnknownError."""
        found = self.grant.principals if self.resolver is None else self._resolve(self.resolver)
        return None if found is None or EVERY_DOCUMENT in found else found

    def restrict(self, index: Index) -> Index:
        """Return an index as the caller may use it. Raises AccessUnknownError."""
        principals = self.principals()
        return index if principals is None else index.as_principals(principals)

    def check_owner(self) -> None:
        """Raise NotAllowedError for a caller who may not read every document."""
        if self.principals() is not None:
            raise NotAllowedError(
                "This concerns all documents of an index.", "Only a token that may read every document can do it."
            )

    def _resolve(self, resolver: PrincipalResolver) -> tuple[str, ...] | None:
        grant = self.grant
        if grant in (NOBODY, EVERYTHING_GRANTED):
            return grant.principals
        try:
            made = resolver.principals(CallerIdentity(grant.id, grant.name, grant.principals or ()))
            return tuple(sorted({checked_principal(one) for one in made}))
        except Exception as error:  # whatever another's part raises: nothing is known of the caller then
            raise AccessUnknownError(
                "It cannot be said who asks.", "Ask again; the server's administrator knows what says it."
            ) from error
