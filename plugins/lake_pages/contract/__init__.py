"""Modules of lake_spec/layout that the pages need: links to them, so that each rule has one place."""
