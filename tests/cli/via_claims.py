#!/usr/bin/python3
"""via_claims.py KBLAT STUDY OUT: could a claim of VIA's study hold without its effect? (claim_models.py)"""
from claim_models import Model, main, series

# What the source measured over cLAN: microseconds, or shares.
EFFECTS = {
    'native': 9, 'blocked': 15, 'byte': 0.0132, 'layer': 10, 'signal': 4, 'ack': 10, 'ack_share': 0, 'sleep': 20, 'sleep_share': 0,
    'copy': 0.0172, 'copy_fixed': 0,
    'gain_small': 0.72, 'gain_smallest': 0.75, 'gain_large': 0.6, 'rises': 1,
    'poll_small': 0.37, 'poll_large': 0.95, 'adaptive': 1.1,
    'polling_share': 0.99, 'blocking_small': 0.6, 'blocking_large': 0.2, 'machine': 0.8,
    'keep': 0.01, 'keep_fixed': 0, 'register_each': 25,
    'slow_busy': 2, 'slow_event': 1.05, 'slow_adaptive': 1.15,
    'send_each': 1, 'receive_each': 0.2,
    'registering': 15, 'registering_large': 1, 'flat': 0, 'locking': 3, 'locking_large': 1, 'untouched': 3, 'connecting': 60,
}


def native(size, e):
    return e['native'] + e['byte'] * size


def half(us):
    return {'metrics': {'half_rtt_ns': series(1000 * us), 'rtt_ns': series(2000 * us)}}


def handoff(p, e):
    size = p['size_bytes']
    us = native(size, e) + e['layer']
    us += 0 if p['hand'] == 'direct' else e['signal']
    us += e['sleep'] + e['sleep_share'] * size if p['hand'] == 'event' else 0
    us += e['copy'] * size + e['copy_fixed'] if p['copy'] else 0
    us += e['keep'] * size + e['keep_fixed'] if p.get('unexpected') else 0
    us += e['register_each'] if p.get('register') else 0
    us += e['ack'] + e['ack_share'] * size if p['ack'] else 0
    return half(us)


def polling(size, e):
    """The latency of polling against that of blocking."""
    return e['poll_small'] if size < 1024 else e['poll_large'] if size >= 64000 else (e['poll_small'] + e['poll_large']) / 2


def pingpong(p, e):
    size = p['size_bytes']
    if p['of'] == 'via-work-beside':
        made = half(native(size, e))
        slow = e['slow_' + p['poll']]
        made['work'] = {'slowdown': slow, 'share': 1 / slow, 'units_per_s': 1e5 / slow, 'alone_per_s': 1e5}
        return made
    if p['of'] == 'via-message-layer':
        return half(native(size, e) + (e['blocked'] if p['transport'] == 'verbs' and p['poll'] == 'event' else 0))
    if p['of'] == 'via-multicast':
        sent = p['receivers'] if p['group'] == 'none' else 1
        return half(native(size, e) + e['send_each'] * sent + e['receive_each'] * p['receivers'])
    us = 24 + e['byte'] * size
    if p['transport'] in ('udp', 'tcp'):
        us /= 1 - (e['gain_smallest'] if size < 32 else e['gain_small'] if size < 1024 else e['gain_large'])
    made = half(us * {'busy': polling(size, e), 'event': 1, 'adaptive': e['adaptive'] * polling(size, e)}[p['poll']])
    rate = size ** e['rises'] / us * 1e6
    made['rate'] = {'bytes_per_s': rate, 'messages_per_s': rate / size, 'link_share': rate / 125e6}
    blocking = e['blocking_small'] if size <= 1024 else e['blocking_large'] * (1 if size < 64000 else 0.9)
    share = e['polling_share'] if p['poll'] == 'busy' else blocking
    made['cpu'] = {'source_share': share, 'sink_share': share, 'machine_cpus': e['machine']}
    return made


def register(p, e):
    size, device = p['size_bytes'], p.get('pin') == 'device'
    us = e['registering'] if device else e['locking']
    us *= 1 + e['flat'] * min(size, 4096) / 4096
    grows = e['registering_large'] if device else e['locking_large']
    us *= 1 + grows * max(0, size - 65536) / 65536 * (1 if device else 0.2)
    us *= e['untouched'] if p['memory'] == 'untouched' else 1
    us = e['connecting'] if p.get('pin') == 'connection' else us
    return {'metrics': {'reg_ns': series(1000 * us), 'dereg_ns': series(800 * us)}}


LAYER = {'no-ack': {'ack': 0}, 'no-copy': {'copy': 0}, 'no-sleep': {'sleep': 0},
         'no-messenger': {'sleep': 0, 'signal': 0}, 'all': {'ack': 0, 'copy': 0, 'sleep': 0, 'signal': 0},
         'together': {'sleep': 0, 'signal': 0, 'copy': 0, 'copy_fixed': 0},
         'spin-fastest': {'ack': 0, 'copy': 0}, 'yield-fastest': {'ack': 0, 'copy': 0}, 'what-is-left': {'layer': -9}}
NAMES = ('no-ack no-ack-busy no-ack-yield no-copy no-sleep no-sleep-yield no-messenger all all-yield all-without-messenger '
         'together-fastest together-yield spin-fastest yield-fastest what-is-left').split()


def layer_claims():
    for name in NAMES:
        changes = next(c for start, c in LAYER.items() if name.startswith(start))
        yield name, changes
        yield name + '-verbs', changes


CLAIMS = {'via-message-layer/' + name: changes for name, changes in layer_claims()}
CLAIMS.update({
    'via-work-beside/polling-slows-work': {'slow_busy': 1.1},
    'via-work-beside/polling-slows-work-ours': {'slow_busy': 1.1},
    'via-work-beside/half-is-left': {'slow_busy': 1.1},
    'via-work-beside/adaptive-between': {'slow_adaptive': 2},
    'via-receive-buffers/registering-adds-verbs': {'register_each': 0},
    'via-receive-buffers/registering-small-verbs': {'register_each': 5},
    'via-receive-buffers/copying-adds-verbs': {'copy': 0},
    'via-receive-buffers/copying-cheaper-small-verbs': {'copy_fixed': 40},
    'via-receive-buffers/unexpected-adds-verbs': {'keep': 0},
    'via-receive-buffers/registering-adds': {'register_each': 0},
    'via-receive-buffers/copying-adds': {'copy': 0},
    'via-receive-buffers/copying-cheaper-small': {'copy_fixed': 40},
    'via-receive-buffers/unexpected-adds': {'keep': 0},
    'via-multicast/fewer-messages-verbs': {'send_each': 0},
    'via-multicast/fewer-messages': {'send_each': 0},
    'via-multicast/each-costs-verbs': {'send_each': 0, 'receive_each': 0},
    'via-multicast/each-costs': {'send_each': 0, 'receive_each': 0},
    'via-message-layer/no-ack-large': {'ack_share': 0.02},
    'via-message-layer/no-sleep-large': {'sleep_share': 0.02},
    'via-message-layer/mostly-copies-large': {'sleep_share': 0.02},
    'via-message-layer/no-messenger-further-verbs': {'signal': 0},
    'via-message-layer/no-copy-average': {'copy': 0},
    'via-message-layer/no-copy-small': {'copy_fixed': 20},
    'via-message-layer/together-fastest-source': {'sleep': 0, 'copy': 0},
    'via-message-layer/naive-layer': {'layer': 0, 'sleep': 0},
    'via-bandwidth-latency/small': {'gain_small': 0, 'gain_smallest': 0},
    'via-bandwidth-latency/large': {'gain_large': 0},
    'via-bandwidth-latency/smallest': {'gain_smallest': 0.4},
    'via-bandwidth-latency/emulated': {'gain_small': 0, 'gain_smallest': 0},
    'via-bandwidth-latency/emulated-large': {'gain_large': 0},
    'via-bandwidth-latency/emulated-bandwidth': {'gain_small': 0, 'gain_smallest': 0, 'gain_large': 0},
    'via-bandwidth-latency/more-bandwidth': {'gain_small': 0, 'gain_smallest': 0, 'gain_large': 0},
    'via-bandwidth-latency/higher-peak': {'gain_large': 0},
    'via-bandwidth-latency/approaches-the-wire': {'rises': 0},
    'via-bandwidth-latency/bandwidth-rises': {'rises': 0},
    'via-bandwidth-latency/bandwidth-rises-verbs': {'rises': 0},
    'via-bandwidth-latency/share-of-the-peak': {'rises': 0.8},
    'via-polling-blocking/small': {'poll_small': 1},
    'via-polling-blocking/small-verbs': {'poll_small': 1},
    'via-polling-blocking/always-fastest': {'poll_large': 1.05},
    'via-polling-blocking/faster-on-average': {'poll_small': 1, 'poll_large': 1},
    'via-polling-blocking/towards-one': {'poll_large': 0.4},
    'via-polling-blocking/towards-one-verbs': {'poll_large': 0.4},
    'via-polling-blocking/towards-one-tcp': {'poll_large': 0.4},
    'via-polling-blocking/towards-one-shmem': {'poll_large': 0.4},
    'via-polling-blocking/spin-then-block': {'adaptive': 2},
    'via-processor-utilisation/polling-takes-all': {'polling_share': 0.6},
    'via-processor-utilisation/polling-takes-all-verbs': {'polling_share': 0.6},
    'via-processor-utilisation/blocking-takes-less': {'blocking_small': 0.99},
    'via-processor-utilisation/blocking-takes-less-verbs': {'blocking_small': 0.99},
    'via-processor-utilisation/blocking-half': {'blocking_small': 0.3},
    'via-processor-utilisation/blocking-half-machine': {'machine': 0.3},
    'via-processor-utilisation/blocking-falls': {'blocking_large': 0.9},
    'via-registration/flat': {'flat': 1},
    'via-registration/flat-page': {'flat': 1},
    'via-registration/flat-page-verbs': {'flat': 1},
    'via-registration/rises': {'locking_large': 0},
    'via-registration/connecting-is-expensive': {'connecting': 10},
    'via-registration/rises-verbs': {'registering_large': 0, 'locking_large': 0},
    'via-registration/locking-cheaper': {'locking': 60, 'locking_large': 5},
    'via-registration/unlocking-cheaper': {'locking': 60, 'locking_large': 5},
    'via-registration/untouched': {'untouched': 1},
})

if __name__ == '__main__':
    main(Model(EFFECTS, CLAIMS, {'handoff': handoff, 'pingpong': pingpong, 'register': register}))
