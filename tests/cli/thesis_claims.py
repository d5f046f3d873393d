#!/usr/bin/python3
"""thesis_claims.py KBLAT STUDY OUT: could a claim of the thesis hold without its effect? (claim_models.py)"""
import math

from claim_models import Model, main, series

# The effects of the model, as measured by the source; factors unless stated otherwise.
EFFECTS = {
    'busy': 1269, 'uc': 0.986, 'ud': 1.003,                     # ns; UC and UD against RC
    'wake': 2339, 'uc_event': 0.997, 'ud_event': 0.976,         # ns more with completion channels
    'queue': 5,                                                 # a free-running burst
    'pause_event': 2.2, 'pause_busy': 1.2, 'power': 1,          # power: ASPM off, DMA latency 0
    'early_peak': 0.35, 'peak_with_pause': 0,
    'rc_comp': 1.3, 'unreliable_comp': 0.7, 'comp_by_event': 3, 'ud_comp_event': 0.8,
    'max': 400e3, 'max_busy_rc': 0.86, 'max_busy': 0.64, 'max_warm': 0.6, 'max_pause': 0.9,
    'over': 0.001, 'over_uc': 0.595, 'over_ud': 1.665, 'over_busy': 0.1, 'over_busy_uc': 0.2,
    'after_read': 0.58, 'inline': 0.717, 'unsignalled': 0.87,
    'write': 1.03, 'write_inline': 1.03, 'write_spread': 0.8, 'write_max': 0.8, 'write_over': 0.2,
    'slope_small': 0, 'slope': 0.35, 'inline_large': 1.15, 'gap': 1,
    'spread_large': 1.5, 'spread_mtu': 0.7, 'buffers': 0, 'knee_16': 1,
    'untouched_max': 800e3, 'touched_max': 300e3, 'fault': 1.5,
    'roundtrip': 0.95, 'ud_roundtrip': 1.04, 'mtu': 1, 'cm_small': 1.04, 'cm_large': 1,
    'roundtrip_max': 20e3, 'max_by_samples': 2.5,
    'node': 1000, 'shmem': 250, 'node_ud': 1.05, 'node_uc': 0.96, 'rare': 0.1, 'shmem_rare': 0.1, 'values': 0.15,
    'deep_max': 10, 'node_ud_spread': 1.3, 'threshold': 1.02,
    'peer': 10, 'peer_spread': 3, 'peer_missed': 0.02, 'peer_missed_rare': 0, 'peer_lost': 0, 'link': 1, 'link_knee': 3,
    'missed': 0.005, 'missed_verbs': 0.001, 'timerfd_missed': 0.0018, 'force_missed': 0.1,
    'timerfd': 1.1, 'timerfd_plain_spread': 2, 'plain': 1.1, 'force': 700, 'force_spread': 1.5, 'force_max': 3,
    'busy_least': 0.9,
    'tick_error': 1.088235, 'missing': 0,
    'file': 20 << 20,                                           # B/s through a file in the sending path
}

# Claim -> what makes it untrue; if the model contradicts it: (what makes it true, what makes it untrue).
CLAIMS = {
    'erratum-tsc-rate/at-100-hz': {'tick_error': 1},
    'erratum-tsc-rate/at-2500-hz': {'tick_error': 1},
    'erratum-tsc-rate/at-10-khz': {'missing': 0.03},
    'erratum-tsc-rate/rate-at-100-hz': {'tick_error': 1},
    'erratum-tsc-rate/rate-at-2500-hz': {'tick_error': 1},
    'erratum-tsc-rate/rate-at-10-khz': {'tick_error': 1},
    'node-file/holds-back': {'file': 1e12},
    'node-file/missed': {'file': 1e12},
    'node-file/threshold': {'file': 1e12},
    'node-peers/ten-times': {'peer': 1},
    'node-peers/steadier': {'peer_spread': 1},
    'node-peers/shared-memory-is-faster': {'peer': 0.25, 'rare': 0, 'shmem_rare': 0},
    'node-peers/libraries-miss': {'peer_missed': 0.005},
    'node-peers/misses-alike-when-rare': {'peer_missed_rare': 0.02},
    'node-peers/misses-alike-as-the-adapter': {'peer_missed_rare': 0.02},
    'node-peers/nothing-lost': {'peer_lost': 3},
    'node-peers-link/as-loopback': {'link': 2},
    'node-peers-link/knee': {'link_knee': 1},
    'node-rate/falls': {'rare': 0},
    'node-rate/slow-when-rare': {'rare': 0},
    'node-rate/alike': {'node_ud': 1.3},
    'node-rate/rc-steadier': {'node_ud_spread': 1},
    'node-rate-size/range': {'node': 6000},
    'node-rate-size/fastest-when-small-and-often': {'rare': 0, 'values': 0},
    'node-rate-size/fastest-of-the-grid': {'rare': 0, 'values': 0},
    'node-rate-size/uc-below-rc': {'node_uc': 1},
    'node-rate-size/ud-above-rc': {'node_ud': 1},
    'node-rate-size/reference-lowest': {'shmem': 1000},
    'node-receive-queue/deep-queue-late': {'deep_max': 1},
    'node-reference/what-the-adapter-adds': {'node': 250},
    'node-reference/shared-memory-is-faster': {'shmem': 1000},
    'node-reference/shared-memory-slow-when-rare': {'shmem_rare': 0},
    'node-reference/no-back-pressure': {'missed_verbs': 0.05},
    'node-signalling/half-is-best': {'threshold': 1},
    'node-size/rises': {'values': 0},
    'node-size/rc-lower': {'node_ud': 1},
    'node-size/rc-steadier': {'node_ud_spread': 1},
    'oneway-buffers/hardly': {'buffers': 0.05},
    'oneway-buffers/knee': ({'knee_16': 1.2}, {}),
    'oneway-busy/busy-beats-event': {'wake': 0},
    'oneway-busy/alike': {'ud': 1.2},
    'oneway-busy/unreliable-complete-before-reception': {'unreliable_comp': 1},
    'oneway-busy/completion-by-event': {'comp_by_event': 1},
    'oneway-busy/maxima': {'max_busy_rc': 1, 'max_busy': 1},
    'oneway-busy/maxima-with-pause': {'max_pause': 0.3},
    'oneway-busy/fewer-over-10us': {'over_busy': 1},
    'oneway-busy/fewer-over-10us-uc': {'over_busy_uc': 1},
    'oneway-busy/no-early-peak': {'busy_least': 0.35},
    'oneway-busy/pause': {'pause_busy': 1},
    'oneway-busy-pm/pause-stays': {'power': 0.85},
    'oneway-busy-pm/still-slower': {'pause_busy': 1},
    'oneway-event/uc-as-rc': {'uc_event': 0.97},
    'oneway-event/ud-below-rc': {'ud_event': 1},
    'oneway-event/few-over-10us': {'over': 0.01},
    'oneway-event/ud-most-over-10us': {'over_ud': 1},
    'oneway-event/uc-least-over-10us': {'over_uc': 1},
    'oneway-event/rc-completes-after-reception': {'rc_comp': 1},
    'oneway-event/ud-completes-before-reception': {'ud_comp_event': 1},
    'oneway-event/pause': {'pause_event': 1},
    'oneway-event/no-early-peak-with-pauses': {'peak_with_pause': 1},
    'oneway-event/maxima-are-cold': {'max_warm': 1},
    'oneway-first-touch/untouched': {'untouched_max': 300e3},
    'oneway-first-touch/touched': {'touched_max': 800e3},
    'oneway-first-touch/faults-delay': {'fault': 1},
    'oneway-inline/inline': {'inline': 1},
    'oneway-inline/sub-microsecond': {'inline': 1},
    'oneway-message-size/flat-when-small': {'slope_small': 0.1},
    'oneway-message-size/inline-when-small': {'inline': 1},
    'oneway-message-size/inline-slower-from-256': {'inline_large': 1},
    'oneway-message-size/rises': {'slope': 0},
    'oneway-message-size/rises-ud': {'slope': 0},
    'oneway-message-size/spread-grows': {'spread_large': 1},
    'oneway-message-size/steadier-from-mtu': {'spread_mtu': 1},
    'oneway-message-size/send-faster': {'write': 1},
    'oneway-message-size/send-or-write': {'write': 1.3},
    'oneway-message-size-inline/step': {'inline_large': 0.717, 'slope': 0},
    'oneway-message-size-inline/flat-below': {'slope_small': 0.1},
    'oneway-message-size-wait/no-congestion': {'gap': 0.7},
    'oneway-message-size-wait/still-rises': {'slope': 0},
    'oneway-rdma/write-slower': {'write': 1},
    'oneway-rdma/write-steadier': {'write_spread': 1},
    'oneway-rdma/uc-over-10us': {'write_over': 1},
    'oneway-rdma/maxima': {'write_max': 1},
    'oneway-submit-send/before-the-read': {'after_read': 1},
    'oneway-submit-send/read-after-submission': {'after_read': 1},
    'oneway-unsignaled-inline/unsignaled': {'unsignalled': 1},
    'oneway-unsignaled-inline/lowest': {'unsignalled': 1, 'inline': 1},
    'oneway-unsignaled-inline/lowest-of-inline': {'unsignalled': 1},
    'oneway-unsignaled-rdma/unsignaled': {'unsignalled': 1},
    'oneway-unsignaled-rdma/write-slower': {'write': 1},
    'roundtrip-correspondence/as-one-way-inline': {'roundtrip': 1.2},
    'roundtrip-correspondence/marginally-lower': {'roundtrip': 1},
    'roundtrip-correspondence/as-one-way': {'roundtrip': 1.2},
    'roundtrip-correspondence/jump': {'inline': 1, 'inline_large': 1, 'slope': 0},
    'roundtrip-correspondence/higher-inline': {'inline_large': 1},
    'roundtrip-correspondence/lower-maxima': {'roundtrip_max': 400e3},
    'roundtrip-correspondence/maxima-by-samples': {'max_by_samples': 1},
    'roundtrip-mtu/no-effect': {'mtu': 1.2},
    'roundtrip-mtu/ud-above-rc': {'ud_roundtrip': 1},
    'roundtrip-mtu/size-matters': {'slope': 0, 'inline': 1},
    'roundtrip-rdmacm/small': {'cm_small': 1},
    'roundtrip-rdmacm/less-than-7-per-cent': {'cm_small': 1.2},
    'roundtrip-rdmacm/large': {'cm_large': 1.05},
    'timers/ticks-miss-less': {'timerfd_missed': 0},
    'timers/ticks-missed': {'missed': 0.02},
    'timers/timerfd-missed': {'timerfd_missed': 0},
    'timers/ticks-faster': {'timerfd': 1},
    'timers/timerfd-more-variable-when-plain': {'timerfd_plain_spread': 1},
    'timers/timerfd-steadier-when-optimised': {'timerfd_plain_spread': 1},
    'timers/optimised-faster': {'plain': 1},
    'timers/force-latency': {'force': 0},
    'timers/force-latency-spread': {'force_spread': 1},
    'timers/force-latency-maxima': {'force_max': 1},
    'timers/force-latency-misses': {'force_missed': 0},
}

# With the source's repetitions: docs/claims.md, What ordinary noise leaves open.
UNDECIDED = ('oneway-busy/maxima-with-pause', 'oneway-first-touch/untouched', 'oneway-event/uc-as-rc', 'oneway-event/few-over-10us',
             'oneway-rdma/uc-over-10us')
ONE_SIDED = ()


def size_factor(p, e):
    """Depending on the message size: a plateau, and a rise from 256 B on; inline or not."""
    size, inline = p['size_bytes'], p['inline']
    is_inline = inline == 'on' or (inline != 'off' and size <= int(inline.rstrip('B')))
    small = 1 + e['slope_small'] * math.log2(min(size, 128) / 8)
    large = 1 + e['slope'] * math.log2(size / 128) if size >= 256 else 1
    if not is_inline:
        return small * large
    return small * large * (e['inline_large'] if size >= 256 else e['inline'])


def oneway(p, e):
    p = dict({'qp': 'uc', 'op': 'send', 'inline': 'off', 'signal_every': 1, 'buffers': 0}, **p)  # shared memory has none of these
    qp, event, pause = p['qp'], p['poll'] == 'event', p['pause_ns'] > 0
    free = p['burst'] > 1 and not p['gap_ns']
    if event:
        lat = (e['busy'] + e['wake']) * {'rc': 1, 'uc': e['uc_event'], 'ud': e['ud_event']}[qp]
    else:
        lat = e['busy'] * {'rc': 1, 'uc': e['uc'], 'ud': e['ud']}[qp]
    lat *= size_factor(p, e)
    write = p['op'] == 'write_imm'
    lat *= e['write'] if write else 1
    lat *= e['unsignalled'] if p['signal_every'] > 1 else 1
    lat *= e['gap'] if p['gap_ns'] else 1
    buffers = p['buffers']
    lat *= 1 + (e['buffers'] * math.log2(buffers) if buffers else 0)
    lat *= e['knee_16'] if buffers > 16 else 1
    without_pause = lat
    if pause:
        lat *= e['pause_event'] if event else e['pause_busy']
        lat *= e['power'] if p['environment'] in ('thesis-aspm-off', 'thesis-dma-latency-0') else 1
    lat *= e['queue'] if free else 1
    least = (0.9 if event else e['busy_least']) * lat
    if event and (free or (pause and e['peak_with_pause'])):
        least = e['early_peak'] * without_pause
    comp = e['rc_comp'] if qp == 'rc' else e['unreliable_comp']
    comp = e['ud_comp_event'] if event and qp == 'ud' else comp
    comp = e['comp_by_event'] if p['poll_send'] == 'event' else comp
    most = e['max']
    most *= 1 if event else e['max_busy_rc'] if qp == 'rc' else e['max_busy']
    most *= e['max_warm'] if p['warmup'] and event else 1
    most *= e['max_pause'] if pause else 1
    most *= e['write_max'] if write else 1
    over = e['over'] * {'rc': 1, 'uc': e['over_uc'], 'ud': e['over_ud']}[qp]
    over *= 1 if event else e['over_busy_uc'] if qp == 'uc' else e['over_busy']
    over *= e['write_over'] if write else 1
    spread = 100 * (e['write_spread'] if write else 1)
    spread *= e['spread_large'] if p['size_bytes'] >= 512 else 1
    spread *= e['spread_mtu'] if p['size_bytes'] >= 4096 else 1
    made = {'lat_ns': series(lat, least, most, over, spread), 'comp_lat_ns': series(comp * lat)}
    if 'first-touch' in p['of']:
        made['lat_ns']['max'] = e['touched_max'] if p['touch'] else e['untouched_max']
        made['lat_ns']['p99_9'] = 2000 * (1 if p['touch'] else e['fault'])
    if p['t_send']:
        made['send_lat_ns'] = series(e['after_read'] * lat)
    return {'metrics': made}


def pingpong(p, e):
    half = e['busy'] * {'rc': 1, 'uc': e['uc'], 'ud': e['ud']}[p['qp']] * size_factor(p, e) * e['roundtrip']
    half *= e['ud_roundtrip'] if p['qp'] == 'ud' else 1
    half *= e['mtu'] if p['mtu'] not in ('auto', '4096') else 1
    if p['connect'] == 'rdmacm':
        half *= e['cm_small'] if p['size_bytes'] <= 256 else e['cm_large']
    most = e['roundtrip_max'] * (e['max_by_samples'] if p['messages'] > 1000 else 1)
    return {'metrics': {'half_rtt_ns': series(half, most=most)}}


def rate(p, e):
    transport, hz, environment = p['transport'], p['rate_hz'], p['environment']
    peer = transport in ('zeromq', 'nanomsg', 'tcp', 'udp')
    rareness = (5 - math.log10(hz)) / 3
    qp = p.get('qp', '')
    lat = e['shmem'] * (1 + e['shmem_rare'] * rareness)
    if transport != 'shmem':
        lat = e['node'] * (1 + e['rare'] * rareness) * {'uc': e['node_uc'], 'ud': e['node_ud']}.get(qp, 1)
    lat *= 1 + e['values'] * max(0, math.log2(p['values'] / 8)) if transport != 'shmem' else 1
    lat *= e['peer'] if peer else 1
    if p['of'] == 'node-peers-link':
        lat *= e['link'] * (e['link_knee'] if hz > 25000 else 1)
    spread = 100 * (e['node_ud_spread'] if qp == 'ud' else 1) * (e['peer_spread'] if peer else 1)
    missed = e['missed'] + (e['missed_verbs'] if transport == 'verbs' and p['of'] != 'timers' else 0)
    if peer:
        missed = e['missed'] + e['peer_missed_rare'] if hz < 100000 else e['peer_missed']
    if p['source_file'] == 'csv':
        missed = max(missed, 1 - e['file'] / (hz * (24 + 8 * p['values'])))
    if p['of'] == 'node-signalling' and p['signal_every'] != 4096:
        lat *= e['threshold']
    if p['of'] == 'timers':
        sleeps = p['pacer'] != 'ticks'
        lat *= (e['timerfd'] if sleeps else 1) * (e['plain'] if environment == 'none' else 1)
        lat += e['force'] if environment == 'thesis' else 0
        missed += e['timerfd_missed'] if sleeps else 0
        missed += e['force_missed'] if sleeps and environment == 'thesis' else 0
        spread *= e['timerfd_plain_spread'] if sleeps and environment == 'none' else 1
    most = 400e3 * (e['deep_max'] if p.get('recv_depth') == 8192 else 1)
    if p['of'] == 'timers' and environment == 'thesis':
        spread, most = spread * e['force_spread'], most * e['force_max']
    lat_ns = series(lat, most=most, spread=spread, lost=e['peer_lost'] if peer else 0)
    return {'metrics': {'lat_ns': lat_ns}, 'pacing': pacing(p, e, missed)}


def pacing(p, e, missed):
    hz, window = p['rate_hz'], p['window_ns'] / 1e9
    unsent = 0
    if p['tick_error_ppm']:
        missed = 0
        in_time = (p['messages'] / hz + window) * hz / e['tick_error'] if window else p['messages']
        unsent = max(0, 1 - in_time / p['messages']) + e['missing']
    achieved = hz / e['tick_error'] if p['tick_error_ppm'] else hz * (1 - missed)
    return {'asked_hz': hz, 'achieved_hz': achieved, 'steps': p['messages'], 'missed': round(missed * p['messages']),
            'missed_share': missed, 'unsent': round(unsent * p['messages']), 'unsent_share': unsent}


def possible(kernel):
    """On the source's machine: a UD message is one packet."""
    def made(p, e):
        assert p.get('qp') != 'ud' or p.get('size_bytes', 0) <= 4096, p['of']
        return kernel(p, e)
    return made


KERNELS = {'oneway': possible(oneway), 'pingpong': possible(pingpong), 'rate': possible(rate)}

if __name__ == '__main__':
    main(Model(EFFECTS, CLAIMS, KERNELS, UNDECIDED, ONE_SIDED))
