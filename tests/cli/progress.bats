#!/usr/bin/env bats
# The output of a run while it measures.

load helper
bats_require_minimum_version 1.5.0

three_points() {
	spec p <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2, warmup: 0}
		matrix:
		  - {delay: [1us, 2us, 3us]}
	YAML
}

@test "where standard error is no terminal: a line for each point, with its settings and statistics" {
	three_points
	run --separate-stderr "$KBLAT" run p.yaml --out runs
	assert_measured
	assert_eq "$(grep -c 'point . (. of 3): completed in' <<<"$stderr")" 3
	assert_contains "$stderr" "delay=2us; lat_ns p50 2.00 us, max 2.00 us; about "
	[[ $stderr != *repetition* ]]
	[ -d "$(tail -n 1 <<<"$output")" ]
}

@test "--quiet says only what goes wrong, --verbose every repetition, both are a mistake" {
	three_points
	run --separate-stderr "$KBLAT" run p.yaml --out runs --quiet
	assert_eq "$stderr" ""
	run --separate-stderr "$KBLAT" run p.yaml --out runs --quiet --set fault=die --only delay=1us
	[ "$status" -eq 1 ]
	assert_contains "$stderr" "point 0 (1 of 1): failed: "
	run --separate-stderr "$KBLAT" run p.yaml --out runs --verbose
	assert_eq "$(grep -c 'repetition 2/2' <<<"$stderr")" 3
	assert_contains "$stderr" "point 3/3: delay=3us, repetition 1/2, 5000 of 6000 messages, about "
	run "$KBLAT" run p.yaml --out runs --verbose --quiet
	[ "$status" -eq 2 ]
}

@test "the experiments of a study are as quiet as it is" {
	three_points
	mkdir -p study/p
	mv p.yaml study/p/spec.yaml
	run --separate-stderr "$KBLAT" run study --out runs --quiet
	assert_eq "$stderr" "kblat: experiment 1 of 1: p"
}

# asked WHAT…: starts a run, asks it after the first repetition until it answers, then ends it.
asked() {
	"$@" >out 2>err &
	local pid=$! status=0
	for _ in $(seq 1200); do
		compgen -G "$kept" >/dev/null && kill -USR1 "$pid"
		grep -q 'running for' err && break
		sleep 0.1
	done
	kill -INT "$pid"
	wait "$pid" || status=$?
	cat err
	[ "$status" -eq 1 ]
	assert_contains "$(cat err)" "point 1/1, repetition "
	assert_contains "$(cat err)" " of 100000 messages, about "
}

# bats test_tags=long
@test "SIGUSR1 asks where it is, and ends nothing" {
	mkdir -p study/long
	cat >study/long/spec.yaml <<-'YAML'
		kblat: 1
		name: long
		settings: {kernel: oneway, transport: shmem, messages: 100, burst: 1, pause: 1ms, repetitions: 1000, warmup: 0, poll: event}
	YAML
	kept='runs/long-*/points/0000/rep-00/counters.json' asked "$KBLAT" run study/long --out runs
	kept='all/*/long-*/points/0000/rep-00/counters.json' asked "$KBLAT" run study --out all
	[ -z "$(leftovers)" ]
}

@test "SIGUSR1 while an endpoint is being started ends nothing, either" {
	spec q <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 1, warmup: 0}
	YAML
	cat >slow <<-'SH'
		#!/bin/sh
		touch started
		while [ ! -e asked ]; do sleep 0.05; done
		exec "$@"
	SH
	chmod +x slow
	"$KBLAT" run q.yaml --out runs --no-state --sink "$PWD/slow" >out 2>err &
	local pid=$!
	while [ ! -e started ]; do sleep 0.05; done
	for _ in $(seq 1200); do
		kill -USR1 "$pid"
		grep -q 'kblat: ' err && break
		sleep 0.1
	done
	touch asked
	wait "$pid"
	cat err
	assert_contains "$(cat err)" "no point is being measured"
	assert_eq "$(json "$(tail -n 1 out)/points/0000/point.json" 'd["outcome"]')" completed
}
