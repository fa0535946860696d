"""Reads two indices by scroll, and prints how many documents each has and a checksum of them all.

A checksum covers id, routing and document. Numbers count by their digits, and keys by their order. Equal documents have equal sums,
in whatever order they come. It shares no code with Sluice.
"""
import hashlib
import json
import sys
import urllib.request

PAGE = 5000


def ask(url, key, path, body=None):
    headers = {"authorization": key, "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def exact(text):
    """Numbers stay texts with their digits, and objects lists of pairs with their order."""
    return json.loads(text, parse_int=lambda digits: ("number", digits), parse_float=lambda digits: ("number", digits),
                      object_pairs_hook=lambda pairs: tuple(pairs))


def field(pairs, name):
    return next((value for key, value in pairs if key == name), None)


def sum_of(url, key, index, skipped):
    ask(url, key, f"/{index}/_refresh")
    path, body = f"/{index}/_search?scroll=5m", {"size": PAGE, "sort": ["_doc"]}
    documents, total = 0, 0
    while True:
        answer = exact(ask(url, key, path, body))
        hits = field(field(answer, "hits"), "hits")
        if not hits:
            return {"documents": documents, "sum": f"{total % (1 << 128):032x}"}
        for hit in hits:
            identity = field(hit, "_id")
            if identity in skipped:
                continue
            text = repr((identity, field(hit, "_routing"), field(hit, "_source")))
            total += int.from_bytes(hashlib.md5(text.encode("utf-8", "surrogatepass")).digest(), "big")
            documents += 1
        path, body = "/_search/scroll", {"scroll": "5m", "scroll_id": field(answer, "_scroll_id")}


asked = json.load(sys.stdin)
skipped = frozenset(asked["skipped"])
print(json.dumps([sum_of(one["url"], one["key"], one["index"], skipped) for one in asked["indices"]]))
