#!/usr/bin/python3
"""Evaluates a point of the kernel `exchange` between two guests, from its columns.

    pair_ways.py ways POINT      no message arrives before it was sent, and the ways reported sum up to the round trip; prints the least of each
    pair_ways.py delays POINT    how much later every second repetition is than the others: there, back, and in round trips; and how far those that
                                 should be alike are apart, at most

An emulated CPU stops for milliseconds whenever the host is busy, in the middle of a message too: no
median is compared with another. Times are in us. POINT is a directory.
"""
import glob
import json
import struct
import sys


def column(repetition, name):
    data = open(f'{repetition}/{name}.npy', 'rb').read()
    begin = 10 + struct.unpack('<H', data[8:10])[0]
    return [value / 1e3 for value in struct.unpack(f'<{(len(data) - begin) // 8}q', data[begin:])]


def messages(repetition):
    """(there, back, turn, round trip) of each message."""
    sent, received, answered, back = (column(repetition, name) for name in ('t_subm', 't_recv', 't_answer', 't_back'))
    return [(b - a, d - c, c - b, d - a) for a, b, c, d in zip(sent, received, answered, back)]


def ways(repetitions):
    summary = json.load(open(sys.argv[2] + '/summary.json'))
    metrics = [summary['metrics'][name] for name in ('lat_ns', 'back_lat_ns', 'turn_ns', 'rtt_ns')]
    error = summary['clock']['error_ns'] / 1e3
    each = [m for r in repetitions for m in messages(r)]
    assert {m['n'] for m in metrics} == {len(each)}, (metrics, len(each))
    for there, back, turn, trip in each:
        assert there >= -error and back >= -error and turn >= 0, (there, back, turn, trip, error)
    smallest = [min(way) for way in zip(*each)]
    assert all(abs(s - m['min'] / 1e3) < 0.001 for s, m in zip(smallest, metrics)), (smallest, metrics)
    # Pauses do not matter to means: these sum up, whatever lay between.
    *parts, trip = [m['mean'] / 1e3 for m in metrics]
    assert abs(sum(parts) - trip) < 1e-6 * trip, metrics
    return smallest


def least(repetitions):
    """The shortest times there, back, and of the round trip without the turn."""
    return [min(way) for way in zip(*((there, back, trip - turn) for r in repetitions for there, back, turn, trip in messages(r)))]


def delays(repetitions):
    late, plain = least(repetitions[1::2]), least(repetitions[::2])
    print('# delayed', *map(round, late), 'not delayed', *map(round, plain), file=sys.stderr)
    alike = [(least(repetitions[i::4]), least(repetitions[i + 2::4])) for i in (0, 1)]
    return [a - b for a, b in zip(late, plain)] + [max(abs(a - b) for one, other in alike for a, b in zip(one, other))]


print(*[round(value) for value in {'ways': ways, 'delays': delays}[sys.argv[1]](sorted(glob.glob(sys.argv[2] + '/rep-*')))])
