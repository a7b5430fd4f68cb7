"""Table specs made from a database's catalogue, or from a folder of landing files.

Imports `stack` and what stands below it; `psycopg` and `pymysql` in one module each.
"""
