#!/usr/bin/env bats
# `kblat run` over Soft-iWARP, beside Soft-RoCE, in the guest:
#
#     tests/vm/siw && tests/vm/guest --env KBLAT=$PWD/build/kblat -- bats tests/vm/siw.bats
#
# What it can do works; what it cannot is not possible here, and the device's reason is said.

load ../cli/helper

# An interface of its own: an address leads to one device only.
setup_file() {
	modprobe siw && ip link add d1 mtu 4200 type dummy && ip addr add 198.51.100.1/24 dev d1 && ip link set d1 up &&
		rdma link add siw0 type siw netdev d1 || {
		echo "# no Soft-iWARP: see the head of this file" >&3
		return 1
	}
}

# spec_of NAME <<YAML
spec_of() {
	spec "$1" < <(
		echo 'settings: {transport: verbs, messages: 100, repetitions: 1, warmup: 10, depth: 32, check: yes}'
		echo 'matrix:'
		cat
	)
}

# begin NAME: $run_dir, $status, $output.
begin() {
	run "$KBLAT" run "$1.yaml" --no-state --out "$T/runs"
	echo "$output"
	run_dir=$(tail -n 1 <<<"$output")
}

@test "RC by the connection manager: latencies, round trips and streams, send and write, polling and sleeping" {
	spec_of works <<-'YAML'
		  - {kernel: [oneway, pingpong, stream], device: siw0, connect: rdmacm, op: send, poll: [busy, event]}
		  - {kernel: [oneway, pingpong, stream], device: siw0, connect: rdmacm, op: write, recv_depth: 128}
		  - {kernel: stream, device: siw0, connect: rdmacm, op: read}
		  - {kernel: pingpong, device: siw0, connect: rdmacm, op: send, size: 32KiB, poll: event}
	YAML
	begin works
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 11
	check_counters 'source["posted"], sink["bad_payloads"], source["bad_payloads"]' "(100, 0, 0)"
	assert_eq "$(json "$run_dir/summary.json" '{p["loss"]["lost"] for p in d["points"]}')" "{0}"
}

@test "what iWARP lacks is not possible here, with the reason, and the other points run" {
	spec_of lacks <<-'YAML'
		  - {kernel: oneway, device: siw0}
		  - {kernel: oneway, device: siw0, qp: ud, op: send}
		  - {kernel: oneway, device: siw0, qp: uc, op: write_imm}
		  - {kernel: stream, device: siw0, connect: rdmacm, op: fetch_add, size: 8B, check: no}
		  - {kernel: oneway, device: siw0, connect: rdmacm, op: send}
	YAML
	begin lacks
	assert_measured 'not possible here: .*'
	assert_eq "$(cd "$run_dir/points" && for p in 0 1 2 3 4; do json 000$p/point.json 'd["outcome"]'; done | tr '\n' ' ')" \
		"impossible impossible impossible impossible completed "
	assert_contains "$output" "siw0 port 1: the device speaks iWARP; connect plain: only the connection manager makes them (connect rdmacm); op send_imm: it carries no immediate data (op send, or write)"
	assert_contains "$output" "qp ud: it has reliable connections only (qp rc)"
	assert_contains "$output" "the device does not support op fetch_add: it has no atomics"
}

@test "beside Soft-RoCE, siw is used only if it is named" {
	run "$KBLAT" list devices
	echo "$output"
	assert_contains "$output" siw0
	assert_contains "$output" rxe0
	spec_of auto <<-'YAML'
		  - {kernel: oneway, qp: ud}
	YAML
	begin auto
	assert_measured
	assert_contains "$(cat "$run_dir/points/0000/point.json")" '"rxe0"'
}
