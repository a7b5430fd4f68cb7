"""Names and places: DAGs, folders, files, pages, tables of the catalogue."""
