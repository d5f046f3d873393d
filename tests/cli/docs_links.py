#!/usr/bin/python3
"""docs_links.py ROOT: every link in a Markdown file of the repository leads to a file, and to a heading of it."""
import os
import re
import subprocess
import sys


def slug(heading):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def headings(path):
    found = []
    for line in open(path):
        match = re.match(r"#+ (.*)", line)
        if match:
            name = slug(match.group(1))
            found.append(f"{name}-{found.count(name)}" if name in found else name)
    return found


def fault(root, page, link):
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(root, os.path.dirname(page), path)) if path else os.path.join(root, page)
    if not os.path.exists(target):
        return "there is no such file"
    return "it has no such heading" if anchor and target.endswith(".md") and anchor not in headings(target) else None


def main():
    root = os.path.abspath(sys.argv[1])
    if os.path.exists(os.path.join(root, ".git")):
        pages = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
    else:
        pages = [os.path.relpath(os.path.join(d, f), root) for d, _, files in os.walk(root) for f in files
                 if f.endswith(".md") and not os.path.relpath(d, root).startswith("build")]
    links = faults = 0
    for page in pages:
        text = re.sub(r"^    .*$", "", open(os.path.join(root, page)).read(), flags=re.M)
        for link in re.findall(r"\]\(\s*([^)\s]+)\s*\)", text):
            if re.match(r"https?:|mailto:", link):
                continue
            links += 1
            why = fault(root, page, link)
            if why:
                faults += 1
                print(f"{page}: {link}: {why}")
    print(f"{links} links in {len(pages)} pages, {faults} lead nowhere")
    sys.exit(1 if faults or links < 100 else 0)


main()
