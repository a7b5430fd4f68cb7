"""What IAM would say to a call: the policies of roles, buckets, keys and endpoints.

`documents` parses, `conditions` knows the operators, `evaluator` decides, `actions` maps
calls to IAM actions, and `enforcer` does so for each call that the emulator gets.
"""
