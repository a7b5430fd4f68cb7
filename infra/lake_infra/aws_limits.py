"""Limits of AWS that templates have to keep, in characters, bytes or things.

IAM: docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html; CloudFormation:
docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html; both read
in November 2026. IAM counts no white space of policies.
"""

from __future__ import annotations

INLINE_CHARACTERS = 10_240
"""Characters of all inline policies of a role together."""

POLICY_CHARACTERS = 6_144
"""Characters of a managed policy."""

TRUST_CHARACTERS = 2_048
"""Characters of what a role says about who may assume it."""

POLICIES_OF_ROLE = 10
"""Managed policies of a role, unless AWS raised the account's quota, to 20 at most."""

TEMPLATE_BYTES = 1_048_576
"""Bytes of a template that lies on S3."""

TEMPLATE_RESOURCES = 500
"""Resources of a template."""

VALUE_CHARACTERS = 4_096
"""Characters of a parameter's value."""
