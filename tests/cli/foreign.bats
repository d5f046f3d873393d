#!/usr/bin/env bats
# `kblat run --foreign`: experiments with other programs (docs/import.md).

load helper
load kbtune_helper

setup() {
	kbtune_setup
	# A program that prints how long it took to start a process, a few times.
	cat >tool <<-'SH'
		#!/bin/sh
		echo "lat_${UNIT:-us}"
		for i in 1 2 3 4 5 6 7 8 9 10; do
			before=$(date +%s%N)
			echo $(((($(date +%s%N) - before)) / 1000))
		done
	SH
	chmod +x tool
	set -m # a background process does not ignore SIGINT
}

# foreign [OPTION…] -- COMMAND…: sets $status, $output (both streams), $runs and $run_dir.
foreign() {
	status=0
	"$KBLAT" run --foreign csv --out "$T/runs" "$@" >out 2>err || status=$?
	output=$(cat err)
	mapfile -t runs <out
	run_dir=$(tail -n 1 out)
}

# of KEY: of run.json.
of() {
	json "$run_dir/run.json" "$1"
}

# failed WORDS: the run failed, was sealed and says why.
failed() {
	assert_eq "$status" 1
	assert_contains "$output" "$1"
	assert_eq "$(of 'd["status"], d["points"]')" "('FAILED', {'failed': 1, 'total': 1})"
	assert_contains "$(json "$run_dir/points/0000/point.json" 'd["why"]')" "$1"
	"$KBLAT" verify "$run_dir"
}

@test "cyclictest: each repetition is a run with its state before and after, and what it printed" {
	cyclictest -q -l 1 >/dev/null 2>&1 || skip "this user may not run cyclictest"
	status=0
	"$KBLAT" run --foreign cyclictest-json --out runs --reps 2 -- cyclictest -q -l 100 -i 1000 -h 1000000 '--json={file}' >out || status=$?
	[ "$status" -eq 0 ]
	[ "$(wc -l <out)" -eq 2 ]
	while read -r run_dir; do
		"$KBLAT" verify "$run_dir"
		assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["metrics"]["lat_ns"]["n"], d["valid"]')" "(100, True)"
		[ -s "$run_dir/output/samples" ]
		[ -s "$run_dir/state/$(hostname)/before/state.json" ]
		[ -s "$run_dir/state/$(hostname)/after/state.json" ]
		[ -s "$run_dir/state/$(hostname)/changes.json" ]
		assert_eq "$(of 'd["command"][-1], d["hosts"]')" "('--json={file}', {'$(hostname)': {'boot_id': '$(cat /proc/sys/kernel/random/boot_id)', 'roles': ['source']}})"
	done <out
}

# bats test_tags=long
@test "two commands take turns, as compare asks for, and index, history and report take their runs" {
	need_feature SQLite
	foreign --reps 6 --no-state --base "env ARM=base ./tool" -- env ARM=new ./tool
	[ "$status" -eq 0 ]
	[ "${#runs[@]}" -eq 12 ]
	assert_eq "$(printf '%s\n' "${runs[@]}" | awk -F/ '{printf "%s ", $(NF - 1)}')" "base new new base base new new base base new new base "
	assert_eq "$(cat runs/base/*/run.json | grep -c '"ARM=base"')" 6
	assert_contains "$output" "kblat compare $T/runs/base --with $T/runs/new"
	run "$KBLAT" compare runs/base --with runs/new --json
	[ "$status" -ne 1 ] && [ "$status" -ne 2 ]
	echo "$output" >c.json
	assert_eq "$(json c.json 'd["in_turn"]')" True
	run "$KBLAT" index runs
	[ "$status" -eq 0 ]
	run "$KBLAT" history runs
	[ "$status" -ne 1 ] && [ "$status" -ne 2 ]
	"$KBLAT" report "${runs[0]}"
}

@test "a command that fails, is silent, prints nonsense or cannot be started ends it, and its output is kept" {
	foreign --no-state --reps 3 -- sh -c 'echo some; echo "no route" >&2; exit 3'
	failed "sh: it ended with status 3: 'no route'"
	[ "${#runs[@]}" -eq 1 ]
	assert_eq "$(cat "$run_dir/output/stdout" "$run_dir/output/stderr")" "$(printf 'some\nno route')"
	foreign --no-state -- sh -c 'kill -SEGV $$'
	failed "it was ended by signal 11"
	foreign --no-state -- true
	failed "true: it printed nothing"
	foreign --no-state -- true '{file}'
	failed "it has not written its samples to output/samples"
	foreign --no-state -- mkfifo '{file}'
	failed "it has not written its samples to output/samples"
	foreign --no-state -- printf 'lat_us\n1\n-2\n'
	failed "output/stdout:3:1: not a latency: '-2'"
	foreign --no-state -- ./no-such-tool
	failed "./no-such-tool: cannot start: no such file or directory"
	[ -z "$(find runs -name '*.partial')" ]
}

@test "what it prints is bounded: in the run directory, and altogether" {
	foreign --no-state -- sh -c 'echo lat_us; seq 1 300000; yes error | head -c 3000000 >&2'
	[ "$status" -eq 0 ]
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["metrics"]["lat_ns"]["n"]')" 300000
	assert_eq "$(stat -c %s "$run_dir/output/stdout" "$run_dir/output/stderr")" "$(printf '1048576\n1048576')"
	grep -q '"event": *"cut".*"stdout"' "$run_dir/log.jsonl"
	"$KBLAT" verify "$run_dir"
}

# lives NAME: is a process of this test still there?
lives() {
	pgrep -xf "sleep $1" >/dev/null
}

# bats test_tags=long
@test "a command that hangs is ended after the time limit, with all that it started" {
	foreign --no-state --timeout 500ms -- sh -c "sleep 7001.$$ & sleep 7002.$$"
	failed "sh: it did not end within 0.5 s (--timeout)"
	run lives "700[12].$$"
	[ "$status" -eq 1 ]
	foreign --no-state -- sh -c "echo lat_us; echo 1; sleep 7003.$$ &"
	[ "$status" -eq 0 ]
	run lives "7003.$$"
	[ "$status" -eq 1 ]
	foreign --no-state --timeout 500ms -- sh -c "trap '' TERM; while :; do sleep 7004.$$; done"
	failed "did not end within"
	run lives "7004.$$"
	[ "$status" -eq 1 ]
}

# begun NAME COMMAND…: starts it in the background, and waits for its sleep.
begun() {
	"$KBLAT" run --foreign csv --out runs --no-state --reps 2 -- sh -c "sleep $1; true" >out 2>err &
	pid=$!
	await_run lives "$1"
}

@test "a signal ends the command, and the run says so; if kblat is killed, the command ends, too" {
	local signal
	for signal in INT TERM; do
		begun "7005.$$"
		kill -s $signal "$pid"
		status=0
		wait "$pid" || status=$?
		assert_eq "$status" 1
		grep -q "interrupted; the runs so far are kept" err
		run_dir=$(tail -n 1 out)
		assert_eq "$(of 'd["status"]')" INTERRUPTED
		"$KBLAT" verify "$run_dir"
		run lives "7005.$$"
		[ "$status" -eq 1 ]
	done
	"$KBLAT" run --foreign csv --out runs --no-state -- sleep "7006.$$" >out 2>err &
	pid=$!
	await_run lives "7006.$$"
	kill -KILL "$pid"
	wait "$pid" || true
	for ((i = 0; i < 100; i++)); do
		lives "7006.$$" || break
		sleep 0.05
	done
	run lives "7006.$$"
	[ "$status" -eq 1 ]
}

# in_environments: a recorded machine with two profiles.
in_environments() {
	machine two-cpus
	export KBTUNE KBTUNE_SYSROOT=$T/m
	profile quiet <<-'YAML'
		shields:
		  - {name: rt, place: {cpus: 1}, partition: isolated}
		sysctl: {vm.swappiness: 10}
	YAML
}

@test "an environment is applied for each run and undone after it, and the command is in its shield" {
	in_environments
	foreign --environment quiet --profile-path "$T" --reps 2 -- sh -c "cat m/proc/sys/vm/swappiness >>seen; ./tool"
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	assert_eq "$(cat seen)" "$(printf '10\n10')"
	assert_eq "$(json "$run_dir/state/$(hostname)/changes.json" '[(e["profile"], e["restored"]["state"]) for e in d["environments"]]')" "[('quiet', 'restored')]"
	assert_eq "$(of 'd["environment"]')" quiet
	as_before
	cat >kbtune <<-SH
		#!/bin/sh
		echo "\$*" >>"$T/asked"
		exec "$KBTUNE" "\$@"
	SH
	chmod +x kbtune
	KBTUNE=$T/kbtune foreign --environment none,quiet --profile-path "$T" --no-state --reps 2 -- ./tool
	[ "$status" -eq 0 ]
	assert_eq "$(grep -c '^cpuset exec rt -- ./tool$' asked)" 2
	assert_eq "$(find runs/new/*/run.json runs/base/*/run.json -print0 | xargs -0 grep -l '"environment": "quiet"' | wc -l)" 2
	as_before
	foreign --environment quiet --profile-path "$T" --no-state -- false
	failed "false: it ended with status 1"
	as_before
	foreign --environment quite --profile-path "$T" --no-state -- ./tool
	[ "$status" -eq 2 ]
	assert_contains "$output" "unknown profile 'quite'"
	[ "${#runs[@]}" -eq 0 ]
}

@test "options for specs and for other programs are not mixed, and --dry-run shows the order" {
	local words
	while IFS='|' read -r words wanted; do
		# shellcheck disable=SC2086 # several words
		run "$KBLAT" run $words
		assert_eq "$words: $status" "$words: 2"
		assert_contains "$output" "$wanted"
	done <<-'END'
		--foreign csv|give the command after --
		--foreign gauss -- true|there is no format 'gauss'
		--foreign sockpref -- true|there is no format 'sockpref'; did you mean 'sockperf'?
		--foreign sockperf --environment isolatd,none --dry-run -- true|unknown profile 'isolatd'; did you mean 'isolated'?
		--foreign csv --set a=b -- true|but not with what is for specs
		--foreign csv --quick -- true|but not with what is for specs
		--foreign csv --json -- true|but not with what is for specs
		--foreign sockperf --unit us -- true|--unit is not for the format sockperf
		--foreign csv --timeout 0s -- true|must be at least a millisecond
		--foreign csv --environment a,b,c -- true|takes one profile, or two
		--foreign csv --base 'x -- true|a quote (') is not closed
		quickstart --timeout 3s|require --foreign
		quickstart other|too many arguments, from 'other' on
	END
	in_environments
	run "$KBLAT" run --foreign csv --dry-run --reps 2 --base "a b" --environment none,quiet --profile-path "$T" -- c d
	[ "$status" -eq 0 ]
	assert_eq "$(sed 's/^ *//' <<<"$output")" "$(printf '1: base: a b\n2: new: c d in quiet\n3: new: c d in quiet\n4: base: a b')"
	[ ! -e runs ]
}

@test "a folder whose name has a place to be filled in: what was filled in is not looked at again" {
	run timeout -k 1 60 "$KBLAT" run --foreign csv --no-state --out 'my{file}runs' --samples '{file}' -- sh -c './tool >"$1"' - '{file}'
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "${lines[-1]}" '/my{file}runs/csv-'
	"$KBLAT" verify "${lines[-1]}"
	[ -s "${lines[-1]}/output/samples" ]
}
