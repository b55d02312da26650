"""Who is calling, from what API Gateway has verified and from nothing else. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dreaming.notes.records import Tenant

MAX_LENGTH = 200


class NotIdentified(Exception):
    """The request carries no identity that API Gateway has verified."""


class NotAllowed(Exception):
    """The caller is known, and belongs to no organization here; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class IdentityRules:
    """Where the tenant of a caller stands.

    `org_claim` and `user_claim` name claims of a verified token, and `admin_claim` the one that
    makes an administrator when it is `true`; empty: nobody's token does. `iam_organization` is the
    organization of callers with AWS credentials, who are no user, or empty when there are none.
    """

    org_claim: str
    user_claim: str
    admin_claim: str
    iam_organization: str


@dataclass(frozen=True, slots=True)
class Identity:
    """A verified caller: their tenant, and whether they may change what holds for the organization."""

    tenant: Tenant
    administrator: bool


def identify(request_context: Mapping[str, Any], rules: IdentityRules) -> Identity:
    """Return who a caller is.

    `request_context` is API Gateway's, payload format 2.0: the authorizers write there what they
    verified, and no part of a request can. A caller without a user sees no private slice. Callers
    with AWS credentials were admitted by an IAM policy of the account, so they administer.

    Raises:
        NotIdentified: no authorizer has verified the caller.
        NotAllowed: nothing verified names an organization.
    """
    authorizer = request_context.get("authorizer") or {}
    if "jwt" in authorizer:
        claims = authorizer["jwt"].get("claims") or {}
        org_id = _claim(claims, rules.org_claim)
        if org_id is None:
            raise NotAllowed(f"the token has no usable claim {rules.org_claim!r}, which names the organization")
        administrator = _claim(claims, rules.admin_claim) == "true"
        return Identity(Tenant(org_id, _claim(claims, rules.user_claim)), administrator)
    if "iam" in authorizer:
        if not rules.iam_organization:
            raise NotAllowed("callers with AWS credentials have no organization here; set api_iam_organization")
        return Identity(Tenant(rules.iam_organization), administrator=True)
    raise NotIdentified("no authorizer has verified the caller")


def _claim(claims: Mapping[str, Any], name: str) -> str | None:
    value = claims.get(name) if name else None
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_LENGTH or "\0" in value:
        return None
    return value
