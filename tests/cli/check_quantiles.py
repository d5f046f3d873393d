"""Compares the summary of a run with what NumPy computes from its columns: python3 check_quantiles.py
RUN. Prints differences; exit status 1 if there are any."""
import glob
import json
import math
import sys

import numpy as np

NEVER = np.iinfo(np.int64).min
QUANTILES = {"p10": 1000, "p50": 5000, "p90": 9000, "p99": 9900, "p99_9": 9990, "p99_99": 9999}

run = sys.argv[1]
resolved = json.load(open(f"{run}/resolved.json"))
summary = json.load(open(f"{run}/summary.json"))
wrong = compared = 0

for point in summary["points"]:
    base = f"{run}/points/{point['id']:04d}"
    for series in resolved["kernels"][point["params"]["kernel"]]["series"]:
        if series.get("with") and not point["params"][series["with"]]:
            continue
        parts = []
        lost = 0
        for rep in sorted(glob.glob(f"{base}/rep-*")):
            a = np.load(f"{rep}/{series['column']}.npy", mmap_mode="r")
            b = np.load(f"{rep}/{series['minus']}.npy", mmap_mode="r")
            there = (a != NEVER) & (b != NEVER)
            expected = np.load(f"{rep}/{series['among']}.npy") != NEVER if series.get("among") else np.ones(len(a), bool)
            lost += int((~there & expected).sum())
            x = (a - b)[there]
            parts.append(x // 2 if series.get("divide") == 2 else x)
        if not parts:
            continue
        x = np.sort(np.concatenate(parts))
        n = len(x)
        want = {"n": n, "lost": 0 if series.get("sparse") else lost, "min": int(x[0]), "max": int(x[-1])}
        for key, p in QUANTILES.items():
            rank = -(-p * n // 10000)
            want[key] = int(x[rank - 1]) if (rank - 1 if p < 5000 else n - rank) >= 20 else None
        ends = want["p10"], want["p90"]
        want["p90_p10"] = None if None in ends else ends[1] - ends[0]
        got = point["metrics"][series["name"]]
        for key, value in want.items():
            compared += 1
            if got[key] != value:
                wrong += 1
                print(f"point {point['id']} {series['name']} {key}: summary {got[key]}, NumPy {value}")
        if series.get("divide") == 2:
            continue  # mean and stdev are those of the unrounded halves
        if n > 1 and not math.isclose(got["stdev"], float(x.std(ddof=1)), rel_tol=1e-9, abs_tol=1e-9):
            wrong += 1
            print(f"point {point['id']} {series['name']} stdev: summary {got['stdev']}, NumPy {x.std(ddof=1)}")

print(f"{compared} values compared, {wrong} differ")
sys.exit(1 if wrong or not compared else 0)
