"""Set-up: what the project runs on, built into folders of the checkout that git ignores."""
