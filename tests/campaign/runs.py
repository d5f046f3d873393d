"""A short run of kblat over one of three transports that is disturbed, and what must be true
afterwards: its results can be read, its status is correct, and nothing is left in /dev/shm, among
processes, or of signals."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

import sandbox

SPEC = '''kblat: 1
name: fault
settings: {kernel: oneway, poll: event, messages: 100, burst: 20, pause: 1ms, repetitions: 2, warmup: 10, timeout: 3s}
matrix:
  - {transport: TRANSPORT}
  - {transport: TRANSPORT, size: 64}
'''
TRANSPORTS = ('shmem', 'tcp', 'udp')
STATUSES = (0, 1, 2, 3, 4, 77)
LIMIT = 120  # seconds; a run that takes longer counts as one that does not end
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)


def recorded_machine():
    """A small recorded machine. Its state is captured instead of this machine's, which has thousands of files."""
    path = f'{sandbox.programs.folder}/machine'
    if not os.path.exists(path):
        subprocess.run([f'{sandbox.programs.root}/tests/sysroots/machine', 'unpack', 'two-cpus', path], check=True)
    return path


class Run:
    number = 0

    def __init__(self, top=None, keeps_this_machine=False, spec=None):
        """Runs use the transports in turn, or this spec."""
        self.keeps_this_machine = keeps_this_machine
        self.top = top or f'{sandbox.programs.folder}/run'
        shutil.rmtree(self.top, ignore_errors=True)
        os.makedirs(self.top)
        self.out, self.said, self.spec = f'{self.top}/runs', '', f'{self.top}/fault.yaml'
        with open(self.spec, 'w') as f:
            f.write(spec or SPEC.replace('TRANSPORT', TRANSPORTS[Run.number % len(TRANSPORTS)]))
        Run.number += 1

    def command(self, *more):
        return [sandbox.programs.kblat, 'run', self.spec, '--out', self.out, *more]

    def environment(self):
        return {**os.environ, **({} if self.keeps_this_machine else {'KBLAT_SYSROOT': recorded_machine()})}

    def start(self, command, **how):
        """Start it in a session of its own, so that all of its processes can be found."""
        self.log = open(f'{self.top}/log', 'w+')
        self.process = sandbox.start(command, stdout=self.log, start_new_session=True, env=self.environment(), **how)
        return self.process

    def wait(self):
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return 'it did not end'
        finally:
            self.log.seek(0)
            self.said = self.log.read()
            self.log.close()
        return ''

    # -- what is left ------------------------------------------------------------------------------------------------

    def leftovers(self, shm_may_stay):
        lost = []
        if left := sandbox.end_children(15):
            lost.append(f'still running: {left}')
        files = [f for f in os.listdir('/dev/shm') if f.startswith('kblat-')]
        if files and not shm_may_stay:
            lost.append(f'left in /dev/shm: {files}')
        for name in files:
            path = f'/dev/shm/{name}'
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        return lost

    def kblat(self, *words):
        done = subprocess.run([sandbox.programs.kblat, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
        return done.returncode, done.stdout

    def unreadable(self):
        """Runs that cannot be read: a sealed one must verify, and a partial one must be summarised as far as it came."""
        lost = []
        for path in glob.glob(f'{self.out}/*'):
            if not os.path.isdir(path):
                lost.append(f'{path}: not a run')
            elif path.endswith('.partial'):
                if os.path.exists(f'{path}/run.json') and os.path.exists(f'{path}/resolved.json'):
                    status, said = self.kblat('summary', path)
                    if status != 0:
                        lost.append(f'summary of {os.path.basename(path)}: status {status}: {said}')
            else:
                status, said = self.kblat('verify', path)
                if status != 0:
                    lost.append(f'verify: status {status}: {said}')
        return lost

    def status(self):
        for path in glob.glob(f'{self.out}/*/run.json'):
            with open(path) as f:
                return json.load(f)['status']
        return 'no run'

    def judge(self, killed=False, shm_may_stay=False, quiet=False):
        """After wait(): what was lost, and the outcome. `killed`: by the case. `quiet`: it could not write messages."""
        lost, code = [], self.process.returncode
        if code < 0 and not (killed and code == -signal.SIGKILL):
            lost.append(f'ended by {signal.Signals(-code).name}')
        elif code >= 0 and code not in STATUSES:
            lost.append(f'status {code}')
        # Messages about a spec begin with its path.
        if code > 0 and not quiet and not any(words in self.said for words in ('kblat: ', f'{self.spec}:', 'NOT VALID')):
            lost.append(f'status {code} without a message')
        lost += [f'an endpoint was ended by {c.name}' for c in CRASHES if f'was killed by signal {c.value}' in self.said]
        lost += self.leftovers(shm_may_stay) + self.unreadable()
        return ('; '.join(lost) + (': ' + self.said[-600:] if lost else '')), f'status {code}, {self.status()}'


def seconds():
    """Return how long an undisturbed run takes."""
    run, started = Run(), time.monotonic()
    run.start(run.command())
    lost = run.wait()
    took = time.monotonic() - started
    lost = '; '.join(filter(None, [lost, run.judge()[0]]))
    if lost:
        raise sandbox.NotPossible(f'an undisturbed run fails: {lost}')
    return took
