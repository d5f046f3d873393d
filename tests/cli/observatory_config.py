#!/usr/bin/python3
"""Configurations of Observatory, based on its examples: observatory_config.py NAME prints one as JSON.

The values are those of example/config/ and cpp/config.json there. With further arguments KEY=VALUE,
a small one is made: name, modes, sizes, count, warmUp, repetitions, resultName.
"""
import json
import sys

SIZES = [1 << n for n in range(21)]
THROUGHPUT = ["MessagingThroughput", "RdmaWriteThroughput", "RdmaReadThroughput"]
LATENCY = ["MessagingLatency", "RdmaWriteLatency", "RdmaReadLatency"]
QUEUE = {"key": "queueSize", "value": "200"}
OPTIMIZATION = {"key": "svmOptimization", "value": "true"}
# resultName, parameters, whether the detector is on, whether there are RDMA operations
EXAMPLES = {
    "config": ("Example", [], False, True),
    "disni": ("DiSNI", [QUEUE, OPTIMIZATION], True, True),
    "jucx": ("JUCX", [{"key": "queueSize", "value": "1000"}], True, True),
    "jverbs": ("jVerbs", [QUEUE, OPTIMIZATION], True, True),
    "netty": ("NIO", [], False, False),
    "neutrino": ("neutrino", [{"key": "deviceNumber", "value": "0"}, {"key": "portNumber", "value": "1"}, QUEUE], True, True),
    "nio": ("NIO", [{"key": "blocking", "value": "false"}], False, False),
    "socket": ("Socket", [], True, False),
}


def iterations(throughput):
    """Fewer if they are larger; a tenth of that if measured one at a time, except for one size."""
    for size in SIZES:
        count = 100000000 if size <= 4096 else 100000000 * 4096 // size
        warm_up = next(w for limit, w in ((4096, 1000000), (32768, 500000), (262144, 250000), (1 << 20, 125000)) if size <= limit)
        if not throughput:
            count = 781250 if size == 524288 else count // 10
            warm_up //= 10
        yield {"size": size, "count": count, "warmUp": warm_up}


def operation(name, modes, repetitions, rows):
    return {"name": name, "modes": modes, "repetitions": repetitions, "iterations": list(rows)}


def example(name):
    result, parameters, detector, rdma = EXAMPLES[name]
    both = ["unidirectional", "bidirectional"]
    operations = [operation(o, both, 3, iterations(True)) for o in (THROUGHPUT if rdma else THROUGHPUT[:1])]
    operations += [operation(o, both[:1], 3, iterations(False))
                   for o in (LATENCY if rdma else LATENCY[:1]) + ["MessagingPingPong"]]
    return {"resultName": result, "parameters": parameters,
            "detector": {"enabled": detector, "deviceNumber": 0, "mode": "compat"}, "operations": operations}


def small(name="MessagingThroughput", modes="unidirectional", sizes="64", count="1000", warmUp="100", repetitions="2",
          resultName="Small"):
    rows = [{"size": int(size), "count": int(count), "warmUp": int(warmUp)} for size in sizes.split(",")]
    return {"resultName": resultName, "parameters": [], "detector": {"enabled": False, "deviceNumber": 0, "mode": "compat"},
            "operations": [operation(n, modes.split(","), int(repetitions), rows) for n in name.split(",")]}


def main():
    given = dict(a.split("=", 1) for a in sys.argv[2:])
    json.dump(example(sys.argv[1]) if sys.argv[1] in EXAMPLES and not given else small(**given), sys.stdout, indent=2)
    print()


main()
