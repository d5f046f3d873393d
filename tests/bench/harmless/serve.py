"""Answers lines of numbers; each seventh by an exception."""
import json
import re
import sys


def deep(n, depth):
    if depth == 0:
        if n % 7 == 3:
            raise ValueError(f"refused {n}")
        return n
    return deep(n, depth - 1) + depth


for line in sys.stdin:
    number = int(re.match(r"\s*(\d+)", line).group(1))
    table = json.loads(json.dumps({f"key{i}": i for i in range(number % 20)}))
    try:
        print(deep(number, number % 40), len(sorted(table)), flush=True)
    except ValueError as e:
        print(e, flush=True)
