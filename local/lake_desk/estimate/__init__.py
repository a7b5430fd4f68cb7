"""Estimates of the duration and cost of a table's runs."""
