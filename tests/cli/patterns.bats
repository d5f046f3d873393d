#!/usr/bin/env bats
# Latencies that repeat with the number of the message: in a run, its summary and its report.

load helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	cat >spec.yaml <<-'END'
		kblat: 1
		name: patterns
		settings: {kernel: pingpong, transport: scripted, messages: 1000, repetitions: 2, warmup: 10, delay: 2us, noise: 50ns}
		matrix:
		  - pattern: ["32:31-32:1us", ""]
	END
	"${KBLAT:-$BATS_TEST_DIRNAME/../../build/kblat}" run spec.yaml --out runs >out 2>err || return
	tail -n 1 out >run
}

setup() {
	# shellcheck disable=SC2034 # for teardown()
	T=$(scratch)
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	KBLAT=${KBLAT:-$ROOT/build/kblat}
	cd "$BATS_FILE_TMPDIR" || return
	run_dir=$(cat run)
}

pattern() {
	json "$run_dir/summary.json" "d['points'][$1]['pattern']$2"
}

@test "the period, its phases and their height are found, and none where there is none" {
	assert_eq "$(pattern 0 '["period"]')" 32
	assert_eq "$(pattern 0 '["high"][0]["phases"]')" 31-32
	assert_eq "$(pattern 0 '["high_first"], d["points"][0]["pattern"]["high_last"]')" "(31, 32)"
	[ "$(json "$run_dir/summary.json" 'abs(d["points"][0]["pattern"]["high_ns"] - d["points"][0]["pattern"]["base_ns"] - 2000) < 50')" = True ]
	assert_eq "$(pattern 1 '["period"]')" None
	assert_eq "$(pattern 1 '["strength"]')" 0.0
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "kblat summary --pattern says it in words, also of a run whose summary lacks it; a report only shows what the summary says" {
	run "$KBLAT" summary "$run_dir" --pattern
	[ "$status" -eq 0 ]
	assert_contains "$output" "period 32"
	assert_contains "$output" "31-32: 5.99 us"
	assert_contains "$output" "1  rtt_ns: no period up to 250"
	cp -r "$run_dir" old
	/usr/bin/python3 - old/summary.json <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		for p in d["points"]:
		    del p["pattern"]
		json.dump(d, open(sys.argv[1], "w"))
	END
	(cd old && cut -c 67- manifest-sha256.txt | xargs sha256sum >new && mv new manifest-sha256.txt)
	run "$KBLAT" summary old
	[[ $output != *period* ]]
	run "$KBLAT" summary old --pattern
	[ "$status" -eq 0 ]
	assert_contains "$output" "period 32"
	run "$KBLAT" report old
	[ "$status" -eq 0 ]
	[ ! -e old/derived/figures/point-0000-fold.svg ]
}

@test "the report draws what repeats, in order and folded, and nothing of what does not" {
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ]
	for kind in sequence fold; do
		[ -s "$run_dir/derived/figures/point-0000-$kind.svg" ]
		[ ! -e "$run_dir/derived/figures/point-0001-$kind.svg" ]
	done
	assert_eq "$(awk '$5 == 1 { printf "%s ", $1 }' "$run_dir/derived/figures/point-0000-fold.tsv")" "31 32 "
	assert_eq "$(awk '$1 == 1' "$run_dir/derived/figures/point-0000-sequence.tsv" | wc -l)" 1000
	assert_contains "$(cat "$run_dir/derived/report.html")" "Folded by the period"
}

@test "a pattern that is none is refused, with what is wrong" {
	sed 's/"32:31-32:1us", ""/"32:31-33:1us"/' spec.yaml >bad.yaml
	run "$KBLAT" run bad.yaml --out runs
	[ "$status" -eq 2 ]
	assert_contains "$output" "the phases must be a list of numbers from 1 to the period"
}

@test "all claims of experiments/ramcloud/known-pattern hold" {
	run "$KBLAT" run "$ROOT/experiments/ramcloud/known-pattern" --quick --out runs
	[ "$status" -eq 0 ]
	assert_contains "$output" "24 hold, 0 fail, 0 not judged"
	# Whose a claim is stands beside its name.
	"$KBLAT" report "${lines[-1]}" >/dev/null
	assert_contains "$(cat "${lines[-1]}/derived/report.html")" "first-phase; self-test"
}
