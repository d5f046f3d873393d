"""Where cases run: in a mount namespace with a /dev/shm and a /tmp of its own, and in a network
namespace with a loopback, and sockets without a file, of its own, so that whatever is found there
afterwards was left behind by the case; at a low priority; and as a child subreaper, so that
processes left running by a case are found and ended."""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
INSIDE = 'CAMPAIGN_INSIDE'


class NotPossible(Exception):
    pass


class Programs:
    def __init__(self, build):
        self.root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
        self.build = os.path.realpath(build)
        self.kblat, self.kbtune = f'{self.build}/kblat', f'{self.build}/kbtune'
        self.folder = '/dev/shm/campaign'
        for program in (self.kblat, self.kbtune):
            if not os.access(program, os.X_OK):
                raise NotPossible(f'there is no {program}; run `make` first')
        if self.build.startswith('/dev/shm/'):
            raise NotPossible(f'{self.build}: cases have a /dev/shm of their own; build elsewhere')


programs = None
# What programs leave there is theirs, not other people's. Without DPDK, some are not there.
OWN = ('/tmp', '/run/dpdk', '/dev/hugepages')


def is_below(place, *paths):
    return any(path.startswith(f'{place}/') for path in paths)


def enter(build, nice):
    """Start this program again in namespaces of its own, and set them up."""
    global programs
    programs = Programs(build)
    if INSIDE not in os.environ:
        how = ['unshare', '--mount', '--net'] + ([] if os.geteuid() == 0 else ['--map-root-user'])
        os.environ[INSIDE] = '1'
        os.execvp('unshare', how + [sys.executable, os.path.realpath(sys.argv[0])] + sys.argv[1:])
    os.nice(nice)
    for place in ('/dev/shm', *OWN):
        if os.path.isdir(place) and not is_below(place, programs.root, programs.build) and \
                subprocess.run(['mount', '-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', place], check=False).returncode:
            raise NotPossible('a tmpfs cannot be mounted in a namespace of its own')
    if subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=False).returncode:
        raise NotPossible('the loopback of a network namespace of its own cannot be set up')
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.makedirs(programs.folder)
    os.chdir(programs.folder)
    os.environ['KBTUNE_PROFILES'] = f'{programs.root}/profiles'


def leave():
    end_children(0)


def die_with_us():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def start(command, **how):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=how.pop('stdout', subprocess.PIPE),
                            stderr=how.pop('stderr', subprocess.STDOUT), **how)


def children():
    """Pids of our children, orphans included; those that have ended are reaped."""
    found = []
    with open(f'/proc/self/task/{os.getpid()}/children') as f:
        for pid in map(int, f.read().split()):
            try:
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    found.append(pid)
            except ChildProcessError:
                pass
    return found


def end_children(patience):
    """Wait for the processes that a case has started; those still running after `patience` seconds are killed, and returned."""
    end, left = time.monotonic() + patience, []
    while (pids := children()) and time.monotonic() < end:
        time.sleep(0.005)
    for pid in pids:
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as f:
                left.append(f.read(200).replace(b'\0', b' ').decode(errors='replace'))
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    while children():
        time.sleep(0.005)
    return left


def need(program):
    if not shutil.which(program):
        raise NotPossible(f'{program} is not installed')


def strace(command, call, what, when, follow=False):
    """The command under strace, which ends the `when`-th system call of that name as `what` says ("signal=KILL", "error=EIO")."""
    need('strace')
    return ['strace', '-qq', '-o', '/dev/null', *(['-f', '--seccomp-bpf'] if follow else []), '-e', f'trace={call}',
            '-e', f'inject={call}:{what}:when={when}', *command]


def calls(command, names=(), env=None):
    """The system calls that the first process of a command makes, in order, numbered by name: (name, 1), (name, 2), …"""
    need('strace')
    count, made = {}, []
    with subprocess.Popen(['strace', '-qq', '-e', f'trace={",".join(names) or "all"}', '-e', 'signal=none', '-o', '/dev/stdout',
                           *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as p:
        for line in p.stdout:
            name = re.match(rb'([a-z][a-z0-9_]*)\(', line)
            if name and name[1] != b'exit_group':
                count[name[1]] = count.get(name[1], 0) + 1
                made.append((name[1].decode(), count[name[1]]))
    return made


def spread(all_of_them, most):
    """At most `most` items of a list, evenly distributed."""
    n = len(all_of_them)
    return [all_of_them[i] for i in (range(n) if n <= most else sorted({k * (n - 1) // (most - 1) for k in range(most)}))]
