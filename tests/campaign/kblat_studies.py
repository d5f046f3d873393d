"""Kills what consists of several runs, or reads several: campaigns, pairs of hosts, knob studies,
indexes, pages of all runs, and runs that leave something in the kernel (explained ones, AF_XDP). What
was killed must go on where it was: resumed, or called again, it completes, and nothing of the killed
one is left."""
import atexit
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import runs
import sandbox
from results import Case, Kind

WHO = ('study', 'one', 'all')
SETTINGS = '{kernel: oneway, transport: scripted, messages: 100, burst: 100, repetitions: 1, warmup: 0, touch: no}'
DONE = (0, 3, 4)  # decided, or not


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)


class Study(runs.Run):
    """Something to be killed: `words` is how it starts, `resumed` how it goes on."""

    def __init__(self):
        super().__init__()
        write(self.spec, f'kblat: 1\nname: fault\nsettings: {SETTINGS}\n')

    def words(self):
        raise NotImplementedError

    again = 'run'
    killed = ''  # of WHO
    pids = ()  # of the processes that there were when some were killed; others may trace meanwhile

    def resumed(self):
        """The one that was begun, or from the beginning if it had not been."""
        made = glob.glob(f'{self.out}/*/*.json')
        return [self.again, '--resume', os.path.dirname(made[0])] if made else self.words()

    def started(self):
        """The processes of which one is killed."""
        return descendants(self.process.pid)

    def environment(self):
        return {**super().environment(), 'KBTUNE': sandbox.programs.kbtune, 'KBTUNE_SYSROOT': self.machine()}

    def machine(self):
        """The recorded machine to which profiles are applied."""
        path = f'{self.top}/tuned'
        if not os.path.exists(path):
            subprocess.run([f'{sandbox.programs.root}/tests/sysroots/machine', 'unpack', 'two-cpus', path], check=True)
            os.makedirs(f'{path}/run', exist_ok=True)
        return path

    def complete(self):
        """What is lost if it is called again, undisturbed, and its status."""
        self.start([sandbox.programs.kblat, *self.resumed()])
        lost = self.wait()
        code = self.process.returncode
        if code not in DONE:
            lost += f' called again: status {code}: {self.said[-600:]}'
        return ' '.join([lost, *self.leftovers(False), *self.incomplete()]).strip(), code

    def incomplete(self):
        return []

    def unreadable(self):
        lost = []
        for path in glob.glob(f'{self.out}/**/run.json', recursive=True):
            path = os.path.dirname(path)
            if path.endswith('.partial'):
                continue
            status, said = self.kblat('verify', path)
            if status != 0:
                lost.append(f'verify {path}: status {status}: {said}')
        return lost


class Several(Study):
    """Runs `count` times."""

    def incomplete(self):
        completed = 0
        for path in glob.glob(f'{self.out}/*/**/run.json', recursive=True):
            with open(path) as f:
                completed += json.load(f)['status'] == 'COMPLETED'
        return [] if completed >= self.count else [f'{completed} of {self.count} runs completed']


class Campaign(Several):
    count = 3

    def __init__(self):
        super().__init__()
        for name in ('one', 'two', 'three'):
            write(f'{self.top}/study/{name}/spec.yaml', f'kblat: 1\nname: {name}\nsettings: {SETTINGS}\n')

    def words(self):
        return ['run', f'{self.top}/study', '--out', self.out]


class Pairs(Several):
    count = 6

    def words(self):
        return ['run', self.spec, '--out', self.out, '--hosts', 'n[1-4]', '--source', 'env HOST={host}', '--sink', 'env HOST={host}']


class Knobs(Study):
    again = 'knobs'

    def __init__(self):
        super().__init__()
        write(f'{self.top}/several/profile.yaml', 'kbtune: 1\nsysctl: {vm.swappiness: 10, vm.dirty_ratio: 33}\n')

    def words(self):
        return ['knobs', self.spec, '--profile', 'several', '--profile-path', self.top, '--blocks', '6', '--out', self.out]

    def complete(self):
        """If the guardian of a profile was killed, too, the study says what puts the machine back, and goes on after that."""
        lost, code = super().complete()
        if self.killed != 'all' or "run 'kbtune restore' first" not in self.said:
            return lost, code
        subprocess.run([sandbox.programs.kbtune, 'restore'], env=self.environment(), check=False, capture_output=True)
        return super().complete()

    def incomplete(self):
        with open(f'{self.machine()}/proc/sys/vm/swappiness') as f:
            value = f.read().strip()
        journal = os.path.exists(f'{self.machine()}/run/kbtune/journal.json')
        return [f'not restored: swappiness {value}, journal {journal}'] if value == '10' or journal else []


class Index(Study):
    command = 'index'

    def __init__(self):
        super().__init__()
        made = f'{sandbox.programs.root}/tests/runs'
        found = sorted(os.path.dirname(p) for p in glob.glob(f'{made}/**/run.json', recursive=True))
        self.count = 40
        for i in range(self.count):
            shutil.copytree(found[i % len(found)], f'{self.out}/r{i}')

    def words(self):
        return [self.command, self.out]

    def resumed(self):
        return self.words()

    def unreadable(self):
        return []

    def incomplete(self):
        status, said = self.kblat('index', self.out, '--json')
        indexed = json.loads(said)['runs'] if status == 0 else -1
        return [] if indexed == self.count else [f'index: status {status}, {indexed} of {self.count} runs']


class Page(Index):
    command = 'report'


class Explained(Study):
    """A run whose endpoints trace; an instance that is left behind goes with the next run, or with doctor."""
    tracing = '/sys/kernel/tracing'

    def __init__(self):
        super().__init__()
        write(self.spec, 'kblat: 1\nname: fault\nsettings: {kernel: oneway, transport: shmem, poll: event, messages: 100, burst: 20, '
              'pause: 1ms, repetitions: 2, warmup: 10, timeout: 3s, explain: yes}\n')
        if not os.path.exists(f'{self.tracing}/instances'):
            subprocess.run(['mount', '-t', 'tracefs', 'tracefs', self.tracing], check=False, stderr=subprocess.DEVNULL)
        if not os.access(f'{self.tracing}/instances', os.W_OK):
            raise sandbox.NotPossible('kblat may not trace here (needs root and tracefs)')

    def words(self):
        return ['run', self.spec, '--out', self.out]

    def resumed(self):
        return self.words() + ['--set', 'explain=no']

    def incomplete(self):
        left = [n for n in os.listdir(f'{self.tracing}/instances') if re.match(f'kblat-[0-9]+-({"|".join(map(str, self.pids))})-', n)]
        return [f'trace instances: {left}'] if left else []


class Traced(Explained):
    """Probes in a program (tests/cli/traced.c): if kblat is killed, it goes on, and no probe outlives the next run."""
    requests = 100

    def __init__(self):
        super().__init__()
        self.program, self.written = f'{sandbox.programs.folder}/traced', f'{self.top}/requests'
        if not os.path.exists(self.program):
            root = sandbox.programs.root
            subprocess.run(['cc', '-std=gnu11', '-O1', '-g', '-pthread', '-D_GNU_SOURCE', f'-I{root}/harness', f'{root}/tests/cli/traced.c',
                            '-o', self.program], check=True)

    def trace(self, *words):
        return ['trace', '--no-state', '--out', self.out, *words, '--', self.program]

    def words(self):
        return [*self.trace('--from', f'{self.program}:serve', '--to', f'{self.program}:serve%return'), str(self.requests), self.written]

    def resumed(self):
        return [*self.trace('--stamps'), '20']

    def started(self):
        """Without what the program starts: it waits for that."""
        return children(self.process.pid)

    def judge(self, killed=False, shm_may_stay=False, quiet=False):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not subprocess.run(['pgrep', '-f', self.program], check=False, capture_output=True).returncode:
            time.sleep(0.05)
        lost, what = super().judge(killed, shm_may_stay, quiet)
        if killed and not shm_may_stay and os.path.exists(self.written):
            with open(self.written) as f:
                count = len(f.readlines())
            if count != self.requests:
                lost += f' the program ended after {count} requests'
        return lost, what

    def incomplete(self):
        with open(f'{self.tracing}/uprobe_events') as f:
            probes = [line for line in f if self.program in line]
        return super().incomplete() + ([f'probes: {probes}'] if probes else [])


class Bypass(Study):
    """A run over AF_XDP between two cards (a veth pair): no program stays attached, and no namespace is entered any more."""
    names = ('kblat-campaign-a', 'kblat-campaign-b')

    def __init__(self):
        super().__init__()
        write(self.spec, 'kblat: 1\nname: fault\nsettings: {kernel: pingpong, transport: xdp, poll: event, messages: 500, size: 64, '
              'repetitions: 2, warmup: 10, timeout: 3s, source_address: 198.18.213.1, sink_address: 198.18.213.2}\n')
        if not all(os.path.exists(f'/run/netns/{name}') for name in self.names):
            self.make_cards()

    def make_cards(self):
        self.remove_cards()
        atexit.register(self.remove_cards)
        first, second = self.names
        for words in (f'netns add {first}', f'netns add {second}', f'-n {first} link add card type veth peer name card netns {second}',
                      f'-n {first} address add 198.18.213.1/30 dev card', f'-n {second} address add 198.18.213.2/30 dev card',
                      f'-n {first} link set card up', f'-n {second} link set card up'):
            if subprocess.run(['ip', *words.split()], check=False, capture_output=True).returncode:
                raise sandbox.NotPossible('no network cards can be made here (needs root and network namespaces)')

    @classmethod
    def remove_cards(cls):
        for name in cls.names:
            subprocess.run(['ip', 'netns', 'del', name], check=False, capture_output=True)

    def words(self):
        source, sink = (f'ip netns exec {name}' for name in self.names)
        return ['run', self.spec, '--out', self.out, '--source', source, '--sink', sink]

    def resumed(self):
        return self.words()

    def leftovers(self, shm_may_stay):
        lost = super().leftovers(shm_may_stay)
        for name in self.names:
            shown = subprocess.run(['ip', '-n', name, 'link', 'show', 'card'], check=True, capture_output=True, text=True).stdout
            if 'xdp' in shown:
                lost.append(f'a program on the card of {name}: {shown}')
            if pids := subprocess.run(['ip', 'netns', 'pids', name], check=True, capture_output=True, text=True).stdout.split():
                lost.append(f'processes in {name}: {pids}')
        return lost


def children(pid):
    try:
        with open(f'/proc/{pid}/task/{pid}/children') as f:
            return list(map(int, f.read().split()))
    except OSError:
        return []


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def kill(study, who, at, chance):
    run = study()
    run.start([sandbox.programs.kblat, *run.words()])
    time.sleep(at)
    below = run.started()
    run.pids = [run.process.pid, *descendants(run.process.pid)]
    pids = {'study': [run.process.pid], 'one': chance.sample(below, min(len(below), 1)), 'all': [run.process.pid, *below]}[who]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    run.killed = who
    lost = run.wait()
    judged, what = run.judge(killed=who != 'one', shm_may_stay=who == 'all')
    again, code = run.complete()
    return ' '.join([lost, judged, again]).strip(), f'{what}; {len(pids)} killed after {at * 1000:.0f} ms; then status {code}'


def took(study):
    run, started = study(), time.monotonic()
    run.start([sandbox.programs.kblat, *run.words()])
    lost = run.wait()
    seconds = time.monotonic() - started
    lost = '; '.join(filter(None, [lost, run.judge()[0], *run.incomplete()]))
    if lost or run.process.returncode not in DONE:
        raise sandbox.NotPossible(f'undisturbed, it fails: status {run.process.returncode}: {lost}: {run.said[-600:]}')
    return seconds


def cases_of(study):
    def cases(_):
        chance, seconds = random.Random(6), took(study)
        for i in range(700):
            for who in WHO:
                yield Case(f'{who}:time-{i}', lambda w=who, s=chance.random(): kill(study, w, s * seconds, chance))
    return cases


KINDS = {
    'kblat-campaign': Kind('a campaign, a process of it, or all of it killed at any moment; then resumed', cases_of(Campaign)),
    'kblat-pairs': Kind('pairs of hosts, likewise', cases_of(Pairs)),
    'kblat-knobs': Kind('a knob study, likewise; the machine is as before', cases_of(Knobs)),
    'kblat-index': Kind('an index of runs killed at any moment while it is made; then made again', cases_of(Index)),
    'kblat-page': Kind('the page of all runs, likewise', cases_of(Page)),
    'kblat-xdp': Kind('a run over AF_XDP, likewise; no program stays on the cards', cases_of(Bypass)),
    'kblat-explain': Kind('a run that explains, likewise; no trace instance outlives the next run', cases_of(Explained)),
    'kblat-trace': Kind('a program is traced, likewise; it goes on, and no probe outlives the next run', cases_of(Traced)),
}
