#!/usr/bin/env bats
# UCX and libfabric over the Soft-RoCE device, in the guest:
#
#     tests/vm/guest --env KBLAT=$PWD/build/kblat -- bats tests/vm/libraries.bats

load ../cli/helper

EXPERIMENT=$BATS_TEST_DIRNAME/../../experiments/libraries

# measure OPTION…: a quick run with few messages of 64 bytes; sets $run_dir.
measure() {
	run "$KBLAT" run "$EXPERIMENT" --quick --no-state --only size=64B --set messages=100 --set warmup=50 --set check=yes --reps 1 --out "$T/runs" "$@"
	echo "$output"
	run_dir=${lines[-1]}
}

# The limit of locked memory binds nobody who may lock memory.
@test "out of memory that may be registered: the limit is named, and nothing hangs" {
	spec m <<-'YAML'
		settings: {kernel: stream, messages: 100, repetitions: 1, warmup: 20, size: 64KiB, depth: 64}
		matrix:
		  - {transport: ucx, tls: rc_v, lane: rc_verbs, api: put}
		  - {transport: fabric, provider: verbs, endpoint: msg, api: write}
	YAML
	run bash -c "ulimit -l 64; setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock '$KBLAT' run m.yaml --no-state --out '$T/runs'"
	echo "$output"
	[ "$status" -ne 0 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "ulimit -l"
}

# reasons: of each point, why it is not valid.
reasons() {
	json "$run_dir/summary.json" '[p["reasons"] for p in d["points"]]'
}

lanes() {
	for point in "$run_dir"/points/*/point.json; do
		json "$point" '" ".join(d["granted"][side]["lane"] for side in ("source", "sink"))'
	done
}

@test "UCX over rc: active and tagged messages and puts are carried by the device, as its counters say" {
	measure --only tls=rc_v
	assert_eq "$status: $(reasons)" "0: [[], [], []]"
	assert_eq "$(lanes | sort -u)" "rc_verbs/rxe0:1.0 rc_verbs/rxe0:1.0"
	check_counters 'source["bad_payloads"] + sink["bad_payloads"], source["posted"], sink["posted"]' "(0, 100, 100)"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["sink"]["witness"]["kind"], d["granted"]["sink"]["witness"]["name"]')" "('port', 'rxe0:1')"
}

@test "libfabric over verbs: messages, with and without connections, and writes are carried by the device" {
	measure --only provider=verbs
	assert_eq "$status: $(reasons)" "0: [[], [], [], []]"
	assert_eq "$(lanes | sort -u)" $'verbs/rxe0 verbs/rxe0\nverbs;ofi_rxm/rxe0 verbs;ofi_rxm/rxe0'
	check_counters 'source["bad_payloads"] + sink["bad_payloads"], source["posted"], sink["posted"]' "(0, 100, 100)"
}

@test "streams over the device: gets and atomics of UCX, reads of libfabric bring what is there" {
	spec s <<-'YAML'
		settings: {kernel: stream, messages: 200, repetitions: 1, warmup: 20, check: yes, depth: 8}
		matrix:
		  - {transport: ucx, tls: rc_v, lane: rc_verbs, api: [put, get], size: 300}
		  - {transport: ucx, tls: rc_v, lane: rc_verbs, api: [fetch_add, compare_swap], size: 8}
		  - {transport: fabric, provider: verbs, api: [write, read], size: 300}
	YAML
	run "$KBLAT" run s.yaml --no-state --out "$T/runs"
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$status: $(reasons)" "0: [[], [], [], [], [], []]"
	check_counters 'source["bad_payloads"], sink["bad_memory"], source["completed"]' "(0, 0, 200)"
}

@test "a run that is forced to fall back is not valid, with the name of what carried it" {
	UCX_TLS=tcp measure --only lane=rc_verbs --only api=am --set tls=all
	assert_eq "$status" 3
	assert_contains "$(reasons)" "the messages were carried by tcp/"
	assert_contains "$(reasons)" "not by rc_verbs (source)"
	FI_PROVIDER=tcp measure --only lane=verbs --only endpoint=rdm --set provider=any
	assert_eq "$status" 3
	[[ $(reasons) =~ "the messages were carried by tcp"(";ofi_rxm")?/ ]]
	assert_contains "$(reasons)" "not by verbs (source)"
}

@test "UCX sleeps until a message comes, over the device, too" {
	spec e <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, tls: rc_v, lane: rc_verbs, poll: event, messages: 100, repetitions: 1, warmup: 50, check: yes}
		matrix:
		  - {api: [am, tag]}
	YAML
	run "$KBLAT" run e.yaml --no-state --out "$T/runs"
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$status: $(reasons)" "0: [[], []]"
	check_counters 'source["bad_payloads"] + sink["bad_payloads"], source["posted"], sink["posted"]' "(0, 100, 100)"
}
