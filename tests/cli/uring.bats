#!/usr/bin/env bats
# The transport uring over loopback: each of its modes, alone and combined, and what is refused.

load helper

setup() {
	kblat_setup
	need_feature liburing
	spec probe <<-'YAML'
		settings: {kernel: pingpong, transport: uring, over: tcp, poll: event, messages: 10, repetitions: 1, warmup: 0}
	YAML
	run "$KBLAT" run probe.yaml --no-state --out probe
	[ "$status" -ne 77 ] || skip "io_uring is refused on this machine"
}

# counted: the counters of both sides, of every repetition.
counted() {
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import glob, json, sys
		seen = set()
		for path in glob.glob(sys.argv[1] + "/points/*/rep-*/counters.json"):
		    c = json.load(open(path))
		    seen.add(tuple(c[side][k] for side in ("source", "sink") for k in ("posted", "received", "bad_payloads")))
		print(seen)
	PY
}

@test "round trips: every mode carries what was sent, there and back, busy and asleep" {
	spec p <<-'YAML'
		settings: {kernel: pingpong, transport: uring, messages: 40, repetitions: 1, warmup: 5, check: yes, depth: 4, lost_after: 10s, over: [udp, tcp]}
		matrix:
		  - {poll: [busy, event], multishot: yes, size: 3000}
		  - {poll: event, registered: yes, zerocopy: [yes, no], size: 3000}
		  - {poll: adaptive, zerocopy: yes, multishot: yes, registered: yes, size: 100}
		  - {poll: event, sqpoll: yes, size: 64}
	YAML
	run "$KBLAT" run p.yaml --no-state --out runs
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 12
	assert_eq "$(counted)" "{(40, 40, 0, 40, 40, 0)}"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "streams, bursts and rates: tcp loses nothing, small and large, whoever sleeps" {
	spec s <<-'YAML'
		settings: {transport: uring, over: tcp, repetitions: 2, poll: event}
		matrix:
		  - {kernel: stream, messages: 500, warmup: 10, depth: 32, size: [64, 20000], multishot: yes}
		  - {kernel: oneway, messages: 200, burst: 50, warmup: 10, depth: 64, size: 4096, check: yes, zerocopy: [yes, no]}
		  - {kernel: stream, messages: 10, warmup: 0, size: 4MiB, multishot: [yes, no], registered: yes}
		  - {kernel: rate, messages: 40, rate: 2kHz, warmup: 10, missed_limit: 100%, check: yes, multishot: yes}
	YAML
	run "$KBLAT" run s.yaml --no-state --out runs
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 7
	assert_eq "$(json "$run_dir/summary.json" 'sum(p["loss"]["lost"] for p in d["points"] if p["loss"])')" 0
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["over"]')" tcp
}

@test "what cannot be: too large, too many, half a microsecond, and more locked memory than is allowed" {
	spec x <<-'YAML'
		settings: {kernel: pingpong, transport: uring, messages: 10, repetitions: 1, warmup: 0}
	YAML
	refuses x <<-'LINES'
		size=65508|transport uring over udp: a datagram holds at most 65507 bytes
		size=3|4 bytes of a message hold its number
		depth=40000|40000 messages in flight and transport uring: at most 32768
		zerocopy=yes over=tcp size=1MiB depth=257|zerocopy, size 1048576 and 257 messages in flight: together at most 256 MiB
		napi=1500ns|napi 1500ns is not in whole microseconds
		kernel=handoff|uring
		source_address=::1|different families
	LINES
	need_root "to give up a capability"
	local less="setpriv --inh-caps=-all --bounding-set=-ipc_lock,-sys_resource prlimit --memlock=8388608"
	run "$KBLAT" run x.yaml --no-state --out runs --source "$less" --set registered=yes --set over=tcp --set size=16MiB
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "registered is refused"
}
