"""Programs that several benches run, and how to read their output."""
import json
import re

from rounds import Failed, Program, Run, of_samples


def own_bench(text):
    """What a bench of ours says: "p50 NS p99 NS mean NS", or other names."""
    said = text.split()
    return {name: float(value) for name, value in zip(said[0::2], said[1::2])}


def ucx_numbers(text):
    """The last row of what `ucx_perftest … -f -v` says: messages, a percentile, latencies (us), bandwidths (MiB/s), messages a second."""
    rows = [line.split(",") for line in text.splitlines() if re.match(r"\d+,", line)]
    if not rows:
        raise Failed("no final numbers in what it said")
    return [float(number) for number in rows[-1]]


def ucx_percentile(quantile):
    """With -R RANK: the quantile of its last 2048 messages, the mean of all; half round trips."""
    def parse(text):
        numbers = ucx_numbers(text)
        return {quantile: numbers[1] * 1000, "mean": numbers[3] * 1000}
    return parse


def ucx_rate(text):
    """Of a test of bandwidth: over all messages."""
    return {"rate": ucx_numbers(text)[5] * (1 << 20)}


def qperf_rate(text):
    """What `qperf … -uu` says."""
    found = re.search(r"\bbw\s*=\s*([0-9.]+) bytes/sec", text)
    if not found:
        raise Failed("no rate in what it said")
    return {"rate": float(found[1])}


def perftest_samples(warmup):
    """What `ib_…_lat -U` says: "number, microseconds" a line, between two headers; the first `warmup` are left out."""
    def parse(text):
        samples = [float(us) * 1000 for us in re.findall(r"^\d+, ([0-9.e+]+)$", text, re.M)]
        return of_samples(samples[warmup:])
    return parse


def kblat(binary, name, settings, series="half_rtt_ns", note="", ours=True, more=lambda point: {}):
    """A point of kblat's as a Program; it needs to be valid. Its spec is made when it runs. `more`: what else its summary gives. "wall" is the time of
    the whole command."""
    def parse(text):
        said, end = json.JSONDecoder().raw_decode(text)  # the run's path comes after it, then two times in us
        begun, ended = text[end:].split()[-2:]
        point = said["points"][0]
        if point.get("outcome") != "completed" or not point["valid"]:
            raise Failed("; ".join(point["reasons"]) or point.get("why") or "it is not valid")
        metrics = point["metrics"][series]
        return {"wall": (int(ended) - int(begun)) * 1e3, **{q: metrics[q] for q in ("p50", "p99", "mean")}, **more(point)}

    spec = json.dumps({"kblat": 1, "name": "peers", "settings": {"repetitions": 1, **settings}})
    script = 'b=$EPOCHREALTIME; d=$(mktemp -d) && trap \'rm -rf "$d"\' EXIT && printf %s "$2" >"$d/spec.yaml" && ' \
             '"$1" run "$d/spec.yaml" --out "$d" --json && e=$EPOCHREALTIME && echo "$b $e" | tr -d .,'
    escaped = spec.replace("{", "{{").replace("}", "}}")
    return Program(name, [Run(["bash", "-c", script, "-", binary, escaped], parse)], ours=ours, note=note)


def kblat_rate(binary, name, settings):
    """Likewise a stream, and its rate of payload."""
    return kblat(binary, name, settings, series="gap_ns", more=lambda point: {"rate": point["rate"]["bytes_per_s"]})
