"""Shared by all benchmarks: measures programs alternately, in several rounds, and evaluates the
results.

A Case is something that several Programs can do. Every round runs each of them once, in a different
order each time, so that other activity of the machine affects all. The ratio of a round is that of
our program to one other; reported are the median over the rounds and its interval. The fastest of
the others is the one with the best median over the rounds: the best of several in each round would
be one that does not exist. Values that can be zero (missed steps) are compared by their difference
in the same round instead. Whether a limit (1, unless the case sets another one) is kept has three
answers: yes or no if the whole interval of the median is on one side of it, otherwise undecided,
with an estimate of how many more rounds would decide it.

Times are in nanoseconds throughout. Quantiles of raw samples are exact and nearest-rank, like
kblat's.
"""
import dataclasses
import json
import math
import os
import platform
import random
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable, Optional

import tables

PATIENCE = 60.0  # seconds a program may take, and a server to come up


class Failed(Exception):
    """A program has no result; the text says why."""


@dataclasses.dataclass
class Run:
    """A client, maybe a server, and how to read the client's output. Words may contain {port} and {server}.

    parse: standard output -> {"p50": ns, "p99": ns, "mean": ns} or a part of it.
    listens: "tcp" or "udp", on which the server must listen before the client is started.
    """
    client: list
    parse: Callable[[str], dict]
    server: Optional[list] = None
    listens: str = "tcp"


@dataclasses.dataclass
class Program:
    name: str
    runs: list                   # of Run; their results are merged
    ours: bool = False
    note: str = ""               # shown next to the numbers
    where: str = "127.0.0.1"     # {server}
    cpus: Optional[tuple] = None  # (client's, server's), or None: it pins itself
    alike: bool = True           # is it one of those whose fastest ours is compared with?
    limit: Optional[float] = None  # of the ratio to this program, in addition to the limits of the case


@dataclasses.dataclass
class Case:
    name: str
    programs: list
    quantities: tuple = ("p50", "p99", "mean")
    limit: float = 1.0           # of the ratio to the fastest other; or quantity -> limit, of those that are limited
    least: Optional[float] = None  # of the same ratio, where ours must not be less, either
    limited: tuple = ("p50",)    # quantities to which the limit applies
    most: dict = dataclasses.field(default_factory=dict)  # quantity -> the maximum of ours
    beyond: dict = dataclasses.field(default_factory=dict)  # quantity -> by how much ours may exceed the fastest other
    enough: dict = dataclasses.field(default_factory=dict)  # quantity -> if ours is at most this, the ratio does not matter


# --- quantiles and ratios ---------------------------------------------------------------------------------------------

def nearest_rank(samples, p):
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(p * len(ordered)) - 1)]


def of_samples(samples):
    if len(samples) < 100:
        raise Failed(f"its output has only {len(samples)} samples")
    return {"p50": nearest_rank(samples, 0.5), "p99": nearest_rank(samples, 0.99), "mean": statistics.fmean(samples)}


CONFIDENCE = 0.9  # of the interval of a median


def median_interval(values):
    """The interval that has the median of all possible rounds with CONFIDENCE or more, whatever their
    distribution (by order statistics); None if there are too few rounds for any."""
    ordered, n = sorted(values), len(values)
    outside, rank = 0, 0  # outside: of 2 ** n outcomes, those with fewer than `rank` + 1 values below the median
    while rank < n // 2:
        outside += math.comb(n, rank)
        if 2 * outside > (1 - CONFIDENCE) * 2 ** n:
            break
        rank += 1
    return [ordered[rank - 1], ordered[n - rank]] if rank else None


def spread(values):
    """Median and its interval, quartiles, extremes."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return {"median": middle, "interval": median_interval(values), "q1": low, "q3": high, "min": min(values), "max": max(values),
            "rounds": values}


def ratio_to(ours, others):
    """The ratios of two lists with an entry for each round (None: no value)."""
    values = [a / b for a, b in zip(ours, others) if a and b]
    return spread(values) if values else None


def differences(ours, others):
    values = [a - b for a, b in zip(ours, others) if a is not None and b is not None]
    return spread(values) if values else None


def fastest(lists, quantity):
    """The list with the best median."""
    best = max if quantity in tables.MORE_IS_BETTER else min
    return best((values for values in lists if tables.middle(values) is not None), key=tables.middle, default=[])


# --- limits -----------------------------------------------------------------------------------------------------------

FEWEST = 5       # rounds that have an interval
ROUNDS_MOST = 1000  # if more would be needed, only a quieter machine helps


def rounds_needed(values, limit):
    """About how many rounds would separate the median from the limit: an interval shrinks with the root of their number."""
    count = len(values["rounds"])
    if not values["interval"]:
        return FEWEST
    distance = abs(values["median"] - limit)
    width = max(abs(end - values["median"]) for end in values["interval"])
    return math.ceil(count * (width / distance) ** 2) if distance and width / distance < ROUNDS_MOST else math.inf


def judge(values, limit, more_is_better):
    """Is a limit kept? ("yes" | "no" | "undecided", how many more rounds might decide: None if only a quieter machine helps)."""
    if values["interval"]:
        kept = [end >= limit if more_is_better else end <= limit for end in values["interval"]]
        if all(kept) or not any(kept):
            return "yes" if kept[0] else "no", 0
    more = max(1, rounds_needed(values, limit) - len(values["rounds"]))
    return "undecided", more if more <= ROUNDS_MOST else None


def together(judged):
    """The answer for several limits, as JSON; None if there is no limit."""
    if not judged:
        return {"answer": None, "more_rounds": None}
    answers = [answer for answer, _ in judged]
    more = [more for answer, more in judged if answer == "undecided"]
    answer = next(a for a in ("no", "undecided", "yes") if a in answers)
    return {"answer": answer, "more_rounds": max(more) if answer == "undecided" and None not in more else None}


# --- running one program ----------------------------------------------------------------------------------------------

_next_port = random.SystemRandom().randrange(20000, 30000)


def free_port():
    """A different one each time, so that the previous server does not matter."""
    global _next_port
    while True:
        _next_port += 1
        if not is_listening(_next_port, "tcp") and not is_listening(_next_port, "udp"):
            return _next_port


def is_listening(port, kind):
    state = "0A" if kind == "tcp" else "07"
    for family in ("", "6"):
        try:
            with open(f"/proc/net/{kind}{family}", encoding="ascii") as table:
                rows = [line.split() for line in table][1:]
        except FileNotFoundError:
            continue
        if any(row[1].endswith(f":{port:04X}") and row[3] == state for row in rows):
            return True
    return False


def await_server(process, port, kind):
    deadline = time.monotonic() + PATIENCE
    while not is_listening(port, kind):
        if process.poll() is not None:
            raise Failed(f"its server ended with status {process.returncode}")
        if time.monotonic() > deadline:
            raise Failed(f"its server does not listen on {kind} port {port}")
        time.sleep(0.01)


def signal_group(process, number):
    """Signal all processes of a command: it may be a shell that has started the program."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def end(process, patience):
    """Wait for a process to end, otherwise end it by a signal; then kill the rest of its group."""
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number:
            signal_group(process, number)
        try:
            process.wait(patience)
            break
        except subprocess.TimeoutExpired:
            patience = 2.0
    signal_group(process, signal.SIGKILL)


def words(command, cpu, port, where):
    pinned = ["taskset", "-c", str(cpu)] if cpu is not None else []
    return pinned + [str(w).format(port=port, server=where) for w in command]


def last_line(log):
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "without a message"


def client(command, log):
    """Run a client; returns its standard output."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                                   start_new_session=True)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    try:
        said, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Failed(f"it did not end within {PATIENCE:.0f} s") from None
    finally:
        end(process, 0)
    if process.returncode:
        log.write(("" if log.tell() else said).encode())
        raise Failed(f"status {process.returncode}: {last_line(log)}")
    return said


def run_once(program, run):
    here, there = program.cpus or (None, None)
    port = free_port()
    with tempfile.TemporaryFile() as log:
        command = words(run.client, here, port, program.where)
        if run.server is None:
            return run.parse(client(command, log))
        server = subprocess.Popen(words(run.server, there, port, program.where), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        try:
            await_server(server, port, run.listens)
            return run.parse(client(command, log))
        finally:
            end(server, 0.5)


def measure(program):
    result = {}
    for run in program.runs:
        try:
            result.update(run_once(program, run))
        except (ValueError, LookupError) as error:
            raise Failed(f"its output cannot be read: {error}") from error
    return result


# --- rounds -----------------------------------------------------------------------------------------------------------

def say(text):
    print(text, file=sys.stderr, flush=True)


class Tally:
    """The results of all rounds of a case."""

    def __init__(self, case):
        self.case = case
        self.values = {p.name: {q: [] for q in case.quantities} for p in case.programs}
        self.failure = {}
        self.failed_in_a_row = dict.fromkeys(self.values, 0)

    def round(self, number, order):
        for program in order:
            result = {}
            if self.failed_in_a_row[program.name] < 2:
                try:
                    result = measure(program)
                    self.failed_in_a_row[program.name] = 0
                except Failed as failure:
                    self.failed_in_a_row[program.name] += 1
                    self.failure[program.name] = str(failure)
                    say(f"  {self.case.name}, {program.name}, round {number + 1}: {failure}")
            for quantity in self.case.quantities:
                self.values[program.name][quantity].append(result.get(quantity))

    def program_json(self, program):
        values, ours = self.values[program.name], self.ours()
        said = {"name": program.name, "ours": program.ours, "note": program.note,
                "commands": [shlex.join(map(str, run.client)) for run in program.runs],
                "failure": self.failure.get(program.name), "values": values}
        if not program.ours and ours:
            said["ours_to_it"] = {q: ratio_to(self.values[ours.name][q], values[q]) for q in self.case.quantities}
        if program.limit is not None and said.get("ours_to_it"):
            judged = [judge(said["ours_to_it"][q], program.limit, q in tables.MORE_IS_BETTER)
                      for q in self.case.limited if said["ours_to_it"].get(q)]
            said.update(limit=program.limit, limited=list(self.case.limited), **together(judged))
        return said

    def ours(self):
        return next((p for p in self.case.programs if p.ours), None)

    def to_fastest(self, compare, quantities):
        ours, others = self.ours(), [p for p in self.case.programs if not p.ours and p.alike]
        if not ours or not others:
            return {}
        return {q: compare(self.values[ours.name][q], fastest([self.values[p.name][q] for p in others], q)) for q in quantities}

    def json(self):
        ratios, more = self.to_fastest(ratio_to, self.case.quantities), self.to_fastest(differences, self.case.beyond)
        programs = [self.program_json(p) for p in self.case.programs]
        return {"name": self.case.name, "limit": self.case.limit, "least": self.case.least, "limited": list(self.case.limited), "most": self.case.most,
                "beyond": self.case.beyond, "enough": self.case.enough, "ours_to_fastest": ratios, "ours_beyond_fastest": more,
                **together(self.judged(ratios, more)), "programs": programs}

    def at_most(self, quantity, most):
        """The answer for our own value; no value is no."""
        values = [v for v in self.values[self.ours().name][quantity] if v is not None]
        return judge(spread(values), most, False) if values else ("no", 0)

    def judged(self, ratios, more):
        """The answer for each limit."""
        answers = []
        for q in self.case.limited:
            if not ratios.get(q):
                continue
            if q in self.case.enough and self.at_most(q, self.case.enough[q])[0] == "yes":
                answers.append(("yes", 0))
            else:
                answers.append(judge(ratios[q], tables.limit_of(self.case.limit, q), q in tables.MORE_IS_BETTER))
            if self.case.least is not None:
                answers.append(judge(ratios[q], self.case.least, True))
        answers += [judge(more[q], most, False) for q, most in self.case.beyond.items() if more.get(q)]
        answers += [self.at_most(q, most) for q, most in self.case.most.items()]
        return answers


def run_cases(cases, rounds, seed=None):
    """Measure all cases, round by round, with the programs of a case in random order. Returns their JSON."""
    tallies = [Tally(case) for case in cases]
    if not tallies:
        return []
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    dice = random.Random(seed)
    started = time.monotonic()
    for number in range(rounds):
        for tally in tallies:
            tally.round(number, dice.sample(tally.case.programs, len(tally.case.programs)))
        say(f"  round {number + 1} of {rounds}, {time.monotonic() - started:.0f} s")
    return [tally.json() for tally in tallies]


def of_bench(case, rows):
    """The JSON of a case that a single benchmark has measured: for each round a tuple of {quantity: value}, in the order of the programs."""
    tally = Tally(case)
    for row in rows:
        for program, result in zip(case.programs, row):
            for quantity in case.quantities:
                tally.values[program.name][quantity].append(result.get(quantity))
    return tally.json()


# --- the machine, and the file ----------------------------------------------------------------------------------------

def first_match(path, pattern):
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            found = re.search(pattern, text.read(), re.M)
    except OSError:
        return None
    return found.group(1) if found else None


def versions(packages):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages], capture_output=True, text=True,
                          check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def machine(packages):
    return {"processor": first_match("/proc/cpuinfo", r"^model name\s*: (.*)$") or platform.machine(),
            "cpus": os.cpu_count(), "kernel": platform.release(), "load_1min": os.getloadavg()[0],
            "virtual": bool(first_match("/proc/cpuinfo", r"^flags\s*:.*\b(hypervisor)\b")),
            "packages": versions(packages)}


def write(path, title, command, packages, rounds, cases):
    """Write the JSON of a benchmark; `command` makes it."""
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schema": 1, "title": title, "command": command, "machine": machine(packages), "rounds": rounds,
                   "cases": cases}, out, indent=1)
        out.write("\n")


# --- the end of a benchmark ----------------------------------------------------------------------------------------------

def finish(cases, out, title, command, packages, count):
    """Print and write the results. Returns the exit status: 0; 1 if ours failed; 2 if no case was chosen; 3 if a limit is
    exceeded; 4 if that is undecided."""
    if not cases:
        say("--only: no case has such a name; the names are in this script")
        return 2
    print(tables.table(cases), flush=True)
    if out:
        write(out, title, command, packages, count, cases)
    programs = [p for c in cases for p in c["programs"]]
    if any(p["ours"] and p["failure"] for p in programs):
        return 1
    answers = {judged.get("answer") for judged in cases + programs}
    return 3 if "no" in answers else 4 if "undecided" in answers else 0
