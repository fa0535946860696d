"""DuckDB reads a table and writes a line of JSON for each row, to stdout.

    duckdb-csv.py FILE
"""

import sys

import duckdb

# As text, so that each cell stays what it was.
duckdb.execute(
    "COPY (FROM read_csv(?, all_varchar = true)) TO '/dev/stdout' (FORMAT json)",
    [sys.argv[1]],
)
