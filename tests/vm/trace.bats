#!/usr/bin/env bats
# The requests of another program (tests/cli/traced.c), in the guest: with a disk that a control group makes slow, and a task of another group,
# which natively would change the machine. To run it by hand:
#
#   tests/vm/guest --no-rdma --count-time -- tests/vm/lean-bats tests/vm/trace.bats
#
# With another clock, emulated CPUs of a busy host would wait for each other for tens of milliseconds, and each page fault take as long as many.

load ../cli/tracefs_helper

setup_file() {
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	export ROOT KBLAT=${KBLAT:-$ROOT/build/kblat}
	"$ROOT/tests/vm/hold-events"
}

setup() {
	T=$(mktemp -d)
	cd "$T" || exit
	make_traced
	export TRACED_DELAY_US=20000
}

teardown() {
	slow_link_end
	cd /
	rm -rf "$T"
}

# A disk in memory, and what runs in the control group `slow` may read it 50 times a second.
slow_disk() {
	modprobe brd rd_nr=1 rd_size=65536
	TRACED_DISK=/dev/ram0
	export TRACED_DISK
	echo +io >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p /sys/fs/cgroup/slow
	echo "$(cat /sys/class/block/ram0/dev) riops=50" >/sys/fs/cgroup/slow/io.max
}

@test "trace: requests that a slow disk, a slow link and others held up are explained by that" {
	modprobe -a veth sch_tbf
	slow_disk
	slow_link
	trace --limit 10ms --stamps -- sh -c 'echo 0 >/sys/fs/cgroup/slow/cgroup.procs && exec "$@"' - "${in_namespace[@]}" chrt -f 1 ./traced 480
	echo "$output"
	[ "$status" -eq 0 ]
	assert_mostly_right 40
	[ "$kinds" = "answer call disk fault hog lock net page sleep stop work" ]
}

@test "trace: so are those of an unmodified program, with probes at its function" {
	trace --limit 10ms --from ./traced:serve --to ./traced:serve%return --id 1 -- chrt -f 1 ./traced 480 none
	echo "$output"
	[ "$status" -eq 0 ]
	assert_mostly_right 30
}

# trace_beside_noise WORD...: whether a request is under way when the noise begins is chance.
trace_beside_noise() {
	for _ in {1..6}; do
		trace --limit 100ms --stamps "$@" --for 3s -- taskset -c 0 ./traced 100000
		echo "$output"
		"$KBLAT" explain "$run_dir" | tee explained
		grep -q "^point 0: 0 late" explained || return 0
	done
	return 1
}

@test "trace: a task of another control group is named with it" {
	cp /bin/bash noise
	mkdir -p /sys/fs/cgroup/jobs/noisy
	./noise -c 'echo 0 >/sys/fs/cgroup/jobs/noisy/cgroup.procs
		while sleep 0.5; do
			end=$((${EPOCHREALTIME/./} + 300000))
			while ((${EPOCHREALTIME/./} < end)); do :; done
		done' 3>&- &
	noise=$!
	taskset -p -c 0 "$noise"
	chrt -f -p 1 "$noise"
	trace_beside_noise
	grep -q "preempted by noise (jobs/noisy)" explained
	trace_beside_noise --mask
	kill "$noise"
	grep -q "preempted by a task" explained
	[ -z "$(grep -rlE "nois[ey]" "$run_dir")" ]
}
