#!/usr/bin/env bats
# A link that loses, doubles, reorders and corrupts packets (netem) between two hosts. In the first of two guests:
#
#     tests/vm/pair --env KBLAT=$PWD/build/kblat -- bats tests/vm/links.bats
#
# (in one boot with the others: bats tests/vm/pair.bats tests/vm/links.bats.) The link does so to RoCE's packets alone, so that ssh, over which kblat talks
# to the other host, has nothing to repeat.

load ../cli/helper
load pair_helper

setup_file() {
	need_two_guests
	sort_packets
	ssh "$other" "$(declare -f sort_packets); sort_packets"
}

# Packets to RoCE's port have a queue of their own, the fourth; all others use the first.
sort_packets() {
	modprobe -a sch_netem sch_prio cls_u32
	tc qdisc add dev eth0 root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	tc filter add dev eth0 parent 1: protocol ip u32 match ip protocol 17 0xff match ip dport 4791 0xffff flowid 1:4
}

# measure NETEM: sends 300 messages over such a link with UC, UD and RC (points 0, 1, 2); sets $run_dir. It is a stream, for which no clocks are compared.
measure() {
	# Later, because packets may still be delayed. The counts of the link are written to a file for each point.
	local begin="tc qdisc add dev eth0 parent 1:4 handle 40: netem limit 10000 $1"
	local end="sleep 0.2; tc -s -j qdisc show dev eth0 >$T/link/\$(ls $T/link | wc -l); tc qdisc del dev eth0 parent 1:4"
	write_disturbing
	mkdir link
	spec link <<-YAML
		settings: {kernel: stream, transport: verbs, messages: 300, repetitions: 1, warmup: 0, depth: 32, recv_depth: 1024, poll: event,
		           check: yes, ack_timeout: 16, timeout: 60s, drain: 2s}
		matrix:
		  - {qp: [uc, ud, rc]}
	YAML
	run "$KBLAT" run link.yaml --no-state --out "$T/runs" --source "$T/disturbing 1 '$begin' '$end'" --sink "ssh $other"
	assert_measured '[1-9]\d* messages? received more than once \(.*'
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 3
	"$KBLAT" verify "$run_dir"
	for point in 0 1 2; do
		echo "# $(json "$run_dir/points/000$point/params.json" 'd["qp"]'), $1: the link sent $(link $point packets), dropped $(link $point drops);" \
			"lost, received, again, reordered, broken: $(of $point)" >&3
	done
}

# link POINT KEY: what the link counted; loss POINT KEY, sink POINT KEY: what kblat counted.
link() { json "$T/link/$1" "[q['$2'] for q in d if q['kind'] == 'netem'][0]"; }
loss() { json "$run_dir/points/000$1/summary.json" "d['loss']['$2']"; }
sink() { json "$run_dir/points/000$1/rep-00/counters.json" "d['sink']['$2']"; }
# of POINT: lost, received, received again, reordered, with a wrong payload.
of() { echo "$(loss "$1" lost) $(sink "$1" received) $(loss "$1" duplicates) $(loss "$1" reordered) $(sink "$1" bad_payloads)"; }
all_whole_once_in_order="0 300 0 0 0"

@test "loss: UC and UD lose what the link dropped, and RC recovers" {
	measure "loss 10%"
	for point in 0 1; do
		[ "$(link $point drops)" -gt 0 ]
		assert_eq "$(of $point)" "$(link $point drops) $(link $point packets) 0 0 0"
		assert_eq "$(($(link $point drops) + $(link $point packets)))" 300
	done
	[ "$(link 2 drops)" -gt 0 ]
	assert_eq "$(of 2)" "$all_whole_once_in_order"
}

@test "duplicates: UC and UD count each and are not valid, and RC drops them" {
	measure "duplicate 10%"
	assert_eq "$status" 3
	assert_contains "$output" "received more than once"
	for point in 0 1; do
		again=$(($(link $point packets) - 300))
		[ "$again" -gt 1 ]
		# A second copy of the last message arrives after all others.
		[ "$(loss $point duplicates)" -eq "$again" ] || [ "$(loss $point duplicates)" -eq $((again - 1)) ]
		assert_eq "$(loss $point lost) $(loss $point reordered)" "0 0"
	done
	[ "$(link 2 packets)" -gt 300 ]
	assert_eq "$(of 2)" "$all_whole_once_in_order"
}

@test "reordering: UC and UD count it and lose nothing, and RC delivers in order" {
	measure "delay 2ms reorder 20%"
	for point in 0 1; do
		[ "$(loss $point reordered)" -gt 0 ]
		assert_eq "$(loss $point lost) $(sink $point received) $(loss $point duplicates)" "0 300 0"
	done
	assert_eq "$(of 2)" "$all_whole_once_in_order"
}

@test "corruption: UC and UD lose broken messages and deliver none of them, and RC recovers" {
	measure "corrupt 10%"
	for point in 0 1; do
		[ "$(loss $point lost)" -gt 0 ]
		assert_eq "$(of $point)" "$(loss $point lost) $((300 - $(loss $point lost))) 0 0 0"
	done
	assert_eq "$(of 2)" "$all_whole_once_in_order"
}
