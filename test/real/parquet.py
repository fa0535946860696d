# python parquet.py FILE: writes the documents of stdin, one on each line, as rows of a Parquet file. Needs pyarrow.
import json
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

types = {
    "n": pa.int64(),
    "big": pa.int64(),
    "ratio": pa.decimal128(9, 2),
    "open": pa.bool_(),
    "code": pa.string(),
    "text": pa.string(),
}
rows = [json.loads(line, parse_float=Decimal) for line in sys.stdin.buffer]
columns = {name: pa.array([row[name] for row in rows], type) for name, type in types.items()}
pq.write_table(pa.table(columns), sys.argv[1], row_group_size=30_000)
