#!/usr/bin/env bats
# Reads and atomics over verbs: what is not possible is refused before anything starts, on any machine; tests/vm/verbs.bats
# tests what they do. One-sided operations over UCX and libfabric: what they do, over shared memory and TCP.

load helper
load transports_helper

# refused SENTENCE SETTING…: a dry run ends with status 2 and the sentence.
refused() {
	local sentence=$1
	local -a sets
	shift
	set_flags "$@"
	run "$KBLAT" run r.yaml --dry-run "${sets[@]}"
	echo "$* -> $status: $output"
	assert_eq "$status" 2
	assert_contains "$output" "$sentence"
}

@test "reads and atomics that cannot be are refused, each with both settings and what to use" {
	spec r <<-'YAML'
		settings: {kernel: stream, transport: verbs, size: 8B, depth: 8}
	YAML
	run "$KBLAT" run r.yaml --dry-run --set op=compare_swap --set check=yes --set batch=4 --set signal_every=2
	[ "$status" -eq 0 ]
	refused "op read and qp uc: only a reliable connection has reads and atomics; use qp rc" op=read qp=uc
	refused "op read and qp ud: only a reliable connection" op=read qp=ud
	refused "op fetch_add and qp uc: only a reliable connection" op=fetch_add qp=uc
	refused "size 16 and op fetch_add: an atomic works on 8 bytes; use size 8B" op=fetch_add size=16B
	refused "size 4 and op compare_swap: an atomic works on 8 bytes; use size 8B" op=compare_swap size=4B
	refused "inline on and op read: no payload is sent that could be copied; use inline off" op=read inline=on
	refused "both, check and a one-sided op" op=read both=yes check=yes
	refused "both, check and a one-sided op" op=fetch_add both=yes check=yes
	refused "rd_atomic" op=read rd_atomic=256
	refused "fetch_ad" op=fetch_ad
	for kernel in oneway pingpong; do
		sed "s/kernel: stream/kernel: $kernel/" r.yaml >k.yaml && mv k.yaml r.yaml
		refused "op read and a kernel that receives: nothing arrives at the sink; use kernel stream" op=read
		sed "s/kernel: $kernel/kernel: stream/" r.yaml >k.yaml && mv k.yaml r.yaml
	done
}

@test "what a read brings, an atomic takes there and back, is what the block wire counts" {
	spec w <<-'YAML'
		settings: {kernel: stream, transport: verbs, size: 8B}
		matrix:
		  - {op: [write, read, fetch_add]}
		  - {op: send, both: yes}
	YAML
	# Without a device each point is reported as impossible, but resolved.json exists.
	run "$KBLAT" run w.yaml --out runs
	run_dir=$(ls -d runs/*)
	assert_eq "$(json "$run_dir/resolved.json" '[tuple(p["traits"]["wire"].values()) for p in d["points"]]')" \
		"[(8, 0, False), (0, 8, True), (8, 8, True), (8, 8, False)]"
}

# bats test_tags=long
@test "one-sided operations of UCX and libfabric: what they bring and what they leave is right" {
	spec o <<-'YAML'
		settings: {messages: 300, repetitions: 2, warmup: 300}
		matrix:
		  - {kernel: pingpong, check: yes, lost_after: 10s, transport: ucx, api: put, tls: [posix, tcp], lane: posix, size: [8, 100]}
		  - {kernel: pingpong, check: yes, lost_after: 10s, transport: fabric, api: write, provider: [shm, "tcp;ofi_rxm"], size: [8, 100]}
		  - {kernel: pingpong, check: yes, lost_after: 10s, transport: fabric, api: write, provider: tcp, endpoint: msg, size: 5000}
		  - {kernel: stream, check: yes, transport: ucx, api: [put, get], tls: [posix, tcp], depth: 8, size: [5, 3000]}
		  - {kernel: stream, check: yes, transport: fabric, api: [write, read], provider: [shm, tcp], depth: 8, size: [5, 3000]}
		  - {kernel: stream, check: yes, transport: ucx, api: [fetch_add, compare_swap], tls: [posix, tcp], size: 8, depth: 8}
		  - {kernel: stream, check: yes, transport: fabric, api: [fetch_add, compare_swap], provider: [shm, tcp], size: 8, depth: 8}
		  - {kernel: exchange, lost_after: 10s, transport: ucx, api: put, tls: posix}
	YAML
	run "$KBLAT" run o.yaml --no-state --out runs
	echo "$output"
	[ "$status" -eq 3 ]
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 34
	check_counters 'source["posted"], sink["bad_payloads"] + source["bad_payloads"], sink.get("bad_memory", 0)' "(300, 0, 0)"
	# The second half of the first row expects another lane than it takes.
	assert_eq "$(json "$run_dir/summary.json" '[p["id"] for p in d["points"] if any("carried by tcp" in r for r in p["reasons"])]')" "[2, 3]"
}

# bats test_tags=long
@test "one-sided operations of UCX and libfabric in both directions: a side that has ended still serves the other" {
	spec b <<-'YAML'
		settings: {kernel: stream, both: yes, messages: 2000, repetitions: 3, warmup: 300, depth: 16, size: 300}
		matrix:
		  - {transport: ucx, api: [put, get], tls: [posix, tcp]}
		  - {transport: fabric, api: [write, read], provider: [shm, tcp]}
		  - {transport: ucx, api: fetch_add, tls: tcp, size: 8, duration: 50ms}
	YAML
	run "$KBLAT" run b.yaml --no-state --out runs
	assert_measured
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 9
	check_counters '[s["posted"] == s["completed"] > 0 for s in (source, sink)]' "[True, True]"
}

# bats test_tags=long
@test "a socket that is full for a moment keeps no side of UCX or libfabric from meeting the other, and no message" {
	spec full <<-'YAML'
		settings: {messages: 20, repetitions: 2, warmup: 10}
		matrix:
		  - {kernel: stream, transport: ucx, api: [put, get], tls: tcp, size: 8}
		  - {kernel: pingpong, transport: ucx, api: put, tls: tcp, size: 8}
		  - {kernel: pingpong, transport: ucx, api: [am, stream], tls: tcp, size: 5000}
		  - {kernel: pingpong, transport: fabric, api: write, provider: tcp, size: 64KiB}
	YAML
	preloading full_socket "$KBLAT" run full.yaml --no-state --out runs
	assert_eq "$(completed)" 6
	check_counters '[source["posted"] == source["completed"] == 20]' "[True]"
}

@test "one-sided operations over a library that cannot be are refused, each with what to use" {
	spec r <<-'YAML'
		settings: {kernel: stream, transport: ucx, size: 8B, depth: 8, api: put}
	YAML
	refused "poll event and api get: nothing wakes a side whose memory is used; use poll busy" api=get poll=event
	refused "size 16 and api fetch_add: an atomic works on 8 bytes; use size 8B" api=fetch_add size=16B
	sed 's/kernel: stream/kernel: pingpong/' r.yaml >k.yaml && mv k.yaml r.yaml
	refused "api get and a kernel that receives: nothing arrives at the sink; use kernel stream" api=get
	refused "size 7 and api put: 8 bytes of a message hold its number" size=7B
	refused "size 7 and api write: 8 bytes of a message hold its number" size=7B transport=fabric api=write
	sed 's/kernel: pingpong/kernel: oneway/' r.yaml >k.yaml && mv k.yaml r.yaml
	refused "api put and a kernel that only sends: messages in flight would overwrite each other" api=put
}
