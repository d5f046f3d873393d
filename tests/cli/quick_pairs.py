#!/usr/bin/python3
"""quick_pairs.py KBLAT STUDY OUT: does a quick variant compare what differs in more than the claim says?

What a claim compares may differ, in the quick variant, only in settings in which it differs in the
full one: not in how messages are paced, polled or sent. KBTUNE_SYSROOT must be a recorded machine.
"""
import pathlib
import sys

from claim_models import start, take_head

# How long to measure: this makes no message faster.
EXTENT = {'messages', 'repetitions', 'rounds', 'warmup', 'depth', 'recv_depth', 'window_ns', 'timeout_ns', 'drain_ns'}
TESTS = {'<=': lambda a, b: a <= b, '>=': lambda a, b: a >= b, '<': lambda a, b: a < b, '>': lambda a, b: a > b,
         '!=': lambda a, b: a != b}


def matches(value, alternatives):
    def one(wanted):
        if not isinstance(wanted, dict):
            return value == wanted
        return all(isinstance(value, type(limit)) and TESTS[how](value, limit) for how, limit in wanted.items())
    return any(one(a) for a in alternatives)


def selected(points, conditions):
    return [p['params'] for p in points
            if all(k in p['params'] and matches(p['params'][k], v) for k, v in conditions.items())]


def of_flow(params, metric):
    """The settings of the metric's flow: client.poll as poll."""
    flow = metric.split('.')[0] + '.'
    own = {k[len(flow):]: v for k, v in params.items() if k.startswith(flow)}
    return own or {k: v for k, v in params.items() if '.' not in k}


def differing(claim, heads, name):
    """The settings in which pairs of its points differ."""
    against, found = claim['against'], set()
    other = heads.get(against['experiment'] or name)
    if not other:
        return found
    for p in selected(heads[name]['points'], claim['points']):
        for q in selected(other['points'], against['points']):
            a, b = of_flow(p, claim['metric']), of_flow(q, against['metric'])
            if claim['by'] is None or all(a.get(k) == b.get(k) for k in claim['by']):
                found |= {k for k in a.keys() & b.keys() if a[k] != b[k]} - EXTENT
    return found


def heads_of(kblat, study, out, *flags):
    heads = {}
    for spec in sorted(study.glob('*/spec.yaml')):
        program = start(kblat, spec.parent, out / spec.parent.name, *flags)
        try:
            _, resolved = take_head(program, out / spec.parent.name)
        finally:
            program.kill()
            program.wait()
        heads[resolved['name']] = resolved
    return heads


def main():
    kblat, study, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    full, quick = heads_of(kblat, study, out / 'full'), heads_of(kblat, study, out / 'quick', '--quick')
    wrong = compared = 0
    for name, resolved in full.items():
        for claim in resolved['claims']:
            if not claim['against'] or any(n['need'] == 'full' for n in claim['needs']):
                continue
            compared += 1
            more = differing(claim, quick, name) - differing(claim, full, name)
            if more:
                wrong += 1
                print('%s/%s: its quick variant compares what differs in %s, too' % (name, claim['id'], ', '.join(sorted(more))))
    print('%d claims that compare' % compared)
    sys.exit(bool(wrong))


main()
