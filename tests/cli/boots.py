#!/usr/bin/python3
"""boots.py RUN OUT [KEY=VALUE...]: makes run directories like those from other boots of other kernels.

Copies the files of a sealed run that are read to OUT, and seals each copy again: `boots` boots of
`runs` runs each with kernel `kernel`, whose latencies vary between boots and between runs
(`between`, `within`: standard deviations as shares) and are `slower` (a share). `seed` is for the
random numbers; `prefix` is for their names; `pairs=1` keeps the boot of RUN and lets the arms
alternate (`turn` 0 or 1); `start` moves them to later times. `noise` is added by a busy machine
(standard deviation of the logarithm for each run), and `steal=1` records that a hypervisor took the
time. `timer` makes messages late: this many ns are taken by the local timer on the sink's CPU. `reading`
gives the points stages: this many ns between driver and reader, all but 1000 of them up to the socket
with `split=1`. `drift` makes each step in time slower than the one before, by that share.
Changes of single files are made by the tests.
"""
import hashlib
import json
import math
import pathlib
import random
import sys
import time

QUANTILES = {'p50': 1.0, 'p90': 1.1, 'p99': 1.6, 'p99_9': 4.0, 'p99_99': 9.0, 'min': 0.8, 'max': 20.0, 'mean': 1.05}
WIDTH = {'p50': 0.2, 'p90': 0.4, 'p99': 1.5, 'p99_9': 4.0}  # sampling noise, in per cent


def read(path):
    return json.loads(path.read_text())


def seal(folder):
    files = sorted(str(f.relative_to(folder)) for f in folder.rglob('*') if f.is_file())
    lines = [hashlib.sha256((folder / f).read_bytes()).hexdigest() + '  ' + f + '\n' for f in files]
    (folder / 'manifest-sha256.txt').write_text(''.join(lines))


def numbers(metric, factor, rng):
    median = 1000.0
    for key, times in QUANTILES.items():
        noise = 1 + rng.gauss(0, WIDTH.get(key, 1) / 100)
        metric[key] = median * times * factor * noise
        metric[key] = metric[key] if key == 'mean' else round(metric[key])
    metric['n'], metric['lost'], metric['stdev'] = 200000, 0, 100.0
    metric['over_limit'] = max(0, round(200 * (1 + rng.gauss(0, 0.1)))) / 200000


def histograms(folder, point, factor, rng):
    """The histogram of a repetition: a log-normal distribution, with the tail of `QUANTILES`."""
    rep = folder / 'points' / ('%04d' % point['id']) / 'rep-00'
    noise = 1 + rng.gauss(0, 0.002)
    bins = {}
    for i in range(1000):
        u = (i + 0.5) / 1000
        ns = round(1000 * factor * noise * (1 + 0.08 * math.log(u / (1 - u)) + (0.004 / (1.0005 - u) if u > 0.98 else 0)))
        bins[ns] = bins.get(ns, 0) + 200
    both = {'width': 1, 'values': sorted(bins), 'counts': [bins[ns] for ns in sorted(bins)]}
    of_flow = {}
    for name in point['metrics']:
        flow, _, bare = name.rpartition('.')
        of_flow.setdefault(flow, {})[bare] = both
    for flow, all_of_it in of_flow.items():
        (rep / flow).mkdir(parents=True)
        data = {'schema': 1, 'metrics': {}, 'histograms': all_of_it}
        (rep / flow / 'data.json').write_text(json.dumps(data))


def stolen(path, busy):
    """As if a hypervisor had taken the time that made the run slow, of 100 s on each of two CPUs."""
    ticks = {'user': 10000, 'idle': 10000, 'steal': round(100 * (busy - 1))}
    changed = [{'key': 'load.stat.cpu.%s_ticks' % k, 'before': 0, 'after': n, 'delta': n, 'class': 'volatile'} for k, n in ticks.items()]
    path.write_text(json.dumps({'schema': 1, 'changed': changed}))


def causes(timer_ns):
    """40 late messages: 30 because of the local timer, 9 unexplained, and one because of a rare task."""
    def entry(kind, side, name, messages, p50):
        return {'class': kind, 'side': side, 'name': name, 'messages': messages, 'share': messages / 40, 'time_p50_ns': p50, 'time_max_ns': 3 * p50}

    return {'metric': 'lat_ns', 'messages': 40, 'explained': 31, 'explained_share': 31 / 40, 'not_known': 0, 'typical_share': 0, 'events_lost': 0,
            'p50_ratio': 1.0, 'p99_ratio': 1.0, 'why': '',
            'causes': [entry('interrupt', 'sink', 'local timer', 30, round(timer_ns)), entry('unexplained', None, '', 9, 4000),
                       entry('task', 'source', 'somebody', 1, 90000)]}


def main():
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    asked = {'boots': 8, 'runs': 1, 'kernel': '6.1.0-50-amd64', 'between': 0.01, 'within': 0.01, 'slower': 0, 'seed': 1,
             'prefix': 'a', 'pairs': 0, 'turn': 0, 'start': 0, 'noise': 0.0, 'steal': 0, 'timer': 0, 'reading': 0, 'split': 0, 'drift': 0.0}
    for word in sys.argv[3:]:
        key, value = word.split('=')
        asked[key] = type(asked[key])(value) if not isinstance(asked[key], int) else float(value)
    rng = random.Random('%s %s' % (asked['seed'], asked['prefix']))
    run, resolved, summary = (read(source / (n + '.json')) for n in ('run', 'resolved', 'summary'))
    (host, about), = run['hosts'].items()
    state = read(source / 'state' / host / 'before' / 'state.json')
    for boot in range(int(asked['boots'])):
        of_boot = 1 + rng.gauss(0, asked['between'])
        identity = about['boot_id'] if asked['pairs'] else '%s-boot-%d' % (asked['prefix'], boot)
        for number in range(int(asked['runs'])):
            folder = out / ('%s-%d-%d' % (asked['prefix'], boot, number))
            before = folder / 'state' / host / 'before'
            before.mkdir(parents=True)
            busy = math.exp(abs(rng.gauss(0, asked['noise']))) if asked['noise'] else 1
            about['boot_id'] = state['keys']['identity.boot_id'] = identity
            state['keys']['identity.kernel'] = asked['kernel']
            step = int(asked['start']) + boot * int(asked['runs']) + number
            run['t0']['realtime_ns'] = 10**18 + (2 * step + int(asked['turn'] + step) % 2) * 10**10 + len(asked['prefix'])
            run['started_utc'] = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(run['t0']['realtime_ns'] // 10**9))
            for point in summary['points']:
                point['valid'], point['reasons'] = True, []
                factor = (1 + asked['slower']) * (1 + asked['drift'] * step) * of_boot * (1 + rng.gauss(0, asked['within'])) * busy
                for metric in point['metrics'].values():
                    numbers(metric, factor, rng)
                histograms(folder, point, factor, rng)
                if asked['timer']:
                    point['causes'] = causes(asked['timer'])
                if asked['reading']:
                    point['stages'] = {'stack_ns': 900.0 * of_boot, 'queue_ns': -3.0 + of_boot, 'wire_ns': 250.0 * of_boot,
                                       'read_ns': asked['reading'] * of_boot, 'messages': 200}
                if asked['split']:
                    point['stages'].update(socket_ns=(asked['reading'] - 1000) * of_boot, take_ns=1000 * of_boot)
            for name, value in (('run', run), ('resolved', resolved), ('summary', summary)):
                (folder / (name + '.json')).write_text(json.dumps(value))
            (before / 'state.json').write_text(json.dumps(state))
            if asked['steal']:
                stolen(folder / 'state' / host / 'changes.json', busy)
            seal(folder)


if __name__ == '__main__':
    main()
