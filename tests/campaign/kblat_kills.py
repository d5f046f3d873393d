"""Kills and stops kblat: the coordinator, its endpoints, or all at the same time; at any moment and at
a system call."""
import glob
import os
import random
import signal
import sys
import time

import runs
import sandbox
from results import Case, Kind

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../cli'))
import measured  # pylint: disable=wrong-import-position

WHO = ('coordinator', 'source', 'sink', 'endpoints', 'all')


def processes(run):
    """The coordinator and its endpoints, in the order in which they were started."""
    try:
        with open(f'/proc/{run.process.pid}/task/{run.process.pid}/children') as f:
            return [run.process.pid] + sorted(map(int, f.read().split()))
    except OSError:
        return [run.process.pid]


def choose(who, pids):
    source, sink = pids[1:2], pids[2:3]
    return {'coordinator': pids[:1], 'source': source, 'sink': sink, 'endpoints': source + sink, 'all': pids}[who]


def await_processes(run, who):
    """Wait for the processes to kill, as there are no endpoints between two points. [] if the run ends before."""
    until = time.monotonic() + runs.LIMIT
    while not (pids := choose(who, processes(run))) and run.process.poll() is None and time.monotonic() < until:
        time.sleep(0.001)
    return pids


def send(pids, number):
    sent = 0
    for pid in pids:
        try:
            os.kill(pid, number)
            sent += 1
        except ProcessLookupError:
            pass
    return sent


def kill_time(who, at):
    run = runs.Run()
    run.start(run.command())
    time.sleep(at)
    hit = send(await_processes(run, who), signal.SIGKILL)
    lost = run.wait()
    # If the coordinator and an endpoint are killed at the same time, no process is left to clean up /dev/shm.
    judged, what = run.judge(killed=who in ('coordinator', 'all'), shm_may_stay=who == 'all')
    return f'{lost} {judged}'.strip(), f'{what}; {hit} killed after {at * 1000:.0f} ms'


def kill_time_cases(_):
    chance, took = random.Random(4), runs.seconds()
    for i in range(160):
        for who in WHO:
            yield Case(f'{who}:time-{i}', lambda w=who, s=chance.random(): kill_time(w, s * took))


def kill_call(call, n):
    run = runs.Run()
    run.start(sandbox.strace(run.command(), call, 'signal=KILL', n))
    lost = run.wait()
    judged, what = run.judge(killed=True)
    return f'{lost} {judged}'.strip(), what


def coordinator_calls(names=()):
    """The system calls of the coordinator, or only those named."""
    run = runs.Run()
    found = sandbox.calls(run.command(), names, run.environment())
    sandbox.end_children(5)
    return found


# Calls that change files or start processes: few of all calls, but the interesting ones.
CHANGES = ('write', 'mkdir', 'mkdirat', 'rename', 'unlink', 'fsync', 'ftruncate', 'clone', 'pipe2', 'wait4', 'ppoll', 'socket',
           'link', 'linkat', 'symlink', 'chmod', 'fchmod')


def kill_call_cases(_):
    for call, n in sandbox.spread(coordinator_calls(CHANGES), 300) + sandbox.spread(coordinator_calls(), 150):
        yield Case(f'{call}-{n}', lambda c=call, n=n: kill_call(c, n))


def stop(who, at, seconds):
    run = runs.Run()
    run.start(run.command())
    time.sleep(at)
    pids = choose(who, processes(run))
    send(pids, signal.SIGSTOP)
    time.sleep(seconds)
    send(pids, signal.SIGCONT)
    lost = run.wait()
    judged, what = run.judge()
    # To be stopped is to wait for a busy machine.
    made = glob.glob(f'{run.out}/*') or [run.out]
    if wrong := measured.wrong(run.process.returncode, made[0]):
        judged = f'{judged} {wrong}: {run.said[-600:]}'
    return f'{lost} {judged}'.strip(), what


def stop_cases(_):
    chance, took = random.Random(5), runs.seconds()
    for i in range(40):
        for who in WHO:
            yield Case(f'{who}:stop-{i}', lambda w=who, s=chance.random(), t=chance.choice((0.01, 0.1, 0.5)): stop(w, s * took, t))


DPDK = '''kblat: 1
name: fault
settings: {transport: dpdk, kernel: pingpong, size: 64, messages: 500, pause: 100us, repetitions: 1, warmup: 20, timeout: 5s}
matrix: [{check: yes}]
'''


def traces_of_dpdk():
    """Files, folders and sockets that DPDK or a side of ours may leave."""
    found = [p for place in ('/run/dpdk', '/var/run/dpdk', '/tmp/dpdk', '/dev/hugepages') for p in glob.glob(f'{place}/**', recursive=True)]
    with open('/proc/net/unix') as f:
        sockets = [line.split()[-1] for line in f if 'kblat-' in line or 'dpdk' in line]
    return set(found + sockets + glob.glob('/tmp/rte*'))


def kill_dpdk(who, at, before):
    """Sides over memif are killed; after that the same run must work, undisturbed."""
    run = runs.Run(spec=DPDK)
    run.start(run.command())
    time.sleep(at)
    hit = send(await_processes(run, who), signal.SIGKILL)
    lost = run.wait()
    judged, what = run.judge(killed=who == 'all', shm_may_stay=who == 'all')
    if left := sorted(traces_of_dpdk() - before):
        lost += f' left behind: {left}'
    again = runs.Run(spec=DPDK)
    again.start(again.command('--set', 'messages=100'))
    lost += again.wait()
    if wrong := measured.wrong(again.process.returncode, (glob.glob(f'{again.out}/*') or [again.out])[0]):
        lost += f' the next run: {wrong}: {again.said[-600:]}'
    return f'{lost} {judged}'.strip(), f'{what}; {hit} killed after {at * 1000:.0f} ms'


def kill_dpdk_cases(_):
    chance, before = random.Random(6), traces_of_dpdk()
    run = runs.Run(spec=DPDK)
    run.start(run.command())
    run.wait()
    if 'cannot load:' in run.said or 'without DPDK' in run.said:
        raise sandbox.NotPossible('kblat cannot use DPDK here')
    for i in range(125):
        for who in ('source', 'sink', 'endpoints', 'all'):
            yield Case(f'{who}:dpdk-{i}', lambda w=who, s=chance.random(): kill_dpdk(w, s * 1.2, before))


KINDS = {
    'kblat-time': Kind('coordinator, source, sink or all killed at any moment of a run', kill_time_cases),
    'kblat-call': Kind('the coordinator killed at any system call', kill_call_cases),
    'kblat-dpdk': Kind('sides over DPDK killed at any moment: nothing is left, and the next run works', kill_dpdk_cases),
    'kblat-stop': Kind('coordinator, source, sink or all stopped for a while (SIGSTOP): the run completes', stop_cases),
}
