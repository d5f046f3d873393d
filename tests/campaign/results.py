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


def show_table(folder, all_results, about):
    """The table of docs/reliability.md. Status 3 if anything was lost."""
    tried = lost = 0
    print(f"\n| {'kind':18} | {'tried':>6} | {'lost':>4} | what |\n| --- | ---: | ---: | --- |")
    for kind, r in all_results.items():
        tried, lost = tried + len(r.done), lost + r.lost()
        print(f'| {kind:18} | {len(r.done):6} | {r.lost():4} | {about[kind]} |')
    print(f"| {'all':18} | {tried:6} | {lost:4} | each case: {folder} |")
    return 3 if lost else 0
