#!/usr/bin/env bats
# What happens to a run when something goes wrong in its middle, in the Soft-RoCE guest:
#
#     tests/vm/guest --env KBLAT=$PWD/build/kblat -- bats tests/vm/faults.bats
#
# In every case: the point fails and says why, the repetitions before are kept, the next point runs, and the run
# directory verifies.

load ../cli/helper

setup_file() {
	grep -qs ACTIVE /sys/class/infiniband/*/ports/*/state || {
		echo "# no active RDMA device: run this in the guest (see the head of this file)" >&3
		return 1
	}
}

teardown() {
	ip link set dev d0 up
	[ -e /sys/class/infiniband/rxe0 ] || rdma link add rxe0 type rxe netdev d0
	cd /
	rm -rf "$T"
}

# begin SETTINGS: a run whose first point would take minutes, and whose second one is short. Returns in the middle of the first.
kernel="kernel: oneway, messages: 500, burst: 5, pause: 1ms"
begin() {
	spec faults < <(
		echo "settings: {$kernel, repetitions: 400, warmup: 0, timeout: 10s}"
		echo "matrix:"
		echo "  - {transport: verbs, $1}"
		echo "  - {transport: shmem, repetitions: 1, poll: event}"
	)
	"$KBLAT" run faults.yaml --no-state --out "$T/runs" >"$T/out" 2>"$T/err" 3>&- &
	pid=$!
	await_run exists "$T/runs/*/points/0000/rep-01/counters.json"
}

# read_outcomes: sets $outcomes to the outcomes of the points of $run_dir. One program for all, because starting programs is slow here.
read_outcomes() {
	mapfile -t outcomes < <(/usr/bin/python3 -IS -c 'import json, sys
for name in sys.argv[1:]:
    d = json.load(open(name))
    print(d["outcome"] + ": " + " ".join(d["why"].split()))' "$run_dir"/points/*/point.json)
}

# the_rest_is_good PATTERN…: the run ends as it should, and its output has each PATTERN about its first point.
the_rest_is_good() {
	local pattern end=0
	wait "$pid" || end=$?
	cat "$T/out" "$T/err"
	assert_eq "$end" 1
	run_dir=$(tail -n 1 "$T/out")
	read_outcomes
	for pattern in "$@"; do
		assert_contains "${outcomes[0]}" "$pattern"
	done
	[ -s "$run_dir/points/0000/rep-00/t_recv.npy" ] || [ -s "$run_dir/points/0000/rep-00/t_comp.npy" ]
	[ -s "$run_dir/points/0000/rep-01/t_subm.npy" ]
	assert_eq "${outcomes[1]}" 'completed: '
	run "$KBLAT" verify "$run_dir"
	echo "$output"
	assert_eq "$status" 0
}

@test "the device is deleted" {
	begin "qp: rc, poll: busy"
	timeout 60 rdma link delete rxe0
	the_rest_is_good "failed: " "rxe0 port 1: the device reports: it is being removed"
}

@test "the device is deleted while both sides sleep, and the connection manager knows it" {
	begin "qp: rc, poll: event, connect: rdmacm"
	timeout 60 rdma link delete rxe0
	the_rest_is_good "failed: " "rxe0 port 1: the device reports: it is being removed"
}

# Requests in a shared receive queue are not flushed together with a queue pair.
@test "the device is deleted while both sides sleep, one of them over a shared receive queue" {
	begin "qp: rc, poll: event, recv_queue: srq"
	timeout 60 rdma link delete rxe0
	the_rest_is_good "failed: " "rxe0 port 1: the device reports: it is being removed"
}

@test "the port goes down" {
	begin "qp: uc, poll: event"
	ip link set dev d0 down
	the_rest_is_good "failed: " "rxe0 port 1: the device reports: port error"
}

# has_ended PID: have all threads of the process ended, so that its files are closed, whether or not its parent knows?
has_ended() {
	local state threads
	read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" || return 0
	threads=("/proc/$1/task/"*)
	[[ $state == Z && ${#threads[@]} -eq 1 ]]
}

# sent_packets: sets $now to the packets that the device has sent.
sent_packets() {
	read -r now </sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
}

# is_measuring SOURCE BEFORE PACKETS: the source, which is stopped, has threads that measure besides its own two, and since
# there were BEFORE packets, at least 100 and at most PACKETS were sent. The kernel may count 10 ms late
# (hw_counters/lifespan).
is_measuring() {
	local now threads=("/proc/$1/task/"*)
	[ "${#threads[@]}" -gt 2 ] || return
	sleep 0.03
	sent_packets
	((now >= $2 + 100 && now <= $2 + $3))
}

# kill_sink_in_a_repetition PACKETS: while messages are under way, because between repetitions the device reports nothing.
# The source is stopped while its progress is read from the packets sent since the previous repetition; a whole one sends
# more than PACKETS. It goes on when the sink has ended, whose queue pair acknowledges messages until then.
slowly="messages: 400, pause: 5ms"
kill_sink_in_a_repetition() {
	local source sink before='' now rep=2 points dir i
	source=$(pgrep -o -f "$KBLAT endpoint")
	sink=$(pgrep -n -f "$KBLAT endpoint")
	points=("$T"/runs/*/points/0000)
	for ((i = 0; i < 6000; i++)); do
		printf -v dir '%s/rep-%02d' "${points[0]}" "$rep"
		sent_packets
		if [ ! -e "$dir" ]; then
			before=$now
		elif [ -e "$dir/counters.json" ] || [ -z "$before" ]; then
			before=''
			rep=$((rep + 1))
		else
			kill -STOP "$source"
			if is_measuring "$source" "$before" "$1"; then
				kill -9 "$sink"
				await_run has_ended "$sink"
				kill -CONT "$source"
				return
			fi
			kill -CONT "$source"
		fi
		kill -0 "$pid" || break
		sleep 0.01
	done
	echo "no repetition to end in its middle: $(cat "$T/out" "$T/err")"
	return 1
}

# What the device reports to the remaining side after retrying, in addition to how the other side ended.
soon="retry_cnt: 1"
gave_up=("failed: sink endpoint: was killed by signal 9" "; source: rxe0 port 1: work completion " "(send queue of qp "
	"transport retry counter exceeded (12, ")

@test "the sink is killed" {
	begin "qp: rc, poll: busy, $slowly, $soon"
	kill_sink_in_a_repetition 350
	the_rest_is_good "${gave_up[@]}"
}

@test "the sink is killed in the middle of reads, of which it knows nothing" {
	kernel="kernel: stream, depth: 4, messages: 10000"
	begin "op: read, qp: rc, poll: busy, $soon"
	kill_sink_in_a_repetition 35000
	the_rest_is_good "${gave_up[@]}"
}

@test "the sink is killed while the source sleeps" {
	begin "qp: rc, poll: event, connect: rdmacm, $slowly, $soon"
	kill_sink_in_a_repetition 350
	the_rest_is_good "${gave_up[@]}"
}

@test "the source is killed, and the sink of a datagram never hears of it" {
	begin "qp: ud, poll: busy"
	kill -9 "$(pgrep -o -f "$KBLAT endpoint")"
	the_rest_is_good "failed: source endpoint: was killed by signal 9"
}

# A launcher that gives the source a wrong key for the sink's memory.
@test "a wrong key" {
	cat >forge <<-'PY'
		import os, re
		while chunk := os.read(0, 65536):
		    chunk = re.sub(rb'"ring_rkey": *[0-9]+', b'"ring_rkey": 4660', chunk)
		    while chunk:
		        chunk = chunk[os.write(1, chunk):]
	PY
	printf '#!/bin/sh\n"$@" | /usr/bin/python3 %s/forge\n' "$T" >wrong-key
	chmod +x wrong-key
	spec key <<-'YAML'
		settings: {kernel: oneway, messages: 100, repetitions: 2, warmup: 0}
		matrix:
		  - {transport: verbs, op: [write_imm, write]}
		  - {transport: verbs}
	YAML
	run "$KBLAT" run key.yaml --no-state --out "$T/runs" --sink "$T/wrong-key"
	assert_eq "$status" 1
	run_dir=$(tail -n 1 <<<"$output")
	read_outcomes
	for outcome in "${outcomes[@]:0:2}"; do
		assert_contains "$outcome" "failed: source: rxe0 port 1: work completion "
		assert_contains "$outcome" "remote access error (10, "
	done
	assert_eq "${outcomes[2]}" 'completed: '
	run "$KBLAT" verify "$run_dir"
	assert_eq "$status" 0
}

# One receive buffer for a burst: datagrams that find none are lost silently.
@test "lost datagrams are counted and shown" {
	spec lost <<-'YAML'
		settings: {kernel: oneway, transport: verbs, qp: ud, messages: 2000, burst: 2000, depth: 1, repetitions: 2, warmup: 0, poll: event, poll_send: busy}
	YAML
	run "$KBLAT" run lost.yaml --no-state --out "$T/runs"
	run_dir=$(tail -n 1 <<<"$output")
	assert_contains "$output" " lost"
	assert_eq "$(/usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys, numpy
		run = sys.argv[1]
		point = json.load(open(run + "/summary.json"))["points"][0]
		t_recv = [numpy.load(f"{run}/points/0000/rep-0{i}/t_recv.npy") for i in range(2)]
		lost = sum(int((column == numpy.iinfo("int64").min).sum()) for column in t_recv)
		said = any("messages lost" in warning for warning in point["warnings"])
		print(lost > 0, said, point["loss"]["lost"] == lost == point["metrics"]["lat_ns"]["lost"],
		      point["metrics"]["lat_ns"]["n"] == 4000 - lost)
	PY
	)" "True True True True"
}

# One receive buffer, and a source that does not retry: sooner or later it is faster than the sink.
@test "a receiver without a receive buffer" {
	spec rnr <<-'YAML'
		settings: {kernel: oneway, messages: 100000, size: 4KiB, burst: 100000, repetitions: 3, warmup: 0, check: yes}
		matrix:
		  - {transport: verbs, qp: rc, depth: 1, rnr_retry: 0, poll: event, poll_send: busy}
		  - {transport: verbs, qp: rc, messages: 100, repetitions: 1}
	YAML
	run "$KBLAT" run rnr.yaml --no-state --out "$T/runs"
	assert_eq "$status" 1
	assert_contains "$output" "RNR retry counter exceeded (13"
	run_dir=$(tail -n 1 <<<"$output")
	read_outcomes
	assert_contains "${outcomes[0]}" "failed: source: rxe0 port 1: work completion "
	assert_eq "${outcomes[1]}" 'completed: '
	run "$KBLAT" verify "$run_dir"
	assert_eq "$status" 0
}

@test "setting the machine's clock an hour ahead and back changes neither latencies nor their order" {
	spec set <<-'YAML'
		settings: {kernel: oneway, transport: tcp, poll: event, messages: 300, burst: 1, pause: 5ms, repetitions: 2, warmup: 0}
	YAML
	"$KBLAT" run set.yaml --no-state --out "$T/runs" >"$T/out" 2>"$T/err" 3>&- &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		date -s '+1 hour' >/dev/null
		sleep 0.3
		date -s '-1 hour' >/dev/null
		sleep 0.2
	done
	status=0
	wait $pid || status=$?
	output=$(cat "$T/err" "$T/out")
	assert_measured
	"$KBLAT" verify "$run_dir"
	assert_eq "$(/usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys, numpy
		run = sys.argv[1]
		point = json.load(open(run + "/summary.json"))["points"][0]
		sent = [numpy.load(f"{run}/points/0000/rep-0{i}/t_subm.npy") for i in range(2)]
		lat = point["metrics"]["lat_ns"]
		print(lat["n"], 0 < lat["min"], lat["max"] < 60e9, all((numpy.diff(column) > 0).all() for column in sent))
	PY
	)" "600 True True True"
}

# disk_is TARGET: replaces the target of the disk for results.
disk_is() {
	dmsetup --noudevsync --noudevrules suspend --nolockfs kblat-disk
	dmsetup --noudevsync --noudevrules load kblat-disk --table "0 131072 $1"
	dmsetup --noudevsync --noudevrules resume kblat-disk
}

@test "a disk for results that fails with EIO fails the run, and what came before can be read" {
	modprobe -a loop dm-mod
	truncate -s 64M "$T/image"
	loop=$(losetup -f --show "$T/image")
	dmsetup --noudevsync --noudevrules create kblat-disk --table "0 131072 linear $loop 0"
	disk=/dev/dm-$(dmsetup info -c --noheadings -o minor kblat-disk) # there is no udev that would name it
	mkdir "$T/disk"
	mkfs.ext4 -q "$disk"
	mount "$disk" "$T/disk"
	spec disk <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 500, burst: 5, pause: 1ms, repetitions: 200, warmup: 0}
	YAML
	"$KBLAT" run disk.yaml --no-state --out "$T/disk/runs" >"$T/out" 2>"$T/err" 3>&- &
	pid=$!
	await_run exists "$T/disk/runs/*/points/0000/rep-01/counters.json"
	sync -f "$T/disk"
	disk_is error
	# Data is written to the disk when the run is sealed, unless it is synced before.
	sync -f "$T/disk" || true
	end=0
	wait "$pid" || end=$?
	cat "$T/out" "$T/err"
	disk_is "linear $loop 0"
	umount "$T/disk"
	mount "$disk" "$T/disk"
	read_end=0
	"$KBLAT" summary "$T"/disk/runs/*.partial >"$T/summary" 2>&1 || read_end=$?
	cat "$T/summary"
	umount "$T/disk"
	dmsetup --noudevsync --noudevrules remove kblat-disk
	losetup -d "$loop"
	assert_eq "$end" 1
	grep -qE '^kblat: point 0 \(1 of 1\): failed: .*: (input/output error|the file system is read-only)' "$T/err"
	assert_eq "$read_end" 0
	grep -qE '^!? +0 +(500|1000|1500)' "$T/summary"
	[ -z "$(leftovers)" ]
	[ -z "$(compgen -G '/dev/shm/kblat-*')" ]
}
