"""Lets kbtune apply and restore with disks that are full or broken, and with values that disappear,
change, or cannot be written. Once that is over, one `kbtune restore` must restore everything; and
whatever apply reports as unchanged must be unchanged."""
import json
import os
import random
import signal
import subprocess

import sandbox
from kbtune_kills import LARGE, combinations

from results import Case, Kind

DISK_CALLS = ('write', 'pwrite64', 'ftruncate', 'openat', 'openat2', 'mkdirat', 'renameat', 'fsync', 'unlinkat')
STATUSES = (0, 1, 2, 3, 77)
LOADER_FAILED = 127


def judge_apply(machine, status, said):
    """What apply reports about the machine must be true; returns what is not."""
    if status not in STATUSES + (LOADER_FAILED,):
        return f'apply: status {status}: {said}'
    if status == 0:
        verify = machine.kbtune('verify')
        return '' if verify.returncode == 0 else f'apply: status 0, but verify: status {verify.returncode}: {verify.stdout}'
    if 'everything is as before' in said and machine.differences():
        return f'apply reports that everything is as before, but these differ: {machine.differences()[:10]}'
    return ''


def failing_calls(machine, profile, command, how):
    """`how`: the name of the call, "error=ENOSPC", and which of these calls fails; "7+" means all from the 7th on."""
    call, error, when = how
    if command == 'restore':
        machine.kbtune('apply', profile)
    words = [profile] if command == 'apply' else []
    with sandbox.start(sandbox.strace(machine.command(command, *words), call, error, when), text=True) as p:
        said = p.communicate()[0]
    lost = judge_apply(machine, p.returncode, said) if command == 'apply' else ''
    if p.returncode and not said.strip() and call != 'write':
        lost += f' {command}: status {p.returncode} without a message'
    again, what = machine.put_back(f'status {p.returncode}')
    return f'{lost} {again}'.strip(), what


def failing_call_cases(_):
    for machine, profile in combinations():
        if profile not in ('isolated', 'thesis-no-force-latency'):
            continue
        for command in ('apply', 'restore'):
            if command == 'restore':
                machine.kbtune('apply', profile)
            calls = sandbox.calls(machine.command(command, *([profile] if command == 'apply' else [])), DISK_CALLS)
            machine.kbtune('restore')
            for name, n in sandbox.spread(calls, 6 if machine.name == LARGE else 60):
                for error, when in (('error=ENOSPC', f'{n}+'), ('error=EIO', str(n))):
                    yield Case(f'{machine.name}:{profile}:{command}:{error[6:]}:{name}-{when}',
                               lambda m=machine, p=profile, c=command, h=(name, error, when): failing_calls(m, p, c, h))


# -- limits, and full disks ----------------------------------------------------------------------------------------------

MIB = 1 << 20
LIMITS = (('nofile', range(3, 40)), ('as', range(4 * MIB, 44 * MIB, MIB)), ('data', range(MIB // 4, 4 * MIB, MIB // 4)),
          ('fsize', [0, 1, *(4 ** k for k in range(1, 10))]), ('stack', [2 ** k * 16384 for k in range(10)]), ('core', [0]))


def limited(machine, profile, command, name, value, n):
    """apply or restore with a resource limit, killed after n writes (-1: not at all)."""
    if command == 'restore':
        machine.kbtune('apply', profile)
    words = ['prlimit', f'--{name}={value}', '--', *machine.command(command, *([profile] if command == 'apply' else []))]
    with sandbox.start(words, text=True, errors='replace', env={**os.environ, 'KBTUNE_KILL_AFTER': str(n)}) as p:
        said = p.communicate()[0]
    lost = ''
    if p.returncode not in (*STATUSES, LOADER_FAILED, -signal.SIGKILL):
        lost = f'{command}: status {p.returncode}: {said}'
    elif p.returncode > 0 and not said.strip() and name != 'fsize':
        lost = f'{command}: status {p.returncode} without a message'
    elif command == 'apply' and p.returncode >= 0:
        lost = judge_apply(machine, p.returncode, said)
    again, what = machine.put_back(f'status {p.returncode}')
    return f'{lost} {again}'.strip(), what


def limit_cases(_):
    for machine, profile in combinations():
        if machine.name not in ('small-v1', 'small-v2', 'smt-laptop') or profile not in ('isolated', 'thesis'):
            continue
        for command in ('apply', 'restore'):
            for name, values in LIMITS:
                for value in values:
                    for n in (-1, 3):
                        yield Case(f'{machine.name}:{profile}:{command}:{name}-{value}:write-{n}',
                                   lambda m=machine, p=profile, c=command, k=name, v=value, n=n: limited(m, p, c, k, v, n))


def full(machine, profile, kib, n):
    """/run has so little space; apply is killed after n writes. restore, which writes its journal anew, may fail, but once there is space,
    it restores everything."""
    where = f'{machine.root}/run'
    subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={kib}k,mode=755', 'tmpfs', where], check=True)
    try:
        done = machine.kbtune('apply', profile, KBTUNE_KILL_AFTER=str(n))
        lost = judge_apply(machine, done.returncode, done.stdout) if done.returncode >= 0 else ''
        machine.kbtune('restore')
        subprocess.run(['mount', '-o', 'remount,size=1m', where], check=True)
        again, what = machine.put_back(f'status {done.returncode}')
    finally:
        subprocess.run(['umount', '-l', where], check=True)
    return f'{lost} {again}'.strip(), what


def full_cases(_):
    for machine, profile in combinations():
        if machine.name == LARGE or profile not in ('isolated', 'thesis'):
            continue
        for kib in (4, 8, 12, 16, 20, 24, 32, 48, 64):
            for n in (-1, 0, 1, 2, 3, 5, 8, 13):
                yield Case(f'{machine.name}:{profile}:run-{kib}KiB:write-{n}',
                           lambda m=machine, p=profile, k=kib, n=n: full(m, p, k, n))


# -- values ------------------------------------------------------------------------------------------------------------


def changed_files(machine):
    """The files that apply has changed and that restore will write."""
    with open(f'{machine.root}/run/kbtune/journal.json') as f:
        steps = json.load(f)['steps']
    return sorted({s['path'] for s in steps if s['op'] in ('file', 'irq') and s['before'] != s['after'] and
                   not s['data'].get('refused') and os.path.isfile(machine.root + s['path'])})


def set_habit(machine, line=''):
    own = machine.entries.get('/habits', ('f', 0o644, ''))[2]
    if own + line:
        with open(f'{machine.root}/habits', 'w') as f:
            f.write(own + line)
    elif os.path.exists(f'{machine.root}/habits'):
        os.unlink(f'{machine.root}/habits')


def with_shadow(path):
    """A file, and the one that changes with it: the effective CPUs of an interrupt."""
    return path, path.replace('smp_affinity_list', 'effective_affinity_list')


def vanish(machine, profile, path):
    machine.kbtune('apply', profile)
    for one in set(with_shadow(path)):
        os.unlink(machine.root + one)
    lost, said = machine.put_back('vanished', but=with_shadow(path))
    machine.make()
    return lost, said


def change(machine, profile, path):
    machine.kbtune('apply', profile)
    with open(machine.root + path, 'w') as f:
        f.write('1\n')
    return machine.put_back('changed by another program')


def refuse_restore(machine, profile, path):
    """restore cannot write a value: it must restore all others and name this one; a second restore, which can, must restore it."""
    machine.kbtune('apply', profile)
    set_habit(machine, f'{path} write EBUSY\n')
    done = machine.kbtune('restore')
    lost = ''
    if done.returncode != 1 or path not in done.stdout:
        lost = f'restore: status {done.returncode}, and does not name {path}: {done.stdout}'
    if different := machine.differences(but=(*with_shadow(path), '/habits')):
        lost += f' also not restored: {different[:10]}'
    set_habit(machine)
    again, said = machine.put_back('refused once')
    return f'{lost} {again}'.strip(), said


def refuse_apply(machine, profile, path, habit):
    set_habit(machine, f'{path} {habit}\n')
    done = machine.kbtune('apply', profile)
    lost = ''
    if done.returncode not in (0, 1, 77) or ('as before' in done.stdout and machine.differences(but=('/habits',))):
        lost = f'apply: status {done.returncode}: {done.stdout}: {machine.differences(but=("/habits",))[:10]}'
    set_habit(machine)
    again, said = machine.put_back(f'status {done.returncode}')
    return f'{lost} {again}'.strip(), said


def value_cases(_):
    chance = random.Random(3)
    for machine, profile in combinations():
        machine.kbtune('apply', profile)
        paths = changed_files(machine)
        machine.kbtune('restore')
        for path in sorted(chance.sample(paths, min(len(paths), 2 if machine.name == LARGE else 12))):
            at = f'{machine.name}:{profile}'
            yield Case(f'{at}:vanish:{path}', lambda m=machine, p=profile, f=path: vanish(m, p, f))
            yield Case(f'{at}:change:{path}', lambda m=machine, p=profile, f=path: change(m, p, f))
            yield Case(f'{at}:refuse-restore:{path}', lambda m=machine, p=profile, f=path: refuse_restore(m, p, f))
            if path.endswith('subtree_control'):
                continue  # it also has names of controllers that kbtune does not set
            for habit in ('write EBUSY', 'write ENOSPC', 'reads 12345'):
                yield Case(f'{at}:{habit.replace(" ", "-")}:{path}',
                           lambda m=machine, p=profile, f=path, h=habit: refuse_apply(m, p, f, h))


KINDS = {
    'kbtune-disk': Kind('a disk that is full from one call on (ENOSPC), or fails once (EIO), in apply and in restore',
                        failing_call_cases),
    'kbtune-limits': Kind('limits of descriptors, address space, data, file size, stack, in apply and in restore; also killed',
                          limit_cases),
    'kbtune-full': Kind('/run is full; also killed, in apply; then restore', full_cases),
    'kbtune-values': Kind('a value vanishes, is changed by another program, or cannot be written, in apply and in restore',
                          value_cases),
}
