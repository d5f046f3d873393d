#!/usr/bin/python3
"""study_source.py [--all] TEXT STUDY [PAGE]: checks that each number quoted by the study is in the line of the
source that it refers to.

TEXT is the source, line by line. S1703 and L1703 stand for its line 1703. Checked are
- `measured_by_source` of claims, with the lines in their `source`. A claim of the source (without
  `origin`) must name lines, and these must not be empty;
- the paragraphs "What it found" in all READMEs, where a number belongs to the next "(S1703)" or
  "(S1703, S1753)" after it;
- the rows of tables in PAGE, whose second cell is a list of lines, for the numbers of the first;
- with --all, each line of the source that has a number (but for headings, file names and references) is
  named by a README, a claim or a page.
A line of another edition may have moved: then the nearest one with all numbers is named.
"""
import pathlib
import re
import sys

LINES = re.compile(r'\(([SL]\d+(?:, [SL]\d+)*)\)')
NO_NUMBER = re.compile(r'\\(?:includegraphics|[Aa]utoref|cite|label|footnote\w*|url)\S*|\S*://\S*|\w+\.sh|~?\[\d+(?:, *\d+)*\]'
                       r'|^ *\d+\.\s?\d*|(?:[Ff]igure|[Tt]able|[Ss]ection) \d[\d.]*|\b[A-Z]\w*[+\d][+\w.]*')
WORDS = {'1': 'one', '2': 'two', '4': 'four', '1000000000': '1'}


def numbers(text):
    return re.findall(r'(?<![\w.])\d+(?:\.\d+)?', re.sub(r'(?<=\d),(?=\d{3}\b)', '', text))


def is_in(number, lines):
    source = ' '.join(lines)
    found = numbers(re.sub(r'\\[A-Za-z]+|[{}$~]', ' ', source))
    return any(float(number) == float(f) for f in found) or (number in WORDS and WORDS[number] in source.lower().split())


def moved(quoted, names, source):
    """Where the numbers are instead."""
    wanted = numbers(quoted)
    at = [i for i, line in enumerate(source, 1) if all(is_in(n, [line]) for n in wanted)]
    return '; line %d has them' % min(at, key=lambda i: abs(i - int(names[0]))) if at else ''


class Checker:
    def __init__(self, source):
        self.source, self.wrong, self.count = source, [], 0

    def check(self, where, quoted, names):
        self.count += 1
        lines = [self.source[int(name) - 1] if int(name) <= len(self.source) else '' for name in names]
        for name, line in zip(names, lines):
            if not line.strip():
                self.wrong.append('%s: line %s is empty' % (where, name))
        missing = [number for number in numbers(quoted) if not is_in(number, lines)]
        if missing:
            self.wrong.append('%s: %s not in line %s: "%s"%s' % (where, ', '.join(missing), ', '.join(names), quoted.strip(),
                                                                 moved(quoted, names, self.source)))

    def check_readme(self, path):
        found = re.search(r'\*\*What it found\.\*\*(.*?)\n\n', path.read_text(), re.S)
        if not found:
            return
        parts = LINES.split(' '.join(found[1].split()))
        for quoted, names in zip(parts[::2], parts[1::2]):
            self.check(path, quoted.replace('t_rtt/2', ''), re.findall(r'\d+', names))
        if numbers(parts[-1]):
            self.wrong.append('%s: no line is given for "%s"' % (path, parts[-1].strip()))

    def check_claims(self, path):
        for claim in path.read_text().split('  - id: ')[1:]:
            said = dict(re.findall(r'^    (\w+): "?(.*?)"?$', claim, re.M))
            names = re.findall(r'\b[SL](\d+)', said.get('source', ''))
            where = '%s: %s' % (path, claim.split()[0])
            if not names and 'origin' not in said:
                self.wrong.append('%s: is the source\'s, but names no line' % where)
            if names and 'measured_by_source' not in said:
                self.check(where, '', names)
            elif names:
                quoted = said['measured_by_source'].split(', so ')[0].split('; so ')[0].split(' MiB')[0]
                self.check(where, quoted, names)

    def check_page(self, path):
        for row in re.findall(r'^\|(.*)\|$', path.read_text(), re.M):
            cells = [c.strip() for c in row.split('|')]
            if len(cells) > 1 and re.fullmatch(r'L\d+(?:, L\d+)*', cells[1]):
                self.check('%s: %s' % (path, cells[1]), cells[0], re.findall(r'\d+', cells[1]))

    def check_all(self, paths):
        named = set()
        for path in paths:
            for first, last in re.findall(r'\b[LS](\d+)(?:-[LS](\d+))?', path.read_text()):
                named.update(range(int(first), int(last or first) + 1))
        for number, line in enumerate(self.source, 1):
            if line.strip() == 'REFERENCES':
                break
            if len(line.split()) >= 4 and number not in named and re.search(r'\d', NO_NUMBER.sub('', line)):
                self.wrong.append('line %d has a number, and nothing names it: "%.100s"' % (number, line.strip()))


def main():
    every = sys.argv[1] == '--all'
    del sys.argv[1:1 + every]
    checker = Checker(pathlib.Path(sys.argv[1]).read_text(errors='replace').split('\n'))
    for folder in sorted(pathlib.Path(sys.argv[2]).iterdir()):
        if (folder / 'spec.yaml').exists():
            checker.check_readme(folder / 'README.md')
            checker.check_claims(folder / 'spec.yaml')
    for page in sys.argv[3:]:
        checker.check_page(pathlib.Path(page))
    if every:
        checker.check_all([*map(pathlib.Path, sys.argv[3:]), *pathlib.Path(sys.argv[2]).glob('**/*.md'),
                           *pathlib.Path(sys.argv[2]).glob('*/spec.yaml')])
    print('\n'.join(checker.wrong))
    print('%d quotations' % checker.count)
    sys.exit(bool(checker.wrong))


if __name__ == '__main__':
    main()
