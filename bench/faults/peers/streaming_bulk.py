"""The Python client's streaming_bulk, as its documentation shows, with retries, and a file for what is refused.

    streaming_bulk.py FILE INDEX CHUNK_SIZE REFUSED_FILE own|field

own: the cluster makes the ids; field: they are taken from the documents. The way is in the environment.
"""

import json
import os
import sys

file, index, chunk_size, refused_file, ids = sys.argv[1:]
os.environ["HTTPS_PROXY"] = os.environ["PROXY"]

from elasticsearch import Elasticsearch  # noqa: E402
from elasticsearch.helpers import streaming_bulk  # noqa: E402

client = Elasticsearch(
    os.environ["ELASTICSEARCH_URL"],
    api_key=os.environ["ELASTICSEARCH_API_KEY"],
    ca_certs=os.environ["CLUSTER_CA"],
    # Of the client's connections, only this one knows proxies.
    node_class="requests",
    max_retries=5,
    retry_on_timeout=True,
)


def documents():
    with open(file, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            line = line.rstrip("\r\n")
            if line == "":
                continue
            if ids == "field":
                document = json.loads(line)
                yield {"_id": document["id"], "_source": document}
            else:
                # A document that is serialised already.
                yield line


stored = failed = 0
for ok, item in streaming_bulk(
    client,
    documents(),
    index=index,
    chunk_size=int(chunk_size),
    max_retries=5,
    initial_backoff=1,
    raise_on_error=False,
):
    if ok:
        stored += 1
    else:
        failed += 1
        with open(refused_file, "a", encoding="utf-8") as refused:
            refused.write(json.dumps(item, ensure_ascii=False) + "\n")
print(f"stored {stored}, failed {failed}")
if failed:
    raise SystemExit(1)
