#!/usr/bin/env bats
# The kernel `handoff`: payloads arrive complete with any way of acknowledging, copying and handing over; losses, interruptions
# and kills; what is refused, and what is not possible.

load helper

handoff() {
	spec "$1" < <(
		echo 'settings: {kernel: handoff, messages: 100, repetitions: 1, warmup: 10, check: yes, depth: 8}'
		cat
	)
}

# bats test_tags=long
@test "through every message layer payloads arrive whole, there and back, however their transport is polled" {
	handoff layers <<-'YAML'
		matrix:
		  - {transport: [shmem, udp], hand: [direct, event], ack: [yes, no], copy: [yes, no], poll: event, size: 1000B}
		  - {transport: shmem, hand: [direct, event], poll: [busy, adaptive]}
		  - {transport: [shmem, udp], hand: yield, ack: [yes, no], poll: [event, adaptive]}
		  - {transport: shmem, hand: yield, copy: no, poll: busy}
	YAML
	run "$KBLAT" run layers.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 29
	check_counters '[s[k] for s in (source, sink) for k in ("posted", "received", "bad_payloads")]' "[100, 100, 0, 100, 100, 0]"
	/usr/bin/python3 - "$run_dir" <<-'PY'
		import glob, numpy, sys
		for rep in glob.glob(sys.argv[1] + "/points/*/rep-00"):
		    subm, seen, back = (numpy.load(f"{rep}/t_{name}.npy") for name in ("subm", "seen", "back"))
		    assert (subm < seen).all() and (seen < back).all() and (back[:-1] <= subm[1:]).all(), rep
	PY
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "spinning takes two CPUs a side: with fewer it is not possible here, and the others run" {
	handoff spin <<-'YAML'
		matrix:
		  - {transport: shmem, poll: event, hand: [spin, direct]}
	YAML
	run taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" "$KBLAT" run spin.yaml --out runs
	assert_measured 'not possible here: .*'
	assert_eq "$(json "$run_dir/summary.json" '[p["outcome"] for p in d["points"]]')" "['impossible', 'completed']"
	assert_contains "$(json "$run_dir/summary.json" 'd["points"][0]["why"]')" "hand spin: the thread 'messenger' needs a separate CPU on each side"
	[ "$(nproc)" -ge 4 ] || return 0
	run "$KBLAT" run spin.yaml --out more
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '[p["outcome"] for p in d["points"]]')" "['completed', 'completed']"
}

@test "who yields shares its messenger's CPU: one a side is enough, and giving it up is no warning" {
	handoff yield <<-'YAML'
		matrix:
		  - {transport: shmem, poll: [event, busy], hand: yield}
	YAML
	run taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" "$KBLAT" run yield.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '[p["outcome"] for p in d["points"]]')" "['completed', 'completed']"
	assert_eq "$(json "$run_dir/summary.json" '["source and sink share a CPU" in p["warnings"] for p in d["points"]]')" "[True, True]"
	[ "$(nproc)" -ge 2 ] || return 0
	run "$KBLAT" run yield.yaml --out more
	assert_measured
	/usr/bin/python3 - "$run_dir" <<-'PY'
		import glob, json, sys
		for point in glob.glob(sys.argv[1] + "/points/*"):
		    with open(f"{point}/point.json") as f:
		        cpus = {side: p["cpu"] for side, p in json.load(f)["placement"].items()}
		    assert cpus["source"] != cpus["sink"] and None not in cpus.values(), cpus
		    with open(f"{point}/rep-00/counters.json") as f:
		        counters = json.load(f)
		    assert all(counters[side]["cpu_first"] == counters[side]["cpu_last"] == cpu for side, cpu in cpus.items()), counters
	PY
	[[ "$(json "$run_dir/summary.json" '[p["warnings"] for p in d["points"]]')" != *involuntary* ]]
}

@test "messages and acknowledgements that are lost are sent again, and none is missing; without that they are lost" {
	handoff retry <<-'YAML'
		matrix:
		  - {transport: udp, retry: 10ms, lost_after: 30s, hand: [direct, event, yield], poll: event, size: 100B}
	YAML
	preloading losing LOSE=9 "$KBLAT" run retry.yaml --no-state --out runs
	check_counters '[s["posted"] == s["received"] == 100 and s["bad_payloads"] == 0 and 5 < s["retries"] < 100 for s in (source, sink)]' "[True, True]"
	assert_eq "$(json "$run_dir/summary.json" '[p["loss"]["lost"] for p in d["points"]]')" "[0, 0, 0]"
	rm -r runs
	preloading losing LOSE=9 "$KBLAT" run retry.yaml --no-state --out runs --set hand=direct --set retry=0ns --set lost_after=20ms
	check_counters '[s["retries"] for s in (source, sink)]' "[0, 0]"
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["loss"]["lost"] > 10')" True
}

@test "an answer counts as the acknowledgement that was lost before it, also that of the last message, whose other side has ended" {
	handoff last <<-'YAML'
		matrix:
		  - {transport: udp, retry: 10ms, lost_after: 3s, hand: [direct, event, yield], poll: event, size: 100B}
	YAML
	preloading losing LOSE_NUMBER=$((0x20000000 | 99)) "$KBLAT" run last.yaml --no-state --out runs
	check_counters '[s["posted"] == s["received"] == 100 and s["bad_payloads"] == 0 for s in (source, sink)]' "[True, True]"
	assert_eq "$(json "$run_dir/summary.json" '[p["loss"]["lost"] for p in d["points"]]')" "[0, 0, 0]"
}

@test "memory that is registered for each message and messages that nobody waits for arrive whole, too, and take longer" {
	handoff buffers <<-'YAML'
		matrix:
		  - {transport: [shmem, udp], hand: [direct, event], poll: event, size: 64000B, copy: yes, unexpected: [no, yes]}
		  - {transport: [shmem, udp], hand: direct, poll: busy, size: 1000B, copy: no, register: [no, yes]}
		  - {transport: [shmem, udp], hand: event, poll: event, size: 1000B, copy: no, register: yes}
	YAML
	run "$KBLAT" run buffers.yaml --out runs
	assert_measured
	check_counters '[s[k] for s in (source, sink) for k in ("posted", "received", "bad_payloads")]' "[100, 100, 0, 100, 100, 0]"
	# Six calls of the kernel are in each round trip: the fastest of a hundred with them is slower than the fastest without, where nobody has to be
	# woken.
	json "$run_dir/summary.json" '[p["metrics"]["rtt_ns"]["min"] for p in d["points"]]'
	assert_eq "$(json "$run_dir/summary.json" '[a["metrics"]["rtt_ns"]["min"] < b["metrics"]["rtt_ns"]["min"] for a, b in zip(d["points"][8:12:2], d["points"][9:12:2])]')" "[True, True]"
}

# bats test_tags=long
@test "a duration ends a repetition early, messaging threads end, and nothing counts as lost" {
	handoff short <<-'YAML'
		matrix:
		  - {transport: shmem, hand: [direct, event, yield], poll: [busy, event], messages: 1000000, duration: 50ms}
	YAML
	run "$KBLAT" run short.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '[(p["outcome"], p["loss"]["lost"]) for p in d["points"]] == [("completed", 0)] * 6')" True
	assert_eq "$(json "$run_dir/summary.json" 'all(0 < p["loss"]["sent"] < 1000000 for p in d["points"])')" True
}

@test "what cannot be, for a message layer and for what is below it, is refused" {
	handoff bad <<-'YAML'
		matrix:
		  - {transport: udp}
	YAML
	refuses bad <<-'LINES'
		size=64KiB|a datagram holds at most 65507 bytes
		transport=verbs op=send|ack and op send: an acknowledgement is a number without a payload
		transport=shmem depth=1|ack and depth 1: a message and an acknowledgement may be in flight at the same time
		retry=1ms ack=no|retry without ack: nobody would know that a message was lost
		retry=2s|the message is given up before it is sent again
		register=yes|register and copy: memory that is registered need not be copied
		unexpected=yes copy=no|unexpected and copy no: a kept message must be copied to its user
		hand=sleep|must be one of direct, spin, event, yield
		transport=tcp|the kernel handoff does not run over the transport tcp
		messages=600000000|messages
	LINES
}

# bats test_tags=long
@test "a messenger that is killed fails its point, which names its side, and nothing is left" {
	handoff long <<-'YAML'
		matrix:
		  - {transport: shmem, poll: event, messages: 1000000, repetitions: 1}
	YAML
	printf '#!/bin/sh\necho $$ >%q\nexec "$@"\n' "$PWD/pid" >noted
	chmod +x noted
	"$KBLAT" run long.yaml --out runs --source "$PWD/noted" --set hand=event >out 2>&1 &
	local run=$!
	until [ -s pid ] && compgen -G "/dev/shm/kblat-*-$(cat pid)-*" >/dev/null && compgen -G "runs/long-*.partial/points/0000/rep-00" >/dev/null; do
		kill -0 $run
		sleep 0.05
	done
	kill -KILL "$(cat pid)"
	wait $run || status=$?
	assert_eq "$status" 1
	assert_contains "$(cat out)" "source"
	assert_eq "$(compgen -G "/dev/shm/kblat-*-$(cat pid)-*")" ""
}
