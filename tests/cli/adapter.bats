#!/usr/bin/env bats
# The verbs transport over a model of adapters (tests/model/adapter.h): what only a real adapter reaches, on any machine.

load helper

# Preloaded by kblat and its endpoints only.
setup() {
	kblat_setup
	[ "$(ulimit -l)" = unlimited ] || [ "$(ulimit -l)" -ge 1024 ] || skip "needs a MiB of memory that may be locked; ulimit -l"
	need_adapter
	export KBLAT_ADAPTER=$T/adapter
	export KBLAT_REHEARSAL=yes # it stands for an adapter, for claims too
	mkdir "$KBLAT_ADAPTER"
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$preload" "$KBLAT" >"$T/kblat"
	chmod +x "$T/kblat"
	KBLAT=$T/kblat
}

# adapter <<SCRIPT: the devices from now on. Each has a counter of the packets that were sent.
adapter() {
	local device
	rm -rf "${KBLAT_ADAPTER:?}"/*
	cat >"$KBLAT_ADAPTER/script"
	while read -r device; do
		mkdir -p "$KBLAT_ADAPTER/sys/class/infiniband/$device/ports/1/hw_counters"
		touch "$KBLAT_ADAPTER/sys/class/infiniband/$device/ports/1/hw_counters/"{sent,rcvd}_pkts
	done < <(sed -n 's/^device //p' "$KBLAT_ADAPTER/script")
}

# in_net COMMAND…: in a network namespace of its own, with the interface d0 of the guest, whose address is 192.0.2.1.
in_net() {
	# shellcheck disable=SC2016 # expanded by the shell inside
	unshare --net sh -c 'ip link set lo up && ip link add d0 mtu 9000 type veth peer name d1 && ip addr add 192.0.2.1/24 dev d0 &&
		ip link set d1 up && ip link set d0 up && until ip -6 addr show dev d0 scope link -tentative | grep -q inet6; do sleep 0.1; done && exec "$@"' - "$@"
}

need_net() {
	in_net true 2>/dev/null || skip "this machine does not let network namespaces be made, or has no veth"
}

# what_of EXPRESSION: of `d`, the list of the points in the summary of $run_dir.
what_of() {
	json "$run_dir/summary.json" "(lambda d: ($1))(d['points'])"
}

# outcomes: "outcome: why" of every point of $run_dir.
outcomes() {
	for point in "$run_dir"/points/*/point.json; do
		json "$point" 'd["outcome"] + ": " + " ".join(d["why"].split())'
	done
}

# measure NAME "KEY=VALUE"…: runs it, valid or not.
measure() {
	local -a sets
	set_flags "${@:2}"
	run "$KBLAT" run "$1.yaml" --no-state --out runs "${sets[@]}"
	echo "$output"
	run_dir=${lines[-1]}
}

# spec_of NAME "SETTINGS" <<MATRIX
spec_of() {
	spec "$1" < <(
		echo "settings: {transport: verbs, device: mlx5_0, warmup: 20, $2}"
		echo 'matrix:'
		cat
	)
}

# An adapter that looks like Soft-RoCE.
soft_roce() {
	need_net
	adapter <<-'END'
		device rxe0
		netdev d0
		max_qp_wr 32768
		max_srq_wr 32768
	END
	touch "$KBLAT_ADAPTER/sys/class/infiniband/rxe0/parent"
}

# bats test_tags=long
@test "the transport's own test, written for Soft-RoCE" {
	soft_roce
	chmod 755 "$T"
	run in_net env LD_PRELOAD="$preload" "$build/vm-verbs-test"
	grep -A 4 '^not ok' <<<"$output" || tail -n 3 <<<"$output"
	[ "$status" -eq 0 ]
}

# bats test_tags=long
@test "the runs of the guest over verbs, but for those that need its machine" {
	soft_roce
	run in_net env KBLAT="$KBLAT" "$ROOT/tests/vm/lean-bats" -f \
		'^(queue pairs|streams|operations|round trips|sizes|what|receive requests|shared|a shared|reads and|one-sided|settings|two flows|connections)' \
		"$ROOT/tests/vm/verbs.bats"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok' <<<"$output")" -ge 14 ]
}

@test "every kernel, valid, with all of its messages" {
	local kernel
	adapter <<<'device mlx5_0'
	"$KBLAT" list kernels --json >kernels.json
	for kernel in $(json kernels.json '" ".join(k["name"] for k in d["kernels"] if k["name"] not in ("wakeup", "backup"))'); do
		spec_of "$kernel" "kernel: $kernel, messages: 200, repetitions: 1" <<<'  - {poll: [busy, event]}'
		[ "$kernel" != handoff ] || sed -i 's/poll: .*/hand: [direct, event, yield], poll: event}/' handoff.yaml
		[ "$kernel" != exchange ] || sed -i 's/poll: .*/poll: busy}/' exchange.yaml
		[ "$kernel" != register ] || sed -i 's/  - .*/  - {pin: device}/' register.yaml
		measure "$kernel"
		assert_eq "$(what_of '{p["outcome"] for p in d}')" "{'completed'}"
		check_counters 'source["posted"] + source["missed"]' 200
		assert_eq "$(what_of '[r for p in d for r in p["reasons"] if "missed" not in r]')" "[]"
	done
}

# cards SM…: two InfiniBand cards, mlx5_0 and mlx5_1, with LIDs 1 and 2, and the LIDs of their subnet managers.
cards() {
	adapter < <(printf 'device mlx5_%d\nlink 1\nlid %d\nsm_lid %d\ngid fe80::%d\n' 0 1 "$1" 1 1 2 "$2" 2)
}

@test "each side has an entry of its own table of GIDs: tables of two hosts differ" {
	adapter < <(printf 'device mlx5_%d\ngid ::ffff:%s\ngid ::ffff:%s\ngid fd00::%d\n' 0 12.12.12.12 10.10.10.2 1 1 10.10.10.3 12.12.12.13 2)
	spec_of gids "device: auto, source_device: mlx5_0, sink_device: mlx5_1, source_gid_index: 1, sink_gid_index: 0, kernel: oneway, messages: 100, repetitions: 1" \
		<<<'  - {poll: busy}'
	sed -i 's/device: mlx5_0, warmup/warmup/' gids.yaml
	measure gids
	assert_eq "$(json "$run_dir/points/0000/point.json" '[(d["granted"][s]["gid_index"], d["granted"][s]["gid"]) for s in ("source", "sink")]')" \
		"[(1, '::ffff:10.10.10.2'), (0, '::ffff:10.10.10.3')]"
	measure gids source_gid_index=7
	assert_contains "$output" "mlx5_0 port 1: there is no GID with gid_index 7"
	measure gids sink_gid_index=-1
	assert_contains "$output" "sink_gid_index must be auto or a number from 0 to 255, not '-1'"
}

@test "left to itself, each side takes an entry that goes with one of the other side's table" {
	local chosen='[(d["granted"][s]["gid_index"], d["granted"][s]["gid"]) for s in ("source", "sink")]'
	adapter < <(printf 'device mlx5_%d\ngid ::ffff:%s\ngid ::ffff:%s\ngid fd00::%d\n' 0 12.12.12.12 10.10.10.2 1 1 10.10.10.3 12.12.12.13 2)
	spec_of pairs "device: auto, source_device: mlx5_0, sink_device: mlx5_1, kernel: pingpong, messages: 100, repetitions: 1" \
		<<<'  - {qp: [rc, ud]}'
	sed -i 's/device: mlx5_0, warmup/warmup/' pairs.yaml
	measure pairs
	assert_eq "$(json "$run_dir/points/0000/point.json" "$chosen")" "[(0, '::ffff:12.12.12.12'), (1, '::ffff:12.12.12.13')]"
	assert_eq "$(json "$run_dir/points/0001/point.json" "$chosen")" "[(0, '::ffff:12.12.12.12'), (1, '::ffff:12.12.12.13')]"
	# One is named, and the other goes with it.
	measure pairs sink_gid_index=0
	assert_eq "$(json "$run_dir/points/0000/point.json" "$chosen")" "[(1, '::ffff:10.10.10.2'), (0, '::ffff:10.10.10.3')]"
	measure pairs source_gid_index=2
	assert_eq "$(json "$run_dir/points/0000/point.json" "$chosen")" "[(2, 'fd00::1'), (2, 'fd00::2')]"
	# The sink has one address only, of the family that comes last at the source.
	adapter < <(printf 'device mlx5_0\ngid ::ffff:12.12.12.12\ngid ::ffff:10.10.10.2\ngid fd00::1\ndevice mlx5_1\ngid fd00::3\n')
	measure pairs
	assert_eq "$(json "$run_dir/points/0000/point.json" "$chosen")" "[(2, 'fd00::1'), (0, 'fd00::3')]"
	adapter < <(printf 'device mlx5_0\ngid ::ffff:12.12.12.12\ndevice mlx5_1\ngid fd00::3\n')
	measure pairs
	assert_contains "$output" "no GID of the source goes with one of the sink (version of RoCE, family of addresses, VLAN):"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "::ffff:12.12.12.12 (RoCE v2); fd00::3 (RoCE v2)"
	# Whoever names both has them.
	measure pairs source_gid_index=0 sink_gid_index=0
	assert_eq "$(what_of '{p["outcome"] for p in d}')" "{'completed'}"
}

devices() {
	json "$run_dir/points/0000/point.json" '" ".join(d["granted"][s]["device"] for s in ("source", "sink"))'
}

@test "two cards that are cabled with each other: auto takes one for each side, so that a link is measured" {
	spec cabled <<-'YAML'
		settings: {transport: verbs, kernel: oneway, poll: event, messages: 100, burst: 1, repetitions: 2, warmup: 20}
		claims:
		  - {id: link, claim: so, origin: self-test, metric: lat_ns.n, points: {}, value: {min: 200}, needs: [hca]}
	YAML
	cards 1 1
	measure cabled
	assert_eq "$(devices)" "mlx5_0 mlx5_1"
	assert_eq "$(json "$run_dir/claims.json" 'd["claims"][0]["verdict"]')" holds
	[[ $(json "$run_dir/summary.json" 'd["warnings"]') != *"nothing leaves"* ]]
	# A subnet manager elsewhere is that of a fabric, or of two.
	cards 7 7
	measure cabled
	assert_eq "$(devices)" "mlx5_0 mlx5_0"
	# Whoever names a device gets it.
	cards 1 1
	measure cabled sink_device=mlx5_0
	assert_eq "$(devices)" "mlx5_0 mlx5_0"
}

@test "two Ethernet cards with addresses in one network are cabled" {
	need_net
	spec cabled <<-'YAML'
		settings: {transport: verbs, kernel: oneway, messages: 100, burst: 1, repetitions: 1, warmup: 20}
	YAML
	adapter < <(printf 'device mlx5_0\nnetdev d0\ndevice mlx5_1\nnetdev d1\n')
	for address in 192.0.2.2/24 198.51.100.2/24; do
		run in_net sh -c "ip addr add $address dev d1 && exec $KBLAT run cabled.yaml --no-state --out runs"
		echo "$output"
		run_dir=${lines[-1]}
		devices >>devices
	done
	assert_eq "$(paste -sd, devices)" "mlx5_0 mlx5_1,mlx5_0 mlx5_0"
}

@test "a loop inside one card: a warning in the summary, and no claim about a link is judged" {
	local sets
	spec loop <<-'YAML'
		settings: {transport: verbs, kernel: oneway, poll: event, messages: 100, burst: 1, repetitions: 2, warmup: 20}
		claims:
		  - {id: link, claim: so, origin: self-test, metric: lat_ns.n, points: {}, value: {min: 200}, needs: [hca]}
		  - {id: any, claim: so, origin: self-test, metric: lat_ns.n, points: {}, value: {min: 200}}
	YAML
	for sets in device=auto device=mlx5_0; do
		adapter <<<'device mlx5_0'
		measure loop "$sets"
		assert_eq "$(json "$run_dir/claims.json" '[c["verdict"] for c in d["claims"]]')" "['not judged', 'holds']"
		assert_contains "$(json "$run_dir/claims.json" 'd["claims"][0]["why"]')" "source and sink both use mlx5_0"
		assert_contains "$(json "$run_dir/summary.json" 'd["warnings"]')" "both use the adapter mlx5_0, so nothing leaves it"
	done
	# Memory is registered with one card, and nothing is sent.
	spec pin <<-'YAML'
		settings: {transport: verbs, kernel: register, pin: device, messages: 50, repetitions: 2}
		claims:
		  - {id: card, claim: so, origin: self-test, metric: reg_ns.n, points: {}, value: {min: 100}, needs: [hca]}
	YAML
	measure pin
	[[ $(json "$run_dir/claims.json" 'd["claims"][0]["why"]') != *link* ]]
}

@test "a stream that never waits, as the device is done when a post returns, still ends with the other flow" {
	adapter <<-'END'
		device mlx5_0
		post_ns 5000000
	END
	spec_of slow 'flows: slow quick, until: first, repetitions: 1, depth: 1, slow.kernel: stream, slow.messages: 100000, slow.duration: 60s,
	  quick.kernel: stream, quick.messages: 100' <<<'  - {poll: [busy, event]}'
	measure slow
	assert_measured
	assert_eq "$(what_of '[p["outcome"] == "completed" and p["metrics"]["slow.comp_lat_ns"]["n"] < 4000 for p in d]')" "[True, True]"
}

@test "the device's stamps are where the device made them, whatever its clock shows and however it wraps and drifts" {
	local clock
	for clock in 'stamp_bits 64' 'stamp_bits 48' 'clock_ppm 90' 'clock_hz 1000000000' 'stamp_bits 31'; do
		# It passes 0 during the run, however many bits it has.
		adapter <<-END
			device mlx5_0
			stamp_bits 48
			clock_offset -$(awk '{ printf "%d", ($1 + 1) * 156250000 }' /proc/uptime)
			latency_ns 3000
			ack_ns 2000
			$clock
		END
		spec_of stamps 'kernel: oneway, t_hw: yes, messages: 300, burst: 10, pause: 1ms, repetitions: 2, depth: 16' <<<'  - {poll: [busy, event]}'
		measure stamps
		assert_measured
		run "$ROOT/tests/model/stamps.py" "$run_dir" "$KBLAT_ADAPTER/segment" 3000 2000
		echo "$clock: $output"
		[ "$status" -eq 0 ]
	done
}

@test "a device clock that wraps during a repetition, stands still or cannot be read at its end: no stamps, and a warning" {
	local clock
	for clock in 'stamp_bits 20' 'clock_hz 0' 'fail raw_clock 95 52'; do
		adapter <<-END
			device mlx5_0
			stamp_bits 48
			$clock
		END
		spec_of lost 'kernel: oneway, t_hw: yes, messages: 300, burst: 10, pause: 1ms, depth: 16, repetitions: 1' <<<'  - {poll: busy}'
		measure lost
		assert_eq "$(what_of '[(p["outcome"], p["metrics"]["lat_ns"]["n"], p["metrics"]["hw_lat_ns"]["n"]) for p in d]')" "[('completed', 300, 0)]"
		assert_contains "$(what_of '[w for w in d[0]["warnings"] if "sink" in w and "clock" in w]')" \
			"1 repetition without the device's stamps: its clock could not be read, stood still, or may have wrapped around (sink)"
	done
}

@test "inline up to the limit of the device, which is found and told; without one, the device copies nothing" {
	adapter <<-'END'
		device mlx5_0
		inline 1900
	END
	spec_of inline 'kernel: oneway, inline: on, messages: 100, check: yes, repetitions: 1' <<<'  - {size: [9, 1900, 1901], op: [send_imm, write]}'
	measure inline
	assert_eq "$(outcomes)" "$(printf '%s\n' 'completed: ' 'completed: ' 'completed: ' 'completed: ' \
		"impossible: source: mlx5_0 port 1: with inline on, size 1901 is above what the device can do: max_inline_data is 1900" \
		"impossible: source: mlx5_0 port 1: with inline on, size 1901 is above what the device can do: max_inline_data is 1900")"
	assert_eq "$(json "$run_dir/points/0002/point.json" '[d["granted"]["source"][k] for k in ("inlined", "inline_bytes")]')" "[True, 1900]"
	adapter <<-'END'
		device mlx5_0
		inline 0
	END
	measure inline
	assert_contains "$(outcomes)" "impossible: source: mlx5_0 port 1: with inline on, size 9 is above what the device can do: max_inline_data is 0"
}

@test "the path's MTU: the smaller one of both ports, or what is asked for; a datagram is no larger" {
	adapter <<-'END'
		device mlx5_0
		mtu 5
		device mlx5_1
		mtu 4
	END
	spec_of mtu 'kernel: oneway, messages: 100, sink_device: mlx5_1, check: yes, repetitions: 1' <<-'YAML'
		  - {qp: rc, size: 8KiB}
		  - {qp: rc, mtu: 1024}
		  - {qp: ud, size: 2KiB}
		  - {qp: ud, size: 2049B}
		  - {mtu: 4096}
	YAML
	measure mtu
	assert_eq "$(for p in 0 1 2; do json "$run_dir/points/000$p/point.json" '[d["granted"][s]["mtu_bytes"] for s in ("source", "sink")]'; done)" \
		"$(printf '%s\n' '[2048, 2048]' '[1024, 1024]' '[2048, 2048]')"
	outcomes >told
	assert_contains "$(sed -n 4p told)" "impossible: sink: mlx5_1 port 1: with qp ud, size 2049 is above what the device can do: the port's active MTU is 2048"
	assert_contains "$(sed -n 5p told)" "impossible: sink: mlx5_1 port 1: mtu 4096 is above what the device can do: the port's active MTU is 2048"
}

# Each point has a size of its own, by which the script tells them apart.
# bats test_tags=long
@test "every status of a work completion: which request, of what, its meaning and what to do" {
	local status direction
	for direction in send recv; do
		adapter < <(
			echo "device mlx5_0"
			for status in {1..23}; do echo "wc $direction 7 $status $((status + 160)) $((status + 100))"; done
		)
		spec_of statuses 'kernel: oneway, messages: 50, burst: 1, repetitions: 1, ack_timeout: 19' <<<"  - {op: write_imm, size: [$(seq -s , 101 123)]}"
		measure statuses
		outcomes >told
		cat told
		assert_eq "$(grep -c '^failed: ' told)" 23
		for status in {1..23}; do
			sed -n "${status}p" told >one
			assert_contains "$(cat one)" "mlx5_0 port 1: work completion "
			grep -qE "$([ $direction = send ] && echo send || echo receive) queue of qp 0x[0-9a-f]+, op write_imm\): [A-Za-z].* \($status, vendor error 0x$(printf %x $((status + 160)))\); .{20,}" one
			! grep -q 'see ibv_poll_cq' one
		done
	done
}

# Types of events: enum ibv_event_type.
@test "what the device reports of its own accord: of itself, its port, a queue, or of nobody here" {
	local number element wanted
	while IFS='|' read -r number element wanted; do
		adapter <<-END
			device mlx5_0
			event 250 $number $element
		END
		spec_of events 'kernel: oneway, messages: 500, burst: 5, pause: 100us, repetitions: 2, timeout: 5s' <<<'  - {poll: busy}'
		measure events
		assert_contains "$(outcomes)" "$wanted"
	done <<-'END'
		0|2|failed: s
		8|0|mlx5_0 port 1: the device reports: local catastrophic error
		10|1|mlx5_0 port 1: the device reports: port error
		10|2|completed: 
		9|1|completed: 
		11|1|completed: 
		18|1|completed: 
	END
}

# One in each repetition and in the warm-up, which is not counted.
@test "an event that nobody has read yet counts in its own repetition" {
	adapter <<-'END'
		device mlx5_0
		silent_events 1
	END
	spec_of empty 'kernel: pingpong, messages: 50, repetitions: 2' <<<'  - {recv_queue: srq, recv_depth: 4, return: bulk}'
	measure empty
	assert_contains "$(what_of 'd[0]["warnings"]')" "a shared receive queue ran empty in 2 of 2 repetitions"
	for rep in 00 01; do
		assert_eq "$(json "$run_dir/points/0000/rep-$rep/counters.json" '(lambda d: d["after"]["srq_ran_empty"] - d["before"]["srq_ran_empty"])(d["device"]["sink"])')" 1
	done
}

@test "a port that goes down fails the point, even if nobody has read the event when all messages have arrived" {
	adapter <<-'END'
		device mlx5_0
		silent_events 1
		event 250 10 1
	END
	spec_of late 'kernel: oneway, messages: 500, burst: 5, pause: 100us, repetitions: 1, timeout: 5s' <<<'  - {poll: busy}'
	measure late
	assert_contains "$(outcomes)" "failed: s"
	assert_contains "$(outcomes)" "mlx5_0 port 1: the device reports: port error"
}

# Both sides sleep. The sink's request is never flushed by a queue pair of its own, but by the alarm.
@test "a port that goes down while both sides sleep, each over a queue of its own or a shared one" {
	local op
	for op in 'recv_queue: srq' 'recv_queue: qp' 'op: write, poll: busy'; do
		adapter <<-'END'
			device mlx5_0
			event 250 10 1
		END
		spec_of down "kernel: oneway, messages: 500, burst: 5, pause: 100us, repetitions: 1, timeout: 5s, poll: event, $op" <<<'  - {warmup: 20}'
		sed -i "s/poll: event, op: write,/op: write,/; s/warmup: 20, //" down.yaml
		measure down
		assert_contains "$(outcomes)" "failed: s"
		assert_contains "$(outcomes)" "mlx5_0 port 1: the device reports: port error"
		assert_contains "$(outcomes)" "the port is down, or its network interface is; see \`rdma link\` and \`ip link\`"
	done
}

# refused "SCRIPT" "SETTINGS" WANTED
refused() {
	adapter < <(printf 'device mlx5_0\n%b\n' "$1")
	spec_of refused "messages: 50, repetitions: 1, timeout: 5s, ${2:-kernel: oneway}" <<<'  - {poll: busy}'
	measure refused
	assert_contains "$(outcomes)" "$3"
}

@test "a capability that is lacking is refused by its name, and so are too large numbers" {
	while IFS='|' read -r script settings wanted; do
		refused "$script" "$settings" "mlx5_0 port 1: $wanted"
	done <<-'END'
		max_srq 0|kernel: oneway, recv_queue: srq|the device does not support recv_queue srq: it has no shared receive queues (max_srq)
		max_srq_wr 31|kernel: oneway, recv_queue: srq, depth: 32|recv_depth 32 is above what the device can do: max_srq_wr is 31
		max_srq_sge 1|kernel: oneway, recv_queue: srq, recv_sge: 2|recv_sge 2 is above what the device can do: max_srq_sge is 1
		max_sge 3|kernel: oneway, recv_sge: 4|recv_sge 4 is above what the device can do: max_sge is 3
		|kernel: pingpong, recv_queue: srq, qp: ud, op: send, receivers: 3, group: 239.255.77.1|with a group, receivers 3 is above what the device can do: max_mcast_qp_attach is 0
		max_mr 6|kernel: oneway, regions: 7, depth: 32|regions 7 is above what the device can do: max_mr is 6
		max_qp_wr 31|kernel: oneway, depth: 32|depth 32 is above what the device can do: max_qp_wr is 31
		max_cqe 31|kernel: oneway, depth: 32|depth 32 is above what the device can do: max_cqe is 31
		atomics 0|kernel: stream, op: fetch_add, size: 8B|the device does not support op fetch_add: it has no atomics (atomic_cap)
		rd_atom 0|kernel: stream, op: read|rd_atomic 1 is above what the device can do: max_qp_rd_atom is 0
		max_msg 4096|kernel: oneway, size: 4097B|size 4097 is above what the device can do: its largest message is 4096
		stamp_bits 0|kernel: oneway, t_hw: yes|with t_hw, the device must stamp its completions: its completion_timestamp_mask is 0
		stamp_bits 48\nclock_errno 95|kernel: oneway, t_hw: yes|with t_hw, the device's clock must be readable, and it is not
		transport 1|kernel: oneway, qp: ud, op: send_imm|the device speaks iWARP; qp ud: it has reliable connections only (qp rc); connect plain: only the connection manager makes them (connect rdmacm); op send_imm: it carries no immediate data (op send, or write)
	END
	refused 'transport 3' '' 'mlx5_0: the device supports neither InfiniBand, RoCE nor iWARP'
	refused 'state 1' '' 'verbs: no active port: mlx5_0 port 1 is '
	refused 'link 1\ngid ::' 'kernel: oneway, gid_index: 7' 'mlx5_0 port 1: there is no GID with gid_index 7'
	refused '' 'kernel: oneway, port: 3' 'verbs: there is no port 3; mlx5_0 port 1 is '
}

# bats test_tags=long
@test "what fails while a point is set up is told with its operation and cause, and nothing stays open" {
	while IFS='|' read -r call settings wanted; do
		refused "fail $call" "${settings:-kernel: oneway}" "$wanted"
	done <<-'END'
		open_device 13||mlx5_0: cannot open the RDMA device: permission denied
		query_device 5||mlx5_0: cannot open the RDMA device: input/output error
		query_port 5||mlx5_0: cannot open the RDMA device: input/output error
		get_device_list 12||no RDMA device on this machine
		alloc_pd 12||mlx5_0 port 1: cannot allocate a protection domain:
		alloc_pd 5||mlx5_0 port 1: cannot allocate a protection domain: input/output error
		reg_mr 14||mlx5_0 port 1: cannot register the message buffers: bad address
		reg_mr 14 3|kernel: oneway, regions: 4|mlx5_0 port 1: cannot register the message buffers: bad address
		create_cq 22||mlx5_0 port 1: cannot create a completion queue: Invalid argument; depth 1024
		create_cq 5 2||mlx5_0 port 1: cannot create a completion queue: input/output error
		create_qp 1||mlx5_0 port 1: cannot create a queue pair: operation not permitted
		create_qp 12 1|kernel: pingpong, recv_queue: srq|cannot create a second queue pair, which recv_queue srq needs
		create_srq 12|kernel: oneway, recv_queue: srq|mlx5_0 port 1: cannot create a shared receive queue
		modify_srq 5|kernel: oneway, recv_queue: srq|mlx5_0 port 1: cannot set the limit of the shared receive queue: input/output error
		create_ah 12|kernel: oneway, qp: ud|mlx5_0 port 1: cannot create an address handle for the peer: out of memory
		to_init 5||mlx5_0 port 1: cannot bring the queue pair to INIT: input/output error
		to_rtr 110||mlx5_0 port 1: cannot bring the queue pair to RTR (ready to receive): connection timed out
		to_rts 22||mlx5_0 port 1: cannot bring the queue pair to RTS (ready to send): invalid argument
		post_recv 12 5||mlx5_0 port 1: cannot post the receive of buffer
		post_srq_recv 12 5|kernel: oneway, recv_queue: srq|mlx5_0 port 1: cannot post receive requests in one list
		post_send 22 30||mlx5_0 port 1: cannot post the send of message
		post_send 12 40||the queue is full
		poll_cq 5 200||mlx5_0 port 1: cannot poll the completion queue
	END
	# Others are told of their limit of locked memory, which is the usual reason.
	[ "$EUID" -ne 0 ] && [ "$(ulimit -l)" != unlimited ] ||
		refused "fail alloc_pd 12" "kernel: oneway" "mlx5_0 port 1: cannot allocate a protection domain: Cannot allocate memory; depth 1024"
	sed -i 's/poll: busy/poll: event/' refused.yaml
	for call in "create_comp_channel 24|cannot create a completion channel: too many open files" "req_notify_cq 5|cannot arm the completion queue after completion" \
		"get_cq_event 5 1|cannot wait for an event after completion"; do
		adapter < <(printf 'device mlx5_0\nfail %s\n' "${call%|*}")
		measure refused
		assert_contains "$(outcomes)" "mlx5_0 port 1: ${call#*|}"
	done
}

# bats test_tags=long
@test "iWARP: what it has is measured, by the connection manager; what fails there is told" {
	need_net
	while IFS='|' read -r script settings wanted; do
		adapter < <(printf 'device mlx5_0\nnetdev d0\n%b\n' "$script")
		spec_of cm "messages: 50, repetitions: 1, timeout: 5s, kernel: oneway, connect: rdmacm, $settings" <<<'  - {poll: busy}'
		sed -i 's/kernel: oneway, \(.*kernel:\)/\1/' cm.yaml
		run in_net "$KBLAT" run cm.yaml --no-state --out runs
		echo "$script: $output"
		run_dir=${lines[-1]}
		assert_contains "$(outcomes)" "$wanted"
	done <<-'END'
		transport 1|op: send|completed: 
		transport 1|op: write|completed: 
		|qp: ud|completed: 
		path_mtu 3|mtu: auto|completed: 
		path_mtu 3|mtu: 4096|mlx5_0 port 1: mtu 4096 is above the path's MTU of 1024
		fail cm_channel 2|op: send|mlx5_0 port 1: cannot use the RDMA connection manager: No such file or directory; is the kernel module rdma_ucm loaded?
		fail cm_id 12|op: send|connect rdmacm needs an IP address of this port, and there is none; give d0 one, or use connect plain
		fail bind_addr 99|op: send|connect rdmacm needs an IP address of this port, and there is none
		fail listen 98|op: send|mlx5_0 port 1: cannot listen for an RDMA connection: address already in use
		fail resolve_addr 19|op: send|mlx5_0 port 1: cannot resolve the sink's address: no such device
		fail resolve_route 19|op: send|mlx5_0 port 1: cannot resolve the route to the sink: no such device
		fail no_route 110|op: send|mlx5_0 port 1: cannot resolve the route to the sink: RDMA_CM_EVENT_ROUTE_ERROR (status -110): Connection timed out
		fail route_elsewhere 1|op: send|the route to the sink uses mlx5_0 port 2; choose that port, or an address in this port's network
		fail connect 111|op: send|mlx5_0 port 1: cannot connect to the sink: connection refused
		fail accept 111|op: send|mlx5_0 port 1: cannot accept the source's connection: connection refused
		fail establish 22|op: send|mlx5_0 port 1: cannot establish the connection: invalid argument
		fail init_qp_attr 22|op: send|mlx5_0 port 1: cannot get the queue pair's attributes from the connection manager: invalid argument
		fail get_cm_event 5|op: send|mlx5_0 port 1: cannot
	END
}

@test "a multicast group that cannot be joined: the point is impossible, and says why" {
	need_net
	while IFS='|' read -r script wanted; do
		adapter < <(printf 'device mlx5_0\nnetdev d0\nmax_mcast_qp_attach 8\n%b\n' "$script")
		spec_of group 'messages: 50, repetitions: 1, timeout: 5s, kernel: pingpong, qp: ud, op: send, recv_queue: srq, receivers: 3' <<<'  - {group: 239.255.77.1}'
		run in_net "$KBLAT" run group.yaml --no-state --out runs
		run_dir=${lines[-1]}
		assert_contains "$(outcomes)" "mlx5_0 port 1: cannot join group 239.255.77.1: $wanted"
	done <<-'END'
		|RDMA_CM_EVENT_MULTICAST_ERROR (status -22): Invalid argument
		fail join_multicast 19|no such device
	END
}
