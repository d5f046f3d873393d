#!/usr/bin/env bats
# kbtune puts a machine back whatever happens meanwhile: what has gone, what others did, what was cut short.

load helper
load kbtune_helper

# offline CPU: as the kernel leaves it, in the machine and in what it is compared with.
offline() {
	local root
	for root in m m.before; do
		rm -r "$root/sys/devices/system/cpu/cpu$1/cpufreq"
		echo "0-$(($1 - 1)),$(($1 + 1))-23" >"$root/sys/devices/system/cpu/online"
	done
}

@test "a CPU goes offline while its governor is set: restore puts the others back, says what is gone, and is done" {
	machine t630
	profile fast <<<'governor: performance'
	kb apply ./fast
	[ "$status" -eq 0 ]
	offline 5
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "/cpu5/cpufreq/scaling_governor is gone: nothing to put back there"
	as_before
	kb apply ./fast
	[ "$status" -eq 0 ]
}

@test "a file of an offline CPU that is there and refuses is gone, too; one of a CPU that is online is a failure" {
	machine t630
	profile fast <<<'governor: performance'
	kb apply ./fast
	echo '/sys/devices/system/cpu/cpu5/cpufreq/scaling_governor write EBUSY' >m/habits
	kb restore
	[ "$status" -eq 1 ]
	echo 0-4,6-23 >m/sys/devices/system/cpu/online
	kb restore --json
	[ "$status" -eq 0 ]
	echo "$output" | sed 1d >r.json
	assert_eq "$(json r.json 'd["state"], d["undone"], d["gone"]')" "('restored', 1, 1)"
}

@test "an interrupt goes with its device: restore puts the others back" {
	machine small-v2
	kb apply isolated
	rm -r m/proc/irq/9 m.before/proc/irq/9
	kb restore
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/irq/9/smp_affinity_list is gone"
	as_before
}

@test "run: what another kbtune applied meanwhile stays, at its end and when it is killed" {
	profile first <<<'sysctl: {vm.swappiness: 1}'
	profile second <<<'sysctl: {vm.swappiness: 2}'
	for end in true 'kill -9 $PPID; sleep 0.1'; do
		machine small-v2
		run "$KBTUNE" run ./first --sysroot m -- sh -c "
			'$KBTUNE' restore --sysroot m && '$KBTUNE' apply ./second --sysroot m && $end"
		echo "$output"
		flock m/run/kbtune/lock true
		sleep 0.3
		assert_eq "$(value /proc/sys/vm/swappiness)" 2
		kb restore
		as_before
		rm -rf m m.before
	done
}

@test "hold: what another kbtune applied meanwhile stays, and verified says that it is no longer as applied" {
	machine small-v2
	profile first <<<'sysctl: {vm.swappiness: 1}'
	profile second <<<'sysctl: {vm.swappiness: 2}'
	mkfifo end
	"$KBTUNE" hold ./first --sysroot m --json <end >out 2>err &
	exec 8>end
	until grep -q applied out; do sleep 0.02; done
	kb restore
	kb apply ./second
	exec 8>&-
	wait "$!"
	grep '"verified"' out >v.json
	assert_eq "$(json v.json 'd["as_applied"], d["differences"][0]["now"]')" "(False, 'second')"
	assert_contains "$(cat err)" "somebody restored what was applied here, and applied second: that stays"
	assert_eq "$(value /proc/sys/vm/swappiness)" 2
}
