"""CloudFormation of an environment: its templates' parameters, and what its domains need."""
