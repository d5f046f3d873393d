#!/usr/bin/python3
"""format_readers.py FORMAT FILE NAME...: FILE as its readers take it, by their rules; what became of the tests with these names.

The rules are written down here from the documentation, schemas and source of those who read the formats:

    ktap    Documentation/dev-tools/ktap.rst of Linux, and what its kunit_parser.py makes of it: a subtest has the name of the line
            that follows it, lines are numbered, plans are kept, and a test has failed if one within it has
    tap     TAP version 13, in the form that automake and Jenkins read
    junit   junit.xsd beside this file, with what Jenkins's XUnit plugin demands (by xmllint); attributes count what there is
    lava    the pattern of lava-dispatcher's signals, words of the form KEY=VALUE, the four results and the decimals of LAVA's database
    kcidb   version 5.3 of KernelCI's schema, of what a report of tests has; numbers are numbers
    tmt     tmt's schema of results since 1.41

Names are compared in lower case, with '-' for whatever is no letter or digit, by their ends: p99.9 is found as
"kblat.scripted.point-0.p99_9". Whatever breaks a rule is an error, and so is a name that is not there exactly once.
"""
import decimal
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import jsonschema
import yaml

TEXT = {"type": "string", "pattern": "^[^\0]*$"}


def demand(right, *what):
    if not right:
        raise ValueError(" ".join(map(str, what)))


class Ktap:
    LINE = re.compile(r"(ok|not ok) ([0-9]+)(?: -)? ([^#]*[^# ])(?: # (SKIP|TODO|XFAIL|TIMEOUT|ERROR)(?: .*)?)?")

    def __init__(self, text):
        self.lines, self.at = text.splitlines(), 0

    def next(self, indent):
        demand(self.at < len(self.lines), "it ends too early")
        line = self.lines[self.at]
        demand(line.startswith(indent), "not indented as it should be:", line)
        self.at += 1
        return line[len(indent):]

    def is_nested(self, indent):
        return self.at < len(self.lines) and self.lines[self.at].startswith(indent + "  ") and self.lines[self.at].lstrip().startswith("KTAP version ")

    def tests(self, indent=""):
        """Those of a level and of all within it: [(name, result)], and the name that this level gives itself."""
        found, name = [], None
        demand(self.next(indent) == "KTAP version 1", "not the version's line")
        line = self.next(indent)
        if line.startswith("# Subtest: "):
            name, line = line[len("# Subtest: "):], self.next(indent)
        demand(re.fullmatch(r"1\.\.[0-9]+", line), "not a plan:", line)
        for number in range(1, int(line[3:]) + 1):
            found += self.test(indent, number)
        return (found, name) if indent else found

    def test(self, indent, number):
        within = []
        while True:
            if self.is_nested(indent):
                deeper = re.match(" *", self.lines[self.at])[0]
                within, name = self.tests(deeper)
                continue
            line = self.next(indent)
            if not line.startswith("#"):
                break
        found = self.LINE.fullmatch(line)
        demand(found and int(found[2]) == number, "not the line of test", number, ":", line)
        result = "skip" if found[4] == "SKIP" else "pass" if found[1] == "ok" else "fail"
        if within:
            results = [r for _, r in within]
            demand(name == found[3], "a subtest is called", name, "and ends as", found[3])
            demand(("fail" in results) == (result == "fail"), found[3], "is", result, "of", results)
            demand(result != "pass" or "pass" in results, found[3], "passes, but nothing within it does")
        return [*within, (found[3], result)]


def ktap(text):
    read = Ktap(text)
    found = read.tests()
    demand(read.at == len(read.lines), "more lines than planned:", read.lines[read.at:][:1])
    return found


def tap(text):
    lines = text.splitlines()
    demand(lines[0] == "TAP version 13" and re.fullmatch(r"1\.\.[0-9]+", lines[1]), "no version and plan:", lines[:2])
    found = []
    for line in lines[2:]:
        if line.startswith("#"):
            continue
        test = re.fullmatch(r"(ok|not ok) ([0-9]+) - ([^#]+?)(?: # SKIP(?: .*)?)?", line)
        demand(test and int(test[2]) == len(found) + 1, "not the line of test", len(found) + 1, ":", line)
        found.append((test[3], "skip" if "# SKIP" in line else "pass" if test[1] == "ok" else "fail"))
    demand(len(found) == int(lines[1][3:]), len(found), "tests of", lines[1])
    return found


def junit(text):
    schema = os.path.join(os.path.dirname(os.path.abspath(__file__)), "junit.xsd")
    checked = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", schema, "-"], input=text.encode(), capture_output=True, check=False)
    demand(checked.returncode == 0, checked.stderr.decode())
    found = []
    for suite in xml.etree.ElementTree.fromstring(text.encode()):
        cases = suite.findall("testcase")
        results = [[r.tag for r in c if r.tag in ("failure", "error", "skipped")] for c in cases]
        demand(max(map(len, results)) <= 1, "a case with two results")
        counted = [len(cases)] + [sum(tag in r for r in results) for tag in ("failure", "error", "skipped")]
        demand(counted == [int(suite.get(a)) for a in ("tests", "failures", "errors", "skipped")], "it counts other than", counted)
        names = [(c.get("classname"), c.get("name")) for c in cases]
        demand(len(set(names)) == len(names), "two cases of one name")
        found += [("%s %s" % name, (result or ["passed"])[0]) for name, result in zip(names, results)]
    return found


def lava(text):
    found = []
    for line in text.splitlines():
        signal = re.fullmatch(r"<LAVA_SIGNAL_(\S+) ([^>]+)>", line)
        demand(signal and signal[1] == "TESTCASE", "no signal:", line)
        words = dict(word.split("=", 1) for word in signal[2].split())
        demand(set(words) <= {"TEST_CASE_ID", "RESULT", "MEASUREMENT", "UNITS"}, "other words:", line)
        demand(words["RESULT"] in ("pass", "fail", "skip", "unknown"), "no result:", line)
        demand(("UNITS" in words) == ("MEASUREMENT" in words), "a unit, or a number, alone:", line)
        number = decimal.Decimal(words.get("MEASUREMENT", "0"))
        demand(number.is_finite() and abs(number) < 10**20, "a number that has no place in a decimal(30, 10):", line)
        found.append((words["TEST_CASE_ID"], words["RESULT"]))
    return found


KCIDB = {
    "type": "object", "required": ["version"], "additionalProperties": False,
    "properties": {
        "version": {"type": "object", "required": ["major"], "additionalProperties": False,
                    "properties": {"major": {"type": "integer", "const": 5}, "minor": {"type": "integer", "minimum": 0, "maximum": 3}}},
        "tests": {"type": "array", "items": {
            "type": "object", "required": ["build_id", "id", "origin"], "additionalProperties": False,
            "properties": {
                "build_id": {"type": "string", "pattern": "^[a-z0-9_]+:.*$"}, "id": {"type": "string", "pattern": "^[a-z0-9_]+:.*$"},
                "origin": {"type": "string", "pattern": "^[a-z0-9_]+$"},
                "path": {"type": "string", "pattern": r"^([a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*)?$"},
                "comment": TEXT, "log_excerpt": {**TEXT, "maxLength": 16384}, "start_time": TEXT, "duration": {"type": "number"},
                "status": {"enum": ["FAIL", "ERROR", "MISS", "PASS", "DONE", "SKIP"]},
                "number": {"type": "object", "required": ["value"], "additionalProperties": False,
                           "properties": {"value": {"type": "number"}, "unit": TEXT, "prefix": {"enum": ["metric", "binary"]}}},
                "misc": {"type": "object"}}}}}}


def kcidb(text):
    def no_number(word):
        raise ValueError("no number: " + word)

    document = json.loads(text, parse_constant=no_number)
    jsonschema.validate(document, KCIDB)
    tests = document["tests"]
    demand(len({t["id"] for t in tests}) == len(tests), "an id is there twice")
    # Ours: what was measured is said of what ran only, and every result says why.
    demand(not [t for t in tests if "number" in t and t["status"] in ("MISS", "SKIP")], "a number of what did not run")
    demand(all(isinstance(t["misc"]["why"], str) and isinstance(t["misc"]["numbers"], str) for t in tests), "no reason")
    return [(t["path"], t["status"]) for t in tests]


TMT = {"type": "array", "minItems": 1, "items": {
    "type": "object", "additionalProperties": False, "required": ["name", "result"],
    "properties": {"name": {"type": "string", "pattern": "^/.*"}, "note": {"type": "array", "items": TEXT}, "log": {"type": "array", "items": TEXT},
                   "result": {"enum": ["pass", "fail", "info", "warn", "error", "skip", "pending"]}}}}


def tmt(text):
    results = yaml.safe_load(text)
    jsonschema.validate(results, TMT)
    demand(len({r["name"] for r in results}) == len(results), "a name is there twice")
    return [(r["name"], r["result"]) for r in results]


READERS = {f.__name__: f for f in (ktap, tap, junit, lava, kcidb, tmt)}


def read(format, text):
    """[(name, result)], or ValueError, or what its parsers raise."""
    found = READERS[format](text)
    demand(sum(plain(name).endswith("overall") for name, _ in found) == 1, "not one whole:", found)
    return found


def plain(name):
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def main():
    format, path, *names = sys.argv[1:]
    with open(path, encoding="utf-8", newline="") as f:
        found = read(format, f.read())
    for name in names:
        results = [result for full, result in found if ("-" + plain(full)).endswith("-" + plain(name))]
        demand(len(results) == 1, name, "is there", len(results), "times:", found)
        print(results[0], end=" ")
    print()


if __name__ == "__main__":
    main()
