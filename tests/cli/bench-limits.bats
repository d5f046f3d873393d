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
		def case(ours, other, **of):
		    c = Case("c", [Program("a", [], ours=True), Program("b", [])], quantities=("p50",), **of)
		    return of_bench(c, [({"p50": a}, {"p50": b}) for a, b in zip(ours, other)])
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

@test "a case has one answer for all of its limits, its table says it, and so does the exit status" {
	limits 'yes, no, wide = case([1] * 7, [2] * 7), case([3] * 7, [2] * 7), case([1, 1, 1, 1, 1, 1, 9], [2] * 7)
assert [c["answer"] for c in (yes, no, wide)] == ["yes", "no", "undecided"]
assert "0.50 [0.50–4.50]" in tables.table([wide]) and "1.00 [0.50–1.50]" in tables.table([case([1, 2, 3], [2] * 3)])
assert case([3] * 7, [2] * 7, enough={"p50": 4})["answer"] == "yes"
assert case([1] * 7, [2] * 7, most={"p50": 0.5})["answer"] == "no"
assert case([1] * 7, [2] * 7, limited=())["answer"] is None
near = [case([ours] * 7, [100] * 7, limit=1.05, least=0.95) for ours in (97, 103, 94, 106)]
assert [c["answer"] for c in near] == ["yes", "yes", "no", "no"]
assert "p50 from 0.95 to 1.05: NO" in tables.table(near)
assert "<= 1: yes" in tables.table([yes]) and "<= 1: NO" in tables.table([no])
more = wide["more_rounds"]
assert f"<= 1: undecided: {more} more rounds" in tables.table([wide]), tables.table([wide])
assert [finish(c, None, "", "", [], 7) for c in ([yes], [yes, wide], [wide, no])] == [0, 4, 3]' >/dev/null
}
