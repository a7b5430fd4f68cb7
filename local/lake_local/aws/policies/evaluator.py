"""Whether a role may do what it asks for, and the reason if not, as AWS words it.

Within one account: no policy denies it; the endpoint lets it pass; and the role's
policies or the bucket's allow it. A key is asked first: its policy allows the role, or
leaves it to the account's policies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Tuple

from lake_local.aws.policies.conditions import Context, Value
from lake_local.aws.policies.documents import PolicyError, Statement, statements

Statements = Tuple[Statement, ...]
BY_ROLE, BY_RESOURCE = "an identity-based policy", "a resource-based policy"
BY_ENDPOINT = "a VPC endpoint policy"


@dataclass(frozen=True)
class Asked:
    """An action, the ARN that it is asked for, and the condition keys of the request."""

    action: str
    arn: str
    context: Tuple[Tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, action: str, arn: str, context: Mapping[str, Value] = {}) -> Asked:
        """Make one from keys in any case."""
        pairs = {name.lower(): value for name, value in context.items()}
        return cls(action, arn, tuple(sorted(pairs.items())))

    @property
    def service(self) -> str:
        """Return the service that the action belongs to."""
        return self.action.partition(":")[0]


class Decision(NamedTuple):
    """Whether it is allowed: the Sids that allow it, or why it is denied."""

    is_allowed: bool
    sids: Tuple[str, ...] = ()
    why: str = ""


class Endpoint(NamedTuple):
    """A VPC endpoint: its id and its policy."""

    id: str
    policy: Statements


@dataclass(frozen=True)
class Policies:
    """All policies of an account that the emulator knows."""

    account: str
    region: str
    airflow: str
    roles: Mapping[str, Statements]
    resources: Mapping[str, Statements] = field(default_factory=dict)
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    encryption: Mapping[str, str] = field(default_factory=dict)
    """The ARN of the key that encrypts a bucket or a topic, by its ARN."""

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Policies:
        """Parse what `lake_infra.policies` makes; PolicyError for what is not known."""
        try:
            return cls(
                account=raw["account"],
                region=raw["region"],
                airflow=raw["airflow"],
                roles={
                    name: _all(documents, f"role {name}")
                    for name, documents in raw["roles"].items()
                },
                resources={
                    arn: statements(document, arn)
                    for arn, document in raw["resources"].items()
                },
                endpoints={
                    service: Endpoint(
                        each["id"],
                        statements(each["policy"], f"endpoint of {service}"),
                    )
                    for service, each in raw["endpoints"].items()
                },
                encryption=dict(raw["encryption"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise PolicyError(
                f"policies: {type(error).__name__} {error}: not as"
                " `python -m lake_infra policies` prints them."
            ) from error

    def arn_of(self, role: str) -> str:
        """Return the ARN of a role."""
        return f"arn:aws:iam::{self.account}:role/{role}"

    def decide(self, role: str, asked: Asked) -> Decision:
        """Evaluate all policies that apply."""
        context = self._context(role, asked)
        found = self._found(role, asked, context)
        for source, fitting in found.items():
            if any(each.is_deny for each in fitting):
                return Decision(False, why=f"with an explicit deny in {source}")
        allowing = {
            source: [each for each in fitting if not each.is_deny]
            for source, fitting in found.items()
        }
        if BY_ENDPOINT in found and not allowing[BY_ENDPOINT]:
            return _nothing_allows(BY_ENDPOINT, asked)
        direct, delegated = _split(allowing.get(BY_RESOURCE, ()), self.account)
        if asked.service == "kms" and not (direct or delegated):
            return _nothing_allows(BY_RESOURCE, asked)
        granting = [*allowing[BY_ROLE], *direct]
        if not granting:
            return _nothing_allows(BY_ROLE, asked)
        return Decision(True, tuple(each.sid for each in granting))

    def _found(
        self, role: str, asked: Asked, context: Context
    ) -> Dict[str, List[Statement]]:
        """Return the statements that speak of the request, by the kind of their policy."""
        request = (asked.action, asked.arn, context)
        of_role = self.roles.get(role, ())
        found = {BY_ROLE: [each for each in of_role if each.fits(*request)]}
        if self._passes_endpoint(asked):
            policy = self.endpoints[asked.service].policy
            found[BY_ENDPOINT] = [each for each in policy if each.fits(*request)]
        of_resource = self.resources.get(_owner(asked), ())
        principals = {"*", self.account, self._root(), self.arn_of(role)}
        found[BY_RESOURCE] = [
            each
            for each in of_resource
            if principals & set(each.principals) and each.fits(*request)
        ]
        return found

    def _context(self, role: str, asked: Asked) -> Context:
        known: Dict[str, Value] = {
            "aws:principalaccount": self.account,
            "aws:principalarn": self.arn_of(role),
            "aws:requestedregion": self.region,
            "aws:resourceaccount": self.account,
            "aws:securetransport": "true",
        }
        if self._passes_endpoint(asked):
            known["aws:sourcevpce"] = self.endpoints[asked.service].id
        return {**known, **dict(asked.context)}

    def _passes_endpoint(self, asked: Asked) -> bool:
        """Return whether it does; what a service asks of a key for the caller does not."""
        is_forwarded = "kms:viaservice" in dict(asked.context)
        return asked.service in self.endpoints and not is_forwarded

    def _root(self) -> str:
        return f"arn:aws:iam::{self.account}:root"


def _all(documents: Iterable[Mapping[str, Any]], where: str) -> Statements:
    return tuple(each for one in documents for each in statements(one, where))


def _owner(asked: Asked) -> str:
    """Return the ARN whose policy decides: the bucket of an object, else the thing itself."""
    return asked.arn.partition("/")[0] if asked.service == "s3" else asked.arn


def _split(
    fitting: Iterable[Statement], account: str
) -> Tuple[List[Statement], List[Statement]]:
    """Return the statements for the caller itself, and those for its account."""
    whole = {account, f"arn:aws:iam::{account}:root"}
    direct = [each for each in fitting if set(each.principals) - whole]
    return direct, [each for each in fitting if not set(each.principals) - whole]


def _nothing_allows(source: str, asked: Asked) -> Decision:
    kind = source.partition(" ")[2]
    return Decision(False, why=f"because no {kind} allows the {asked.action} action")
