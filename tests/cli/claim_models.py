#!/usr/bin/python3
"""Could a claim of a study hold without its effect?

main(model) is for programs with the arguments KBLAT STUDY OUT. It writes run directories for all
experiments of STUDY (full variant) below OUT. Their numbers come from a model of the source's
machine, in which every effect is a number in `effects`. With the unchanged model, each claim must
hold, and so it must where repetitions differ as those of a quiet machine do (`noisy`): none is too
close to call. For each claim, `claims` gives the effect to be changed so that the claim is no longer
true: then it must not hold. If it has two bounds, the effect is then changed to the other side
(`opposite`), where it must not hold, either. A claim that is not in `claims` is an error, and so is
one that is in `claims` but in no spec. KBTUNE_SYSROOT must be a recorded machine, because specs may ask for
profiles, and this machine must not change.
"""
import collections
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

from boots import seal

# effects: name -> number; claims: "EXPERIMENT/ID" -> what makes it untrue, {effect: number}, or, if the
# model contradicts it, (what makes it true, what makes it untrue); kernels: name -> function of a
# point's params (and `of`, its experiment) and the effects that returns its results.
# undecided: claims that ordinary noise may leave too close to call with the source's repetitions (docs/claims.md says why);
# None: the model is judged without noise; one_sided: those of which the model can exceed one bound only.
Model = collections.namedtuple('Model', 'effects claims kernels undecided one_sided', defaults=(None, ()))

STATE = {'cpu.virtual_machine': 'no', 'rdma.mlx5_0.pci_slot': '0000:03:00.0', 'idle.cpu0.state3.latency_us': '133',
         'frequency.cpu0.driver': 'intel_pstate', 'pci.aspm_policy': 'default', 'pm_qos.cpu_dma_latency_us': 2000000000,
         'cpu.online': '0-23', 'numa.online': '0-1'}


def series(median, least=None, most=400e3, over=0.001, spread=100, lost=0):
    return {'n': 200000, 'lost': lost, 'min': least or 0.9 * median, 'p10': median - spread / 3, 'p50': median,
            'p90': median + 2 * spread / 3, 'p90_p10': spread, 'p99': 1.5 * median, 'p99_9': 2 * median,
            'p99_99': 5 * median, 'max': most, 'mean': 1.05 * median, 'stdev': spread, 'over_limit': over}


def start(kblat, spec, out, *flags):
    """A run of that spec, with a copy of the recorded machine for its profiles; its endpoints cannot start."""
    machine = out / 'machine'
    shutil.copytree(os.environ['KBTUNE_SYSROOT'], machine, symlinks=True)
    return subprocess.Popen([kblat, 'run', str(spec), '--source', 'false', '--sink', 'false', '--out', str(out), *flags],
                            env=dict(os.environ, KBTUNE_SYSROOT=str(machine)), stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def take_head(program, out):
    """run.json and resolved.json of a run, which is killed as soon as these exist."""
    while not list(out.glob('*/resolved.json')) or not list(out.glob('*/run.json')):
        assert program.poll() is None, program.communicate()[1]
        time.sleep(0.01)
    program.kill()
    program.communicate()
    run, = out.glob('*/run.json')  # the folder may have been renamed meanwhile
    return json.loads(run.read_text()), json.loads(run.with_name('resolved.json').read_text())


def granted(p):
    """What both sides of each flow were given: the same link in any case."""
    def sides(transport):
        one = {'device': 'mlx5_0', 'netdev': 'eth0'} if transport == 'verbs' else {'netdev': 'eth0'}
        return {'source': one, 'sink': one}
    flows = p.get('flows', '').split()
    return {flow: sides(p.get(flow + '.transport')) for flow in flows} if flows else sides(p['transport'])


MEDIANS, SPREADS, MAXIMA = 0.01, 0.1, 0.3  # standard deviations from one repetition to the next, as shares


def poisson(dice, mean):
    if mean > 50:
        return max(0, round(dice.gauss(mean, math.sqrt(mean))))
    count, product, end = 0, dice.random(), math.exp(-mean)
    while product > end:
        count, product = count + 1, product * dice.random()
    return count


def noisy_series(dice, one, common, messages):
    made = dict(one, n=messages)
    for key, value in one.items():
        if key in ('p90_p10', 'stdev'):
            made[key] = value * math.exp(dice.gauss(0, SPREADS))
        elif key == 'max':
            made[key] = value * math.exp(dice.gauss(0, MAXIMA))
        elif key == 'over_limit':
            made[key] = poisson(dice, value * messages) / messages
        elif key not in ('n', 'lost'):
            made[key] = value * common
    return made


def noisy_block(dice, block, common):
    made = dict(block)
    for key, value in block.items():
        if key in ('missed_share', 'unsent_share') and value < 0.1:
            made[key] = poisson(dice, value * block['steps']) / block['steps']
        elif key in ('bytes_per_s', 'messages_per_s', 'link_share', 'slowdown', 'share', 'source_share', 'sink_share', 'machine_cpus', 'jain'):
            made[key] = value * common
        elif key == 'achieved_hz':
            made[key] = value * (1 + (common - 1) / 10)
    return made


def noisy(dice, made, messages):
    """A repetition of what the model has made."""
    common = dice.gauss(1, MEDIANS)
    rep = {k: noisy_block(dice, v, common) if isinstance(v, dict) and k.split('.')[-1] in
           ('pacing', 'rate', 'cpu', 'work', 'fairness') else v for k, v in made.items()}
    rep['metrics'] = {name: noisy_series(dice, one, common, messages) for name, one in made['metrics'].items()}
    return rep


def together(made, reps):
    """The numbers of all repetitions, as a summary has them."""
    def of(values, key):
        values = [v for v in values if isinstance(v, (int, float))]
        if key in ('n', 'steps'):
            return sum(values)
        return (max if key == 'max' else min if key == 'min' else statistics.mean if key.endswith('_share') or key == 'over_limit'
                else statistics.median)(values)

    def joined(blocks):
        return {k: of([b[k] for b in blocks], k) if isinstance(v, (int, float)) and k != 'lost' else v for k, v in blocks[0].items()}
    whole = {k: joined([r[k] for r in reps]) if isinstance(v, dict) and k.split('.')[-1] in ('pacing', 'rate', 'cpu', 'work', 'fairness')
             else v for k, v in made.items()}
    whole['metrics'] = {name: joined([r['metrics'][name] for r in reps]) for name in made['metrics']}
    return whole


def write(folder, run, resolved, model, effects, seed):
    """A run of a model with these effects; without a seed all repetitions are the same."""
    dice = random.Random('%s %s' % (seed, resolved['name']))
    points = []
    for point in resolved['points']:
        p = dict(point['params'], of=resolved['name'])
        made = model.kernels[p.get('kernel', 'flows')](p, effects)
        reps = [dict(noisy(dice, made, p.get('messages', 1000)) if seed else made, rep=i) for i in range(p['repetitions'])]
        made = together(made, reps) if seed else made
        points.append(dict(made, id=point['id'], params=point['params'], outcome='completed', why='', valid=True,
                           reasons=[], warnings=[], reps=reps))
        at = folder / 'points' / ('%04d' % point['id'])
        at.mkdir(parents=True)
        (at / 'point.json').write_text(json.dumps(
            {'schema': 1, 'id': point['id'], 'outcome': 'completed', 'why': '',
             'granted': granted(p), 'placement': {}}))
    (host, about), = run['hosts'].items()
    about['roles'] = ['coordinator', 'source', 'sink']
    run.update(status='COMPLETED', valid=True, reasons=[], warnings=[])
    summary = {'schema': 1, 'name': resolved['name'], 'title': '', 'variant': 'full', 'hosts': [host], 'valid': True,
               'reasons': [], 'warnings': [], 'named': resolved['named'], 'points': points}
    state = folder / 'state' / host / 'before'
    state.mkdir(parents=True)
    (state / 'state.json').write_text(json.dumps({'schema': 1, 'keys': STATE}))
    for name, value in (('run', run), ('resolved', resolved), ('summary', summary)):
        (folder / (name + '.json')).write_text(json.dumps(value))
    seal(folder)


class Study:
    def __init__(self, kblat, study, out, model):
        self.kblat, self.out, self.model, self.heads = kblat, out, model, {}
        specs = sorted(spec.parent for spec in study.glob('*/spec.yaml'))
        programs = [start(kblat, spec, out / 'heads' / spec.name) for spec in specs]
        try:
            for spec, program in zip(specs, programs):
                head = take_head(program, out / 'heads' / spec.name)
                self.heads[head[1]['name']] = head
        finally:
            for program in programs:
                program.kill()
                program.wait()

    def claims(self):
        return ['%s/%s' % (name, c['id']) for name, (_, resolved) in self.heads.items() for c in resolved['claims']]

    def claim(self, name):
        experiment, own = name.split('/')
        (made,) = [c for c in self.heads[experiment][1]['claims'] if c['id'] == own]
        return made

    def needed(self, experiment, claim):
        """The experiments of a claim."""
        made = self.claim('%s/%s' % (experiment, claim))
        return {experiment, (made['against'] or {}).get('experiment') or experiment}

    def judge(self, name, experiments, effects, seed=None):
        """Claim -> (verdict, why, measured, values of its cases) in a model with these effects."""
        folders = []
        for experiment in sorted(experiments):
            folders.append(self.out / name / experiment)
            run, resolved = self.heads[experiment]
            write(folders[-1], json.loads(json.dumps(run)), resolved, self.model, dict(self.model.effects, **effects), seed)
        said = subprocess.run([self.kblat, 'claims', '--json'] + [str(f) for f in folders], capture_output=True, text=True)
        assert said.returncode in (0, 3, 4), said.stderr
        return {'%s/%s' % (c['experiment'], c['id']): (c['verdict'], c['why'], c['measured'], [x['value'] for x in c['cases']])
                for c in json.loads(said.stdout)['claims']}


def opposite(usual, untrue, step):
    """An effect changed in the other direction than the one that makes a claim untrue, further with each step."""
    if usual > 0 and untrue > 0:
        return usual * (usual / untrue) ** (2 ** step)
    return usual + (usual - untrue) * 2 ** step


def beyond(bounds, values):
    """Which bound do the values exceed: -1, 1, or 0?"""
    known = [v for v in values if v is not None]
    return -1 if any(v < bounds[0] for v in known) else 1 if any(v > bounds[1] for v in known) else 0


def other_side(study, name, claim, changes, values):
    """What is wrong with the other one of a claim's two bounds; None: it is shown to fail, or has no other side."""
    made = study.claim(claim)
    if made['min'] is None or made['max'] is None or claim in study.model.one_sided:
        return None
    side = beyond((made['min'], made['max']), values)
    for step in range(6):
        effects = {e: opposite(study.model.effects[e], v, step) for e, v in changes.items()}
        verdict = study.judge('%s-%d' % (name, step), study.needed(*claim.split('/')), effects)[claim]
        reached = beyond((made['min'], made['max']), verdict[3])
        if side and reached == -side:
            return '%s: holds beyond its other bound: %s' % (claim, verdict) if verdict[0] == 'holds' else None
    return '%s: its other bound is not shown to fail' % claim


SEEDS = 2


def main(model):
    kblat, where, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    assert 'KBTUNE_SYSROOT' in os.environ
    study = Study(kblat, where, out, model)
    wrong = ['%s: not in the table of this test' % c for c in study.claims() if c not in model.claims]
    wrong += ['%s: in the table of this test, but no claim' % c for c in model.claims if c not in study.claims()]
    unknown = {e for changes in model.claims.values() for c in (changes if isinstance(changes, tuple) else [changes])
               for e in c if e not in model.effects}
    wrong += ['%s: no effect of the model' % e for e in sorted(unknown)]
    wrong += ['%s: no claim' % c for c in model.undecided or [] if c not in model.claims]
    present = study.judge('present', study.heads, {})
    noisy_ones = [study.judge('present-%d' % seed, study.heads, {}, seed) for seed in range(1, 1 + SEEDS)] if model.undecided is not None else []
    for number, claim in enumerate(c for c in study.claims() if c in model.claims):
        changes = model.claims[claim]
        true, untrue = changes if isinstance(changes, tuple) else ({}, changes)
        needed = study.needed(*claim.split('/'))
        verdict = study.judge('true-%d' % number, needed, true)[claim] if true else present[claim]
        if verdict[0] != 'holds':
            wrong.append('%s: with its effect present: %s' % (claim, verdict))
        for seed, verdicts in enumerate([] if true or claim in (model.undecided or []) else noisy_ones, 1):
            if verdicts[claim][0] != 'holds':
                wrong.append('%s: with noise (seed %d): %s' % (claim, seed, verdicts[claim]))
        exact = study.judge('untrue-%d' % number, needed, untrue)[claim]
        for verdict in (exact, study.judge('untrue-noisy-%d' % number, needed, untrue, 'untrue')[claim]):
            if verdict[0] == 'holds':
                wrong.append('%s: holds without its effect: %s' % (claim, verdict))
        if model.undecided is not None:
            wrong += filter(None, [other_side(study, 'other-%d' % number, claim, untrue, exact[3])])
    print('\n'.join(wrong))
    print('%d claims' % len(study.claims()))
    sys.exit(bool(wrong))
