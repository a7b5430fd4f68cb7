"""The site of docs/ as mkdocs builds it."""
