#!/usr/bin/python3 -IS
"""Compares the device's stamps of a run over the model of adapters with the truth in the model's shared memory.

    stamps.py RUN SEGMENT LATENCY_NS ACK_NS

Every stamp must be where the device made it, within the error that the run itself states and a rounding of both clocks.
Times of the run are nanoseconds from its start, those of the truth ticks, so what is compared is the distance from the first
stamp of each repetition; and as a whole, that from the source's own stamp. Exit status 1 if one is elsewhere.
"""

import array
import json
import os
import struct
import sys

TRUTHS = 32768
ROUNDING_NS = 16


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return json.load(f)


def column(*path):
    """The integers of an .npy file."""
    with open(os.path.join(*path), "rb") as f:
        data = f.read()
    return array.array("q", data[10 + int.from_bytes(data[8:10], "little"):])


def read_truth(path):
    """(tick, number of the message, is it a send completion?) of every stamp, in the order in which they were made."""
    with open(path, "rb") as f:
        data = f.read(16 * TRUTHS + 4)
    count, = struct.unpack_from("<I", data, 16 * TRUTHS)
    return [struct.unpack_from("<qI?", data, 16 * i) for i in range(count)]


def repetitions(truth, is_send, messages):
    """The stamps of each repetition: a warm-up is shorter, and begins with message 0, too."""
    all_of_them, current = [], []
    for tick, number, of_send in truth:
        if of_send != is_send:
            continue
        if number == 0:
            current = []
            all_of_them.append(current)
        current.append(tick)
    return [ticks for ticks in all_of_them if len(ticks) == messages]


def worst_error(stamps, ticks, hz):
    return max(abs((stamp - stamps[0]) - (tick - ticks[0]) * 1e9 / hz) for stamp, tick in zip(stamps, ticks))


def main(run, segment, latency, ack):
    truth, hz, bad, n = read_truth(segment), load(run, "run.json")["clock"]["hz"], 0, 0
    points = load(run, "resolved.json")["points"]
    true = {is_send: repetitions(truth, is_send, points[0]["params"]["messages"]) for is_send in (False, True)}
    for point in points:
        for i in range(point["params"]["repetitions"]):
            rep = os.path.join(run, "points", f"{point['id']:04d}", f"rep-{i:02d}")
            counters = load(rep, "counters.json")
            bound = max(counters[s]["device_clock_error_ns"] for s in ("source", "sink")) * 2 + ROUNDING_NS
            posted, arrived, done = (column(rep, c + ".npy") for c in ("t_subm", "t_hw", "t_hw_comp"))
            errors = [worst_error(arrived, true[False][n], hz), worst_error(done, true[True][n], hz)]
            flights = sorted(b - a for a, b in zip(posted, arrived))
            acks = [b - a for a, b in zip(arrived, done)]
            good = (max(errors) <= bound and flights[0] >= int(latency) - bound
                    and all(abs(x - int(ack)) <= bound for x in acks))
            print(f"{rep}: errors {errors}, bound {bound}; flights {flights[0]}..{flights[-1]}, acks {min(acks)}..{max(acks)}")
            bad += not good
            n += 1
    return bad or n != len(true[False]) or n == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
