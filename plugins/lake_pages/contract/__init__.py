"""Links to modules of lake_spec/layout that the pages need: each rule has one place."""
