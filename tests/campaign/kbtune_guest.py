#!/usr/bin/python3
"""Disturbs kbtune on a real kernel, as root, inside the guest: CPUs that are offline before, during and between, settings
that change each other, tuned killed, and cards bound to another driver. Once that is over, `kbtune restore` must have made the machine what it was.

    tests/vm/guest --no-rdma --cards --timeout 3600 --out DIR -- tests/campaign/kbtune_guest.py [--minutes N] [--only KIND[,KIND]...]
        [--case REGEX] [--build DIR]

Each case has a line in DIR/KIND, and is not run again; DIR/sums is what tests/campaign/campaign --table prints. What was
lost is what differs and is not said (status 0), or differs after the last restore; DIR/kernel-log.KIND.NUMBER is then
what the kernel said meanwhile. So it is where the kernel warned, which is lost only if a process of kbtune's was at work.
Exit status: 0 nothing was lost, 3 something was.
"""
import argparse
import glob
import itertools
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from results import Case, Kind, Results, keep, show_table  # noqa: E402

ROOT = os.path.realpath(f'{os.path.dirname(__file__)}/../..')
CPU = '/sys/devices/system/cpu'
SYSCTL = '/proc/sys/'
FOLDER = '/tmp/kbtune-campaign'
# What is compared: sysctls that no other program changes by itself, and what else profiles set.
FILES = ('/proc/sys/vm/*', '/proc/sys/kernel/*', '/proc/sys/net/core/*', '/proc/sys/net/ipv4/*', '/proc/sys/net/ipv4/conf/*/*',
         '/proc/sys/net/ipv4/neigh/*/*', '/proc/sys/net/ipv6/conf/*/*', '/proc/sys/net/ipv6/neigh/*/*',
         '/sys/kernel/mm/transparent_hugepage/*', '/sys/kernel/mm/ksm/run', '/sys/kernel/mm/hugepages/*/nr_*',
         '/sys/devices/system/node/node*/hugepages/*/nr_hugepages', '/sys/devices/virtual/workqueue/cpumask',
         '/proc/irq/*/smp_affinity_list', '/proc/irq/default_smp_affinity', '/sys/block/vda/queue/*',
         '/sys/block/vda/queue/iosched/*', '/sys/module/pcie_aspm/parameters/policy', '/sys/fs/cgroup/cgroup.subtree_control',
         f'{CPU}/cpu*/power/pm_qos_resume_latency_us', f'{CPU}/cpu*/cpuidle/state*/disable', '/etc/tuned/*', '/etc/tuned/*/*',
         '/etc/systemd/system.conf', '/etc/modprobe.d/*', '/etc/sysctl.conf', '/etc/default/grub', '/etc/sysctl.d/*')
CHANGES_BY_ITSELF = re.compile('kernel/tainted$|random/|ns_last_pid|pty/|fs/|/stat_refresh|bootid|hostname|nr_pdflush|/max_hw|domainname'
                               '|perf_event_max_sample_rate|sched_domain|tcp_fastopen_key|poll_delay|dirty_.*_count|kbtune')
NO_SETAFFINITY = 0x04000000


class KernelLog:
    """What the kernel says."""

    REPORT = re.compile(r'WARNING: |BUG: |INFO: .*(stall|blocked|hung)|soft lockup|Oops|general protection|Unable to handle')
    OURS = re.compile(r'Comm: kbtune')

    def __init__(self):
        self.fd = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def new(self):
        """The lines since the last call."""
        lines = []
        while True:
            try:
                lines += os.read(self.fd, 16384).decode(errors='replace').partition(';')[2].split('\n')[:1]
            except BrokenPipeError:
                lines.append('(lines are missing)')
            except BlockingIOError:
                return lines

    @classmethod
    def judged(cls, lines):
        """What is lost by what was said, and the first warning."""
        warned = next((line for line in lines if cls.REPORT.search(line)), '')
        ours = next((line for line in lines if cls.OURS.search(line)), '') if warned else ''
        return f'the kernel warned of what kbtune does: {warned}' if ours else '', warned


def read(path):
    try:
        with open(path, errors='replace') as f:
            return f.read()
    except OSError:
        return None


def threads():
    """Where programs and movable kernel threads that stay may run, and how they are scheduled."""
    found = {}
    for path in glob.glob('/proc/[0-9]*/task/[0-9]*/status'):
        status, stat = read(path), read(path.replace('status', 'stat'))
        if not status or not stat:
            continue
        fields = stat[stat.rindex(')') + 2:].split()
        name = status.split('\n')[0].split('\t')[1]
        if int(fields[6]) & NO_SETAFFINITY or name.startswith(('kworker', 'khugepaged', 'kbtune')):
            continue
        mask = re.search(r'Cpus_allowed_list:\s*(.*)', status).group(1)
        found[f'{path.split("/")[4]} {name} {fields[19]}'] = f'{mask} {fields[38]} {fields[37]}'
    return found


def snapshot():
    files = {p: read(p) for pattern in FILES for p in glob.glob(pattern)
             if os.path.isfile(p) and not CHANGES_BY_ITSELF.search(p)}
    groups = {p: 'a cpuset' for p in glob.glob('/sys/fs/cgroup/*/')}
    return {**files, **groups}, threads()


def is_interrupt(path):
    """They come and go with their cards, which get other numbers."""
    return path.startswith('/proc/irq/')


def differences(before):
    files, tasks = snapshot()
    found = [f'{p}: {before[0].get(p)!r} -> {files.get(p)!r}' for p in sorted({*before[0], *files})
             if before[0].get(p) != files.get(p) and not (is_interrupt(p) and None in (before[0].get(p), files.get(p)))]
    return found + [f'{t}: {before[1][t]} -> {now}' for t, now in tasks.items() if t in before[1] and before[1][t] != now]


def wait_for(before, seconds=3):
    """What differs once it has settled: what was killed takes a moment to be gone."""
    end = time.monotonic() + seconds
    while (found := differences(before)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def kbtune(*words, **environment):
    return subprocess.run([KBTUNE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False,
                          env={**os.environ, 'KBTUNE_PROFILES': f'{ROOT}/profiles', **environment})


def put(path, text):
    try:
        with open(path, 'w') as f:
            f.write(text)
    except OSError as e:
        return e.errno
    return 0


def profile(text):
    os.makedirs(FOLDER, exist_ok=True)
    with open(f'{FOLDER}/profile.yaml', 'w') as f:
        f.write(f'kbtune: 1\n{text}\n')
    return FOLDER


def is_said(difference, said):
    """Files on disk that a script of tuned has written: restore says that it does not know what a script changes."""
    return difference.startswith('/etc/') and re.search('not undone, or not known: .*: a script', said)


def judged(before, done, what):
    """The last restore must work, and then everything must be as before."""
    if done.returncode:
        return f'{what}: status {done.returncode}: {done.stdout}', ''
    lost = [d for d in wait_for(before) if not is_said(d, done.stdout)]
    return (f'{what}: status 0, and silent: {lost[:8]}' if lost else ''), done.stdout.strip().split('\n')[-1]


# -- CPUs ----------------------------------------------------------------------------------------------------------------------


def set_cpu(cpu, online):
    put(f'{CPU}/cpu{cpu}/online', str(int(online)))


def offline(name, when, cpu, kill, end):
    """`when` the CPU goes: before, during (apply is killed), between. `end`: it is back before restore, is given up, or stays."""
    before = snapshot()
    if when == 'before':
        set_cpu(cpu, False)
    kbtune('apply', name, KBTUNE_KILL_AFTER=str(kill if when != 'between' else -1))
    if when != 'before':
        set_cpu(cpu, False)
    lost = ''
    if end == 'online':
        set_cpu(cpu, True)
    elif end == 'given-up':
        first = kbtune('restore')
        if first.returncode and f'--give-up {cpu}' not in first.stdout:
            lost = f'restore without CPU {cpu} does not say how to give it up: {first.stdout}'
        if first.returncode:
            first = kbtune('restore', '--give-up', str(cpu))
        if first.returncode:
            lost = f'restore --give-up: status {first.returncode}: {first.stdout}'
        again = kbtune('run', name, '--', 'true')
        if again.returncode:
            lost += f' run after that: status {again.returncode}: {again.stdout}'
        set_cpu(cpu, True)
    else:
        first = kbtune('restore')
        if when == 'before' and first.returncode:
            lost = f'restore waits for a CPU that was offline: {first.stdout}'
        set_cpu(cpu, True)
    time.sleep(0.2)
    again, said = judged(before, kbtune('restore'), 'restore')
    kbtune('restore')
    return f'{lost} {again}'.strip(), said


def offline_cases(_):
    kills = (0, 1, 2, 3, 5, 8, 12, 16, 20, 24, 28)
    for when, cpu, end, kill in itertools.product(('before', 'during', 'between'), (1, 2, 3), ('online', 'given-up', 'stays'),
                                                  kills):
        name = ('isolated', profile('shields: [{name: rt, place: {cpus: "0"}}]\ntasks: away'))[kill % 2]
        if when == 'between' and kill > 3:
            continue
        at = f'{"isolated" if name == "isolated" else "shield"}:{when}:cpu{cpu}:{end}:write-{kill}'
        yield Case(at, lambda n=name, w=when, c=cpu, k=kill, e=end: offline(
            n if n == 'isolated' else profile('shields: [{name: rt, place: {cpus: "0"}}]\ntasks: away'), w, c,
            k if w == 'during' else -1, e))


# -- settings that change each other ---------------------------------------------------------------------------------------------

VALUES = {
    'vm.dirty_bytes': '8388608', 'vm.dirty_ratio': '7', 'vm.dirty_background_bytes': '4194304', 'vm.dirty_background_ratio': '3',
    'vm.overcommit_kbytes': '1000000', 'vm.overcommit_ratio': '70', 'vm.nr_hugepages': '4', 'vm.nr_hugepages_mempolicy': '6',
    '/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '5',
    '/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages': '3',
    'vm.nr_overcommit_hugepages': '2', '/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages': '3',
    '/sys/kernel/mm/transparent_hugepage/enabled': 'never', 'vm.min_free_kbytes': '20000', 'vm.watermark_scale_factor': '20',
    'kernel.watchdog': '0', 'kernel.soft_watchdog': '0', 'kernel.nmi_watchdog': '0',
    'kernel.perf_cpu_time_max_percent': '30', 'kernel.sched_rt_runtime_us': '400000', 'kernel.sched_rt_period_us': '2000000',
    'kernel.numa_balancing': '0', 'net.ipv4.ip_forward': '1', 'net.ipv4.conf.all.forwarding': '1',
    'net.ipv4.conf.left.forwarding': '0', 'net.ipv4.conf.default.forwarding': '1', 'net.ipv4.conf.all.accept_redirects': '1',
    'net.ipv4.conf.default.rp_filter': '2', 'net.ipv4.conf.right.rp_filter': '1', 'net.ipv4.conf.default.accept_redirects': '0',
    'net.ipv6.conf.all.forwarding': '1', 'net.ipv6.conf.right.forwarding': '1', 'net.ipv6.conf.all.accept_ra': '2',
    'net.ipv6.conf.default.accept_ra': '0', 'net.ipv6.conf.all.disable_policy': '1', 'net.ipv6.conf.default.forwarding': '1',
    'net.ipv4.neigh.default.retrans_time_ms': '500', 'net.ipv4.neigh.left.retrans_time': '70',
    'net.ipv4.neigh.default.base_reachable_time_ms': '20000', 'net.ipv6.neigh.default.unres_qlen_bytes': '100000',
    'net.ipv4.ip_local_port_range': '30000 50000', 'net.ipv4.ip_unprivileged_port_start': '80',
    '/sys/block/vda/queue/scheduler': 'mq-deadline', '/sys/block/vda/queue/nr_requests': '64',
    '/sys/class/net/left/mtu': '1400', 'net.ipv6.conf.left.mtu': '1350',
}
# Other values that the machine may have before.
STARTS = ((), (('vm.dirty_bytes', '16777216'), ('vm.dirty_background_bytes', '8388608'), ('vm.overcommit_kbytes', '500000'),
               ('net.ipv4.conf.left.forwarding', '1'), ('net.ipv4.conf.all.accept_redirects', '0')))


def path_of(name):
    return name if name.startswith('/') else SYSCTL + name.replace('.', '/')


def setting(names):
    lines = {'sysctl': [], 'sysfs': []}
    for name in names:
        lines['sysfs' if name.startswith('/') else 'sysctl'].append(f'{name}: "{VALUES[name]}"')
    return '\n'.join(f'{k}: {{{", ".join(v)}}}' for k, v in lines.items() if v)


def coupled(names, start, kill):
    usual = [(name, read(path_of(name))) for name, _ in start]
    usual += [(n.replace('bytes', 'ratio'), read(path_of(n.replace('bytes', 'ratio')))) for n, _ in start if n.endswith('bytes')]
    for name, value in start:
        put(path_of(name), value)
    before = snapshot()
    done = kbtune('apply', profile(setting(names)), KBTUNE_KILL_AFTER=str(kill))
    lost = ''
    if done.returncode > 0 and 'everything is as before' in done.stdout and (found := differences(before)):
        lost = f'apply says that everything is as before, and it is not: {found[:5]}'
    again, said = judged(before, kbtune('restore'), 'restore')
    if again:
        kbtune('restore', *[w for n in names for w in ('--give-up', path_of(n))])
    for name, value in usual:
        put(path_of(name), value or '')
    return f'{lost} {again}'.strip(), said


def family_of(name):
    """Settings of one family are tried in pairs."""
    for word in ('dirty_background', 'dirty', 'overcommit_', 'hugepage', 'watchdog', 'ipv4/conf', 'ipv6/conf', 'neigh', 'queue',
                 'sched_rt', 'mtu', 'ip_', 'min_free'):
        if word in path_of(name):
            return {'ip_': 'ipv4/conf', 'min_free': 'hugepage', 'mtu': 'ipv6/conf'}.get(word, word)
    return name


def coupled_cases(_):
    if not os.path.exists('/sys/class/net/left'):
        subprocess.run('ip link add left type veth peer name right; ip link set left up; ip link set right up',
                       shell=True, check=True)
        time.sleep(3)
    there = [n for n in VALUES if os.path.exists(path_of(n))]
    pairs = [(n,) for n in there] + [p for p in itertools.permutations(there, 2) if family_of(p[0]) == family_of(p[1])]
    for start, names in itertools.product((0, 1), pairs):
        for kill in ((-1, 1) if len(names) == 1 else (-1,)):
            yield Case(f'start-{start}:{"+".join(names)}:write-{kill}', lambda n=names, s=STARTS[start], k=kill: coupled(n, s, k))


# -- tuned -----------------------------------------------------------------------------------------------------------------------

TUNED = {
    'several-includes': 'own:[main]\ninclude=latency-performance,powersave\n[sysctl]\nvm.dirty_ratio=33\n',
    'own-name': 'etc:latency-performance:[main]\nsummary=ours\n[sysctl]\nvm.dirty_ratio=17\nvm.swappiness=3\n[vm]\n'
                'transparent_hugepages=never\n',
    'post-loaded': 'post:[main]\nsummary=after\n[sysctl]\nvm.dirty_ratio=44\n',
    'cpu-partitioning': 'name:cpu-partitioning', 'realtime': 'name:realtime',
    'script': 'own:[main]\ninclude=latency-performance\n[script]\nscript=${i:PROFILE_DIR}/script.sh\n[sysctl]\nvm.dirty_ratio=12\n',
}


def tuned_name(kind):
    """Write the profile; return its name for kbtune."""
    what, _, text = TUNED[kind].partition(':')
    if what == 'name':
        if not glob.glob(f'/usr/lib/tuned/{text}') + glob.glob(f'/usr/lib/tuned/profiles/{text}'):
            return None
        for path in glob.glob(f'/etc/tuned/{text}-variables.conf'):
            with open(path, 'w') as f:
                f.write('isolated_cores=3\n')
        return text
    name = text.partition(':')[0] if what == 'etc' else f'campaign-{kind}'
    os.makedirs(f'/etc/tuned/{name}', exist_ok=True)
    with open(f'/etc/tuned/{name}/tuned.conf', 'w') as f:
        f.write(text.partition(':')[2] if what == 'etc' else text)
    with open(f'/etc/tuned/{name}/script.sh', 'w') as f:
        f.write('#!/bin/sh\nexit 0\n')
    os.chmod(f'/etc/tuned/{name}/script.sh', 0o755)
    if what == 'post':
        with open('/etc/tuned/post_loaded_profile', 'w') as f:
            f.write(f'{name}\n')
        return 'latency-performance'
    return name


def kill_tuned():
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        if 'sbin/tuned\0' in (read(path) or ''):
            try:
                os.kill(int(path.split('/')[2]), signal.SIGKILL)
            except OSError:
                pass


def tuned_killed(kind, after_s):
    name = tuned_name(kind)
    before = snapshot()
    with subprocess.Popen([KBTUNE, 'apply', profile(f'tuned: {name}')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as p:
        if after_s is not None:
            time.sleep(after_s)
            kill_tuned()
        said = p.communicate()[0]
    kill_tuned()
    time.sleep(0.2)
    done = kbtune('restore')
    lost, last = judged(before, done, f'apply {p.returncode}')
    for path in glob.glob('/etc/tuned/campaign-*') + ['/etc/tuned/post_loaded_profile']:
        subprocess.run(['rm', '-rf', path], check=True)
    if kind == 'own-name':
        subprocess.run(['rm', '-rf', '/etc/tuned/latency-performance'], check=True)
    return lost, f'{said.strip().split(chr(10))[-1]}; {last}'


def tuned_cases(_):
    for after_s in (None, *(x / 2 for x in range(0, 16))):
        for kind in TUNED:
            if tuned_name(kind):
                yield Case(f'{kind}:{after_s}', lambda k=kind, s=after_s: tuned_killed(k, s))


# -- cards that are bound to another driver --------------------------------------------------------------------------------------

CARD_SETTINGS = ('mtu', 'tx_queue_len', 'address', 'gro_flush_timeout', 'napi_defer_hard_irqs', 'flags')


def addresses_of_cards():
    found = []
    for path in glob.glob('/sys/bus/pci/devices/*/class'):
        if read(path).startswith('0x0200'):
            found.append(path.split('/')[5])
    return sorted(found)


def cards():
    """Of each card its driver, and of its interfaces what kbtune restores."""
    found = {}
    for card in addresses_of_cards():
        base = f'/sys/bus/pci/devices/{card}'
        found[card] = os.path.basename(os.path.realpath(f'{base}/driver')) + ' ' + (read(f'{base}/driver_override') or '')
        for path in glob.glob(f'{base}/net/*') + glob.glob(f'{base}/virtio*/net/*'):
            name = os.path.basename(path)
            found.update({f'{card} {name} {s}': read(f'{path}/{s}') for s in CARD_SETTINGS})
            found.update({p: read(p) for p in glob.glob(f'/proc/sys/net/ipv[46]/conf/{name}/*')})
            for what in '-g', '-c', '-k':
                found[f'{name} {what}'] = subprocess.run(['ethtool', what, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                                         text=True, check=False).stdout
    return found


def bound(which, command, kill, name, configured):
    """Kill kbtune after a write while it binds cards, or takes them back (`command`); then restore."""
    if configured:
        for path in glob.glob('/sys/class/net/*/device'):
            put(f'{os.path.dirname(path)}/mtu', '1400')
            put(f'/proc/sys/net/ipv4/conf/{path.split("/")[4]}/rp_filter', '1')
    before, now = snapshot(), cards()
    text = f'bind: {{{", ".join(f"{c}: uio_pci_generic" for c in which)}}}'
    if name:
        text += f'\ninclude: {name}'
    if command == 'restore':
        kbtune('apply', profile(text))
    done = kbtune(*(['apply', profile(text)] if command == 'apply' else [command]), KBTUNE_KILL_AFTER=str(kill))
    there = [os.path.basename(os.path.realpath(f'/sys/bus/pci/devices/{c}/driver')) for c in which]
    lost, said = judged(before, kbtune('restore'), 'restore')
    after = cards()
    other = [f'{k}: {now.get(k)!r} -> {after.get(k)!r}' for k in sorted({*now, *after}) if now.get(k) != after.get(k)]
    if other:
        lost = f'{lost} cards: {other[:6]}'.strip()
    return lost, f'{"killed" if done.returncode < 0 else "ended"} with {there}; {said}'


def bound_cases(results):
    if subprocess.run(['modprobe', '-a', 'e1000e', 'virtio_net', 'uio_pci_generic'], check=False).returncode:
        return
    all_cards = addresses_of_cards()
    # Once before: the kernel chooses an interrupt's CPUs when it is requested for the first time.
    kbtune('apply', profile(f'bind: {{{", ".join(f"{c}: uio_pci_generic" for c in all_cards)}}}'))
    kbtune('restore')
    choices = [(c,) for c in all_cards] + [tuple(all_cards), tuple(reversed(all_cards))]
    for round_, name, which in itertools.product(range(3), ('', 'isolated'), choices if all_cards else ()):
        for command in ('apply', 'restore'):
            for kill in range(24):
                case = f'{round_}:{name}:{"+".join(which)}:{command}:write-{kill}'
                yield Case(case, lambda w=which, c=command, k=kill, n=name, r=round_: bound(w, c, k, n, r == 1))
                if results.has(case) and results.done[case][3].startswith('ended'):
                    break


KINDS = {
    'kbtune-bound': Kind('in the guest: killed after any write that binds cards to uio_pci_generic or takes them back; then restore',
                         bound_cases),
    'kbtune-offline': Kind('in the guest: a CPU offline before, during (killed after a write) and between, given up or not; then restore',
                           offline_cases),
    'kbtune-coupled': Kind('in the guest: settings that change each other, each alone and each pair of a family; then restore',
                           coupled_cases),
    'kbtune-tuned': Kind('in the guest: tuned killed, during apply or after it, with six profiles; then restore', tuned_cases),
}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument('--minutes', type=float, default=55)
    p.add_argument('--build', default=f'{ROOT}/build')
    p.add_argument('--only', default='')
    p.add_argument('--case', default=re.compile(''), type=re.compile)
    return p.parse_args()


def disturb(case, log, results):
    """Run a case. Keep what the kernel said if something was lost, or if it warned."""
    started = time.monotonic()
    log.new()
    lost, what = case.run()
    said = log.new()
    ours, warned = log.judged(said)
    lost = f'{lost} {ours}'.strip()
    if lost or warned:
        path = f'{results.path.replace(results.kind, "kernel-log." + results.kind)}.{len(results.done)}'
        with open(path, 'w') as f:
            f.write('\n'.join([case.name, *said, '']))
        what += f'; the kernel warned: {warned}: {path}' if warned else ''
        print(f'{results.kind}: {case.name}: {path}: {warned or "no warning"}', flush=True)
    results.add(case.name, lost, what, time.monotonic() - started)


def main():
    global KBTUNE
    args = arguments()
    KBTUNE = f'{args.build}/kbtune'
    if 'kblat-guest' not in (read('/proc/sys/kernel/hostname') or ''):
        sys.exit('kbtune_guest.py: this changes the machine: it runs in the guest alone')
    out = os.environ['KBLAT_OUT']
    kinds = {k: v for k, v in KINDS.items() if not args.only or k in args.only.split(',')}
    results = {k: Results(out, k) for k in kinds}
    cases = {k: iter(v.cases(results[k])) for k, v in kinds.items()}
    log = KernelLog()
    end = time.monotonic() + 60 * args.minutes
    # In turn, so that each kind gets its share of the time.
    while cases and time.monotonic() < end:
        for kind in list(cases):
            case = next((c for c in cases[kind] if not results[kind].has(c.name) and args.case.search(c.name)), None)
            if case is None:
                del cases[kind]
                continue
            disturb(case, log, results[kind])
        keep(f'{out}/sums', [(k, len(r.done), r.lost()) for k, r in results.items()])
    return show_table([(k, len(r.done), r.lost()) for k, r in results.items()], {k: v.about for k, v in kinds.items()})


if __name__ == '__main__':
    sys.exit(main())
