"""Programs that several benches run, and how to read their output."""
import json
import re

from rounds import Failed, Program, Run, of_samples


def own_bench(text):
    """The output of our own benchmarks: "p50 NS p99 NS mean NS", or other names."""
    said = text.split()
    return {name: float(value) for name, value in zip(said[0::2], said[1::2])}


def ucx_numbers(text):
    """The last row that `ucx_perftest … -f -v` prints: messages, a percentile, latencies (us), bandwidths (MiB/s), messages per second."""
    rows = [line.split(",") for line in text.splitlines() if re.match(r"\d+,", line)]
    if not rows:
        raise Failed("its output has no final numbers")
    return [float(number) for number in rows[-1]]


def ucx_percentile(quantile):
    """With -R RANK: the quantile of its last 2048 messages, and the mean of all; of half round trips."""
    def parse(text):
        numbers = ucx_numbers(text)
        return {quantile: numbers[1] * 1000, "mean": numbers[3] * 1000}
    return parse


def ucx_rate(text):
    """The rate that a bandwidth test reports for all messages."""
    return {"rate": ucx_numbers(text)[5] * (1 << 20)}


def fi_pingpong(provider, endpoint, size, messages, cpus):
    """Its mean of half round trips; it has no quantiles."""
    def mean(text):
        rows = [line.split() for line in text.splitlines() if re.match(r"\d+\s", line)]
        return {"mean": float(rows[-1][6]) * 1000}
    words = ["fi_pingpong", "-p", provider, "-e", endpoint, "-S", size, "-I", messages]
    return Program(f"fi_pingpong {provider}", [Run(words + ["-P", "{port}", "{server}"], mean, words + ["-B", "{port}"])], cpus=cpus,
                   note="only reports the mean")


def qperf_rate(text):
    """The rate that `qperf … -uu` prints."""
    found = re.search(r"\bbw\s*=\s*([0-9.]+) bytes/sec", text)
    if not found:
        raise Failed("its output has no rate")
    return {"rate": float(found[1])}


def perftest_samples(warmup):
    """The output of `ib_…_lat -U`: lines of "number, microseconds" between two headers. The first `warmup` lines are left out."""
    def parse(text):
        samples = [float(us) * 1000 for us in re.findall(r"^\d+, ([0-9.e+]+)$", text, re.M)]
        return of_samples(samples[warmup:])
    return parse


def kblat(binary, name, settings, series="half_rtt_ns", note="", ours=True, more=lambda point: {}, kept_in="", state=False):
    """A valid point of kblat as a Program. Its spec is written when it runs. `more`: further values from its summary. "wall" is the time of the
    whole command. `state`: it captures the state of the machine, too. Its run directory is removed at once, or left in the folder `kept_in`: for minutes after files were removed, ext4 takes
    several times as long to create new ones, which "wall" would contain."""
    def parse(text):
        said, end = json.JSONDecoder().raw_decode(text)  # followed by the path of the run, and two times in us
        begun, ended = text[end:].split()[-2:]
        point = said["points"][0]
        if point.get("outcome") != "completed" or not point["valid"]:
            raise Failed("; ".join(point["reasons"]) or point.get("why") or "the point is not valid")
        metrics = point["metrics"][series]
        return {"wall": (int(ended) - int(begun)) * 1e3, **{q: metrics[q] for q in ("p50", "p99", "mean")}, **more(point)}

    spec = json.dumps({"kblat": 1, "name": "peers", "settings": {"repetitions": 1, **settings}})
    script = 'b=$EPOCHREALTIME; d=$(mktemp -d -p "$3") && trap \'[ "$3" ] || rm -rf "$d"\' EXIT && printf %s "$2" >"$d/spec.yaml" && ' \
             f'"$1" run "$d/spec.yaml" {"" if state else "--no-state "}--out "$d" --json && e=$EPOCHREALTIME && echo "$b $e" | tr -d .,'
    escaped = spec.replace("{", "{{").replace("}", "}}")
    return Program(name, [Run(["bash", "-c", script, "-", binary, escaped, kept_in], parse)], ours=ours, note=note)


def kblat_rate(binary, name, settings):
    """The same for a stream, with its rate of payload."""
    return kblat(binary, name, settings, series="gap_ns", more=lambda point: {"rate": point["rate"]["bytes_per_s"]})
