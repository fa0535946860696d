"""The Python client's bulk helpers, used as their documentation shows.

    bulk.py FILE URL INDEX streaming|parallel raw|dict|array|csv|edit|update THREADS [--proxy URL] [--trim] [--chunk N]

raw: each line is given to the helper as it is (it takes str for a document that is serialised already); dict: parsed first;
array: the file is one JSON array; csv: it is a table, whose first row names the columns.
edit: two fields of each document are deleted and one is set; update: each document changes the one with its id.
--trim asks for a status per item only, the smallest answer with which the helpers work.
"""

import argparse
import csv
import json
import os

parser = argparse.ArgumentParser()
for name in ("file", "url", "index", "helper", "form", "threads"):
    parser.add_argument(name)
parser.add_argument("--proxy")
parser.add_argument("--trim", action="store_true")
parser.add_argument("--chunk", type=int, default=500)
options = parser.parse_args()

if options.proxy:
    os.environ["HTTP_PROXY"] = os.environ["http_proxy"] = options.proxy

from elasticsearch import Elasticsearch  # noqa: E402
from elasticsearch.helpers import parallel_bulk, streaming_bulk  # noqa: E402

threads = int(options.threads)
client = Elasticsearch(
    options.url,
    connections_per_node=max(10, threads),
    request_timeout=120,
    # Of the client's connections, only this one knows proxies.
    **({"node_class": "requests"} if options.proxy else {}),
)


def documents():
    if options.form == "array":
        with open(options.file, encoding="utf-8") as array:
            yield from json.load(array)
        return
    if options.form == "csv":
        with open(options.file, encoding="utf-8", newline="", buffering=1 << 20) as rows:
            yield from csv.DictReader(rows)
        return
    with open(options.file, encoding="utf-8", newline="\n", buffering=1 << 20) as lines:
        if options.form == "raw":
            for line in lines:
                yield line.rstrip("\n")
        elif options.form == "edit":
            for line in lines:
                document = json.loads(line)
                del document["host"], document["text"]
                document["from"] = "bench"
                yield document
        elif options.form == "update":
            for line in lines:
                document = json.loads(line)
                yield {"_op_type": "update", "_id": document["id"], "doc": document}
        else:
            for line in lines:
                yield {"_op_type": "index", "_source": json.loads(line)}


settings = {
    "index": options.index,
    "chunk_size": options.chunk,
    "max_chunk_bytes": 5_000_000,
    **({"filter_path": "errors,items.*.status,items.*.error"} if options.trim else {}),
}
if options.helper == "streaming":
    results = streaming_bulk(client, documents(), yield_ok=False, **settings)
else:
    results = parallel_bulk(client, documents(), thread_count=threads, **settings)
for ok, item in results:
    if not ok:
        raise SystemExit(f"refused: {item}")
