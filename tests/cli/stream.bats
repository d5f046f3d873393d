#!/usr/bin/env bats
# The kernel `stream`: known rates, both directions, payloads, what is refused, and losses.

load helper
load transports_helper

# streamed "KEY=VALUE"…: runs a stream over the scripted transport; sets $run_dir, $status and $output.
streamed() {
	spec stream <<-'YAML'
		settings: {kernel: stream, transport: scripted, messages: 1001, size: 64B, repetitions: 1, warmup: 10,
		           interval: 1us, delay: 2us, comp_delay: 300ns}
	YAML
	run_with stream "$@"
}

# point EXPRESSION: a value of `p`, the first point of the summary.
point() {
	json "$run_dir/summary.json" "(lambda p: ($1))(d['points'][0])"
}

@test "a known gap is the rate that is reported: of messages, of bytes, delivered" {
	streamed link_rate=1000000000
	[ "$status" -eq 0 ]
	assert_eq "$(point "[p['metrics']['gap_ns'][k] for k in ('n', 'min', 'p50', 'max', 'mean')]")" "[1000, 1000, 1000, 1000, 1000.0]"
	assert_eq "$(point "[p['metrics']['comp_lat_ns'][k] for k in ('n', 'lost', 'p50')]")" "[1001, 0, 300]"
	# From the first submission to the last completion: 1000 gaps and the completion of the last.
	assert_eq "$(point "round(p['rate']['messages_per_s'] * (1000 * 1000 + 300) / 1e9, 6)")" 1001.0
	assert_eq "$(point "round(p['rate']['bytes_per_s'] / p['rate']['messages_per_s'], 6)")" 64.0
	assert_eq "$(point "round(p['rate']['delivered_bytes_per_s'])")" 64000000
	assert_eq "$(point "round(p['rate']['link_share'] - p['rate']['bytes_per_s'] * 8 / 1e9, 9)")" 0.0
	assert_contains "$output" "kmsg/s"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "blocks of messages share an entry: the rate stays, the columns are shorter" {
	streamed stamp_every=10
	[ "$status" -eq 0 ]
	assert_eq "$(point "[p['metrics']['gap_ns'][k] for k in ('n', 'p50', 'min')]")" "[100, 10000, 1000]"
	assert_eq "$(point "[p['metrics']['comp_lat_ns'][k] for k in ('n', 'p50', 'min')]")" "[101, 9300, 300]"
	assert_eq "$(point "round(p['rate']['messages_per_s'] * (1000 * 1000 + 300) / 1e9, 6)")" 1001.0
	assert_eq "$(point "p['loss']['sent'], p['loss']['lost']")" "(1001, 0)"
}

@test "a duration ends it: what was never sent is not lost, and the rate is the same" {
	streamed duration=100us messages=100000 stamp_every=7
	[ "$status" -eq 0 ]
	sent=$(point "p['loss']['sent']")
	[ "$sent" -gt 98 ] && [ "$sent" -lt 115 ]
	assert_eq "$(point "p['loss']['lost'], p['metrics']['comp_lat_ns']['n'] == -(-$sent // 7)")" "(0, True)"
	assert_eq "$(point "round(p['rate']['messages_per_s'] * (($sent - 1) * 1000 + 300) / 1e9, 6) == $sent")" True
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

# bats test_tags=long
@test "loss, duplicates, order and payloads are seen without a stamp of each message" {
	streamed lose=5,7
	[ "$status" -eq 3 ]
	assert_contains "$output" "2 of 1001 messages lost on a reliable transport"
	assert_eq "$(point "p['loss']['lost'], p['metrics']['gap_ns']['lost']")" "(2, 2)"
	streamed lose=5,7 reliable=no duplicate=9 delayed=20-24
	[ "$status" -eq 3 ]
	assert_contains "$output" "1 message received more than once"
	assert_eq "$(point "[p['loss'][k] for k in ('sent', 'lost', 'duplicates', 'reordered')]")" "[1001, 2, 1, 5]"
	streamed check=yes fault=bad_payload fault_at=77
	[ "$status" -eq 3 ]
	assert_contains "$output" "1 payload that differs"
	streamed fault=die fault_at=500
	[ "$status" -eq 1 ]
	assert_contains "$output" "sink"
}

@test "every transport, one way and both, every payload whole" {
	need_feature ZeroMQ nanomsg
	local transports
	transports=$(native_transports)
	spec all <<-YAML
		settings: {kernel: stream, messages: 150, size: 300B, depth: 32, repetitions: 1, warmup: 20, check: yes, drain: 1s}
		matrix:
		  - {transport: [${transports// /,}], both: [no, yes], stamp_every: 4}
	YAML
	sed -i 's/zeromq,nanomsg/zeromq/; /both/{p; s/transport: .*, both/transport: [zeromq, nanomsg], pattern: pair, both/}' all.yaml
	run "$KBLAT" run all.yaml --out runs
	assert_measured
	[ "$(completed)" -ge $(($(wc -w <<<"$transports") + 2)) ]
	# Publishing drops messages that are not received in time.
	json "$run_dir/summary.json" '[(p["id"], p["params"]["transport"], p["loss"], p["rate"]) for p in d["points"]]'
	assert_eq "$(json "$run_dir/summary.json" \
		'[p["id"] for p in d["points"] if p["params"].get("pattern") != "pubsub" and (p["loss"]["lost"] or p["loss"]["sent"] != 150 * (1 + p["params"]["both"]))]')" "[]"
	check_counters 'source["bad_payloads"], sink["bad_payloads"], source["completed"] - source["posted"], sink["completed"] - sink["posted"]' "(0, 0, 0, 0)"
	assert_eq "$(json "$run_dir/summary.json" \
		'all(("gap_back_ns" in p["metrics"]) == p["params"]["both"] and p["rate"]["messages_per_s"] > 0 for p in d["points"])')" True
}

@test "both ways by the clock: each side knows when the other has ended" {
	spec clock <<-'YAML'
		settings: {kernel: stream, messages: 1000000, size: 64B, depth: 16, repetitions: 2, warmup: 20, both: yes,
		           duration: 10ms, stamp_every: 100}
		matrix:
		  - {transport: [shmem, tcp]}
		  - {transport: tcp, size: 1MB}
	YAML
	run "$KBLAT" run clock.yaml --out runs
	assert_measured
	check_counters 'source["posted"] - sink["received"], sink["posted"] - source["received"], source["posted"] < 1000000' "(0, 0, True)"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a rate is in the CSV, in claims, and is followed over time" {
	streamed repetitions=5
	[ "$status" -eq 0 ]
	assert_contains "$(head -n 1 "$run_dir/summary.csv")" ",messages_per_s,bytes_per_s,delivered_bytes_per_s,link_share"
	base=$run_dir
	cat >>stream.yaml <<-'YAML'
		claims:
		  - id: fast
		    claim: "a million messages a second"
		    metric: rate.messages_per_s
		    points: {transport: scripted}
		    value: {min: 990000}
	YAML
	run "$KBLAT" run stream.yaml --out "$T/runs" --set interval=2us --set repetitions=5
	slow=$(grep "^$T/runs/" <<<"$output" | tail -n 1)
	assert_eq "$(json "$slow/claims.json" 'd["claims"][0]["verdict"]')" fails
	run "$KBLAT" history "$base" "$slow" --metric rate.messages_per_s
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "1.001e+06 hz"
	assert_contains "$output" "5.004e+05 hz"
}

@test "figures show the peak and half of it against the size, and latency against rate by depth" {
	spec sizes <<-'YAML'
		settings: {kernel: stream, transport: scripted, messages: 1000, repetitions: 1, warmup: 10, interval: 1us}
		matrix:
		  - {size: [64B, 128B, 1KiB, 4KiB]}
		  - {size: 64B, depth: [1, 2, 4]}
	YAML
	run "$KBLAT" run sizes.yaml --out runs
	assert_measured
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
	# size, MB/s, mark, text: if messages take a constant time, half of the peak rate is at half of the size.
	cut -f 2,3,5,6 "$run_dir"/derived/figures/rate-1.tsv >rates
	cat rates
	grep -q $'^4096\t4091\..*\t1\t4KiB$\|^4096\t409[0-9].*\t1\t4KiB$' rates
	grep -q $'^2048\t204[0-9].*\t2\t2.0KiB$' rates
	cut -f 2,3,6 "$run_dir"/derived/figures/rate-2.tsv >loads
	assert_eq "$(tail -n +2 loads | cut -f 3 | tr '\n' ' ')" "1 2 4 1024 "
	assert_contains "$(cat "$run_dir/derived/report.html")" "<h2>Rates</h2>"
}

@test "settings that can't be are said before anything starts" {
	spec s <<-'YAML'
		settings: {kernel: stream, transport: tcp, messages: 50, repetitions: 1}
	YAML
	refuses s <<-'END'
		both=yes poll=event|one thread sends and receives
		batch=4|posts messages one by one; use transport verbs
		transport=verbs batch=2000|batch 2000 and depth 1024
		transport=verbs op=write both=yes check=yes|both, check and a one-sided op
		transport=verbs op=send buffers=2 check=yes|check and buffers 2 with depth 1024
		transport=scripted both=yes|no messages of its own
		stamp_every=0|below its minimum
		size=3|4 bytes of a message hold its number
	END
}

@test "stamps that do not fit memory: said before the run, with the setting that helps" {
	spec s <<-'YAML'
		settings: {kernel: stream, transport: shmem, messages: 1000000000, repetitions: 1000, duration: 1ms}
	YAML
	run "$KBLAT" run s.yaml --out runs
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "a larger stamp_every"
	[ -z "$(ls runs)" ]
	run "$KBLAT" run s.yaml --out runs --set stamp_every=1000000 --set repetitions=1 --set warmup=0
	assert_measured
}

# bats test_tags=long
@test "a peer that is killed in the middle of a stream is named, and nothing is left behind" {
	touch before-shm
	spec s <<-'YAML'
		settings: {kernel: stream, messages: 1000000000, size: 64B, repetitions: 1, warmup: 0, stamp_every: 100000, timeout: 5s}
		matrix:
		  - {transport: [tcp, shmem], both: [no, yes]}
	YAML
	cat >sink <<-'SH'
		#!/bin/bash
		exec timeout -s KILL 1.5 "$@"
	SH
	chmod +x sink
	run "$KBLAT" run s.yaml --out runs --sink "$T/sink"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "sink"
	assert_eq "$(leftovers)" ""
	assert_eq "$(shm_files)" ""
}
