#!/usr/bin/env bats
# The campaign of faults itself (tests/campaign): it notices losses, and continues where it was interrupted. The programs are
# not in $T, which may be in /dev/shm, because cases have a /dev/shm of their own.

load helper

campaign() {
	run "$ROOT/tests/campaign/campaign" --build "$BATS_TEST_TMPDIR/build" --cases 2 "$@"
	echo "$output"
	[[ $output != *"a tmpfs cannot be mounted"* && $output != *"Operation not permitted"* ]] || skip "no namespaces of mounts here"
}

# Broken programs: a restore that changes a value, a run that leaves something in /dev/shm.
broken_programs() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir build
	cat >build/kbtune <<-'SH'
		#!/bin/sh
		for root; do :; done
		[ "$1" != restore ] || echo 1 >"$root/proc/sys/vm/swappiness"
	SH
	cat >build/kblat <<-'SH'
		#!/bin/sh
		[ "$1" != --version ] || exec echo "kblat 0.1.0 (0123456789ab)"
		touch /dev/shm/kblat-0-0-left
	SH
	chmod +x build/kbtune build/kblat
}

@test "what is not put back, and what is left behind, is lost: status 3, and a line for each case" {
	broken_programs
	campaign --only kbtune-write
	[ "$status" -eq 3 ]
	results=build/campaign/0123456789ab/kbtune-write
	assert_contains "$(head -n 1 $results)" "different: ['/proc/sys/vm/swappiness']"
	[ "$(grep -c ^LOST $results)" -eq 2 ]
	campaign --only kblat-time
	[ "$status" -eq 1 ]
	assert_contains "$output" "an undisturbed run fails: left in /dev/shm: ['kblat-0-0-left']"
	[ ! -e /dev/shm/kblat-0-0-left ]
}

@test "a case that has a result is not tried again" {
	broken_programs
	campaign --only kbtune-write
	results=build/campaign/0123456789ab/kbtune-write
	cp $results before
	campaign --only kbtune-write
	[ "$status" -eq 3 ]
	cmp before <(head -n 2 $results)
	[ "$(cut -f 2 $results | sort -u | wc -l)" -eq 4 ]
}

@test "a kind that there is not: which there are, status 2" {
	broken_programs
	campaign --only kbtune-nothing
	[ "$status" -eq 2 ]
	assert_contains "$output" "kbtune-write"
	campaign --list
	[ "$status" -eq 0 ]
	assert_contains "$output" "kblat-disk"
}

@test "two shares of a kind are together the cases that one would try, each once; a share that there is not: status 2" {
	broken_programs
	results=build/campaign/0123456789ab/kbtune-write
	campaign --only kbtune-write --cases 4
	cut -f 2 $results | sort >all
	rm $results
	campaign --only kbtune-write --share 1/2
	campaign --only kbtune-write --share 2/2
	diff <(cut -f 2 $results | sort) all
	[ "$(uniq all | wc -l)" -eq 4 ]
	campaign --only kbtune-write --share 3/2
	[ "$status" -eq 2 ]
	assert_contains "$output" "'3/2'"
}
