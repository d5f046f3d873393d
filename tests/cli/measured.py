#!/usr/bin/python3
"""Did a run measure as it should?

    measured.py STATUS DIR [REASON…]

It did if its exit status is 0. It is 3 if what was measured is not valid: right only if each reason for that, in this run or in
each run of this campaign, is one that a busy machine brings about (BUSY), or one that the test itself means to bring about
(REASON, regular expressions of the whole text). A claim that fails is the reason "claim ID fails". The scripted transport takes
no time, so that nothing excuses its points but pages that this user may not lock.

Exit status 0, or 1 and a line for each thing that is wrong.
"""
import ctypes
import json
import os
import re
import resource
import sys

# Numbers are there so that a rule is not excused that fires where it should not. With memory that is locked, page faults in each
# of several repetitions are of kblat's own making.
FAULTS = r"[1-9]\d* page faults? inside the measured interval \(\w+"
BUSY = (
    FAULTS + r"(, [12] of [12] repetitions)?\)",
    FAULTS + r", (?P<less>\d+) of (?P<more>\d+) repetitions\)",
    r"the pacer missed [1-9]\d* of \d+ steps \((?P<more>\S+) %\); missed_limit is (?P<less>\S+) %",
    r"the error of the clock between .*, (?P<more>\S+) us, is larger than the median of .*, (?P<less>\S+) us; .*",
    r"the tick counter (of the \w+'s host )?failed its checks: the tick counter strays [1-9]\d* ns from CLOCK_MONOTONIC_RAW; .*",
)
NOT_LOCKED = (FAULTS + ".*", r"the memory is not locked; raise the limit \(ulimit -l\) \(.*")


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return json.load(f)


def may_lock():
    """Even the memory of a small program?"""
    return ctypes.CDLL(None).mlockall(1) == 0


def is_limited():
    return resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY


def is_right(number):
    """Does the text say what makes it true?"""
    named = number.groupdict()
    return not named or float(named["more"]) > float(named["less"])


def excused(reason, patterns):
    """Is it one of these, be it of one flow of several?"""
    for text in (reason, reason.partition(": ")[2]):
        found = next(filter(None, (re.fullmatch(p, text) for p in patterns)), None)
        if found and is_right(found):
            return True
    return False


def runs(path):
    """The directories of the runs: of a campaign, those of its cells."""
    if not os.path.exists(os.path.join(path, "study.json")):
        return [path]
    last = {}
    with open(os.path.join(path, "cells.jsonl"), encoding="utf-8") as f:
        for line in filter(str.strip, f):
            cell = json.loads(line)
            last[cell["cell"]] = cell
    return [os.path.join(path, cell["run"]) for cell in last.values() if cell.get("run")]


def points_of(path):
    return load(path, "summary.json")["points"] if os.path.exists(os.path.join(path, "summary.json")) else []


def failing_claims(path):
    if not os.path.exists(os.path.join(path, "claims.json")):
        return []
    return ["claim %s fails" % c["id"] for c in load(path, "claims.json")["claims"] if c["verdict"] == "fails"]


def wrong(status, path, reasons=()):
    """What is wrong with a run, or a campaign, that ended with this status."""
    if status not in (0, 3):
        return ["exit status %d" % status]
    found, bad = [], []
    for run in dict.fromkeys([*runs(path), path]):
        for point in points_of(run):
            scripted = {v for k, v in point["params"].items() if k.split(".")[-1] == "transport"} == {"scripted"}
            busy = NOT_LOCKED[:1] * (not may_lock()) if scripted else BUSY + NOT_LOCKED * is_limited()
            found += point["reasons"]
            bad += ["point %s: %s" % (point["id"], r) for r in point["reasons"] if not excused(r, (*busy, *reasons))]
        found += (claims := failing_claims(run))
        bad += [c for c in claims if not excused(c, reasons)]
    if (status == 3) != bool(found):
        bad.append("exit status %d, and %d reasons: %s" % (status, len(found), found))
    return bad


if __name__ == "__main__":
    said = wrong(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
    print(*("not measured as it should: %s: %s" % (sys.argv[2], one) for one in said), sep="\n", end="\n" * bool(said), file=sys.stderr)
    sys.exit(1 if said else 0)
