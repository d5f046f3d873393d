#!/usr/bin/env bats
# Competing flows: the share of the bytes that each moves, how fair that is, and experiments/infiniswap.

load helper

@test "experiments/infiniswap: every point is read, in full and quick, and each experiment has a README" {
	local folder
	for folder in "$ROOT"/experiments/infiniswap/*/; do
		[ -s "$folder/README.md" ]
		for variant in "" --quick; do
			run "$KBLAT" run "$folder" --dry-run --json $variant
			[ "$status" -eq 0 ]
		done
	done
	run "$KBLAT" run "$ROOT/experiments/infiniswap/elephants" --dry-run --json
	echo "$output" >points.json
	assert_eq "$(json points.json 'd[0]["params"]["large.size_bytes"] * d[0]["params"]["large.messages"], d[0]["params"]["small.size_bytes"] * d[0]["params"]["small.messages"]')" \
		"(1000000000000, 1000000000000)"
}

@test "two streams have shares, Jain's index, claims and a figure over time, and verify recomputes them" {
	spec shares <<-'YAML'
		settings: {kernel: stream, transport: tcp, flows: large small, until: first, poll: event, depth: 1, warmup: 1, repetitions: 2,
		  large.size: 256KiB, large.messages: 1000, small.size: 4KiB, small.messages: 1000000}
		claims:
		  - {id: fair, claim: c, metric: fairness.jain, points: {}, value: {min: 0.4, max: 1}}
		  - {id: more, claim: c, metric: large.fairness.share, points: {}, against: {metric: small.fairness.share}, ratio: {min: 0.00001}}
	YAML
	run "$KBLAT" run shares.yaml --out runs
	assert_measured
	assert_contains "$output" "% share"
	assert_contains "$output" "Jain's index"
	/usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys
		p = json.load(open(sys.argv[1] + "/summary.json"))["points"][0]
		large, small, both = p["large.fairness"], p["small.fairness"], p["fairness"]
		x, y = large["share"], small["share"]
		assert 0 < x < 1 and abs(x + y - 1) < 1e-9, (x, y)
		assert abs(both["jain"] - 1 / (2 * (x * x + y * y))) < 1e-9 and both["jain_min"] <= both["jain"] + 1e-9
		for rep in p["reps"]:
		    f = rep["fairness"]
		    assert f["from_ns"] < f["to_ns"] and len(f["shares"]["small"]) == 50
		    assert all(abs(a + b - 1) < 1e-9 for a, b in zip(*f["shares"].values()))
	PY
	[ "$status" -eq 3 ] || assert_eq "$(json "$run_dir/claims.json" '[c["verdict"] for c in d["claims"]]')" "['holds', 'holds']"
	head -n 1 "$run_dir/summary.csv" | grep -q ',share,quantum_share,jain,jain_min'
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ]
	assert_eq "$(grep -c '^[12]' "$run_dir/derived/figures/point-0000-shares.tsv")" 100
	grep -q "Shares of the flows" "$run_dir/derived/report.html"
	# Jain's index for people: four digits.
	grep -qE '>(0\.[0-9]{1,4}|1)</td>' "$run_dir/derived/report.html"
	(! grep -qE '>0\.[1-9][0-9]{4,}</td>' "$run_dir/derived/report.html")
	sed -i 's/"jain_min": [0-9.]*/"jain_min": 0.123/' "$run_dir/summary.json"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 3 ]
}

@test "a claim about shares of one flow needs its name, one about all flows none, and unknown metrics are refused" {
	spec words <<-'YAML'
		settings: {kernel: stream, transport: scripted, flows: large small, messages: 10, repetitions: 1}
		claims:
		  - {id: a, claim: c, metric: fairness.jain, points: {}, value: {min: 0}}
	YAML
	run "$KBLAT" run words.yaml --dry-run
	[ "$status" -eq 0 ]
	sed -i 's/fairness.jain/fairness.jain_mim/' words.yaml
	run "$KBLAT" run words.yaml --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'jain_min'?"
	sed -i 's/fairness.jain_mim/rate.bytes_per_s/' words.yaml
	run "$KBLAT" run words.yaml --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "must name the flow"
}

@test "flows share a slow link: together they move what it carries, and each has its part" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to make network namespaces"
	local netns=$ROOT/experiments/launch/netns
	run "$netns" --rate 1Xbit true
	[ "$status" -eq 2 ]
	assert_contains "$output" "--rate must be"
	run "$netns" --speed 1Gbit true
	[ "$status" -eq 2 ]
	assert_contains "$output" "unknown option --speed"
	spec link <<-'YAML'
		settings: {kernel: stream, transport: tcp, flows: a b, until: first, poll: event, depth: 1, warmup: 1, repetitions: 1,
		  size: 64KiB, messages: 100000, a.duration: 1s}
	YAML
	run "$netns" --rate 200Mbit "$KBLAT" run link.yaml --out runs
	echo "$output"
	[ "$status" -ne 77 ] || skip "this machine lets no namespaces or shaped links be made"
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '17e6 < sum(d["points"][0][f + ".fairness"]["bytes_per_s"] for f in "ab") < 28e6')" True
	[ -z "$(leftovers)" ]
}
