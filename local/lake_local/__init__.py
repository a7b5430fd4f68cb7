"""What a laptop needs in place of AWS and MWAA; imported by nothing that ships.

Imports `lake_spec`, and `bundle` to build releases.
"""
