#!/usr/bin/env bats
# `kblat run` over the verbs transport, in the Soft-RoCE guest:
#
#     tests/vm/guest --env KBLAT=$PWD/build/kblat -- bats tests/vm/verbs.bats
#
# Every payload is checked; verbs_counters.py says whether all of them came, over the device. All receives are posted
# before the first message is sent (depth), so that unreliable queue pairs have no reason to lose one. A run may be
# invalid for the hiccups of an emulated CPU only (assert_measured).

load ../cli/helper

setup_file() {
	[ -n "${KBLAT_ADAPTER:-}" ] || grep -qs ACTIVE /sys/class/infiniband/*/ports/*/state || {
		echo "# no active RDMA device: run this in the guest (see the head of this file)" >&3
		return 1
	}
}

# spec_of NAME <<YAML: writes a spec with this matrix and few messages.
spec_of() {
	spec "$1" < <(
		echo 'settings: {kernel: oneway, transport: verbs, messages: 200, burst: 20, pause: 100us, depth: 256,'
		echo '           repetitions: 1, warmup: 20, check: yes, spin: 20us}'
		echo 'matrix:'
		cat
	)
}

# all_arrive NAME POINTS: without capturing the machine's state, which takes an emulated CPU as long as two points.
all_arrive() {
	run "$KBLAT" run "$1.yaml" --no-state --out "$T/runs"
	assert_measured
	run "$BATS_TEST_DIRNAME/verbs_counters.py" "$run_dir"
	echo "$output"
	assert_contains "$output" "$2 of $2 points are good"
}

@test "queue pairs, set-ups, polling" {
	spec_of pairs <<-'YAML'
		  - {qp: [rc, uc, ud], poll: [busy, event]}
		  - {qp: rc, poll: adaptive}
		  - {qp: rc, connect: rdmacm, poll: busy}
		  - {qp: ud, connect: rdmacm, poll: [event, adaptive]}
		  - {qp: rc, poll: busy, poll_send: event}
	YAML
	all_arrive pairs 11
}

@test "streams: operations, lists with one doorbell, both directions, blocks of stamps, payloads whole" {
	spec stream <<-'YAML'
		settings: {kernel: stream, transport: verbs, messages: 200, size: 300B, depth: 32, repetitions: 1, warmup: 20}
		matrix:
		  - {op: [send, send_imm, write_imm], check: yes, batch: 4}
		  - {op: [send, send_imm, write], batch: 8, signal_every: 16, stamp_every: 7}
		  - {op: [send, write_imm], both: yes, check: yes}
		  - {op: [send_imm, write], poll: event, depth: 1}
		  - {op: send_imm, qp: [uc, ud], recv_depth: 300}
	YAML
	all_arrive stream 12
}

@test "operations, inline, completions asked for now and then, buffers" {
	spec_of operations <<-'YAML'
		  - {op: [send, write_imm], qp: rc, poll: event, signal_every: 16}
		  - {op: write, qp: rc, signal_every: 7}
		  - {op: write, qp: uc, inline: ['on', 'off']}
		  - {op: send, qp: ud, inline: 64B, signal_every: 256}
		  - {op: write_imm, qp: uc, inline: 'on'}
		  - {op: write, connect: rdmacm, sl: 2}
		  - {op: write_imm, depth: 1, buffers: 1}
		  - {op: [send_imm, write_imm], depth: 8, recv_depth: [1, 3, 100]}
		  - {op: send, depth: 5, buffers: 5, signal_every: 5}
	YAML
	all_arrive operations 16
}

@test "a message layer: acknowledgements without a payload, copies, hand-over to a thread that spins or sleeps" {
	spec layer <<-'YAML'
		settings: {kernel: handoff, transport: verbs, messages: 100, repetitions: 1, warmup: 10, check: yes, depth: 16}
		matrix:
		  - {hand: [direct, event], poll: [busy, event]}
		  - {hand: spin, poll: event}
		  - {ack: no, copy: no, poll: event, qp: [rc, ud], size: 1KiB}
		  - {op: write_imm, signal_every: 5, poll: event}
		  - {qp: uc, retry: 100ms, unexpected: yes, hand: [direct, event], poll: event, size: 1KiB}
		  - {ack: no, copy: no, register: yes, hand: [direct, event], poll: event, size: 10KiB}
	YAML
	run "$KBLAT" run layer.yaml --no-state --out "$T/runs"
	assert_measured
	echo "$output"
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 12
	check_counters '[s[k] for s in (source, sink) for k in ("posted", "received", "bad_payloads")]' "[100, 100, 0, 100, 100, 0]"
}

# registered: the run of register.yaml, whose every message is an operation that sends nothing.
registered() {
	run "$KBLAT" run register.yaml --no-state --out "$T/runs"
	echo "$output"
	[ "$status" -eq 0 ]
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/summary.json" '{p["loss"]["sent"] for p in d["points"]}')" "{20}"
	assert_eq "$(json "$run_dir/summary.json" 'min(p["metrics"][s]["min"] for s in ("reg_ns", "dereg_ns") for p in d["points"]) > 0')" True
}

@test "memory is registered with the device: a size, fresh and untouched pages, and nothing is sent" {
	spec register <<-'YAML'
		settings: {kernel: register, transport: verbs, messages: 20, repetitions: 1, warmup: 2}
		matrix:
		  - {pin: device, memory: [same, fresh, untouched], size: [1, 256KiB]}
		  - {pin: kernel, size: 256KiB}
	YAML
	registered
	# One page or 64: more of them take longer, and new ones even longer.
	assert_eq "$(json "$run_dir/summary.json" '(lambda t: t[0] < t[1] < t[5])([p["metrics"]["reg_ns"]["min"] for p in d["points"]])')" True
}

@test "connections are set up and torn down, plainly and by the connection manager, and nothing is sent" {
	spec register <<-'YAML'
		settings: {kernel: register, transport: verbs, messages: 20, repetitions: 1, warmup: 2, pin: connection}
		matrix:
		  - {connect: [plain, rdmacm]}
	YAML
	registered
}

@test "round trips" {
	spec_of trips <<-'YAML'
		  - {kernel: pingpong, qp: [rc, ud], connect: rdmacm, poll: event}
		  - {kernel: pingpong, qp: [rc, ud], inline: 'on'}
		  - {kernel: pingpong, qp: uc, op: [write, write_imm], inline: 'on', signal_every: 64, depth: 64}
		  - {kernel: pingpong, qp: rc, op: write, connect: rdmacm, depth: 1, buffers: 1}
		  - {kernel: pingpong, qp: uc, op: send, poll: adaptive}
	YAML
	sed -i 's/kernel: oneway, //; s/burst: 20, //' trips.yaml
	all_arrive trips 8
}

@test "sizes" {
	spec_of sizes <<-'YAML'
		  - {qp: [rc, uc], size: [1B, 32KiB], messages: 50}
		  - {qp: ud, size: [1B, 4KiB], messages: 50}
		  - {qp: rc, mtu: 256, size: 32KiB, op: write, messages: 50}
	YAML
	all_arrive sizes 7
}

@test "what was granted is in the result" {
	spec_of granted <<-'YAML'
		  - {inline: 128B, size: 100B, depth: 5, buffers: 5}
	YAML
	all_arrive granted 1
	assert_eq "$(json "$run_dir/points/0000/point.json" \
		'[d["granted"]["source"][k] for k in ("inlined", "buffers_send", "hw_timestamps")] + [d["granted"]["sink"]["buffers_recv"], d["granted"]["source"]["inline_bytes"] >= 100]')" \
		"[True, 8, False, 5, True]"
	spec_of recv_depth <<-'YAML'
		  - {depth: 4, buffers: 1, recv_depth: 200, check: no}
		  - {op: write_imm, depth: 4, recv_depth: 12}
		  - {op: write, depth: 4, recv_depth: 250}
	YAML
	all_arrive recv_depth 3
	assert_eq "$(cd "$run_dir/points" && for p in 0000 0001 0002; do json "$p/point.json" \
		'd["granted"]["source"]["buffers_send"], d["granted"]["sink"]["buffers_recv"], d["granted"]["sink"]["depth_recv"] > 0'; done)" \
		"$(printf '%s\n' '(1, 200, True)' '(4, 16, True)' '(4, 256, False)')"
}

@test "what this device cannot do is said, and the other points run" {
	spec_of limits <<-'YAML'
		  - {inline: 'on', size: [32B, 8KiB]}
		  - {recv_depth: 1048576}
		  - {recv_sge: 1024, recv_queue: [qp, srq]}
	YAML
	run "$KBLAT" run limits.yaml --no-state --out "$T/runs"
	assert_contains "$output" "point 1 (2 of 5): impossible: source: rxe0 port 1: with inline on, size 8192 is above what the device can do: max_inline_data is "
	assert_contains "$output" "rxe0 port 1: recv_depth 1048576 is above what the device can do: max_"
	assert_contains "$output" "rxe0 port 1: recv_sge 1024 is above what the device can do: max_sge is "
	assert_contains "$output" "rxe0 port 1: recv_sge 1024 is above what the device can do: max_srq_sge is "
	run_dir=$(tail -n 1 <<<"$output")
	run "$BATS_TEST_DIRNAME/verbs_counters.py" "$run_dir"
	assert_contains "$output" "1 of 5 points are good"
}

@test "stamps of a device that has none, and CPUs near one that is nowhere: said, point by point" {
	spec_of nowhere <<-'YAML'
		  - {t_hw: yes}
		  - {source_cpu: near}
		  - {sink_cpu: 'near:rxe0'}
		  - {sink_cpu: 'cpuset:nobody'}
		  - {source_cpu: 2-3, sink_cpu: 2-3}
	YAML
	run "$KBLAT" run nowhere.yaml --no-state --out "$T/runs"
	# Whichever side notices it first.
	assert_contains "$output" "point 0 (1 of 5): impossible: "
	assert_contains "$output" ": rxe0 port 1: with t_hw, the device must stamp its completions: its completion_timestamp_mask is 0"
	assert_contains "$output" "point 1 (2 of 5): impossible: source: source_cpu: the kernel does not know the NUMA node of rxe0"
	assert_contains "$output" "point 2 (3 of 5): impossible: sink: sink_cpu: the kernel does not know the NUMA node of rxe0"
	assert_contains "$output" "point 3 (4 of 5): impossible: sink: sink_cpu: there is no cpuset 'nobody'"
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/points/0004/point.json" \
		'sorted(d["placement"][side]["cpu"] for side in ("source", "sink"))')" "[2, 3]"
}

@test "a message to a multicast group is one datagram, which each receiver gets" {
	spec_of group <<-'YAML'
		  - {recv_queue: srq, kernel: pingpong, qp: ud, op: send, receivers: 3, group: 239.255.77.1, poll: [busy, event]}
	YAML
	sed -i '/settings:/s/kernel: oneway, //; /settings:/s/burst: 20, //' group.yaml
	all_arrive group 2
	sed -i 's/receivers: 3/receivers: 57/' group.yaml
	run "$KBLAT" run group.yaml --no-state --out "$T/runs"
	assert_contains "$output" "rxe0 port 1: with a group, receivers 57 is above what the device can do: max_mcast_qp_attach is 56"
}

@test "endpoints that are started inside a cpuset are pinned to its CPUs" {
	grep -q cpuset /sys/fs/cgroup/cgroup.controllers || skip "cgroup version 1"
	mkdir -p /sys/fs/cgroup/lab
	echo 1-2 >/sys/fs/cgroup/lab/cpuset.cpus
	spec_of inside <<-'YAML'
		  - {source_cpu: 'cpuset:lab', sink_cpu: 'cpuset:lab', poll: [busy, event]}
	YAML
	# shellcheck disable=SC2016 # for the other shell
	run bash -c 'echo $$ >/sys/fs/cgroup/lab/cgroup.procs && exec "$@"' bash "$KBLAT" run inside.yaml --no-state --out "$T/runs"
	assert_measured
	for point in 0000 0001; do
		assert_eq "$(json "$run_dir/points/$point/point.json" \
			'sorted(d["placement"][side]["cpu"] for side in ("source", "sink"))')" "[1, 2]"
		assert_eq "$(json "$run_dir/points/$point/rep-00/counters.json" \
			'sorted(d[side]["cpu_last"] for side in ("source", "sink"))')" "[1, 2]"
	done
	rmdir /sys/fs/cgroup/lab
}

# Lists of a whole burst, of half of the ring, of one request; messages that remain at the end of a repetition; round trips.
@test "receive requests that are posted again in one list" {
	spec_of bulk <<-'YAML'
		  - {return: bulk, kernel: oneway, burst: 20, depth: 20, recv_depth: [40, 200]}
		  - {return: bulk, kernel: oneway, burst: 20, qp: [uc, ud], recv_depth: 400}
		  - {return: bulk, kernel: oneway, burst: 20, op: [send_imm, write_imm], depth: 8, recv_depth: [1, 7]}
		  - {return: bulk, kernel: oneway, messages: 130, repetitions: 3, warmup: 33, burst: 40, recv_depth: 100}
		  - {return: bulk, kernel: oneway, burst: 20, op: send, connect: rdmacm, poll: event, recv_depth: 300}
		  - {return: bulk, kernel: pingpong, recv_depth: 16}
	YAML
	sed -i '/settings:/s/kernel: oneway, //; /settings:/s/burst: 20, //' bulk.yaml
	all_arrive bulk 11
}

@test "shared receive queues, requests of several entries, buffers in several regions, answers of another size" {
	spec_of receives <<-'YAML'
		  - {recv_queue: srq, kernel: oneway, burst: 20, qp: [rc, ud]}
		  - {recv_queue: srq, kernel: oneway, burst: 20, return: bulk, recv_depth: 100, op: [send, write_imm]}
		  - {regions: 7, kernel: oneway, burst: 20, recv_depth: 50, poll: event}
		  - {recv_queue: srq, recv_sge: 4, regions: 3, recv_depth: 3, kernel: pingpong, op: send, connect: rdmacm}
		  - {recv_queue: srq, kernel: pingpong, qp: ud, connect: rdmacm, answer: 1KiB}
		  - {kernel: pingpong, size: 100B, answer: [3KiB, 8B], op: [send, write_imm]}
		  - {recv_queue: srq, kernel: pingpong, queue_pairs: 5, recv_depth: 7, qp: [rc, uc], poll: [busy, event]}
		  - {recv_queue: srq, kernel: pingpong, qp: ud, op: send, receivers: 3, poll: [busy, event]}
	YAML
	sed -i '/settings:/s/kernel: oneway, //; /settings:/s/burst: 20, //' receives.yaml
	all_arrive receives 17
	assert_eq "$(json "$run_dir/points/0011/point.json" '[d["granted"][s]["queue_pairs"] for s in ("source", "sink")]')" "[5, 5]"
	assert_eq "$(json "$run_dir/points/0005/point.json" \
		'[[d["granted"][s][k] for k in ("recv_queue", "regions_recv")] + [d["granted"][s]["recv_sge"] >= 4] for s in ("source", "sink")]')" \
		"[['srq', 3, True], ['srq', 3, True]]"
	# The bytes of a round trip: 100 there, 3 KiB or 8 back.
	assert_eq "$(json "$run_dir/summary.json" \
		'[round(2 * p["rate"]["bytes_per_s"] / p["rate"]["messages_per_s"]) for p in d["points"][7:11]]')" "[3172, 3172, 108, 108]"
}

@test "a shared receive queue that runs empty is a warning, or an error if the sender may not wait" {
	spec_of empty <<-'YAML'
		  - {recv_queue: srq, kernel: pingpong, recv_depth: 4, return: [each, bulk]}
		  - {recv_queue: [srq, qp], kernel: oneway, burst: 20, recv_depth: 1, rnr_retry: 0, messages: 20000}
	YAML
	sed -i '/settings:/s/kernel: oneway, //; /settings:/s/burst: 20, //' empty.yaml
	run "$KBLAT" run empty.yaml --no-state --out "$T/runs"
	echo "$output"
	run_dir=$(tail -n 1 <<<"$output")
	for point in 2 3; do
		assert_contains "$(json "$run_dir/points/000$point/point.json" 'd["outcome"] + ": " + d["why"]')" "RNR retry counter exceeded"
	done
	assert_eq "$(json "$run_dir/summary.json" '[any("a shared receive queue ran empty in 1 of 1 repetitions" in w for w in p["warnings"]) for p in d["points"][:2]]')" \
		"[False, True]"
	assert_eq "$(json "$run_dir/points/0001/rep-00/counters.json" 'd["device"]["sink"]["after"]["srq_ran_empty"] - d["device"]["sink"]["before"]["srq_ran_empty"]')" 1
}

# After each repetition, the sink checks its memory, and the source what it has read.
@test "reads and atomics: what they bring and what they leave is right, and nobody at the sink does anything" {
	spec_of onesided <<-'YAML'
		  - {op: [read, fetch_add, compare_swap], size: 8B}
		  - {op: [read, write], size: 20000B, depth: 8, recv_depth: 3}
		  - {op: [read, fetch_add], connect: rdmacm, poll: event, size: 8B, depth: 1}
		  - {op: compare_swap, batch: 8, signal_every: 4, stamp_every: 10, depth: 32, size: 8B, rd_atomic: 4}
		  - {op: read, rd_atomic: 255, size: 8B}
	YAML
	sed -i 's/kernel: oneway/kernel: stream/; s/burst: 20, pause: 100us, //; s/depth: 256/depth: 16/' onesided.yaml
	run "$KBLAT" run onesided.yaml --no-state --out "$T/runs"
	assert_contains "$output" "point 8 (9 of 9): impossible: "
	assert_contains "$output" ": rxe0 port 1: rd_atomic 255 is above what the device can do: max_qp_"
	run_dir=$(tail -n 1 <<<"$output")
	check_counters '[source[k] for k in ("posted", "completed", "bad_payloads")] + [sink[k] for k in ("received", "posted", "bad_memory")]' \
		"[200, 200, 0, 0, 0, 0]"
	assert_eq "$(json "$run_dir/points/0007/point.json" '[d["granted"][side]["rd_atomic"] for side in ("source", "sink")]')" "[4, 4]"
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["metrics"]["comp_lat_ns"]["n"], d["points"][0]["wire"]["factor"], d["points"][0]["wire"]["why"], d["points"][0]["loss"]["lost"]')" \
		"(200, None, 'the RDMA port has no byte counter', 0)"
	run "$KBLAT" verify "$run_dir"
	assert_eq "$status" 0
}

@test "each side has the device that is named for it" {
	rdma link add rxe1 type rxe netdev lo || skip "no second Soft-RoCE device here"
	spec_of devices <<-'YAML'
		  - {sink_device: nothing0}
		  - {device: rxe1, source_device: rxe0, sink_device: rxe0}
	YAML
	run "$KBLAT" run devices.yaml --no-state --out "$T/runs"
	run_dir=$(tail -n 1 <<<"$output")
	rdma link delete rxe1
	assert_contains "$output" "point 0 (1 of 2): impossible: sink: verbs: there is no device 'nothing0'; there are: "
	assert_eq "$(json "$run_dir/points/0001/point.json" '[d["granted"][s]["device"] for s in ("source", "sink")]')" "['rxe0', 'rxe0']"
	[[ $output != *"both use the adapter"* ]]
}

# One byte of a request holds it: an address handle for index 260 would be one for index 4.
@test "a GID whose index has more than eight bits is passed over" {
	local netdev old i
	netdev=$(rdma link show rxe0/1 | grep -o 'netdev [^ ]*' | cut -d ' ' -f 2)
	old=$(ip -4 -o addr show dev "$netdev" | awk '{ print $4; exit }')
	spec_of gids <<-'YAML'
		  - {qp: [rc, ud]}
	YAML
	ip addr del "$old" dev "$netdev"
	for i in $(seq 260); do echo "addr add fd00::$i/128 dev $netdev nodad"; done | ip -batch -
	ip addr add "$old" dev "$netdev"
	run "$KBLAT" run gids.yaml --no-state --out "$T/runs"
	for i in $(seq 260); do echo "addr del fd00::$i/128 dev $netdev"; done | ip -batch -
	ip addr del "$old" dev "$netdev"
	ip addr add "$old" dev "$netdev"
	assert_measured
	for i in 0000 0001; do
		assert_eq "$(json "$run_dir/points/$i/point.json" '[d["granted"][s]["gid"][:4] for s in ("source", "sink")]')" "['fd00', 'fd00']"
	done
}

@test "one-sided operations in both directions: each side has all of its completions, and a rate" {
	spec both <<-'YAML'
		settings: {kernel: stream, transport: verbs, both: yes, size: 64B, depth: 16, messages: 500, repetitions: 1, warmup: 20}
		matrix:
		  - op: [write, read]
	YAML
	run "$KBLAT" run both.yaml --no-state --out runs
	assert_measured
	dir=${lines[-1]}
	assert_eq "$(json "$dir/summary.json" '[(p["outcome"], p["metrics"]["comp_lat_ns"]["n"], p["metrics"]["comp_lat_back_ns"]["n"], p["rate"]["messages_per_s"] > 0) for p in d["points"]]')" \
		"[('completed', 500, 500, True), ('completed', 500, 500, True)]"
}

@test "two streams on one device share it: shares that add up, for each operation" {
	spec shares <<-'YAML'
		settings: {kernel: stream, transport: verbs, flows: large small, until: first, depth: 1, warmup: 1, repetitions: 1, poll: event,
		  large.size: 256KiB, large.messages: 60, small.size: 4KiB, small.messages: 20000}
		matrix: [{op: [write, read, write_imm, send]}]
	YAML
	run "$KBLAT" run shares.yaml --no-state --out runs
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '[round(sum(p[f + ".fairness"]["share"] for f in ("large", "small")), 6) for p in d["points"]]')" \
		"[1.0, 1.0, 1.0, 1.0]"
}

@test "two flows in one point, rc beside ud, have their own columns and metrics" {
	cat >"$T/two.yaml" <<-'YAML'
		kblat: 1
		name: two
		settings:
		  flows: small large
		  transport: verbs
		  poll: event
		  repetitions: 2
		  warmup: 20
		  small.kernel: pingpong
		  small.qp: rc
		  small.messages: 500
		  large.kernel: oneway
		  large.qp: ud
		  large.size: 1KiB
		  large.messages: 500
		  large.burst: 10
	YAML
	run "$KBLAT" run "$T/two.yaml" --out "$T/runs"
	echo "$output"
	[ "$status" -eq 0 ]
	dir=${lines[-1]}
	assert_eq "$(json "$dir/summary.json" 'd["points"][0]["metrics"]["small.rtt_ns"]["n"], d["points"][0]["metrics"]["large.lat_ns"]["n"] + d["points"][0]["metrics"]["large.lat_ns"]["lost"]')" "(1000, 1000)"
	assert_eq "$(json "$dir/points/0000/point.json" '[d["granted"][f]["source"]["device"] for f in ("small", "large")]')" "['rxe0', 'rxe0']"
	[ -f "$dir/points/0000/rep-01/large/t_comp.npy" ]
	run "$KBLAT" verify "$dir"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a launcher that gives devices to namespaces says that this driver does not let it, and puts all back" {
	[ -z "${KBLAT_ADAPTER:-}" ] || skip "needs the kernel's devices"
	ip link add d7 type dummy && ip addr add 198.51.100.9/24 dev d7 && ip link set d7 up && rdma link add rxe7 type rxe netdev d7
	before=$(ip -o addr show scope global | sed 's/^[0-9]*: //'; ip -o link show up | cut -d : -f 2; rdma system show netns; rdma dev show | sed 's/^[0-9]*: //')
	run "$ROOT/experiments/launch/rdma-netns" rxe7 rxe0 true
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "the driver of rxe7 does not let it be moved into a namespace"
	after=$(ip -o addr show scope global | sed 's/^[0-9]*: //'; ip -o link show up | cut -d : -f 2; rdma system show netns; rdma dev show | sed 's/^[0-9]*: //')
	rdma link delete rxe7
	ip link delete d7
	assert_eq "$after" "$before"
	assert_eq "$(ip netns list)" ""
	[ -z "$(compgen -G "/run/kblat-*.rdma")" ]
}
