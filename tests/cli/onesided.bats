#!/usr/bin/env bats
# Settings of verbs, reads and atomics among them: what is not possible is refused before anything starts, on any machine;
# tests/vm/verbs.bats tests what they do. One-sided operations over UCX and libfabric: what they do, over shared memory and TCP.

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

@test "settings of verbs that contradict each other are refused before anything starts" {
	spec contradictions <<-'YAML'
		settings: {kernel: oneway, transport: verbs, qp: rc, messages: 200, burst: 20, pause: 100us, depth: 256}
	YAML
	refuses contradictions <<-'END'
		op=write qp=ud|op write and qp ud
		op=write poll=event|poll event and op write
		op=write recv_depth=4|recv_depth 4 and depth 256: with op write
		op=send size=2B|size 2 and op send
		signal_every=300|signal_every 300 and depth 256
		op=write buffers=8|buffers 8 and depth 256
		t_hw=yes op=write|t_hw and op write
		t_send=yes buffers=1 inline=on|t_send needs `inline: off`
		t_send=yes buffers=1 signal_every=8|t_send needs `signal_every: 1`
		op=write recv_queue=srq|recv_queue srq and op write
		op=write_imm recv_sge=2|recv_sge 2 and op write_imm
		op=write_imm regions=2|regions 2 and op write_imm
		regions=257|regions 257 and depth 256
		regions=5 recv_depth=4|regions 5 and recv_depth 4
		queue_pairs=2 qp=ud|queue_pairs 2 and qp ud
		queue_pairs=2 connect=rdmacm|queue_pairs 2 and connect rdmacm
		queue_pairs=2|queue_pairs 2 and recv_queue qp
		queue_pairs=2 recv_queue=srq|queue_pairs 2 and several messages in flight
		receivers=2|receivers 2, group 'none' and qp rc, connect plain: only datagrams have no connection
		group=239.1.2.3 qp=ud connect=rdmacm|use qp ud, connect plain
		group=192.0.2.1 qp=ud|group must be none or the IPv4 address of a multicast group
		receivers=2 qp=ud op=send_imm|use op send, recv_queue srq
		receivers=2 qp=ud op=send recv_queue=srq|use kernel pingpong, signal_every 1
		inline=maybe|inline must be off, on, or a number of bytes
	END
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
	need_feature UCX libfabric
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
	need_feature UCX libfabric
	spec b <<-'YAML'
		settings: {kernel: stream, both: yes, messages: 2000, repetitions: 3, warmup: 300, depth: 16, size: 300}
		matrix:
		  - {transport: ucx, api: [put, get], tls: [posix, tcp]}
		  - {transport: fabric, api: [write, read], provider: [shm, tcp]}
		  - {transport: ucx, api: fetch_add, tls: tcp, size: 8, duration: 50ms}
	YAML
	run "$KBLAT" run b.yaml --no-state --out runs
	assert_measured
	assert_eq "$(completed)" 9
	check_counters '[s["posted"] == s["completed"] > 0 for s in (source, sink)]' "[True, True]"
}

# bats test_tags=long
@test "a socket that is full for a moment keeps no side of UCX or libfabric from meeting the other, and no message" {
	need_feature UCX libfabric
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
	need_feature UCX libfabric
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
