#!/usr/bin/env bats
# How long a run is expected to take, and what is run of a study with so much time.

load helper
bats_require_minimum_version 1.5.0

# experiment NAME SETTINGS: study/NAME/spec.yaml
experiment() {
	mkdir -p "study/$1"
	printf 'kblat: 1\nname: %s\nsettings: {%s}\n' "$1" "$2" >"study/$1/spec.yaml"
}

# A long experiment with a pacer, between two short ones.
study() {
	experiment a "kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2"
	experiment b "kernel: rate, transport: shmem, messages: ${1:-1000000}, rate: 1kHz, repetitions: 1, warmup: 0, poll: event, pacer: timerfd"
	experiment c "kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2"
}

states() {
	cells "$1" '" ".join(x["state"] for x in d)'
}

@test "--dry-run expects of paced points messages / rate x repetitions, and little beyond" {
	spec paced <<-'YAML'
		settings: {kernel: rate, transport: shmem, messages: 2000, repetitions: 5, warmup: 1000}
		matrix:
		  - {rate: [1kHz, 100Hz]}
	YAML
	"$KBLAT" run paced.yaml --dry-run --json >plan.json
	assert_eq "$(json plan.json '[(x["paced_s"], x["basis"]) for x in d]')" "[(11.0, 'assumptions'), (110.0, 'assumptions')]"
	assert_eq "$(json plan.json '[x["paced_s"] < x["expected_s"] < x["paced_s"] + 1 for x in d]')" "[True, True]"
	run "$KBLAT" run paced.yaml --dry-run
	assert_contains "$output" "2 points, 20000 messages, about 2 min 2 s (at least 2 min 1 s), 0 as in former runs"
	assert_contains "$output" "   1: 1 min 50 s  rate_hz=100"
	[ ! -e runs ]
}

@test "a former run of a point says how long it takes, wherever runs are made" {
	spec again <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 20, burst: 1, repetitions: 2, warmup: 0, poll: event}
		matrix:
		  - {pause: [1ms, 2ms]}
	YAML
	run "$KBLAT" run again.yaml --out out --only pause=2ms
	assert_measured
	"$KBLAT" run again.yaml --out out --dry-run --json --reps 4 >plan.json
	assert_eq "$(json plan.json '[x["basis"] for x in d]')" "['assumptions', 'former run']"
	assert_eq "$(json plan.json '[x["paced_s"] for x in d]')" "[0.076, 0.152]"
	"$KBLAT" run again.yaml --out elsewhere --dry-run --json >plan.json
	assert_eq "$(json plan.json '[x["basis"] for x in d]')" "['assumptions', 'assumptions']"
	took=$(/usr/bin/python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["took_ms"])' out/again-*/log.jsonl)
	"$KBLAT" run again.yaml --out out --dry-run --json --only pause=2ms >plan.json
	assert_eq "$(json plan.json "round(d[0]['expected_s'] * 1000) - $took")" 0
}

@test "a study's --dry-run says it of each experiment, and what a budget leaves" {
	study
	run "$KBLAT" run study --dry-run --budget 1min
	[ "$status" -eq 0 ]
	assert_contains "${lines[1]}" "16 min 4"
	assert_eq "$(awk '/points/ {print $1, $NF == "left"}' <<<"$output" | paste -sd,)" "a 0,b 1,c 0"
	"$KBLAT" run study --dry-run --json >plan.json
	assert_eq "$(json plan.json '[x["paced_s"] for x in d], "left" in d[0]')" "([0.0, 1000.0, 0.0], False)"
	[ ! -e study/runs ]
}

# bats test_tags=long
@test "what does not fit is left, later ones run, and --resume goes on with the rest" {
	study
	run --separate-stderr "$KBLAT" run study --out out --budget 1min
	[ "$status" -eq 0 ]
	assert_contains "$stderr" "1 experiment with 1 point left, about 16 min"
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(states "$c")" "completed pending completed"
	assert_eq "$(json "$c/study.json" 'd["status"]')" PARTIAL
	assert_contains "$(grep pending <<<"$output")" "left: needs about 16 min"
	before=$(cells "$c" 'd[0]["run"]')
	study 200
	run --separate-stderr "$KBLAT" run study --resume "$c" --budget 1min
	assert_measured
	[[ $stderr != *left* ]]
	assert_eq "$(states "$c")" "completed completed completed"
	assert_eq "$(json "$c/study.json" 'd["status"]') $(cells "$c" 'd[0]["run"]')" "COMPLETED $before"
}

@test "an experiment that failed is a failure, whatever the budget leaves" {
	study
	experiment c "kernel: oneway, transport: scripted, messages: 1000, repetitions: 1, fault: die"
	run "$KBLAT" run study --out out --budget 1min
	[ "$status" -eq 1 ]
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(states "$c")" "completed pending failed"
	assert_eq "$(json "$c/study.json" 'd["status"]')" FAILED
}

@test "what earlier experiments took longer than expected, later ones are expected to take" {
	study
	run "$KBLAT" run study --out out --budget 1min
	c=$(tail -n 1 <<<"$output")
	change_cells "$c" '[x.update(took_s=10 * x["expected_s"]) for x in d]; d[2].update(state="pending", run=None)'
	needed=$(cells "$c" 'd[2]["expected_s"]')
	run "$KBLAT" run --resume "$c" --budget "$(/usr/bin/python3 -c "print(int($needed * 5e9))")ns"
	[ "$status" -eq 2 ]
	assert_contains "$output" "the smallest experiment, c, needs about"
	assert_eq "$(states "$c")" "completed pending pending"
}

@test "a budget that is none, or too small for anything, is refused before anything starts" {
	study
	for b in 0 0s -1h -5 8 1ms 8hours many ""; do
		run "$KBLAT" run study --out out --budget "$b"
		[ "$status" -eq 2 ]
		assert_contains "$output" "--budget"
	done
	run "$KBLAT" run study --out out --budget 2ms
	assert_contains "$output" "2 ms is too short: the smallest experiment, a, needs about "
	run "$KBLAT" run study/b --out out --budget 1min
	[ "$status" -eq 2 ]
	assert_contains "$output" "1 min 0 s is too short: the experiment needs about 16 min"
	[ ! -e out ]
	run "$KBLAT" run study/a --out out --budget 1min
	[ "$status" -eq 0 ]
}
