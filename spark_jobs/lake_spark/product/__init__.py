"""Products: rows that a declared transformation of other tables makes."""
