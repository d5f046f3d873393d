#!/usr/bin/python3
"""Formats the results of rounds.py as Markdown: one table of all limits, and for each benchmark what every program has measured, with
the output of the benchmarks that print text.

    tests/bench/tables.py VERSION FILE.json… FILE.txt…
"""
import json
import statistics
import sys
import textwrap

UNITS = {"p50": (1e-3, "us"), "p99": (1e-3, "us"), "mean": (1e-3, "us"), "time": (1e-9, "s"), "memory": (1.0, "MiB"),
         "wall": (1e-9, "s"), "missed": (100.0, "%"), "GiB": (1e-9, "s"), "rate": (1e-6, "MB/s"),
         **{step: (1e-9, "s") for step in ("plan", "apply", "verify", "restore")}}
SMALLER = {"us": "ns", "s": "ms"}  # a thousandth
WIDTH = 100
MORE_IS_BETTER = {"rate"}


def digits(scaled):
    """Three."""
    return f"{scaled:.0f}" if abs(scaled) >= 100 else f"{scaled:.3g}"


def two_digits(scaled):
    return f"{scaled:.0f}" if scaled >= 10 else f"{scaled:.2g}"


def amount(value, quantity):
    """With three digits, in the unit of the quantity."""
    return "–" if value is None else digits(value * UNITS[quantity][0])


def unit_for(value, quantity):
    """(factor, unit): a smaller one where the value would begin with zeros."""
    factor, unit = UNITS[quantity]
    return (factor * 1000, SMALLER[unit]) if unit in SMALLER and abs(value * factor) < 0.5 else (factor, unit)


def middle(values):
    known = [v for v in values if v is not None]
    return statistics.median(known) if known else None


def ends(values):
    """The interval of the median; with too few rounds for one, the extremes."""
    return values["interval"] or (values["min"], values["max"])


# --- a limit ----------------------------------------------------------------------------------------------------------

def measured(limit):
    """ "0.98 [0.97–0.99]", "+0.12 us [0.11–0.16]", "3.4 MiB [3.4–3.4]"."""
    values = limit["values"]
    if not values:
        return "–"
    three = (values["median"], *ends(values))
    if limit["kind"] == "ratio":
        return "{} [{}–{}]".format(*(f"{value:.2f}" if value < 10 else digits(value) for value in three))
    factor, unit = unit_for(max(map(abs, three)), limit["quantity"])
    median, low, high = (digits(value * factor) for value in three)
    return f"{'+' if limit['kind'] == 'difference' and values['median'] >= 0 else ''}{median} {unit} [{low}–{high}]"


def wanted(limit):
    """ "<= 1", "0.95 to 1.05", "<= +100 ns", "<= 1 or 1 s"."""
    q, most = limit["quantity"], limit["limit"]
    if limit["kind"] != "ratio":
        factor, unit = unit_for(most, q)
        return f"<= {'+' if limit['kind'] == 'difference' else ''}{digits(most * factor)} {unit}"
    if limit["least"] is not None:
        return f"{limit['least']:g} to {most:g}"
    enough = f" or {amount(limit['enough'], q)} {UNITS[q][1]}" if limit["enough"] is not None else ""
    return f"{'>=' if q in MORE_IS_BETTER else '<='} {most:g}{enough}"


def answer(limit):
    """ "yes", "NO", "open ±9 %"; "no other" if no other program is here."""
    if not limit["answer"]:
        return "no other"
    if limit["answer"] != "undecided":
        return "yes" if limit["answer"] == "yes" else "NO"
    if limit["noise"] is None:
        return "open"
    if limit["kind"] == "ratio":
        return f"open ±{two_digits(100 * limit['noise'] / limit['values']['median'])} %"
    factor, unit = unit_for(limit["noise"], limit["quantity"])
    return f"open ±{two_digits(limit['noise'] * factor)} {unit}"


def name_of(limit, case):
    """ "tcp, busy, 32 B: p50", "- to bare loop on tcp: p50"."""
    return f"- to {limit['to']}: {limit['quantity']}" if limit["to"] else f"{case['name']}: {limit['quantity']}"


def lines_of(case):
    """What a case has shown, to be printed when it ends."""
    lines = [f"  {name_of(limit, case)}: {measured(limit)}, {wanted(limit)}: {answer(limit)}" for limit in case["limits"]]
    for program in case["programs"]:
        values = ", ".join(f"{q} {amount(middle(v), q)} {UNITS[q][1]}" for q, v in program["values"].items() if middle(v) is not None)
        lines.append(f"  {program['name']}: {values or program['failure'] or 'nothing'}")
    return lines


# --- tables -----------------------------------------------------------------------------------------------------------

def markdown(cells):
    """A table with aligned columns; its first row is its head."""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def limits_table(cases):
    rows = [[name_of(limit, case), measured(limit), wanted(limit), answer(limit)] for case in cases for limit in case["limits"]]
    return markdown([["case: quantity", "ours / it, or ours", "limit", "kept"], *rows])


def item(text):
    return textwrap.fill(f"- {text}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def reasons(cases):
    """Why limits are not kept: for each reason, the cases."""
    found = {}
    for case in cases:
        if case.get("why") and any(limit["answer"] == "no" for limit in case["limits"]):
            found.setdefault(case["why"], []).append(case["name"])
    return "\n".join(item(f"**{'; '.join(names)}**: {why}") for why, names in found.items())


def notes_of(cases):
    """Each once: of programs, or why one has measured nothing."""
    for program in (program for case in cases for program in case["programs"]):
        nothing = all(v is None for values in program["values"].values() for v in values)
        note = f"not here: {program['failure']}" if nothing and program["failure"] else program["note"]
        if note:
            yield item(f"{program['name']}: {note}")


def programs_tables(cases):
    """What each program has measured; cases with the same quantities share a table."""
    blocks, text = {}, []
    for case in cases:
        blocks.setdefault(tuple(case["programs"][0]["values"]), []).append(case)
    for quantities, alike in blocks.items():
        cells = [["case, and its programs", *(f"{q}, {UNITS[q][1]}" for q in quantities)]]
        for case in alike:
            cells.append([f"**{case['name']}**", *[""] * len(quantities)])
            cells += [[p["name"], *(amount(middle(p["values"][q]), q) for q in quantities)] for p in case["programs"]]
        text.append(markdown(cells))
    return "\n\n".join(filter(None, [*text, "\n".join(dict.fromkeys(notes_of(cases)))]))


# --- the page ---------------------------------------------------------------------------------------------------------

def processor(machine):
    return f"{machine['processor']}, {machine['cpus']} CPUs{' of a virtual machine' if machine['virtual'] else ''}, Linux {machine['kernel']}"


def about(machine, first):
    """What a table was measured with; the machine, too, if it is not the first one's."""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    other = processor(machine) if processor(machine) != processor(first) else ""
    said = "; ".join(filter(None, [other, packages, f"load at the end {machine['load_1min']:.1f}"]))
    return textwrap.fill(f"{said[0].upper() if said.startswith('load') else said[0]}{said[1:]}.", WIDTH, break_on_hyphens=False)


PREFACE = """# Benchmarks

How fast kblat is, beside the programs that people use for the same: its round trips and rates
beside those of sockperf, iperf3, qperf, perftest, ucx_perftest and fi_pingpong, its statistics
beside NumPy, its commands beside what they must not take. One command makes this page:

    make bench

It takes some 50 minutes on a machine that is idle, prints what each case has shown when that ends,
and writes this page (`build/bench/benchmarks.md`) and the values of every round
(`build/bench/*.json`). `make bench ROUNDS=1` measures each case once, for a first look;
`make bench RESUME=yes` continues one of the same commit that was interrupted; `MINUTES=20` gives
it less time.

**How it is measured.** The programs of a case run one after the other on the same two CPUs, in a
different order in each round. A ratio compares kblat with another program in the same round: the
fastest other one, by its median over the rounds, where none is named. The first table has the
median over the rounds, with its interval in brackets (90 %, by order statistics; with fewer than
five rounds, the extremes). Where a value can be zero, its difference to the other is limited ("+").
A bare loop is a program of this repository that does the same with the same library and nothing
else.

**How it is judged.** A limit is kept ("yes") or not ("NO") if the whole interval is on one side of
it; otherwise the question is open, and the noise, half of the interval, is named. A case ends when
its limits are decided: this is looked at after 5, 9, 17, 33 and 65 rounds. Below the table is what
is known of each "NO". In a virtual machine, and especially in an emulated one, only ratios are
meaningful, not latencies; on a busy machine (its load is above each table), not even these. A dash
means that a program does not report the value.
"""


def load(path):
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def printed(path):
    """The output of a benchmark that prints text, whose first line is the title."""
    with open(path, encoding="utf-8") as text:
        title, said = text.read().split("\n", 1)
    lines = [textwrap.fill(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False, drop_whitespace=False) for line in said.rstrip().splitlines()]
    return f"## {title}\n\n```\n" + "\n".join(lines) + "\n```\n"


def page(paths, version=""):
    """`version`: what was measured."""
    benches = [load(path) for path in paths if path.endswith(".json")]
    cases, first = [case for b in benches for case in b["cases"]], benches[0]["machine"]
    head = f"{version + ', on ' if version else 'On '}{first['day']}: {processor(first)}."
    parts = [PREFACE, f"## Every limit\n\n{textwrap.fill(head, WIDTH, break_on_hyphens=False)}\n\n{limits_table(cases)}\n"]
    why = reasons(cases)
    parts += [f"What is known of those that are not kept:\n\n{why}\n"] if why else []
    parts += [f"## {b['title']}\n\n{about(b['machine'], first)}\n\n{programs_tables(b['cases'])}\n" for b in benches]
    return "\n".join([*parts, *(printed(path) for path in paths if path.endswith(".txt"))])


if __name__ == "__main__":
    print(page(sys.argv[2:], sys.argv[1]), end="")
