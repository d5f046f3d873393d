#!/usr/bin/python3
"""docs_numbers.py ROOT: checks the numbers of docs/security.md and docs/reliability.md.

A table that follows a command with --table must be what that command prints. Tables of a section in
NEEDS are printed by the command there, which the section must name. A number in the text must be in
LIMITS, with the place in the source that says so, or be a version or the name of something. A
number that is none of these is an error, and so is a row that no page contains any more.
"""
import glob
import os
import re
import subprocess
import sys

PAGES = ("docs/security.md", "docs/reliability.md")

# section -> the command that prints its table, and needs two guests
NEEDS = {"Links": "bats tests/vm/links.bats"}

# what a page says, with the number -> the source, and where the number is there
LIMITS = {
    r"at most (10 000) points": ("harness/files/rundir/schema.h", r"SCHEMA_POINTS_MOST\s+(\d+)"),
    r"(8192) different settings": ("harness/files/rundir/schema.h", r"SCHEMA_SETTINGS_MOST\s+(\d+)"),
    r"([0-9]+) messages between two guests": ("tests/vm/links.bats", r"messages: (\d+)"),
    r"its (16) ns": ("tests/arm64", r"(16) ns"),
}
NAMES = re.compile(r"November 2026|Linux \d[\d.]*|qemu-user \d[\d.]*|clang \d+|\b1\.0\.0\b|C11|x86-64|arm64|SHA-?256|openat2|64 bits|[Ss]tatus (?:is )?\d+")
NUMBER = re.compile(r"(?<![\w.#/-])\d[\d ]*\d|(?<![\w.#/-])\d")


def printed(root, line):
    said = subprocess.run(["bash", "-c", line], cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return [" ".join(x.split()) for x in said.stdout.splitlines()]


def check_tables(root, page, lines, faults):
    """Returns the lines without the tables that were checked."""
    left, section, at = [], "", 0
    while at < len(lines):
        line = lines[at]
        section = line.lstrip("# ") if line.startswith("#") else section
        command = re.match(r"    (\S+ --table \S+\.tsv)$", line)
        left.append(line)
        at += 1
        if not command:
            if line.startswith("|") and section in NEEDS and any(NEEDS[section] in x for x in lines):
                left.pop()
            continue
        while at < len(lines) and not lines[at].strip():
            at += 1
        table = []
        while at < len(lines) and lines[at].startswith("|"):
            table.append(" ".join(lines[at].split()))
            at += 1
        wanted = printed(root, command.group(1))
        if not wanted or table != wanted:
            different = [x for x in wanted if x not in table] or table[:1] or ["nothing"]
            faults.append(f"{page}: not what '{command.group(1)}' prints: {different[0]}")
    return left


def number(text):
    return int(text.replace(" ", ""), 8 if text.startswith("0") and len(text) > 1 else 10)


def check_limits(root, page, text, faults, seen):
    """Returns the text without the numbers that the source confirms."""
    for phrase, (files, where) in LIMITS.items():
        for found in list(re.finditer(phrase, text)):
            seen.add(phrase)
            said = [number(m) for f in glob.glob(os.path.join(root, files)) for m in re.findall(where, open(f).read())]
            if number(found.group(1)) not in said:
                faults.append(f"{page}: {found.group(0)}: {files} says {said or 'nothing'}")
            text = text.replace(found.group(1), "#" * len(found.group(1)), 1) if text.count(found.group(1)) == 1 else \
                text[:found.start(1)] + "#" * len(found.group(1)) + text[found.end(1):]
    return text


def main():
    root = os.path.abspath(sys.argv[1])
    faults, seen = [], set()
    for page in PAGES:
        lines = check_tables(root, page, open(os.path.join(root, page)).read().split("\n"), faults)
        text = "\n".join(x for x in lines if not x.startswith("    "))
        text = NAMES.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "", text, flags=re.S))
        text = check_limits(root, page, " ".join(text.split()), faults, seen)
        for found in NUMBER.finditer(text):
            faults.append(f"{page}: nothing says where this number is from: …{text[max(0, found.start() - 40):found.end() + 30]}…")
    faults += [f"no page says any more: {phrase}" for phrase in LIMITS if phrase not in seen]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
