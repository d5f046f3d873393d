#!/usr/bin/env bats
# Public reports of people who tune and measure on machines of other kinds (README.md).

load ../cli/helper
load ../cli/kbtune_helper

@test "an interrupt whose chip has no affinity stays where it is, whatever its driver answers, and the rest is applied" {
	for error in EINVAL EOPNOTSUPP ENOTSUPP ENODEV ENXIO ENOSYS EIO EPERM; do
		rm -rf m m.before
		machine managed-eio
		sed -i "s/write EIO/write $error/" m/habits m.before/habits
		kb apply isolated
		echo "$error: $output"
		[ "$status" -eq 0 ]
		assert_contains "$output" "/proc/irq/43/smp_affinity_list: the kernel manages it or cannot move it"
		assert_eq "$(value /proc/irq/50/smp_affinity_list)" 0-2
		kb verify
		[ "$status" -eq 0 ]
		kb restore
		[ "$status" -eq 0 ]
		as_before
		kb apply isolated --strict
		[ "$status" -eq 77 ]
		as_before
	done
}

@test "a set of interrupt vectors that is used up, or a missing right, is no such thing: everything is undone" {
	machine managed-eio
	for error in ENOSPC EACCES EROFS; do
		sed -i "s/write E.*/write $error/" m/habits m.before/habits
		kb apply isolated
		echo "$error: $output"
		[ "$status" -eq 1 ]
		assert_contains "$output" "/proc/irq/43/smp_affinity_list"
		as_before
	done
}
