#!/usr/bin/python3
"""docs_terms.py [--fix] ROOT: a page of docs/ whose prose uses a term of the glossary links it there, at first use.

A term is what is bold in docs/glossary.md, in the singular or plural; PLAIN are those that also mean what they mean everywhere, or several
things. With --fix, the first use of each term that a page does not link becomes a link, and its paragraph is wrapped anew. Exit
status 1, and a line for each term that is not linked.
"""
import glob
import os
import re
import sys
import textwrap

WIDTH = 100
# Verbs of kbtune, and words whose sense each sentence says.
PLAIN = set("""run kernel source sink limit late cause arm unit case column statistic phase period valid impossible warning quantity effect noise look pair round
    state gap pause depth step sample missed unsent missing gap granted plan apply verify restore hold place pending isolated drift blocks blocks equivalent
    improvement regression undecided holds fails interval fatal environment guest series axis fails boot journal spec experiment study transport AA""".split()) | {
    "not judged", "not transmitted"}
NOT_PAGES = ("README.md", "glossary.md", "studies.md")
SECTION = re.compile(r"^## (.*)")
BOLD = re.compile(r"\*\*([^*]+)\*\*")
# What is no prose within a paragraph: code, and links.
OPAQUE = re.compile(r"(?:percentage|decimal) points?|points at which|receives\s+a flow|`[^`]*`|\[[^\]]*\]\([^)]*\)|\*\*[^*]*\*\*|<[^>]*>", re.S)


def terms(glossary):
    """{term: link}"""
    found, section = {}, None
    for line in open(glossary):
        heading = SECTION.match(line)
        if heading:
            section = heading.group(1).lower().replace(" ", "-")
        for term in BOLD.findall(line) if line.startswith(("- ", "  ")) else []:
            if term[1:2].islower():
                term = term[0].lower() + term[1:]
            if term not in PLAIN:
                found.setdefault(term, f"glossary.md#{section}")
    return found


def paragraphs(lines):
    """(first, last) of each paragraph or item of prose: no headings, tables or code."""
    fenced, first = False, None
    for number, line in enumerate(lines + [""]):
        if line.startswith("```"):
            fenced = not fenced
        is_prose = (not fenced and line.strip() and not line.startswith(("#", "|", "```", "![")) and not re.match(r"( {4}|\t)", line)
                    or first is not None and re.match(r" {4,}\S", line) and re.match(r" *([-*]|\d+\.) ", lines[first]) and not line.startswith("        "))
        begins = re.match(r" *([-*]|\d+\.) ", line)
        if first is not None and (not is_prose or begins):
            yield first, number
            first = None
        if is_prose and first is None:
            first = number


def use_of(term, text):
    """Where the text uses it, outside of what is opaque; or None."""
    hidden = OPAQUE.sub(lambda m: "\0" * len(m.group()), text)
    words = r"\s+".join(map(re.escape, term.split()))
    return re.search(rf"(?<![\w/.-]){words}(?:e?s)?(?![\w/-]|\.\w)", hidden)


def is_linked(term, page):
    words = r"\s+".join(map(re.escape, term.split()))
    return re.search(rf"\[[^\]]*{words}[^\]]*\]\(glossary\.md#", page, re.I)


def wrapped(lines):
    """A paragraph, or an item, wrapped anew."""
    item = re.match(r" *([-*]|\d+\.) ", lines[0])
    indent = len(item.group()) if item else len(lines[0]) - len(lines[0].lstrip())
    head = lines[0][:indent]
    text = " ".join(line.strip() for line in [lines[0][indent:], *lines[1:]])
    text = re.sub(r"`[^`]*`", lambda m: m.group().replace(" ", "\1"), text)
    text = re.sub(r" (?=(?:[-*+]|#+|\d+\.) )", "\1", text)  # at the beginning of a line it would be an item
    return [line.replace("\1", " ") for line in
            textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)]


def check(path, known, fix):
    lines = open(path).read().split("\n")
    faults = []
    for term, link in known.items():
        if is_linked(term, "\n".join(lines)):
            continue
        for first, last in paragraphs(lines):
            text = "\n".join(lines[first:last])
            used = use_of(term, text)
            if not used:
                continue
            faults.append(f"{path}:{first + 1 + text[:used.start()].count(chr(10))}: '{term}' is used and nowhere linked to {link}")
            if fix:
                text = f"{text[:used.start()]}[{text[used.start():used.end()]}]({link}){text[used.end():]}"
                lines[first:last] = wrapped(text.split("\n"))
            break
    if fix and faults:
        open(path, "w").write("\n".join(lines))
    return faults


def main():
    fix = sys.argv[1] == "--fix"
    root = sys.argv[1 + fix]
    known = terms(os.path.join(root, "docs", "glossary.md"))
    faults, pages = [], 0
    for path in sorted(glob.glob(os.path.join(root, "docs", "*.md"))):
        if os.path.basename(path) not in NOT_PAGES:
            faults += check(path, known, fix)
            pages += 1
    print("\n".join(faults))
    print(f"{len(known)} terms in {pages} pages, {len(faults)} {'were' if fix else 'are'} not linked; docs_terms.py --fix links them")
    sys.exit(1 if (faults and not fix) or len(known) < 30 else 0)


main()
