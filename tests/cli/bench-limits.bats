#!/usr/bin/env bats
# The limits of benchmarks (tests/bench/rounds.py): each is kept, exceeded, or undecided.

load helper

# limits: Python statements, with judge(), spread() and table() at hand.
limits() {
	PYTHONPATH=$ROOT/tests/bench PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - <<-PY
		from rounds import *
		import rounds, tables
		def answer(values, limit, more_is_better=False):
		    return judge(spread(values), limit, more_is_better)
		def case(ours, other, others=(), name="c", **of):
		    c = Case(name, [Program("a", [], ours=True), Program("b", []), *others], quantities=("p50",), **of)
		    return run_case(dataclasses.replace(c, together=lambda: [({"p50": a}, *[{"p50": b}] * (len(c.programs) - 1)) for a, b in zip(ours, other)]), len(ours))
		def answers(case):
		    return [limit["answer"] for limit in case["limits"]]
		def of(ours, others, **how):
		    def rows():
		        if not ours:
		            raise Failed("it has no result")
		        rows.n = getattr(rows, "n", -1) + 1
		        return [({"p50": ours[rows.n % len(ours)]}, {"p50": others[rows.n % len(others)]})]
		    c = Case("c", [Program("a", [], ours=True), Program("b", [])], quantities=("p50",), together=rows)
		    return run_case(c, **how)["rounds"]
		$1
	PY
}

@test "a limit is kept or exceeded only if the whole interval of the median is on one side of it" {
	limits 'assert answer([0.8, 0.85, 0.9, 0.9, 0.95, 0.97, 0.99], 1) == ("yes", 0)
assert answer([1.01, 1.1, 1.2, 1.3, 1.2, 1.1, 1.4], 1) == ("no", 0)
assert answer([0.8, 0.85, 0.9, 0.9, 0.95, 0.97, 1.2], 1)[0] == "undecided"
assert answer([0.21, 0.25, 0.26, 0.27, 0.9, 1.2, 1.27], 0.9, True)[0] == "undecided"
assert answer([0.21, 0.25, 0.26, 0.27, 0.3, 0.4, 0.5], 0.9, True) == ("no", 0)
assert answer([0.95, 0.96, 0.97, 1, 1.1, 1.2, 1.3], 0.9, True) == ("yes", 0)'
}

@test "few rounds decide nothing, and the rounds needed grow with the noise" {
	limits 'assert answer([0.5], 1) == ("undecided", 4)
assert answer([0.5] * 4, 1) == ("undecided", 1)
assert answer([0.5] * 5, 1) == ("yes", 0)
little, much = answer([0.8] * 6 + [1.05], 1)[1], answer([0.8] * 6 + [1.6], 1)[1]
assert 0 < little < much, (little, much)
assert answer([0.9, 0.95, 1, 1, 1, 1.05, 1.1], 1) == ("undecided", None)'
}

@test "the interval of a median has it in nine of ten samples, whatever the number of rounds" {
	limits 'dice = random.Random(1)
for rounds in (5, 7, 12, 31):
    hit = 0
    for _ in range(4000):
        low, high = median_interval([dice.expovariate(1) for _ in range(rounds)])
        hit += low <= math.log(2) <= high
    assert 0.89 < hit / 4000 < 0.995, (rounds, hit)
assert median_interval([1, 2, 3, 4]) is None
assert median_interval(list(range(9))) == [1, 7]'
}

@test "every limit of a case has its answer, which the table says" {
	limits 'yes, no, wide = case([1] * 7, [2] * 7), case([3] * 7, [2] * 7), case([1, 1, 1, 1, 1, 1, 9], [2] * 7)
assert [answers(c) for c in (yes, no, wide)] == [["yes"], ["no"], ["undecided"]]
said = " ".join(tables.limits_table([wide]).split())
assert "0.50 [0.50–4.50] | <= 1 | open ±400 %" in said, said
assert "1.00 [0.50–1.50]" in tables.limits_table([case([1, 2, 3], [2] * 3)])
assert answers(case([3] * 7, [2] * 7, enough={"p50": 4})) == ["yes"]
assert answers(case([1] * 7, [2] * 7, most={"p50": 0.5})) == ["yes", "no"]
assert answers(case([3] * 7, [2] * 7, limited=(), beyond={"p50": 1})) == ["yes"]
assert answers(case([1] * 7, [2] * 7, limited=())) == []
alone = case([1] * 7, [None] * 7)
assert answers(alone) == [None] and "| no other |" in tables.limits_table([alone])
near = [case([ours] * 7, [100] * 7, limit=1.05, least=0.95) for ours in (97, 103, 94, 106)]
assert [answers(c) for c in near] == [["yes"], ["yes"], ["no"], ["no"]]
assert "| 0.95 to 1.05 | NO " in tables.limits_table(near)
two = case([1] * 7, [2] * 7, others=[Program("d", [], limit=0.1)])
assert answers(two) == ["yes", "no"] and "| - to d: p50 " in tables.limits_table([two])'
}

@test "a case ends when it is decided, when only a quieter machine would decide it, or when its time is up" {
	limits 'assert of([100] * 5, [200]) == 5
assert of([100, 900, *[100] * 10], [200]) == 9
assert of([190, 200, 215, 180, 205, 198, 220], [200]) == 17
assert of([167, 222, 158, 182, 165, 213, 207, 210, 233, 198, 176], [200]) == 33
assert of([150, 250], [200], deadline=0) == 5
assert of([150, 250], [200], count=3) == 3
assert of([], [200]) == 2'
}

@test "what an interrupted benchmark has measured is not measured again; tables fit in 100 columns" {
	cd "$T"
	limits 'told = []
def measured(name):
    def rows():
        told.append(name)
        if name == "second" and told.count("second") == 1:
            raise KeyboardInterrupt
        return [({"p50": 1e9}, {"p50": 2e9})] * 5
    return Case(name, [Program("a" * 34, [], ours=True, note="n" * 20 + " m" * 60), Program("b", [], alike=True)], quantities=("p50", "p99", "mean"), together=rows)
cases = [measured("first"), measured("second")]
o = rounds.options("").parse_args(["--out", "made.json"])
try:
    rounds.bench(o, "T", cases, [])
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    pass
o.resume = True
assert rounds.bench(o, "T", cases, []) == 0 and told == ["first", "second", "second"]
assert rounds.bench(rounds.options("").parse_args(["--only", "third"]), "T", cases, []) == 2
long = case([1] * 7, [2] * 7, limited=(), beyond={"p50": 1e-3}, name="x" * 34)
page = tables.page(["made.json"]) + tables.limits_table([long])
assert max(map(len, page.splitlines())) <= 100, page' >/dev/null
}

@test "cases with limits come first, and a reason is said of those that are not kept only" {
	cd "$T"
	limits 'def one(name, ours, **of):
    return Case(name, [Program("a", [], ours=True), Program("b", [])], quantities=("p50",), together=lambda: [({"p50": ours}, {"p50": 2e6})] * 5, **of)
cases = [one("shown", 1e6, limited=()), one("slow", 3e6, why="it does more"), one("as slow", 3e6, why="it does more"), one("quick", 1e6, why="never said")]
assert rounds.bench(rounds.options("").parse_args(["--out", "made.json"]), "T", cases, []) == 3
made = tables.load("made.json")["cases"]
assert [case["name"] for case in made] == ["slow", "as slow", "quick", "shown"]
page = tables.page(["made.json"], "kblat 9 (abc)")
assert "- **slow; as slow**: it does more" in page and "never said" not in page and "kblat 9 (abc), on " in page, page
small = {"kind": "value", "quantity": "time", "values": spread([4.48e6] * 5), "limit": 50e6, "least": None}
assert (tables.measured(small), tables.wanted(small)) == ("4.48 ms [4.48–4.48]", "<= 50 ms")' >/dev/null
}
