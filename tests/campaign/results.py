"""Results of cases: a line in a file for each, written when the case is over."""
import os


class Case:
    """A unique name, and a function that returns what was lost ('' if nothing) and the outcome."""

    def __init__(self, name, run):
        self.name, self.run = name, run


class Kind:
    """A kind of case. `cases(programs)` yields always the same cases in the same order."""

    def __init__(self, about, cases):
        self.about, self.cases = about, cases


class Results:
    def __init__(self, folder, kind):
        self.kind, self.path, self.done = kind, os.path.join(folder, kind), {}
        if os.path.exists(self.path):
            with open(self.path) as f:
                for line in f:
                    word = line.rstrip('\n').split('\t')
                    if len(word) == 4:
                        self.done[word[1]] = word
        self.file = open(self.path, 'a')

    def has(self, name):
        return name in self.done

    def add(self, name, lost, what, seconds):
        text = ' '.join((lost or what).split())
        self.done[name] = ['LOST' if lost else 'ok', name, f'{seconds:.3f}', text]
        self.file.write('\t'.join(self.done[name]) + '\n')
        self.file.flush()
        if lost:
            print(f'{self.kind}: LOST {name}: {text[:2000]}', flush=True)

    def lost(self):
        return sum(word[0] == 'LOST' for word in self.done.values())


def keep(path, sums):
    """Write sums, (kind, tried, lost), as they are kept for docs/reliability.md."""
    with open(path, 'w') as f:
        f.writelines(f'{kind}\t{tried}\t{lost}\n' for kind, tried, lost in sums)


def kept(path):
    with open(path) as f:
        return [(kind, int(tried), int(lost)) for kind, tried, lost in (line.split('\t') for line in f)]


def show_table(sums, about, last=''):
    """A table of docs/reliability.md. Status 3 if anything was lost."""
    print(f"| {'kind':18} | {'tried':>6} | {'lost':>4} | what |\n| --- | ---: | ---: | --- |")
    for kind, tried, lost in sums:
        print(f'| {kind:18} | {tried:6} | {lost:4} | {about[kind]} |')
    print(f"| {'all':18} | {sum(s[1] for s in sums):6} | {sum(s[2] for s in sums):4} | {last} |")
    return 3 if any(s[2] for s in sums) else 0
