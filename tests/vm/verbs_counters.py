#!/usr/bin/python3 -IS
"""Checks that every message of a run arrived intact over the device, and that completions were
requested for the right messages.

    verbs_counters.py RUN

Prints a line for each point with an error; the last line is "N of M points are good". Exit status 1
if there are errors.
"""

import array
import json
import os
import sys

NEVER = -(1 << 63)


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return json.load(f)


def sent(device, side, when):
    return device[side][when].get("sent_pkts", 0)


def column(path):
    """The integers of an .npy file."""
    with open(path, "rb") as f:
        data = f.read()
    return array.array("q", data[10 + int.from_bytes(data[8:10], "little"):])


def is_told(seq, params):
    """Does this message have a send completion? Every n-th does, and the last of a burst."""
    return (seq + 1) % params["signal_every"] == 0 or (seq + 1) % params["burst"] == 0 or seq + 1 == params["messages"]


def faults_of_completions(rep, params):
    stamps = column(os.path.join(rep, "t_comp.npy"))
    return [f"message {seq} {'has no' if stamp == NEVER else 'has a'} completion" for seq, stamp in enumerate(stamps)
            if (stamp != NEVER) != is_told(seq, params)][:3]


def faults_of_stream(rep, params):
    """Everything posted is completed, and received unless the operation is one-sided; twice that for both directions."""
    counters = load(rep, "counters.json")
    source, sink = counters["source"], counters["sink"]
    there, back = params["messages"], params["messages"] if params["both"] else 0
    expected = [
        ("posted", source["posted"], there),
        ("completed", source["completed"], there),
        ("received", sink["received"], 0 if params["op"] == "write" else there),
        ("posted by the sink", sink["posted"], back),
        ("completed there", sink["completed"], back),
        ("received by the source", source["received"], back),
    ]
    for side in source, sink:
        expected += [(name, side[name], 0) for name in ("bad_payloads", "duplicates", "reordered", "overflows")]
    wrong = [f"{name} {is_}, not {wanted}" for name, is_, wanted in expected if is_ != wanted]
    stamps = column(os.path.join(rep, "t_comp.npy"))
    entries = -(-there // params["stamp_every"])
    if len(stamps) != entries or NEVER in stamps:
        wrong.append(f"{len(stamps)} entries, not {entries}, or completions without a stamp")
    return wrong


def faults_of_repetition(rep, params):
    if params["kernel"] == "stream":
        return faults_of_stream(rep, params)
    messages, both_ways = params["messages"], params["kernel"] == "pingpong"
    counters = load(rep, "counters.json")
    source, sink, device = counters["source"], counters["sink"], counters["device"]
    expected = [
        ("posted", source["posted"], messages),
        ("received", sink["received"], messages),
        ("bad payloads", sink["bad_payloads"], 0),
        ("duplicates", sink["duplicates"], 0),
        ("overflows", sink["overflows"], 0),
    ]
    if both_ways:
        expected.append(("answers", source["received"], messages))
        expected.append(("bad answers", source["bad_payloads"], 0))
    else:
        expected.append(("completed", source["completed"], messages))
    wrong = [f"{name} {is_}, not {wanted}" for name, is_, wanted in expected if is_ != wanted]
    packets = sent(device, "source", "after") - sent(device, "source", "before")
    if packets < messages:
        wrong.append(f"the device sent {packets} packets")
    return wrong + ([] if both_ways else faults_of_completions(rep, params))


def faults_of_point(point, params):
    outcome = load(point, "point.json")
    if outcome["outcome"] != "completed":
        return [outcome["outcome"] + ": " + outcome["why"]]
    reps = [os.path.join(point, d) for d in sorted(os.listdir(point)) if d.startswith("rep-")]
    if len(reps) != params["repetitions"]:
        return [f"{len(reps)} repetitions, not {params['repetitions']}"]
    return [fault for rep in reps for fault in faults_of_repetition(rep, params)]


def main(run):
    points = load(run, "resolved.json")["points"]
    good = 0
    for point in points:
        params = point["params"]
        wrong = faults_of_point(os.path.join(run, "points", f"{point['id']:04d}"), params)
        good += not wrong
        if wrong:
            print(f"point {point['id']}: {'; '.join(wrong)}")
            print(f"    {params}")
    print(f"{good} of {len(points)} points are good")
    return good != len(points)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
