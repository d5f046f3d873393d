"""Kills kbtune: after every write, at every system call, and at any time, during apply, restore and
run; and simulates power failures. After one `kbtune restore`, a recorded machine must be what it
was before, byte for byte."""
import os
import random
import signal
import time

import sandbox
from machines import BOOT_ID, Machine, recorded
from results import Case, Kind

PROFILES = ('thesis', 'isolated', 'low-latency-laptop', 'baseline', 'thesis-no-force-latency', 'thesis-aspm-off',
            'thesis-dma-latency-0', 'thesis-tuned-only')
LARGE = 'server-512'
STEP = {LARGE: 40}  # for a large machine, only so many of its writes are tried


def names():
    """The names of all recorded machines, the small ones first."""
    return sorted((n for n in [os.path.basename(p)[:-8] for p in recorded().glob.glob(f'{recorded().HERE}/*.machine')] +
                   list(recorded().SYNTHETIC) if n != 'container'), key=lambda n: len(recorded().load(n)))


def combinations():
    for name in names():
        machine = Machine(name)
        for profile in PROFILES if name != LARGE else ('thesis', 'isolated'):
            yield machine, profile
        sandbox.subprocess.run(['rm', '-rf', machine.root], check=True)


def writes(machine, *words):
    """Return how many writes a command makes: the lowest n for which `kill after n writes` no longer kills it."""
    low, high = 0, 1
    while not survives(machine, high, words):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if survives(machine, middle, words) else (middle, high)
    return high


def survives(machine, n, words):
    if words[0] == 'restore':
        machine.kbtune('apply', words[1])
        done = machine.kbtune('restore', KBTUNE_KILL_AFTER=str(n))
    else:
        done = machine.kbtune(*words, KBTUNE_KILL_AFTER=str(n))
    machine.kbtune('restore')
    return done.returncode != -signal.SIGKILL


def kill_write(machine, profile, command, n):
    if command == 'restore':
        machine.kbtune('apply', profile)
    done = machine.kbtune(command, *([profile] if command == 'apply' else []), KBTUNE_KILL_AFTER=str(n))
    return machine.put_back('killed' if done.returncode == -signal.SIGKILL else f'status {done.returncode}')


def kill_write_cases(_):
    for machine, profile in combinations():
        for command in ('apply', 'restore'):
            total = writes(machine, command, profile)
            for n in sandbox.spread(range(total), STEP.get(machine.name, total)):
                yield Case(f'{machine.name}:{profile}:{command}:write-{n}',
                           lambda m=machine, p=profile, c=command, n=n: kill_write(m, p, c, n))


def kill_call(machine, profile, command, call):
    if command == 'restore':
        machine.kbtune('apply', profile)
    words = [profile] if command == 'apply' else []
    with sandbox.start(sandbox.strace(machine.command(command, *words), call[0], 'signal=KILL', call[1])) as p:
        p.communicate()
    return machine.put_back(f'status {p.returncode}')


def kill_call_cases(_):
    for machine, profile in combinations():
        if profile not in ('thesis', 'isolated', 'thesis-no-force-latency'):
            continue
        for command in ('apply', 'restore'):
            if command == 'restore':
                machine.kbtune('apply', profile)
            calls = sandbox.calls(machine.command(command, *([profile] if command == 'apply' else [])))
            machine.kbtune('restore')
            for call in sandbox.spread(calls, 10 if machine.name == LARGE else 100):
                yield Case(f'{machine.name}:{profile}:{command}:{call[0]}-{call[1]}',
                           lambda m=machine, p=profile, c=command, n=call: kill_call(m, p, c, n))


def kill_at(process, seconds):
    time.sleep(seconds)
    process.kill()
    process.wait()


def took(machine, *words):
    started = time.monotonic()
    machine.kbtune(*words)
    return time.monotonic() - started


def kill_time(machine, profile, command, share, seconds):
    if command == 'restore':
        machine.kbtune('apply', profile)
    with sandbox.start(machine.command(command, *([profile] if command == 'apply' else []))) as p:
        kill_at(p, share * seconds[command])
    return machine.put_back(f'after {share * seconds[command] * 1000:.1f} ms')


def kill_time_cases(_):
    chance = random.Random(1)
    for machine, profile in combinations():
        seconds = {'apply': took(machine, 'apply', profile), 'restore': took(machine, 'restore')}
        for i in range(10 if machine.name == LARGE else 40):
            for command in ('apply', 'restore'):
                share = chance.random() * 1.2
                yield Case(f'{machine.name}:{profile}:{command}:time-{i}',
                           lambda m=machine, p=profile, c=command, s=share, t=seconds: kill_time(m, p, c, s, t))


def kill_run(machine, profile, seconds):
    """Kill `kbtune run`: only its guardian can restore the machine."""
    words = [sandbox.programs.kbtune, 'run', profile, '--sysroot', machine.root, '--', 'sleep', '0.03']
    with sandbox.start(words) as p:
        kill_at(p, seconds)
    left = sandbox.end_children(20)
    different = machine.differences()
    journal = os.path.exists(f'{machine.root}/run/kbtune/journal.json')
    lost = f'still running: {left}' if left else ''
    if different or journal:
        # If it was killed before the guardian was started, it has changed nothing yet.
        lost = f'{lost} not restored by the guardian: {different[:10]}, journal left: {journal}'
    second, said = machine.put_back(f'after {seconds * 1000:.1f} ms')
    return f'{lost} {second}'.strip(), said


def kill_run_cases(_):
    chance = random.Random(2)
    for name in ('small-v2', 'small-v1', 'smt-laptop', 'managed-eio', 't630'):
        machine = Machine(name)
        for i in range(100):
            profile = chance.choice(('isolated', 'thesis', 'low-latency-laptop'))
            yield Case(f'{name}:{profile}:run:time-{i}',
                       lambda m=machine, p=profile, s=chance.random() * 0.06: kill_run(m, p, s))


def power_cut(machine, profile, n):
    """As after a power cut: file systems in memory are empty, the boot ID is another one; /etc and /var are as kbtune left them."""
    done = machine.kbtune('apply', profile, KBTUNE_KILL_AFTER=str(n))
    machine.remake(('/run', '/proc', '/sys', '/dev'))
    with open(machine.root + BOOT_ID, 'w') as f:
        f.write(f'00000000-0000-0000-0000-{n + 2:012}\n')
    lost, said = machine.put_back(f'status {done.returncode}', but=(BOOT_ID,))
    if not lost:
        machine.remake(('/proc/sys/kernel/random',))
    return lost, said


def power_cut_cases(_):
    for machine, profile in combinations():
        if machine.name == LARGE or 'thesis' not in profile or profile.endswith('off'):
            continue
        total = writes(machine, 'apply', profile)
        for n in sandbox.spread(range(total), 60):
            yield Case(f'{machine.name}:{profile}:power-{n}', lambda m=machine, p=profile, n=n: power_cut(m, p, n))


def restore_without(machine, cpu):
    """restore while a CPU is offline: done, or it names the CPU for which it waits."""
    done = machine.kbtune('restore')
    if done.returncode not in (0, 1) or (done.returncode == 1 and f'CPU {cpu} is offline' not in done.stdout):
        return f'restore without CPU {cpu}: status {done.returncode}: {done.stdout}'
    return ''


def unplug(machine, profile, when, cpu, n):
    """Kill kbtune after its n-th write, with a CPU that is offline during apply, between apply and restore, or during restore."""
    lost = ''
    if when == 'apply':
        machine.unplug(cpu)
        machine.kbtune('apply', profile, KBTUNE_KILL_AFTER=str(n))
        machine.plug(cpu)
    else:
        machine.kbtune('apply', profile, KBTUNE_KILL_AFTER=str(n if when == 'between' else -1))
        machine.unplug(cpu)
        if when == 'restore':
            machine.kbtune('restore', KBTUNE_KILL_AFTER=str(n))
        lost = restore_without(machine, cpu)
        machine.plug(cpu)
    again, said = machine.put_back(f'CPU {cpu}')
    return f'{lost} {again}'.strip(), said


def unplug_cases(_):
    for machine, profile in combinations():
        cpus = machine.cpus()
        if machine.name == LARGE or len(cpus) < 2 or profile not in ('thesis', 'isolated'):
            continue
        total = {'apply': writes(machine, 'apply', profile), 'restore': writes(machine, 'restore', profile)}
        for when in ('apply', 'between', 'restore'):
            for n in sandbox.spread(range(total['restore' if when == 'restore' else 'apply']), 60):
                for cpu in {cpus[-1], cpus[len(cpus) // 2]}:
                    yield Case(f'{machine.name}:{profile}:{when}:cpu{cpu}:write-{n}',
                               lambda m=machine, p=profile, w=when, c=cpu, n=n: unplug(m, p, w, c, n))


KINDS = {
    'kbtune-write': Kind('killed after every write of apply and of restore; then restore', kill_write_cases),
    'kbtune-call': Kind('killed at any system call of apply and of restore; then restore', kill_call_cases),
    'kbtune-time': Kind('killed at any moment of apply and of restore; then restore', kill_time_cases),
    'kbtune-run': Kind('`kbtune run` killed at any moment: its guardian restores the machine', kill_run_cases),
    'kbtune-unplug': Kind('killed after a write, and a CPU offline during apply, between, or during restore; then restore',
                          unplug_cases),
    'kbtune-power': Kind('killed after a write, then a power cut: /run and /sys lost, another boot; then restore',
                         power_cut_cases),
}
