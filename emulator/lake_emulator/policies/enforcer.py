"""Each call of the emulator, judged by the policies of its caller's role.

Callers are known by the id of their access key: Airflow has a role, a step that of its
AddJobFlowSteps, or of its cluster's instance profile, and `role:NAME` is a role of
whoever else reads, from outside of the network. People are not judged, and
without the file `policies.json` nobody is.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from lake_emulator.call import Call
from lake_emulator.emr.service import LocalEmr
from lake_emulator.keys import KEY_ID
from lake_emulator.policies.actions import Account
from lake_emulator.policies.documents import PolicyError
from lake_emulator.policies.evaluator import Asked, Decision, Denial, Policies
from lake_emulator.policies.replies import denied
from lake_emulator.s3.request import Deleted, Reply

FILE = "policies.json"
AIRFLOW = "airflow"
ROLE = "role:"
"""What the id of a caller begins with that names its role itself."""
MOST_DECISIONS = 100_000
log = logging.getLogger(__name__)


class PolicyEnforcer:
    """The policies of a state directory; `replace` takes others while the emulator runs."""

    def __init__(
        self,
        state_dir: Path,
        emr: LocalEmr,
        policies: Optional[Policies] = None,
        *,
        has_bucket: Callable[[str], bool] = lambda bucket: True,
    ) -> None:
        self._file = state_dir / FILE
        self._has_bucket = has_bucket
        self._emr = emr
        self._lock = threading.Lock()
        self._steps: Dict[str, str] = {}
        self._judged = self._with_decisions(policies)

    @property
    def is_on(self) -> bool:
        """Return whether calls are judged."""
        return self._judged is not None

    def replace(self, raw: Optional[Mapping[str, Any]]) -> None:
        """Judge by these from now on, and after a restart; None for not at all."""
        policies = None if raw is None else Policies.of(raw)
        with self._lock:
            if raw is None:
                self._file.unlink(missing_ok=True)
            else:
                draft = self._file.with_suffix(".new")
                draft.write_text(json.dumps(raw, indent=1), encoding="utf-8")
                os.replace(draft, self._file)
            self._judged = self._with_decisions(policies)

    def refuse(self, call: Call) -> Optional[Reply]:
        """Refuse what policies do not allow; of DeleteObjects only the keys in question."""
        found = self.denials(call.caller, call.service, call.operation, call.things)
        if not found:
            return None
        are_keys = all(denial.is_known for _, denial in found)
        if call.s3 and call.operation == "DeleteObjects" and are_keys:
            call.s3 = replace(call.s3, denied=_by_key(found))
            return None
        return denied(call, found[0][1])

    def hide(self, call: Call, reply: Reply) -> Reply:
        """Deny a missing object to who may not list its bucket."""
        if reply.status != 404 or call.operation not in ("GetObject", "HeadObject"):
            return reply
        if call.s3 is None or not self._has_bucket(call.s3.bucket):
            return reply
        hidden = self.hides(call.caller, call.s3.bucket, call.s3.key)
        return denied(call, hidden) if hidden else reply

    def denials(
        self,
        caller: str,
        service: str,
        operation: str,
        about: Iterable[Mapping[str, Any]],
    ) -> List[Tuple[Mapping[str, Any], Denial]]:
        """Return what is refused of a call, each with what of it is."""
        judged = self._judged
        if judged is None or caller == KEY_ID:
            return []
        role = self._role_of(caller, judged.policies)
        if role is None:
            message = (
                "The AWS Access Key Id you provided does not exist in our records."
            )
            return [({}, Denial(message))]
        found = []
        for each in about:
            for asked in judged.account.asked(service, operation, each):
                decision = judged.decide(role, caller, asked)
                if not decision.is_allowed:
                    denied = _denial(judged.policies, role, caller, asked, decision)
                    found.append((each, denied))
                    break
        return found

    def hides(self, caller: str, bucket: str, key: str) -> Optional[Denial]:
        """Return why a missing object is denied: its caller may not list the bucket."""
        judged = self._judged
        if judged is None or caller == KEY_ID:
            return None
        role = self._role_of(caller, judged.policies)
        if role is None:
            return None
        asked = judged.account.listing(bucket, key)
        decision = judged.decide(role, caller, asked)
        if decision.is_allowed:
            return None
        return _denial(judged.policies, role, caller, asked, decision)

    def _with_decisions(self, policies: Optional[Policies]) -> Optional[_Judged]:
        return None if policies is None else _Judged(policies, self._tags_of)

    def _role_of(self, caller: str, policies: Policies) -> Optional[str]:
        """Return the name of the role that a caller has; None for a key of nobody."""
        if caller == AIRFLOW:
            return policies.airflow
        if caller.startswith(ROLE):
            name = caller[len(ROLE) :]
            return name if name in policies.roles else None
        if caller not in self._steps:
            for cluster in self._emr.clusters():
                profile = cluster.described.get("JobFlowRole", "")
                for step in cluster.steps:
                    self._steps[step.id] = (step.role or profile).split("/")[-1]
        return self._steps.get(caller)

    def _tags_of(self, cluster_id: str) -> Mapping[str, str]:
        """Return the tags of a cluster; none if there is no such cluster."""
        for cluster in self._emr.clusters():
            if cluster.id == cluster_id:
                return dict(cluster.tags)
        return {}


class _Judged:
    """Policies with the decisions that were made by them, each made once."""

    def __init__(self, policies: Policies, tags_of: Any) -> None:
        self.policies = policies
        self.account = Account(
            policies.account, policies.region, policies.encryption, tags_of
        )
        self._decisions: Dict[Tuple[str, str, bool, Asked], Decision] = {}

    def decide(self, role: str, caller: str, asked: Asked) -> Decision:
        session = self.policies.session_of(role, caller)
        is_inside = not caller.startswith(ROLE)
        key = (role, session, is_inside, asked)
        found = self._decisions.get(key)
        if found is None:
            if len(self._decisions) >= MOST_DECISIONS:
                self._decisions.clear()
            found = self.policies.decide(
                role, asked, session=session, is_inside=is_inside
            )
            self._decisions[key] = found
            if not found.is_allowed:
                log.warning("denied: %s %s on %s", role, asked.action, asked.arn)
        return found


def _by_key(found: List[Tuple[Mapping[str, Any], Denial]]) -> Dict[Deleted, str]:
    """Return the messages by the keys of a bucket, from `bucket/key`, and their versions."""
    return {
        (each["thing"].partition("/")[2], each.get("version")): denial.message
        for each, denial in found
    }


def policies_of(state_dir: Path) -> Optional[Policies]:
    """Read the file of a state directory; None without one, PolicyError if it is odd."""
    file = state_dir / FILE
    try:
        return Policies.of(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise PolicyError(f"{file}: {error}") from error


def _denial(
    policies: Policies, role: str, caller: str, asked: Asked, decision: Decision
) -> Denial:
    user = f"arn:aws:sts::{policies.account}:assumed-role/{role}/{caller}"
    arn = f'"{asked.arn}"' if asked.service == "s3" else asked.arn
    message = (
        f"User: {user} is not authorized to perform: {asked.action} on resource:"
        f" {arn} {decision.why}"
    )
    return Denial(message, asked.action)
