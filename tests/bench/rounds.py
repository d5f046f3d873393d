"""Shared by all benchmarks: measures programs alternately, in several rounds, and judges the results.

A Case is something that several Programs can do. Every round runs each of them once, in a different
order each time, so that other activity of the machine affects all. The ratio of a round is that of
our program to one other; reported are the median over the rounds and its interval. The fastest of
the others is the one with the best median over the rounds: the best of several in each round would
be one that does not exist. Values that can be zero (missed steps) are compared by their difference
in the same round instead. Whether a limit is kept has three answers: yes or no if the whole interval
of the median is on one side of it, otherwise undecided.

A case ends when all of its limits are decided, which is looked at after 5, 9, 17, 33 and 65 rounds:
each further look is another chance to err, so there are few. It also ends when so much noise is left
that only a quieter machine would decide it, and when its share of the time is used up.

Times are in nanoseconds throughout. Quantiles of raw samples are exact and nearest-rank, like
kblat's.
"""
import argparse
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

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
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
    why: str = ""                # said below the limits if one is not kept: what ours does more, or another way
    together: Optional[Callable[[], list]] = None  # one command measures all programs, for several rounds: for each a tuple of {quantity: value}


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
LOOKS = (FEWEST, 9, 17, 33, 65)
ROUNDS_MOST = 1000  # if more would be needed, only a quieter machine helps
HOPELESS_AFTER = 17  # rounds; before, an estimate of how many are needed says little


@dataclasses.dataclass
class Limit:
    """What must be at most `limit` (`least`: and at least that), or where more is better at least `limit`; and whether it is."""
    quantity: str
    kind: str                # "ratio" (ours / the fastest other), "difference" (ours - it), "value" (ours)
    values: Optional[dict]   # as of spread(), of the rounds; None: there is no value
    limit: float
    least: Optional[float] = None
    to: str = ""             # the program that ours is compared with, if that is not the fastest
    enough: Optional[float] = None  # if our own value is at most this, the ratio does not matter

    def judged(self, own):
        """Its JSON, whose answer is None if there is nothing to compare with. `own`: our own values."""
        answer, more = ("no", 0) if self.kind == "value" else (None, 0)
        if self.values:
            more_is_better = self.kind == "ratio" and self.quantity in tables.MORE_IS_BETTER
            judgements = [judge(self.values, self.limit, more_is_better)]
            if self.least is not None:
                judgements.append(judge(self.values, self.least, True))
            if self.enough is not None and own and judge(spread(own), self.enough, False)[0] == "yes":
                judgements = [("yes", 0)]
            answer, more = together(judgements)
        return {**dataclasses.asdict(self), "noise": noise(self.values), "answer": answer, "more_rounds": more}


def noise(values):
    """Half the width of the interval."""
    return (values["interval"][1] - values["interval"][0]) / 2 if values and values["interval"] else None


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
    """The answer for several limits: "no", "undecided" or "yes"; and how many more rounds might decide it."""
    answers = [answer for answer, _ in judged]
    more = [more for answer, more in judged if answer == "undecided"]
    answer = next(a for a in ("no", "undecided", "yes") if a in answers)
    return answer, (None if None in more else max(more)) if answer == "undecided" else 0


def is_settled(limits, count):
    """Would further rounds change nothing?"""
    open_ones = [limit["more_rounds"] for limit in limits if limit["answer"] == "undecided"]
    return not open_ones or count >= HOPELESS_AFTER and all(more is None for more in open_ones)


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
        self.count = 0

    def add(self, program, result):
        for quantity in self.case.quantities:
            self.values[program.name][quantity].append(result.get(quantity))

    def round(self, order):
        for program in order:
            result = {}
            if self.failed_in_a_row[program.name] < 2:
                try:
                    result = measure(program)
                    self.failed_in_a_row[program.name] = 0
                except Failed as failure:
                    self.failed(program, str(failure))
            self.add(program, result)
        self.count += 1

    def failed(self, program, why):
        self.failed_in_a_row[program.name] += 1
        self.failure[program.name] = why
        say(f"  {self.case.name}, {program.name}, round {self.count + 1}: {why}")

    def rounds_together(self):
        """Those that one command has measured."""
        try:
            rows = self.case.together()
        except (Failed, OSError, subprocess.SubprocessError) as failure:
            rows = [({},) * len(self.case.programs)]
            for program in self.case.programs:
                self.failed(program, str(failure))
        for row in rows:
            for program, result in zip(self.case.programs, row):
                self.add(program, result)
        self.count += len(rows)

    def ours(self):
        return next((p for p in self.case.programs if p.ours), None)

    def to_fastest(self, compare, quantity):
        ours, others = self.ours(), [p for p in self.case.programs if not p.ours and p.alike]
        return compare(self.values[ours.name][quantity], fastest([self.values[p.name][quantity] for p in others], quantity)) if ours and others else None

    def is_limited(self):
        return bool(self.ours()) and any(True for _ in self.limits())

    def own(self, quantity):
        return [v for v in self.values[self.ours().name][quantity] if v is not None]

    def limits(self):
        case, name = self.case, self.ours().name
        for q in case.limited:
            yield Limit(q, "ratio", self.to_fastest(ratio_to, q), case.limit[q] if isinstance(case.limit, dict) else case.limit, case.least,
                        enough=case.enough.get(q))
        for p in case.programs:
            for q in case.limited if p.limit is not None else ():
                yield Limit(q, "ratio", ratio_to(self.values[name][q], self.values[p.name][q]), p.limit, to=p.name)
        for q, most in case.beyond.items():
            yield Limit(q, "difference", self.to_fastest(differences, q), most)
        for q, most in case.most.items():
            yield Limit(q, "value", spread(self.own(q)) if self.own(q) else None, most)

    def json(self):
        limits = [limit.judged(self.own(limit.quantity)) for limit in self.limits()] if self.ours() else []
        programs = [{"name": p.name, "ours": p.ours, "note": p.note, "commands": [shlex.join(map(str, run.client)) for run in p.runs],
                     "failure": self.failure.get(p.name), "values": self.values[p.name]} for p in self.case.programs]
        return {"name": self.case.name, "rounds": self.count, "why": self.case.why, "limits": limits, "programs": programs}


def run_case(case, count=None, deadline=math.inf, dice=random):
    """The JSON of a case: of `count` rounds, or as many as its limits take."""
    tally = Tally(case)
    for look in [count] if count else LOOKS:
        while tally.count < look and (tally.count < FEWEST or time.monotonic() < deadline):
            if case.together:
                tally.rounds_together()
            else:
                tally.round(dice.sample(case.programs, len(case.programs)))
            if tally.ours() and tally.failed_in_a_row[tally.ours().name] >= 2:
                return tally.json()
        done = tally.json()
        if is_settled(done["limits"], tally.count) or time.monotonic() >= deadline:
            break
    return done


# --- the machine, and the file ----------------------------------------------------------------------------------------

def first_match(path, pattern):
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            found = re.search(pattern, text.read(), re.M)
    except OSError:
        return None
    return found.group(1) if found else None


def versions(packages):
    if not packages:
        return {}
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages], capture_output=True, text=True,
                          check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def machine(packages):
    return {"processor": first_match("/proc/cpuinfo", r"^model name\s*: (.*)$") or platform.machine(),
            "day": time.strftime("%-d %B %Y"), "cpus": os.cpu_count(), "kernel": platform.release(), "load_1min": os.getloadavg()[0],
            "virtual": bool(first_match("/proc/cpuinfo", r"^flags\s*:.*\b(hypervisor)\b")),
            "packages": versions(packages)}


# --- a benchmark ------------------------------------------------------------------------------------------------------

def options(text, cpus=(0, 1), **defaults):
    """The parser of a benchmark's command line. `defaults`: of further numbers, such as messages=20000."""
    p = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=f"{ROOT}/build", type=os.path.realpath)
    p.add_argument("--out", metavar="FILE", help="what every round measured, as JSON")
    p.add_argument("--resume", action="store_true", help="leave out the cases that are in --out")
    p.add_argument("--rounds", type=int, help="of each case (default: until its limits are decided)")
    p.add_argument("--seconds", type=float, help="for all cases; each has its share, and five rounds in any case")
    p.add_argument("--only", metavar="TEXT", action="append", default=[], help="cases with this in their names")
    p.add_argument("--cpus", type=lambda text: tuple(map(int, text.split(","))), default=cpus)
    for name, value in defaults.items():
        p.add_argument(f"--{name}", type=int, default=value)
    return p


def kept_cases(o):
    """Those that an earlier, interrupted benchmark has measured."""
    if not o.resume or not o.out or not os.path.exists(o.out):
        return {}
    with open(o.out, encoding="utf-8") as file:
        return {case["name"]: case for case in json.load(file)["cases"]}


def write(path, title, packages, cases):
    """The file is whole at any time."""
    with open(f"{path}.new", "w", encoding="utf-8") as out:
        json.dump({"schema": 2, "title": title, "machine": machine(packages), "cases": cases}, out, indent=1)
        out.write("\n")
    os.replace(f"{path}.new", path)


def bench(o, title, cases, packages):
    """Measures the cases, one after the other, those with limits first, and prints and writes what each has shown at once. Returns the exit status:
    0; 1 if ours failed; 2 if no case was chosen; 3 if a limit is exceeded; 4 if that is undecided."""
    chosen, kept, done = [c for c in cases if not o.only or any(text in c.name for text in o.only)], kept_cases(o), []
    chosen.sort(key=lambda case: not Tally(case).is_limited())
    if not chosen:
        say("--only: no case has such a name; the names are in this script")
        return 2
    end = time.monotonic() + (o.seconds or math.inf)
    for i, case in enumerate(chosen):
        begun = time.monotonic()
        done.append(kept.get(case.name) or run_case(case, o.rounds, begun + (end - begun) / (len(chosen) - i)))
        took = "measured before" if case.name in kept else f"{done[-1]['rounds']} rounds, {time.monotonic() - begun:.0f} s"
        print("\n".join([f"{case.name} ({took})", *tables.lines_of(done[-1])]), flush=True)
        if o.out:
            write(o.out, title, packages, done)
    if any(p["ours"] and p["failure"] for c in done for p in c["programs"]):
        return 1
    answers = {limit["answer"] for c in done for limit in c["limits"]}
    return 3 if "no" in answers else 4 if "undecided" in answers else 0
