"""Compresses bodies of a file with libraries of Python. Prints a line for each: name, CPU seconds, bytes."""
import sys
import time
import zlib

import deflate
from isal import igzip_lib

path, size, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, 'rb') as file:
    content = file.read()
bodies = [content[at : at + size] for at in range(0, len(content), size)]

ways = {
    'zlib of Python, level 1': lambda body: zlib.compress(body, 1, 31),
    'libdeflate, level 1': lambda body: deflate.gzip_compress(body, 1),
    'ISA-L, level 0': lambda body: igzip_lib.compress(body, 0, igzip_lib.COMP_GZIP),
    'ISA-L, level 1': lambda body: igzip_lib.compress(body, 1, igzip_lib.COMP_GZIP),
}
for name, compress in ways.items():
    best = float('inf')
    for _ in range(rounds):
        since = time.process_time()
        length = sum(len(compress(body)) for body in bodies)
        best = min(best, time.process_time() - since)
    print(name, best, length, sep='\t')
