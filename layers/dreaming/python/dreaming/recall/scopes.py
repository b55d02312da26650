"""The scope in which a conversation is captured or looked for."""

from __future__ import annotations

from dreaming.errors import InvalidInput
from dreaming.notes.records import Scope, Tenant


def known_scope(tenant: Tenant, scope: Scope | str) -> Scope:
    """Return the scope that is named.

    Raises:
        InvalidInput: there is no such scope, or a private one without a user.
    """
    try:
        known = Scope(scope)
    except ValueError:
        raise InvalidInput("scope", f"is {str(scope)[:60]!r}", "use org, private or shared") from None
    if known is Scope.PRIVATE and not tenant.user_id:
        raise InvalidInput("user", "is missing", "private conversations have an owner: name the user")
    return known
