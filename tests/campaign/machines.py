"""Recorded machines (tests/sysroots): makes them, lets kbtune change them, and compares them with
their original state."""
import importlib.machinery
import os
import shutil
import stat
import subprocess

import sandbox
from sandbox import programs  # noqa: F401  (set by sandbox.enter)

CPU = '/sys/devices/system/cpu'
BOOT_ID = '/proc/sys/kernel/random/boot_id'
_recorded = None


def recorded():
    global _recorded
    if _recorded is None:
        _recorded = importlib.machinery.SourceFileLoader(
            'machine', f'{sandbox.programs.root}/tests/sysroots/machine').load_module()
    return _recorded


class Machine:
    """A recorded machine, unpacked into a folder. It is only unpacked again if a case has left it changed."""

    def __init__(self, name):
        self.name, self.root = name, f'{sandbox.programs.folder}/{name}'
        self.entries = dict(recorded().load(name))
        for path in ('/run', '/var/lib'):
            self.entries.setdefault(path, ('d',))
        if f'{CPU}/online' in self.entries:
            self.entries.setdefault(f'{CPU}/present', self.entries[f'{CPU}/online'])
        self.make()

    def make(self):
        for path in (self.root, f'{self.root}.cpufreq'):
            shutil.rmtree(path, ignore_errors=True)
        recorded().unpack(self.entries, self.root)
        self.folders = {root[len(self.root):] for root, _, _ in os.walk(self.root)}

    def remake(self, paths):
        """Unpack only what is below these folders: what a power cut resets."""
        for top in paths:
            shutil.rmtree(self.root + top, ignore_errors=True)
        for path, e in sorted(self.entries.items()):
            if path.startswith(tuple(top + '/' for top in paths)) or path in paths:
                full = self.root + path
                os.makedirs(full if e[0] == 'd' else os.path.dirname(full), exist_ok=True)
                if e[0] == 'l':
                    os.symlink(e[1], full)
                elif e[0] == 'f':
                    with open(full, 'w', newline='') as f:
                        f.write(e[2])
                    os.chmod(full, e[1])

    # -- a CPU that goes offline and comes back --------------------------------------------------------------------------

    def set_online(self, gone):
        all_cpus = [c for c in self.cpus() if c != gone]
        with open(f'{self.root}{CPU}/online', 'w') as f:
            f.write(','.join(map(str, all_cpus)) + '\n')

    def cpus(self):
        """The numbers of all CPUs; they are present, whether they are online or not."""
        return sorted(int(p.rsplit('cpu', 1)[1]) for p in self.folders
                      if p.startswith(f'{CPU}/cpu') and p[len(CPU) + 4:].isdigit())

    def unplug(self, cpu):
        """As the kernel does it: its frequency cannot be set any more."""
        if os.path.isdir(f'{self.root}{CPU}/cpu{cpu}/cpufreq'):
            os.rename(f'{self.root}{CPU}/cpu{cpu}/cpufreq', f'{self.root}.cpufreq')
        self.set_online(cpu)

    def plug(self, cpu):
        if os.path.isdir(f'{self.root}.cpufreq'):
            os.rename(f'{self.root}.cpufreq', f'{self.root}{CPU}/cpu{cpu}/cpufreq')
        with open(f'{self.root}{CPU}/online', 'w') as f:
            f.write(self.entries[f'{CPU}/online'][2])

    def command(self, *words):
        return [sandbox.programs.kbtune, *words, '--sysroot', self.root]

    def kbtune(self, *words, **environment):
        return subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors='replace', check=False,
                              env={**os.environ, **environment})

    def differences(self, but=()):
        """Paths that are not as they were, byte for byte, except in kbtune's own folders and in `but`."""
        found, seen = [], set()
        for root, folders, files in os.walk(self.root):
            at = root[len(self.root):]
            if at in ('/run', '/var/lib') and 'kbtune' in folders:
                folders.remove('kbtune')
            for name in folders + files:
                path = f'{at}/{name}'
                seen.add(path)
                if path not in but and not self.same(path):
                    found.append(path)
        return found + [p for p in self.entries if p not in seen and p not in but]

    def same(self, path):
        e, full = self.entries.get(path), self.root + path
        if e is None or e[0] == 'd':
            return path in self.folders and os.path.isdir(full)
        if e[0] == 'l':
            return os.path.islink(full) and os.readlink(full) == e[1]
        with open(full, newline='') as f:
            return f.read() == e[2] and stat.S_IMODE(os.fstat(f.fileno()).st_mode) == e[1]

    def put_back(self, what='', but=()):
        """Run `kbtune restore` and compare. Returns what was lost ('' if nothing), and the last line of restore."""
        done = self.kbtune('restore')
        said = (done.stdout.strip().splitlines() or [''])[-1]
        lost = self.judge(done, but)
        if lost:
            self.make()
        return lost, f'{what}; {said}' if what else said

    def judge(self, done, but):
        if done.returncode != 0:
            return f'restore: status {done.returncode}: {done.stdout}'
        left = [p for p in ('/run/kbtune/journal.json', '/run/kbtune/journal.json.tmp', '/var/lib/kbtune')
                if os.path.lexists(self.root + p)]
        different = self.differences(but)
        return f'left: {left}; different: {different[:10]}' if left or different else ''
