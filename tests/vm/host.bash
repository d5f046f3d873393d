# What tests that change the guest have in common: a snapshot of what kbtune changes, taken before
# each of them for comparison.
# shellcheck shell=bash

# Where an administrator and the distribution have profiles of tuned, since tuned 2.23 one folder deeper.
TUNED=/etc/tuned TUNED_OWN=/usr/lib/tuned
[ ! -d $TUNED_OWN/profiles ] || TUNED+=/profiles TUNED_OWN+=/profiles

setup_file() {
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	export ROOT KBTUNE=${KBTUNE:-$ROOT/build/kbtune} KBTUNE_PROFILES=$ROOT/profiles HOST_VIEW=${HOST_VIEW:-$ROOT/build/vm-host-view}
	grep -q kblat-guest /proc/sys/kernel/hostname || {
		echo "this changes the machine: it runs in the guest alone" >&2
		return 1
	}
	mkdir -p /run/dbus
}

host_setup() {
	T=$(mktemp -d)
	snapshot >"$T/before"
}

setup() {
	host_setup
}

teardown() {
	"$KBTUNE" restore || true
	rm -rf "$T"
}

snapshot() {
	"$HOST_VIEW"
}

latency() {
	snapshot | grep '^PM QoS'
}

# A thread that has ended meanwhile does not count (lines of threads begin with their names, others with / or PM QoS).
is_as_before() {
	snapshot >"$T/after"
	! diff "$T/before" "$T/after" | grep -v '^< [^/P]' | grep -q '^[<>]'
}

# The kernel restores the CPUs of threads with a delay: on a busy machine, of seconds.
as_before() {
	local _
	for _ in {1..50}; do
		! is_as_before || return 0
		sleep 0.2
	done
	diff "$T/before" "$T/after"
}

is_v1() {
	[ -e /dev/cpuset/tasks ]
}
