#!/usr/bin/env python3
"""thesis_source.py TEXT STUDY: checks that each number quoted by the study is in the line of the
source that it refers to.

TEXT is the source, line by line. Checked are the paragraphs "What it found" in all READMEs, where a
number belongs to the next "(S1703)" or "(S1703, S1753)" after it, and `measured_by_source` of
claims with the lines in their `source`.
"""
import pathlib
import re
import sys

LINES = re.compile(r'\((S\d+(?:, S\d+)*)\)')
WORDS = {'1': 'one', '2': 'two', '4': 'four', '1000000000': '1'}


def numbers(text):
    return re.findall(r'(?<![\w.])\d+(?:\.\d+)?', text)


def is_in(number, lines):
    source = ' '.join(lines)
    found = numbers(re.sub(r'\\[A-Za-z]+|[{}$~]', ' ', source))
    return any(float(number) == float(f) for f in found) or WORDS.get(number, '-') in source.lower().split()


def check(where, quoted, names, source, wrong):
    lines = [source[int(name) - 1] for name in names]
    for number in numbers(quoted):
        if not is_in(number, lines):
            wrong.append('%s: %s is not in %s: "%s"' % (where, number, ', '.join('S' + n for n in names), quoted.strip()))


def check_readme(path, source, wrong):
    found = re.search(r'\*\*What it found\.\*\*(.*?)\n\n', path.read_text(), re.S)
    if not found:
        return 0
    parts = LINES.split(' '.join(found[1].split()))
    for quoted, names in zip(parts[::2], parts[1::2]):
        check(path, quoted.replace('t_rtt/2', ''), re.findall(r'\d+', names), source, wrong)
    if numbers(parts[-1]):
        wrong.append('%s: no line is given for "%s"' % (path, parts[-1].strip()))
    return len(parts) // 2


def check_claims(path, source, wrong):
    count = 0
    for claim in path.read_text().split('  - id: ')[1:]:
        said = dict(re.findall(r'^    (\w+): "(.*)"$', claim, re.M))
        names = re.findall(r'\bS(\d+)', said.get('source', ''))
        if names and 'measured_by_source' in said:
            quoted = said['measured_by_source'].split(', so ')[0].split('; so ')[0].split(' MiB')[0]
            if 'the table' not in said['source'] and 'RC: 32 B' not in quoted:
                check('%s: %s' % (path, claim.split()[0]), quoted, names, source, wrong)
            count += 1
    return count


def main():
    source = pathlib.Path(sys.argv[1]).read_text(errors='replace').split('\n')
    wrong, count = [], 0
    for folder in sorted(pathlib.Path(sys.argv[2]).iterdir()):
        if folder.is_dir():
            count += check_readme(folder / 'README.md', source, wrong)
            count += check_claims(folder / 'spec.yaml', source, wrong)
    print('\n'.join(wrong))
    print('%d quotations' % count)
    sys.exit(bool(wrong))


if __name__ == '__main__':
    main()
