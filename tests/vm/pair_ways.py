#!/usr/bin/python3
"""Evaluates a point of the kernel `exchange` between two guests, from its columns.

    pair_ways.py sums POINT      medians of there, back, turn and round trip, for the tenth of all messages with the shortest round trips
    pair_ways.py delays POINT    how much later every second repetition is than the others: there, back, and in round trips

An emulated CPU stops for milliseconds whenever the host is busy; round trips, which are measured by
one clock, show which messages were affected. Times are in us. POINT is a directory.
"""
import glob
import statistics
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


def sums(repetitions):
    shortest = sorted((m for r in repetitions for m in messages(r)), key=lambda m: m[3])
    return [statistics.median(way) for way in zip(*shortest[:len(shortest) // 10])]


def least(repetitions):
    """The shortest times there, back, and of the round trip without the turn."""
    return [min(way) for way in zip(*((there, back, trip - turn) for r in repetitions for there, back, turn, trip in messages(r)))]


def delays(repetitions):
    late, plain = least(repetitions[1::2]), least(repetitions[::2])
    print('# delayed', *map(round, late), 'not delayed', *map(round, plain), file=sys.stderr)
    return [a - b for a, b in zip(late, plain)]


print(*[round(value) for value in {'sums': sums, 'delays': delays}[sys.argv[1]](sorted(glob.glob(sys.argv[2] + '/rep-*')))])
