#!/usr/bin/python3
"""Formats the results of rounds.py as Markdown: a table for each benchmark, and a page of all of them,
with the output of the other benchmarks.

    tests/bench/tables.py FILE.json… FILE.txt…
"""
import json
import statistics
import sys

UNITS = {"p50": (1e-3, "us"), "p99": (1e-3, "us"), "mean": (1e-3, "us"), "time": (1e-9, "s"), "memory": (1.0, "MiB"),
         "wall": (1e-9, "s"), "missed": (100.0, "%"), "GiB": (1e-9, "s"), "rate": (1e-6, "MB/s")}
MORE_IS_BETTER = {"rate"}


def amount(value, quantity):
    """With three digits, in the unit of the quantity."""
    if value is None:
        return "–"
    scaled = value * UNITS[quantity][0]
    return f"{scaled:.0f}" if scaled >= 100 else f"{scaled:.3g}"


def middle(values):
    known = [v for v in values if v is not None]
    return statistics.median(known) if known else None


def ends(values):
    """The interval of the median; with too few rounds for one, the extremes."""
    return values["interval"] or (values["min"], values["max"])


def ratio_text(ratio):
    return "{:.2f} [{:.2f}–{:.2f}]".format(ratio["median"], *ends(ratio)) if ratio else "–"


def beyond_text(more, quantity):
    return "{} [{}–{}]".format(*(amount(v, quantity) for v in (more["median"], *ends(more)))) if more else "–"


def limit_of(limit, quantity):
    return limit[quantity] if isinstance(limit, dict) else limit


def limit_text(quantity, limit):
    return f"ours / it, {quantity} {'>=' if quantity in MORE_IS_BETTER else '<='} {limit:g}"


def answer_text(judged):
    """"yes", "NO", or "undecided" and what would decide it."""
    if judged["answer"] != "undecided":
        return "yes" if judged["answer"] == "yes" else "NO"
    more = judged["more_rounds"]
    return f"undecided: {more} more round{'s' if more > 1 else ''}" if more else "undecided: a quieter machine"


def ratio_limit(case, quantity):
    if case.get("least") is not None:
        return f"ours / it, {quantity} from {case['least']:g} to {case['limit']:g}"
    enough = case.get("enough", {}).get(quantity)
    also = f" or {quantity} <= {amount(enough, quantity)} {UNITS[quantity][1]}" if enough else ""
    return limit_text(quantity, limit_of(case["limit"], quantity)) + also


def wanted(case):
    limits = [ratio_limit(case, q) for q in case["limited"] if case["ours_to_fastest"].get(q)]
    limits += [f"{q} <= its + {amount(most, q)} {UNITS[q][1]} (is {beyond_text(case['ours_beyond_fastest'].get(q), q)})"
               for q, most in case.get("beyond", {}).items()]
    limits += [f"{q} <= {amount(most, q)} {UNITS[q][1]}" for q, most in case["most"].items()]
    return f"{', '.join(limits)}: {answer_text(case)}" if limits else ""


def note_of(program):
    """The note of another program."""
    if program.get("answer") is None:
        return program["note"]
    limits = ", ".join(limit_text(q, program["limit"]) for q in program["limited"])
    return "; ".join(filter(None, [f"{limits}: {answer_text(program)}", program["note"]]))


def rows(case, quantities):
    for program in case["programs"]:
        shown = [amount(middle(program["values"][q]), q) for q in quantities]
        if program["ours"]:
            ratios = [ratio_text(case["ours_to_fastest"].get(q)) for q in quantities]
            name, note = f"**{program['name']}**", wanted(case)
        else:
            ratios = [ratio_text((program.get("ours_to_it") or {}).get(q)) for q in quantities]
            name, note = program["name"], note_of(program)
        if program["failure"] and all(v is None for values in program["values"].values() for v in values):
            note = f"not here: {program['failure']}"
        yield [case["name"], name, *shown, *ratios, note]


def table(cases):
    """Markdown tables with aligned columns; cases with the same quantities share one."""
    blocks, text = {}, []
    for case in cases:
        blocks.setdefault(tuple(case["programs"][0]["values"]), []).append(case)
    for quantities, alike in blocks.items():
        cells = [["case", "program", *(f"{q}, {UNITS[q][1]}" for q in quantities), *(f"ours / it, {q}" for q in quantities), ""]]
        cells += [row for case in alike for row in rows(case, quantities)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        text.append("\n".join(lines))
    return "\n\n".join(text)


def about(machine):
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (f"{machine['processor']}, {machine['cpus']} CPUs{' of a virtual machine' if machine['virtual'] else ''}, "
            f"Linux {machine['kernel']}{'; ' + packages if packages else ''}; load at the end {machine['load_1min']:.1f}")


PREFACE = """# Benchmarks

    {commands}

makes these tables (`build/bench/benchmarks.md`) and writes the values of every round as JSON
(`build/bench/*.json`). `make bench ROUNDS=1` measures each case once, for a first look.

The programs of a case run one after the other on the same two CPUs, in a different order in each
round. p50 and p99 are medians over the rounds. A ratio compares kblat with another program in the
same round; the table shows the median over the rounds, with its interval in brackets (90 %, by order
statistics; with fewer than five rounds, the extremes). The row of kblat shows its ratio to the
fastest other program, the one with the best median. Where a value can be zero, "its + x" limits the
difference instead of the ratio. A limit is met, or not, if the whole interval is on one side of it;
otherwise that is undecided, and the table estimates how many more rounds would decide it. A dash
means that a program does not report the value. In a virtual machine, and especially in an emulated
one, only ratios are meaningful, not latencies; on a busy machine (its load is above each table), not
even these.
"""


def printed(path):
    """The output of a benchmark that prints text, whose first line is the title."""
    with open(path, encoding="utf-8") as text:
        title, said = text.read().split("\n", 1)
    return f"## {title}\n\n```\n{said.rstrip()}\n```\n"


def measured(path):
    with open(path, encoding="utf-8") as text:
        b = json.load(text)
    return b["command"], f"## {b['title']}\n\n{about(b['machine'])}; {b['rounds']} rounds.\n\n{table(b['cases'])}\n"


def page(paths):
    benches = [measured(path) for path in paths if path.endswith(".json")]
    commands = "\n    ".join(dict.fromkeys(command for command, _ in benches))
    return "\n".join([PREFACE.format(commands=commands), *(text for _, text in benches), *(printed(path) for path in paths if path.endswith(".txt"))])


if __name__ == "__main__":
    print(page(sys.argv[1:]), end="")
