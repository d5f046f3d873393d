"""Lets kblat run out of space, inodes, descriptors and memory, and makes its system calls fail."""
import os
import subprocess

import kblat_kills
import runs
import sandbox
from results import Case, Kind

# System calls, and the errors with which they fail.
COORDINATOR = {'write': 'ENOSPC EIO', 'openat': 'EMFILE ENOSPC EIO', 'mkdir': 'ENOSPC EROFS', 'mkdirat': 'ENOSPC', 'rename': 'ENOSPC EIO',
               'fsync': 'EIO ENOSPC', 'unlink': 'EIO', 'clone': 'EAGAIN ENOMEM', 'pipe2': 'EMFILE', 'ppoll': 'EINTR',
               'wait4': 'EINTR', 'read': 'EIO', 'mmap': 'ENOMEM', 'socket': 'EMFILE EPERM', 'ftruncate': 'ENOSPC', 'close': 'EIO'}
ENDPOINT = {'write': 'ENOSPC EPIPE', 'openat': 'EMFILE ENOSPC', 'mkdir': 'ENOSPC', 'mmap': 'ENOMEM', 'ftruncate': 'ENOSPC',
            'fallocate': 'ENOSPC', 'socket': 'EMFILE', 'bind': 'EADDRINUSE', 'listen': 'EADDRINUSE', 'connect': 'ECONNREFUSED', 'accept4': 'EMFILE',
            'setsockopt': 'ENOBUFS', 'sendto': 'ENOBUFS', 'recvfrom': 'EIO', 'mlock': 'ENOMEM', 'mlock2': 'ENOMEM', 'mlockall': 'ENOMEM',
            'epoll_create1': 'EMFILE', 'clone3': 'EAGAIN', 'sched_setaffinity': 'EINVAL', 'read': 'EIO', 'poll': 'EINTR', 'ppoll': 'EINTR',
            'futex': 'EINTR', 'shm_open': 'EMFILE', 'fsync': 'EIO', 'unlink': 'EIO', 'perf_event_open': 'EMFILE', 'eventfd2': 'EMFILE',
            'timerfd_create': 'EMFILE', 'sched_setscheduler': 'EPERM', 'madvise': 'ENOMEM', 'mbind': 'ENOMEM'}


LOADER_FAILED = 127


def not_started(run, lost):
    """The fault hit the dynamic loader, before kblat was started."""
    return ' '.join([lost, *run.leftovers(False)]).strip(), 'the program could not be loaded'


def coordinator_call(call, error, n):
    run = runs.Run()
    run.start(sandbox.strace(run.command(), call, f'error={error}', n))
    lost = run.wait()
    if run.process.returncode == LOADER_FAILED:
        return not_started(run, lost)
    # A file that cannot be removed is left behind, and a message that cannot be written is not seen.
    judged, what = run.judge(shm_may_stay=call == 'unlink', quiet=call == 'write')
    return f'{lost} {judged}'.strip(), what


def coordinator_call_cases(_):
    made = kblat_kills.coordinator_calls(COORDINATOR)
    for call, errors in COORDINATOR.items():
        # The first mmap is made by the dynamic loader, not by kblat.
        of_call = [c for c in made if c[0] == call and c != ('mmap', 1)]
        for error in errors.split():
            for _, n in sandbox.spread(of_call, 30):
                yield Case(f'{call}:{error}:{n}', lambda c=call, e=error, n=n: coordinator_call(c, e, n))


def launcher(run, words):
    """Write a launcher script for --source or --sink; `words` is put before the endpoint's command."""
    path = f'{run.top}/launch'
    with open(path, 'w') as f:
        f.write(f'#!/bin/sh\nexec {words} "$@"\n')
    os.chmod(path, 0o755)
    return path


def endpoint_call(side, call, error, n):
    run = runs.Run()
    words = ' '.join(sandbox.strace([], call, f'error={error}', n, follow=True))
    run.start(run.command(f'--{side}', launcher(run, words)))
    lost = run.wait()
    judged, what = run.judge(shm_may_stay=call == 'unlink', quiet=call == 'write')
    return f'{lost} {judged}'.strip(), what


def endpoint_calls(side):
    run = runs.Run()
    log = f'{run.top}/calls'
    run.start(run.command(f'--{side}', launcher(run, f'strace -f -qq -o {log} -e trace={",".join(k for k in ENDPOINT if k != "shm_open")} -e signal=none')))
    run.wait()
    sandbox.end_children(5)
    count = {}
    with open(log) as f:
        for line in f:
            name = line.split(None, 1)[1].split('(')[0]
            count[name] = count.get(name, 0) + 1
    return count


def endpoint_call_cases(_):
    for side in ('source', 'sink'):
        made = endpoint_calls(side)
        for call, errors in ENDPOINT.items():
            for error in errors.split():
                # The first mmap is made by the dynamic loader, not by kblat.
                for n in sandbox.spread(range(2 if call == 'mmap' else 1, made.get(call, 0) + 1), 12):
                    yield Case(f'{side}:{call}:{error}:{n}', lambda s=side, c=call, e=error, n=n: endpoint_call(s, c, e, n))


# -- limits ------------------------------------------------------------------------------------------------------------

MIB = 1 << 20
LIMITS = (('NOFILE', range(4, 68, 2)),
          ('AS', range(20 * MIB, 320 * MIB, 5 * MIB)),
          ('DATA', range(MIB // 4, 24 * MIB, MIB // 2)),
          ('FSIZE', [4 ** k for k in range(12)]),
          ('STACK', [2 ** k * 16384 for k in range(10)]),
          ('MEMLOCK', [0, 4096, 65536, MIB]),
          ('CORE', [0]))


def limit(name, value, whose):
    """Set a resource limit for the whole run, or only for its sink."""
    run = runs.Run()
    words = ['prlimit', f'--{name.lower()}={value}', '--']
    run.start([*words, *run.command()] if whose == 'run' else run.command('--sink', launcher(run, ' '.join(words))))
    lost = run.wait()
    if run.process.returncode == LOADER_FAILED:
        return not_started(run, lost)
    # Messages go to a file, so this limit may also prevent them.
    judged, what = run.judge(quiet=name == 'FSIZE')
    return f'{lost} {judged}'.strip(), what


def limit_cases(_):
    for name, values in LIMITS:
        for value in values:
            for whose in ('run', 'sink'):
                yield Case(f'{whose}:{name}:{value}', lambda n=name, v=value, o=whose: limit(n, v, o))


# -- disks -------------------------------------------------------------------------------------------------------------


class Mounted:
    def __init__(self, path, options):
        self.path, self.options = path, options

    def __enter__(self):
        os.makedirs(self.path, exist_ok=True)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', self.options, 'tmpfs', self.path], check=True)

    def __exit__(self, *_):
        subprocess.run(['umount', '-l', self.path], check=True)


def disk(options):
    run = runs.Run(keeps_this_machine=True)
    run.out = f'{run.top}/small/runs'
    with Mounted(f'{run.top}/small', options):
        run.start(run.command())
        lost = run.wait()
        judged, what = run.judge()
    return f'{lost} {judged}'.strip(), what


def shm(options):
    """/dev/shm, where shared memory is, is small; results are elsewhere."""
    run = runs.Run(f'/tmp/kblat-campaign-{os.getpid()}', keeps_this_machine=True)
    with Mounted('/dev/shm', f'mode=1777,{options}'):
        run.start(run.command())
        lost = run.wait()
        judged, what = run.judge()
    subprocess.run(['rm', '-rf', run.top], check=True)
    return f'{lost} {judged}'.strip(), what


def disk_cases(_):
    for kib in [4 * k for k in range(1, 64)] + list(range(256, 6144, 96)):
        yield Case(f'results:{kib}KiB', lambda k=kib: disk(f'size={k}k'))
    for inodes in range(2, 1500, 15):
        yield Case(f'results:{inodes}-inodes', lambda k=inodes: disk(f'nr_inodes={k}'))
    for kib in range(4, 512, 8):
        yield Case(f'shm:{kib}KiB', lambda k=kib: shm(f'size={k}k'))
    for inodes in range(2, 40):
        yield Case(f'shm:{inodes}-inodes', lambda k=inodes: shm(f'nr_inodes={k}'))


KINDS = {
    'kblat-coordinator': Kind('a system call of the coordinator fails: ENOSPC, EIO, EMFILE, ENOMEM, EAGAIN, EINTR, …', coordinator_call_cases),
    'kblat-endpoint': Kind('a system call of an endpoint fails, likewise', endpoint_call_cases),
    'kblat-limits': Kind('limits of descriptors, address space, data, stack, file size, locked memory', limit_cases),
    'kblat-disk': Kind('a small file system for results, or for /dev/shm: space or inodes run out', disk_cases),
}
