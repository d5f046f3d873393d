#!/usr/bin/env bats
# What kernels do in addition to simple one-way bursts: round trips, gaps, polling of each side, untouched memory, t_send.

load helper

# pingpong "KEY=VALUE"…: runs over the scripted transport; sets $run_dir, $status and $output.
pingpong() {
	spec pp <<-'YAML'
		settings: {kernel: pingpong, transport: scripted, messages: 1000, repetitions: 2, warmup: 100}
	YAML
	run_with pp "$@"
}

metric() {
	json "$run_dir/summary.json" "d['points'][0]['metrics']['$1']['$2']"
}

@test "a round trip is twice the delay, half of it the delay, to the nanosecond" {
	pingpong delay=1001ns jitter=100ns
	[ "$status" -eq 0 ]
	assert_eq "$(metric rtt_ns max)" 2202
	assert_eq "$(metric half_rtt_ns max)" 1101
	assert_eq "$(metric half_rtt_ns min)" 901
	assert_eq "$(metric half_rtt_ns n)" 2000
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	run /usr/bin/python3 "$ROOT/tests/cli/check_quantiles.py" "$run_dir"
	[ "$status" -eq 0 ]
}

@test "exchange: each way has its latency, to the nanosecond, and its losses" {
	pingpong kernel=exchange delay=1001ns jitter=100ns lose=3,500 reliable=no
	[ "$status" -eq 0 ]
	assert_eq "$(metric lat_ns min) $(metric lat_ns max)" "901 1101"
	assert_eq "$(metric back_lat_ns min) $(metric back_lat_ns max)" "901 1101"
	assert_eq "$(metric turn_ns max)" 0
	assert_eq "$(metric rtt_ns n) $(metric rtt_ns lost)" "1996 4"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "an answer that never comes is a lost round trip, and the next begins" {
	pingpong lose=3,500 reliable=no
	[ "$status" -eq 0 ]
	assert_eq "$(metric rtt_ns n)" 1996
	assert_eq "$(metric rtt_ns lost)" 4
	# A reliable transport loses nothing, so an answer that never comes is a failure.
	pingpong lose=3 timeout=1s
	[ "$status" -eq 1 ]
	assert_contains "$output" "no progress"
}

@test "the warm-up is kept apart from what is summarised" {
	pingpong
	assert_eq "$(/usr/bin/python3 -c 'import numpy, sys; print(len(numpy.load(sys.argv[1])))' "$run_dir/points/0000/warmup/t_back.npy")" 100
	assert_eq "$(metric rtt_ns n)" 2000
}

# bats test_tags=long
@test "round trips over shared memory carry what was sent, there and back, however they are polled" {
	spec pp <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, messages: 200, repetitions: 1, warmup: 20, check: yes}
		matrix:
		  - {poll: [busy, event, adaptive], size: [1, 56, 4096], depth: [1, 64]}
	YAML
	run "$KBLAT" run pp.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 18
	check_counters '[s[k] for s in (source, sink) for k in ("posted", "received", "bad_payloads")]' "[200, 200, 0, 200, 200, 0]"
}

# started SPEC: the number of processes of its source.
started() {
	rm -f pids
	run "$KBLAT" run "$@" --out runs --source "$PWD/counted"
	assert_measured >&2
	sort -u pids | wc -l
}

# bats test_tags=long
@test "fresh: every repetition has new endpoints and a warm-up of its own" {
	printf '#!/bin/sh\necho $$ >>%q\nexec "$@"\n' "$PWD/pids" >counted
	chmod +x counted
	spec f <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 100, burst: 10, repetitions: 3, warmup: 20, fresh: yes, check: yes}
	YAML
	assert_eq "$(started f.yaml)" 3
	assert_eq "$(started f.yaml --set fresh=no)" 1
	assert_eq "$(started f.yaml --set warmup=0 --set repetitions=2)" 2
	run "$KBLAT" run f.yaml --out fresh
	assert_measured
	check_counters 'source["posted"], sink["received"], sink["bad_payloads"]' "(100, 100, 0)"
	assert_eq "$(ls "$run_dir/points/0000")" "$(printf '%s\n' params.json point.json rep-0{0,1,2} summary.json warmup)"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	# Also with two flows, because fresh is a setting of the point.
	run "$KBLAT" run f.yaml --out flows --set flows="a b"
	assert_measured
	assert_eq "$(json "${lines[-1]}/run.json" 'd["points"]["completed"]')" 1
}

# bats test_tags=long
@test "rounds: all points are measured before each goes on, and a run that ends in between says so" {
	local first_stamp='import numpy, sys; print(numpy.load(sys.argv[1])[0])'
	# From the fourth start of a source on, it does what is written in `action`.
	printf '#!/bin/bash\necho >>%q/starts\n(($(wc -l <%q/starts) < 4)) || . %q/action\nexec "$@"\n' "$PWD" "$PWD" "$PWD" >counted
	chmod +x counted
	spec r <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 100, burst: 10, repetitions: 5, rounds: 2, warmup: 20}
		matrix:
		  - {size: [8, 16]}
	YAML
	: >starts && : >action
	run "$KBLAT" run r.yaml --out runs --source "$PWD/counted"
	assert_measured
	assert_eq "$(wc -l <starts)" 4
	for rep in 0000/rep-0{0,1} 0001/rep-0{0,1} 0000/rep-0{2,3,4} 0001/rep-0{2,3,4}; do
		/usr/bin/python3 -c "$first_stamp" "$run_dir/points/$rep/t_subm.npy"
	done >stamps
	sort -nc stamps
	assert_eq "$(json "$run_dir/summary.json" '[(len(p["reps"]), p["metrics"]["lat_ns"]["n"]) for p in d["points"]]')" "[(5, 500), (5, 500)]"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]

	: >starts && echo 'kill -INT $PPID; sleep 5' >action
	run "$KBLAT" run r.yaml --out interrupted --source "$PWD/counted"
	echo "$output"
	run_dir=$(echo interrupted/*)
	assert_eq "$(json "$run_dir/run.json" 'd["status"], d["points"]["completed"], d["points"]["interrupted"]')" \
		"('INTERRUPTED', 1, 1)"
	: >starts && sed -i 's/< 4/< 3/' counted
	run "$KBLAT" run r.yaml --out earlier --source "$PWD/counted"
	run_dir=$(echo earlier/*)
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["interrupted"]')" 2
	assert_eq "$(json "$run_dir/points/0001/point.json" 'd["outcome"], d["why"]')" "('interrupted', 'the run ended before its last round')"

	: >starts && echo 'echo broken >&2; exit 1' >action
	run "$KBLAT" run r.yaml --out failed --source "$PWD/counted"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "broken"
	assert_eq "$(json "$(echo failed/*)/run.json" 'd["points"]["failed"]')" 2
}

@test "turn has the sink's view from message to message, and buffers returned before the answer are intact" {
	spec t <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, poll: event, messages: 500, repetitions: 2, check: yes, release: before}
		matrix:
		  - {turn: [yes, no]}
	YAML
	run "$KBLAT" run t.yaml --out runs
	assert_measured
	assert_eq "$(metric turn_ns n)" 998
	check_counters 'source["bad_payloads"] + sink["bad_payloads"]' 0
	assert_eq "$(json "$run_dir/summary.json" '"turn_ns" in d["points"][1]["metrics"]')" False
	[ ! -e "$run_dir/points/0001/rep-00/t_turn.npy" ]
	assert_eq "$(/usr/bin/python3 -c 'import numpy, sys
turn, back, subm = (numpy.load(f"{sys.argv[1]}/{c}.npy") for c in ("t_turn", "t_back", "t_subm"))
print(bool((turn > subm).all() and (turn < back).all()))' "$run_dir/points/0000/rep-01")" True
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a warm-up makes no pauses" {
	spec w <<-'YAML'
		settings: {transport: shmem, poll: event, messages: 4, repetitions: 1, warmup: 4, pause: 300ms}
		matrix:
		  - {kernel: oneway, burst: 1}
		  - {kernel: pingpong}
	YAML
	run "$KBLAT" run w.yaml --out runs
	assert_measured
	for point in 0000 0001; do
		assert_eq "$(/usr/bin/python3 -c 'import numpy, sys
warmup, rep = (numpy.diff(numpy.load(f"{sys.argv[1]}/{d}/t_subm.npy")) for d in ("warmup", "rep-00"))
print(warmup.min() < 300000000 <= rep.min())' "$run_dir/points/$point")" True
	done
}

@test "a duration ends a repetition before its messages are done, and nothing counts as lost" {
	spec d <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, messages: 100000, pause: 50us, duration: 300ms, repetitions: 2, drain: 50ms}
	YAML
	run "$KBLAT" run d.yaml --out runs
	assert_measured
	n=$(metric rtt_ns n)
	[ "$n" -ge 2 ] # on a busy machine there may be few
	[ "$n" -lt 100000 ]
	assert_eq "$(metric rtt_ns lost)" 0
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a gap keeps posts apart and enters no latency" {
	spec g <<-'YAML'
		settings: {kernel: oneway, messages: 500, burst: 500, repetitions: 1, warmup: 100, gap: 20us}
		matrix:
		  - {transport: shmem}
		  - {transport: scripted, delay: 1us}
	YAML
	run "$KBLAT" run g.yaml --out runs
	assert_measured
	assert_eq "$(/usr/bin/python3 -c 'import numpy, sys; print(numpy.diff(numpy.load(sys.argv[1])).min() >= 19990)' \
		"$run_dir/points/0000/rep-00/t_subm.npy")" True
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][1]["metrics"]["lat_ns"]["max"]')" 1000
}

# 20 ms, so that even on a busy machine some messages arrive earlier.
@test "the time that a gap takes is in no latency" {
	spec g <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 25, burst: 25, repetitions: 1, warmup: 0, gap: 20ms}
	YAML
	run "$KBLAT" run g.yaml --out runs
	assert_measured
	assert_eq "$(/usr/bin/python3 -c 'import numpy, sys
subm, recv = (numpy.load(f"{sys.argv[1]}/{c}.npy") for c in ("t_subm", "t_recv"))
print(numpy.diff(subm).min() >= 19990000, (recv - subm)[1:].min() < 10000000)' "$run_dir/points/0000/rep-00")" "True True"
}

@test "send completions may be polled otherwise than messages" {
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 500, burst: 50, repetitions: 1, warmup: 50, check: yes, depth: 16}
		matrix:
		  - {poll: [busy, event, adaptive], poll_send: [busy, event, adaptive]}
	YAML
	run "$KBLAT" run s.yaml --out runs
	assert_measured
	check_counters 'source["completed"], sink["received"], sink["bad_payloads"]' "(500, 500, 0)"
}

@test "memory that was not touched before costs page faults, and the run says so" {
	spec t <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 4000, repetitions: 1, touch: no}
	YAML
	run "$KBLAT" run t.yaml --out runs
	assert_measured
	assert_eq "$(metric lat_ns n)" 4000
	# Page faults are the subject, so the result is valid, with a warning, unless something else is wrong.
	assert_contains "$(json "$run_dir/summary.json" "' '.join(d['points'][0]['warnings'])")" \
		"page faults inside the measured interval, as intended by \`touch: no\`"
	assert_eq "$(json "$run_dir/summary.json" "'page fault' in ' '.join(d['points'][0]['reasons'])")" False
}

@test "t_send stamps the payload until the adapter reads it, and settings that exclude it are named" {
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 1000, burst: 1, repetitions: 1, t_send: yes}
	YAML
	run "$KBLAT" run s.yaml --out runs
	if [ "$(nproc)" -lt 3 ]; then
		[ "$status" -eq 77 ]
		assert_contains "$output" "separate CPU"
	else
		assert_measured
		assert_eq "$(metric submit_ns n)" 1000
		assert_eq "$(json "$run_dir/summary.json" "d['points'][0]['metrics']['submit_ns']['p50'] <= d['points'][0]['metrics']['lat_ns']['p50']")" True
	fi
	run taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')" "$KBLAT" run s.yaml --out runs --set poll=event
	[ "$status" -eq 77 ]
	assert_contains "$output" "t_send: with poll event the source would share CPU"
	for bad in size=4B check=yes; do
		run "$KBLAT" run s.yaml --out runs --set "$bad"
		[ "$status" -eq 2 ]
		assert_contains "$output" "t_send"
	done
	run "$KBLAT" run s.yaml --out runs --set transport=verbs --set buffers=7
	[ "$status" -eq 2 ]
	assert_contains "$output" "buffers: 1"
	run "$KBLAT" run s.yaml --out runs --set transport=verbs --set buffers=1 --set inline=on
	[ "$status" -eq 2 ]
	assert_contains "$output" "inline"
}

@test "memory of the receiver that cannot hold what is in flight is refused" {
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: verbs, op: write, depth: 8, recv_depth: 4}
	YAML
	run "$KBLAT" run s.yaml --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "recv_depth 4 and depth 8: with op write, messages in flight would overwrite each other at the receiver"
	run "$KBLAT" run s.yaml --dry-run --set op=send --set return=bulk
	[ "$status" -eq 0 ]
	run "$KBLAT" run s.yaml --dry-run --set recv_depth=8 --set return=bulk
	[ "$status" -eq 2 ]
	assert_contains "$output" "return bulk and op write: there are no receive requests to post again"
}

@test "a shared receive queue where nobody posts receive requests is refused" {
	spec s <<-'YAML'
		settings: {kernel: stream, transport: verbs, recv_queue: srq}
	YAML
	refuses s <<-'END'
		op=write|recv_queue srq and op write: there are no receive requests
		op=read|recv_queue srq and op read: there are no receive requests
	END
}

@test "payloads that are checked do not share a send buffer with a message in flight" {
	local kernel
	for kernel in oneway stream rate; do
		spec s <<-YAML
			settings: {kernel: $kernel, transport: verbs, depth: 4, check: yes, messages: 100}
		YAML
		refuses s <<-'END'
			buffers=1|check and buffers 1 with depth 4: messages in flight would share a payload
			buffers=3|check and buffers 3 with depth 4: messages in flight would share a payload
		END
	done
	run "$KBLAT" run s.yaml --set check=no --set buffers=1 --dry-run
	[ "$status" -eq 0 ]
}

@test "answers of another size: all whole, and counted" {
	spec a <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, poll: event, messages: 50, repetitions: 1, warmup: 0, check: yes, size: 5000B}
		matrix:
		  - answer: [0, 16B, 9000B]
	YAML
	run "$KBLAT" run a.yaml --out runs
	assert_measured
	check_counters '[s[k] for s in (source, sink) for k in ("received", "bad_payloads")]' "[50, 0, 50, 0]"
	assert_eq "$(json "$run_dir/summary.json" '[round(2 * p["rate"]["bytes_per_s"] / p["rate"]["messages_per_s"]) for p in d["points"]]')" \
		"[10000, 5016, 14000]"
}

@test "answers of another size are refused where all messages have one" {
	spec a <<-'YAML'
		settings: {kernel: pingpong, size: 5000B, answer: 16B}
	YAML
	refuses a <<-'END'
		transport=tcp|answer 16 and transport tcp: all its messages have the size 5000
		transport=verbs op=write|answer 16 and op write
		transport=verbs op=send answer=2B|answer 2 and op send
		transport=verbs qp=ud size=64B answer=8KiB|answer 8192 and qp ud: a datagram holds one packet
	END
}

# Message i is submitted at i * interval, read by the device 500 ns later (read_delay), and received after 1 us. If all messages were
# received in one place, the sink found the stamp of the next message there.
@test "a t_send that was overwritten before it was read is wrong, and invalidates" {
	spec o <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, repetitions: 2, warmup: 0, t_send: yes}
		matrix:
		  - {}
		  - {overwrite: 5-7}
		  - {read_delay: 100ns}
	YAML
	run "$KBLAT" run o.yaml --out runs
	[ "$status" -eq 3 ]
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/summary.json" '[[p["metrics"]["send_lat_ns"][k] for k in ("min", "max")] for p in d["points"]]')" \
		"[[500, 500], [-9500, 500], [900, 900]]"
	assert_eq "$(json "$run_dir/summary.json" '[p["valid"] for p in d["points"]]')" "[True, False, True]"
	assert_contains "$(json "$run_dir/summary.json" "d['points'][1]['reasons']")" \
		"6 messages whose t_send is later than their t_recv: the stamps were overwritten before they were read (sink, 2 of 2 repetitions)"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	run "$KBLAT" run o.yaml --out runs --set t_send=no
	[ "$status" -eq 2 ]
	assert_contains "$output" "overwrite is about stamps in the payload; use t_send"
}

@test "what the third thread of t_send does to the latency is measured and said" {
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 500, burst: 1, repetitions: 2, warmup: 50, poll: event}
		matrix:
		  - {t_send: [yes, no]}
	YAML
	run "$KBLAT" run s.yaml --out runs
	assert_measured
	assert_contains "$output" "t_send: with the third thread the median of t_lat is "
	run_dir=${lines[-1]}
	assert_eq "$(/usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys, numpy
		run = sys.argv[1]
		with_it, without_it = json.load(open(run + "/summary.json"))["points"]
		t = {c: numpy.load(f"{run}/points/0000/undisturbed/{c}.npy") for c in ("t_subm", "t_recv", "t_send")}
		lat = numpy.sort(t["t_recv"] - t["t_subm"])
		told = with_it["interference"]
		print((t["t_send"] == numpy.iinfo("int64").min).all(), told["undisturbed"]["p50"] == lat[249],
		      told["p50_ratio"] == with_it["metrics"]["lat_ns"]["p50"] / lat[249], with_it["metrics"]["lat_ns"]["n"],
		      "interference" in without_it)
	PY
	)" "True True True 1000 False"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a real-time priority that is not granted is said, not passed over" {
	spec p <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 100, repetitions: 1}
	YAML
	chmod 755 "$T"
	mkdir -m 777 free
	need_root "to drop what it has"
	need_others "$KBLAT"
	run "${as_other[@]}" \
		bash -c 'ulimit -r 0; exec "$@"' _ "$KBLAT" run p.yaml --out free --set priority=10
	[ "$status" -eq 77 ]
	assert_contains "$output" "SCHED_FIFO 10"
}

@test "a real-time thread that runs for too long without sleeping is stopped, and the point fails" {
	chrt -f 1 true 2>/dev/null || skip "may not have a real-time priority"
	spec p <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 2, burst: 1, pause: 10min, repetitions: 1, warmup: 0, priority: 1, priority_limit: 200ms}
		matrix:
		  - {poll_send: event}
		  - {messages: 10, pause: 0ns, priority: 0}
	YAML
	run "$KBLAT" run p.yaml --out runs
	[ "$status" -eq 1 ]
	run_dir=${lines[-1]}
	assert_contains "$(json "$run_dir/points/0000/point.json" 'd["why"]')" \
		"priority_limit: a measuring thread ran for 200 ms at SCHED_FIFO 1 without sleeping"
	assert_eq "$(json "$run_dir/points/0001/point.json" 'd["outcome"]')" completed
}
