#!/usr/bin/python3
"""infiniswap_claims.py KBLAT STUDY OUT: could a claim of Infiniswap's study hold without its effect? (claim_models.py)"""
from claim_models import Model, main, series

EFFECTS = {
    'large': 28.234, 'small': 20.535,  # Gb/s of the two elephants
    'equal_tcp': 1, 'equal_verbs': 1,  # flows with messages of one size: the second against the first
    'alone': 1,                        # a flow of 1 MB by itself against one of 1 GB
    'beside': 1.5,                     # a mouse beside an elephant against one alone
}

CLAIMS = {
    'elephants/large-gets-more': {'large': 20.535},
    'elephants/jain': {'large': 20.535},
    'elephants/equal-flows-tcp': {'equal_tcp': 0.5},
    'elephants/equal-flows-verbs': {'equal_verbs': 0.5},
    'elephants-alone/small-fills-the-link': {'alone': 0.8},
    'elephant-mouse/mouse-waits-tcp': {'beside': 1},
    'elephant-mouse/mouse-waits-verbs': {'beside': 1},
    'elephant-mouse/mouse-write-waits': {'beside': 1},
}

def shares(large, small):
    both = large + small
    jain = both ** 2 / (2 * (large ** 2 + small ** 2))
    return {'metrics': {}, 'fairness': {'jain': jain, 'jain_min': jain},
            'large.fairness': {'share': large / both}, 'small.fairness': {'share': small / both}}


def flows(p, e):
    if p['of'] == 'elephant-mouse':
        return {'metrics': {'mouse.rtt_ns': series(5000 * e['beside']), 'mouse.comp_lat_ns': series(2000 * e['beside'])}}
    if p['large.messages'] == 1000:
        return shares(e['large'], e['small'])
    return shares(1, e['equal_' + p['large.transport']])


def stream(p, e):
    rate = 6e9 * (e['alone'] if p['size_bytes'] == 1000000 else 1)
    return {'metrics': {'comp_lat_ns': series(2000)}, 'rate': {'bytes_per_s': rate}}


def pingpong(p, e):
    return {'metrics': {'rtt_ns': series(5000)}}


if __name__ == '__main__':
    main(Model(EFFECTS, CLAIMS, {'flows': flows, 'stream': stream, 'pingpong': pingpong}))
