#!/usr/bin/python3
"""ramcloud_claims.py KBLAT STUDY OUT: could a claim of RAMCloud's study hold without its effect? (claim_models.py)"""
from claim_models import Model, main, series

# What the source measured, in ns; `period…` are cycles as messages, and 0 where there is none.
EFFECTS = {
    'base': 3150, 'scripted': 1,
    'one': 12500, 'one_modes': 1.36, 'one_shared': 5400, 'one_pattern': 0,
    'cycle': 1, 'phase': 0, 'slow': 1, 'half': 1, 'half_phase': 0, 'cycle_10000': 1,
    'alternation': 2, 'alternation_ns': 4400, 'client': 2980, 'client_cycle': 32, 'client_phase': 30, 'client_last': 32,
    'client_slow': 4950, 'master': 3900, 'master_alternates': 0, 'master_cycle': 32, 'master_phase': 31, 'master_last': 32,
    'master_slow': 4500,
    'regions': 0.02, 'sge_16': 1.2, 'sge_within': 1, 'sge_median': 1, 'sge_phase': 31,
    'bulk': 1.3, 'bulk_phase': 32, 'bulk_median': 0.98, 'after': 0.95, 'after_stdev': 1.3, 'one_before': 0.3,
    'spin_cycle': 32, 'spin_first': 31, 'spin_last': 32, 'spin_slow': 1, 'no_spin_cycle': 32,
    'pairs': 1, 'pairs_cycle': 32, 'pairs_own': 0,
    'sge_8': 650, 'sge_8_share': 0, 'large': 1.006, 'size': 1, 'gain': 1, 'replicas': 2.4, 'at_once': 1,
}


def high(phases, ns):
    return {'phases': phases, 'p50_ns': round(ns)}


def phases(first, last):
    return '%d-%d' % (first, last) if first < last else '%d' % first


def level(period, *highs):
    return {'period': period, 'strength': 0.2, 'high': list(highs), 'low': []}


def pattern(base, levels, of='rtt_ns', others=None):
    """The block of these periods, the strongest first; those without a period are not there."""
    levels = [at for at in levels if at['period'] and at['high']]
    made = {'series': of, 'period': None, 'strength': 0, 'base_ns': None, 'high_ns': None, 'high_first': None,
            'high_last': None, 'high': [], 'low': [], 'nested': levels[1:], 'entries': 50000, 'longest': 2048,
            'evidence': 100.0, 'threshold': 10.0, 'shuffles': 20, 'seed': 1, 'reps': []}
    if levels:
        slow = max(levels[0]['high'], key=lambda h: h['p50_ns'])
        ends = [int(n) for n in slow['phases'].split('-')]
        made.update(levels[0], base_ns=round(base), high_ns=slow['p50_ns'], high_first=ends[0], high_last=ends[-1])
    if others is not None:
        made['others'] = others
    return made


def results(median, repeats, spread=100, stdev=50):
    return {'metrics': {'rtt_ns': dict(series(median, spread=spread), stdev=stdev),
                        'half_rtt_ns': series(median / 2)}, 'pattern': repeats}


def slow(e, ns):
    return 3150 + e['slow'] * (ns - 3150)


def cycles(e, first, last, period, ns):
    return level(period * (e['cycle'] > 0), high(phases(first + e['phase'], last + e['phase']), slow(e, ns)))


def receive_depth(p, e):
    n, shared = p['recv_depth'], p['recv_queue'] == 'srq'
    base, spread, found = e['base'], 60, []
    if n == 1:
        base = e['one_shared'] if shared else e['one']
        spread = base * (e['one_modes'] - 1) * (1 if not shared else 0.02)
        found = [level(e['one_pattern'], high('1', 2 * base))]
    elif n in (16, 32) and not shared:
        found = [cycles(e, n - 2, n, n, 7200 if n == 16 else 7400)]
    elif n == 16:
        found = [cycles(e, 15, 16, 16, 4400)]
    elif n == 32:
        both = cycles(e, 31, 32, 32, 4400)
        both['high'].append(high(phases(15 + e['half_phase'], 16 + e['half_phase']), 3150 + e['half'] * 700))
        found = [level(16 * (e['cycle'] > 0), high('15-16', 3950)), both]
    elif n == 10000:
        at = ((16, 3800), (128, 4500)) if shared else ((32, 3800), (128, 4500), (256, 5500))
        found = [cycles(e, k - 1, k, k, ns) for k, ns in at] if e['cycle_10000'] else []
    made = results(base, pattern(base, found), spread=spread)
    made['metrics']['rtt_ns'].update(p10=base, p90=base + spread)
    return made


def two_views(p, e):
    client = [level(e['alternation'], high('2', e['alternation_ns'])),
              level(e['client_cycle'], high(phases(e['client_phase'], e['client_last']), e['client_slow']))]
    master = [level(2 * e['master_alternates'], high('2', 5000)),
              level(e['master_cycle'], high(phases(e['master_phase'], e['master_last']), e['master_slow']))]
    return results(3600, pattern(e['client'], client, others={'turn_ns': pattern(e['master'], master, 'turn_ns')}))


def return_policy(p, e):
    if p['recv_depth'] == 1:
        base = e['one_shared'] if p['recv_queue'] == 'srq' else e['one']
        return results(base * (e['one_before'] if p['release'] == 'before' and p['recv_queue'] == 'qp' else 1), pattern(base, []))
    bulk, after = p['return'] == 'bulk', p['release'] == 'after'
    base = e['base'] * (e['bulk_median'] if bulk else 1) * (e['after'] if after else 1)
    last = e['bulk_phase'] if bulk else 32
    found = [level(32, high(phases(last - 1, last), 4400 * (e['bulk'] if bulk else 1)))]
    return results(base, pattern(base, found), stdev=50 * (e['after_stdev'] if after else 1))


def shared_queue(p, e):
    n = p['queue_pairs']
    found = [level(e['pairs_cycle'], high('31-32', 4400))]
    found += [level(n * e['pairs_own'], high('%d' % n, 3500))] if n > 1 else []
    return results(e['base'] * (e['pairs'] if n > 1 else 1), pattern(e['base'], found))


def spin_between(p, e):
    spins = p['pause_ns'] > 0
    first, last = (e['spin_first'], e['spin_last']) if spins else (31, 32)
    found = [level(e['spin_cycle'] if spins else e['no_spin_cycle'], high(phases(first, last), 4400 * (e['spin_slow'] if spins else 1)))]
    return results(e['base'], pattern(e['base'], found))


def clusterperf(p, e):
    size = p['answer_bytes'] if p['of'] == 'clusterperf-read' else p['size_bytes']
    least = 5000 if p['of'] == 'clusterperf-read' else 5800
    median = least + e['size'] * size * (0.43 if p['of'] == 'clusterperf-read' else 0.98)
    if p['recv_sge'] == 8:
        median += e['sge_8'] if size < 10000 else 500 / 650 * e['sge_8'] if size == 10000 else (e['large'] - 1) * median
    made = results(median, pattern(median, []))
    made['rate'] = {'messages_per_s': 1e9 / median, 'bytes_per_s': size * 1e9 / median}
    return made


REPLICAS = {100: (14.9, 14.0), 1000: (18.9, 17.9), 10000: (37.4, 36.9), 100000: (244.2, 244.2), 1000000: (2358, 2330)}


def replicas(p, e):
    """What the source measured, times `gain` where it gains something; the client's own way is part of it."""
    size, eight, one = p['client.size_bytes'], *REPLICAS[p['client.size_bytes']]
    median = 1000 * (eight if p['client.recv_sge'] == 8 or (e['gain'] == 0 and eight != one) else one * (1.05 if e['gain'] > 1 else 1))
    median *= e['replicas'] / 2.4
    made = {'client.rate': {'messages_per_s': 1e9 / median, 'bytes_per_s': size * 1e9 / median}}
    own = median / (2 if e['at_once'] else 4)
    made['metrics'] = {'%s.%s' % (flow, name): series(value) for flow, value in
                       (('client', median), ('one', own), ('two', own), ('three', own)) for name in ('rtt_ns', 'half_rtt_ns')}
    return made


def max_sge(p, e):
    sge = p['recv_sge']
    base = e['base'] * (e['sge_16'] if sge == 16 else 1)
    odd = sge in (3, 7, 15)
    return results(base * (e['sge_median'] if odd else 1), pattern(base, [level(32, high(phases(e['sge_phase'] if odd else 31, 32),
                                                                                                4400 * (e['sge_within'] if odd else 1)))]))


def registration(p, e):
    base = e['base'] * (1 + e['regions'] * (p['regions'] / 10000))
    return results(base, pattern(base, []))


def known_pattern(p, e):
    """Is measured: what is scripted is what is there, unless nothing is."""
    found, base, script = [], p['delay_ns'] * 2, p['pattern'].split() if e['scripted'] else []
    for number, one in enumerate(script):
        period, phase, longer = one.split(':')
        ns = 2 * int(longer[:-2] if longer.endswith('ns') else longer[:-2] + '000')
        first, last = (phase.replace(',', '-').split('-') + [phase])[:2]
        before = found[-1]['high'][0]['p50_ns'] - base if found and int(period) % found[-1]['period'] == 0 else 0
        found.append(level(int(period), high(phases(int(first), int(last)), base + ns + before)))
    if p['pattern'] == '32:31-32:625ns 32:15-16:350ns' and script:
        found = [level(16, high('15-16', 3950)), dict(level(32, high('31-32', 4400), high('15-16', 3850)))]
    if not e['scripted']:
        found = [level(2, high('2', base + 10))]
    turn = pattern(base, found[-1:] if e['scripted'] else [], 'turn_ns')
    return results(base, pattern(base, found, others={'turn_ns': turn}))


MODELS = {'receive-depth': receive_depth, 'two-views': two_views, 'return-policy': return_policy,
          'spin-between': spin_between, 'shared-queue': shared_queue, 'clusterperf-read': clusterperf, 'clusterperf-write': clusterperf, 'clusterperf-replicas': replicas,
          'max-sge': max_sge, 'registration-granularity': registration, 'known-pattern': known_pattern}


def pingpong(p, e):
    return MODELS[p['of']](p, e)


def depth_claims():
    for name in ('cycle-16', 'cycle-16-srq', 'cycle-32', 'cycle-32-srq', 'cycles-10000-32', 'cycles-10000-128',
                 'cycles-10000-256', 'cycles-10000-srq-16', 'cycles-10000-srq-128'):
        yield name, {'cycle_10000' if name.startswith('cycles') else 'cycle': 0}
        yield name + '-first', {'phase': -1}
        yield name + '-last', {'phase': -1}
        yield name + '-height', {'slow': 0.05}


CLAIMS = {'receive-depth/' + name: changes for name, changes in depth_claims()}
CLAIMS.update({
    'receive-depth/one-two-modes': {'one_modes': 1.05},
    'receive-depth/one-no-pattern': {'one_pattern': 4},
    'receive-depth/one-is-slow': {'one': 3150},
    'receive-depth/one-shared': {'one_shared': 3150},
    'receive-depth/one-shared-almost-all': {'one_modes': 20},
    'receive-depth/one-shared-no-pattern': {'one_pattern': 4},
    'receive-depth/cycle-32-srq-half-first': {'half_phase': -1},
    'receive-depth/cycle-32-srq-half-last': {'half_phase': -1},
    'receive-depth/cycle-32-srq-half-height': {'half': 0.1},
    'two-views/client-alternates': {'alternation': 0},
    'two-views/client-alternates-height': {'alternation_ns': 3000},
    'two-views/client-cycle': {'client_cycle': 0},
    'two-views/client-cycle-first': {'client_phase': 31},
    'two-views/client-cycle-last': {'client_last': 31},
    'two-views/client-cycle-height': {'client_slow': 3100},
    'two-views/master-no-alternation': {'master_alternates': 1},
    'two-views/master-cycle': {'master_cycle': 0},
    'two-views/master-cycle-first': {'master_phase': 30},
    'two-views/master-cycle-last': {'master_last': 31},
    'two-views/master-cycle-height': {'master_slow': 3950},
    'two-views/master-base': {'master': 2980},
    'registration-granularity/more-regions-are-slower': {'regions': 0},
    'max-sge/one-is-fastest': {'sge_16': 1},
    'return-policy/bulk-nth': {'bulk': 1},
    'return-policy/bulk-nth-phase': {'bulk_phase': 31},
    'return-policy/each-is-cheap': {'bulk_median': 0.7},
    'return-policy/after-is-faster': {'after': 1},
    'return-policy/after-varies-more': {'after_stdev': 1},
    'return-policy/one-before-is-faster': {'one_before': 1},
    'shared-queue/one-queue-is-enough': {'pairs': 1.3},
    'shared-queue/buffers-not-queue-pairs': {'pairs_cycle': 0},
    'shared-queue/no-cycle-of-queue-pairs': {'pairs_own': 1},
    'spin-between/same-cycle': {'spin_cycle': 16},
    'spin-between/there-is-a-cycle': {'spin_cycle': 0, 'no_spin_cycle': 0},
    'spin-between/same-first': {'spin_first': 30},
    'spin-between/same-last': {'spin_last': 31},
    'spin-between/same-height': {'spin_slow': 1.3},
})
for suffix in ('', '-4', '-8'):
    CLAIMS['max-sge/same-pattern' + suffix] = {'sge_within': 1.2}
    CLAIMS['max-sge/same-phase' + suffix] = {'sge_phase': 30}
    CLAIMS['max-sge/steps-at-powers-of-two' + suffix] = {'sge_median': 1.1}
for kind in ('read', 'write'):
    CLAIMS.update({'clusterperf-%s/%s%s' % (kind, kind, what): {'sge_8': 0}
                   for what in ('100', '1k', '10k', '-bw100', '-bw1k', '-bw10k')})
    CLAIMS.update({'clusterperf-%s/%s%s' % (kind, kind, what): {'large': 1.05} for what in ('1m', '-bw1m')})
    CLAIMS['clusterperf-%s/larger-is-slower' % kind] = {'size': 0}
CLAIMS.update({'clusterperf-replicas/write' + what: {'gain': 0} for what in ('100', '1k', '10k', '1m', '-bw100', '-bw1k', '-bw10k', '-bw1m')})
CLAIMS.update({'clusterperf-replicas/write' + what: {'gain': 2} for what in ('100k', '-bw100k')})
CLAIMS.update({'clusterperf-replicas/replicas-cost': {'replicas': 1.2}, 'clusterperf-replicas/asked-at-once': {'at_once': 0}})
for what in ('period', 'first-phase', 'last-phase', 'height', 'nothing', 'alternation', 'alternation-cycle',
             'alternation-phase', 'no-alternation', 'turn', 'cycle-16', 'cycle-16-height', 'two-heights',
             'two-heights-next', 'two-heights-height', 'nested', 'nested-twice', 'nested-height', 'cycle-16-srq',
             'cycle-16-srq-height', 'cycle-32', 'cycle-32-height', 'nested-srq', 'nested-srq-height'):
    CLAIMS['known-pattern/' + what] = {'scripted': 0}

if __name__ == '__main__':
    main(Model(EFFECTS, CLAIMS, {'pingpong': pingpong, 'exchange': pingpong, 'flows': pingpong}))
