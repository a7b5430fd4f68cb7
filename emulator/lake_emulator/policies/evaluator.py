"""Whether a role may do what it asks for, and the reason if not, as AWS words it.

Within one account: no policy denies it; the endpoint lets it pass; and the role's
policies or the bucket's allow it. A key is asked first: its policy allows the role, or
leaves it to the account's policies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import (
    Any,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

from lake_emulator.policies.conditions import Context, Value
from lake_emulator.policies.documents import (
    ANYBODY,
    Kind,
    PolicyError,
    Statement,
    statements,
)

Statements = Tuple[Statement, ...]
BY_ROLE, BY_RESOURCE = "an identity-based policy", "a resource-based policy"
BY_ENDPOINT = "a VPC endpoint policy"
GATEWAYS = ("s3", "dynamodb")
"""Services whose endpoints are gateways, which know no principal but `*`."""


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


class Denial(NamedTuple):
    """A call that is refused, in AWS's words; without an action its key is nobody's."""

    message: str
    action: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether the caller has a role."""
        return bool(self.action)


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
    arns: Mapping[str, str] = field(default_factory=dict)
    """The ARNs of roles, by their names; of others they have no path."""
    encryption: Mapping[str, str] = field(default_factory=dict)
    """The ARN of the key that encrypts a bucket or a topic, by its ARN."""

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Policies:
        """Parse what the file of policies has; PolicyError for what is not known."""
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
                    arn: statements(document, arn, Kind.RESOURCE)
                    for arn, document in raw["resources"].items()
                },
                endpoints={
                    service: Endpoint(
                        each["id"],
                        statements(
                            each["policy"],
                            f"endpoint of {service}",
                            Kind.GATEWAY if service in GATEWAYS else Kind.RESOURCE,
                        ),
                    )
                    for service, each in raw["endpoints"].items()
                },
                arns=dict(raw.get("arns", {})),
                encryption=dict(raw["encryption"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise PolicyError(
                f"policies: {type(error).__name__} {error}: not as"
                " emulator/README.md shows."
            ) from error

    def arn_of(self, role: str) -> str:
        """Return the ARN of a role."""
        return self.arns.get(role) or f"arn:aws:iam::{self.account}:role/{role}"

    @cached_property
    def _named(self) -> FrozenSet[str]:
        """All principals that a policy of a resource or of an endpoint names."""
        of_endpoints = (each.policy for each in self.endpoints.values())
        policies = [*self.resources.values(), *of_endpoints]
        return frozenset(p for policy in policies for s in policy for p in s.principals)

    def session_of(self, role: str, name: str) -> str:
        """Return the name of a role's session, if a policy tells it from others."""
        return name if self._session(role, name) in self._named else ""

    def decide(
        self, role: str, asked: Asked, *, session: str = "", is_inside: bool = True
    ) -> Decision:
        """Evaluate all policies that apply to a session of a role.

        A caller inside of the network comes by its endpoints.
        """
        found = self._found(role, asked, session, is_inside)
        for source, fitting in found.items():
            if any(each.is_deny for each in fitting):
                return Decision(False, why=f"with an explicit deny in {source}")
        allowing = {
            source: [each for each in fitting if not each.is_deny]
            for source, fitting in found.items()
        }
        if BY_ENDPOINT in found and not allowing[BY_ENDPOINT]:
            return _nothing_allows(BY_ENDPOINT, asked)
        direct, delegated = self._split(allowing[BY_RESOURCE], role, session)
        if asked.service == "kms" and not (direct or delegated):
            return _nothing_allows(BY_RESOURCE, asked)
        granting = [*allowing[BY_ROLE], *direct]
        if not granting:
            return _nothing_allows(BY_ROLE, asked)
        return Decision(True, tuple(each.sid for each in granting))

    def _found(
        self, role: str, asked: Asked, session: str, is_inside: bool
    ) -> Dict[str, List[Statement]]:
        """Return the statements that speak of the request, by the kind of their policy."""
        endpoint = self.endpoints.get(asked.service) if is_inside else None
        if _is_forwarded(asked):  # by a service of AWS, which needs no endpoint
            endpoint = None
        names = {*self._own_names(role, session), self.account, self._root()}
        context = self._context(role, asked, endpoint)
        policies = {
            BY_ROLE: self.roles.get(role, ()),
            BY_RESOURCE: self.resources.get(_owner(asked), ()),
        }
        if endpoint is not None:
            policies[BY_ENDPOINT] = endpoint.policy
        request = (names, asked.action, asked.arn, context)
        return {
            kind: [each for each in policy if each.fits(*request)]
            for kind, policy in policies.items()
        }

    def _context(
        self, role: str, asked: Asked, endpoint: Optional[Endpoint]
    ) -> Context:
        known: Dict[str, Value] = {
            "aws:principalaccount": self.account,
            "aws:principalarn": self.arn_of(role),
            "aws:principalisawsservice": "false",
            "aws:principalisawsservice": "false",
            "aws:requestedregion": self.region,
            "aws:resourceaccount": self.account,
            "aws:securetransport": "true",
            "aws:viaawsservice": str(_is_forwarded(asked)).lower(),
        }
        if endpoint is not None:
            known["aws:sourcevpce"] = endpoint.id
        return {**known, **dict(asked.context)}

    def _split(
        self, fitting: Iterable[Statement], role: str, session: str
    ) -> Tuple[List[Statement], List[Statement]]:
        """Return the statements for the caller itself, and those for its account."""
        own = self._own_names(role, session)
        fitting = list(fitting)
        direct = [each for each in fitting if own & {*each.principals}]
        return direct, [each for each in fitting if not own & {*each.principals}]

    def _own_names(self, role: str, session: str) -> Set[str]:
        return {ANYBODY, self.arn_of(role), self._session(role, session)}

    def _session(self, role: str, name: str) -> str:
        return f"arn:aws:sts::{self.account}:assumed-role/{role}/{name}"

    def _root(self) -> str:
        return f"arn:aws:iam::{self.account}:root"


def _all(documents: Iterable[Mapping[str, Any]], where: str) -> Statements:
    return tuple(each for one in documents for each in statements(one, where))


def _is_forwarded(asked: Asked) -> bool:
    """Return whether a service of AWS asks it of a key, for the caller."""
    return "kms:viaservice" in dict(asked.context)


def _owner(asked: Asked) -> str:
    """Return the ARN whose policy decides: the bucket of an object, else the thing itself."""
    return asked.arn.partition("/")[0] if asked.service == "s3" else asked.arn


def _nothing_allows(source: str, asked: Asked) -> Decision:
    kind = source.partition(" ")[2]
    return Decision(False, why=f"because no {kind} allows the {asked.action} action")
