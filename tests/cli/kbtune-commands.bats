#!/usr/bin/env bats
# kbtune run, and the single commands, on recorded machines.

load helper
load kbtune_helper

@test "run: applied while the command runs, undone when it ends, with its exit status" {
	machine small-v2
	run "$KBTUNE" run isolated --sysroot "$T/m" -- sh -c "cat $T/m/proc/sys/vm/stat_interval; exit 7"
	[ "$status" -eq 7 ]
	assert_eq "$output" 120
	as_before
	run "$KBTUNE" run isolated --sysroot "$T/m" -- ./no-such-command
	[ "$status" -eq 127 ]
	as_before
	run "$KBTUNE" run isolated --sysroot "$T/m" -- sh -c 'kill -SEGV $$'
	[ "$status" -eq 139 ]
	as_before
	[ ! -e m/run/kbtune/journal.json ]
}

@test "run: ends with its command, also if the caller ignores SIGCHLD" {
	machine small-v2
	run timeout -k 5 60 env --ignore-signal=CHLD "$KBTUNE" run isolated --sysroot "$T/m" -- sh -c "exit 7"
	[ "$status" -eq 7 ]
	as_before
}

@test "run: a profile that cannot be applied does not run the command" {
	machine small-v2
	echo '/proc/sys/kernel/numa_balancing write EBUSY' | tee m/habits >m.before/habits
	run "$KBTUNE" run isolated --sysroot "$T/m" -- touch "$T/ran"
	[ "$status" -eq 1 ]
	[ ! -e ran ]
	as_before
}

await_applied() {
	for _ in $(seq 100); do
		[ ! -e m/ran ] || return 0
		sleep 0.05
	done
	return 1
}

@test "run: SIGINT, SIGTERM and SIGHUP go to the command, and everything is undone" {
	for signal in INT TERM HUP; do
		machine small-v2
		env --default-signal=$signal "$KBTUNE" run isolated --sysroot "$T/m" -- sh -c "trap 'exit 9' $signal; touch $T/m/ran; while :; do sleep 0.05; done" &
		pid=$!
		await_applied
		kill -$signal $pid
		status=0
		wait $pid || status=$?
		rm m/ran
		[ "$status" -eq 9 ]
		as_before
		rm -rf m m.before
	done
}

@test "run: kbtune killed by SIGKILL: the guardian restores, the command ends" {
	machine small-v2
	"$KBTUNE" run isolated --sysroot "$T/m" -- sh -c "echo \$\$ >$T/child; touch $T/m/ran; exec sleep 1000" 3>&- &
	pid=$!
	await_applied
	kill -KILL $pid
	wait $pid || true
	for _ in $(seq 100); do
		[ -e m/run/kbtune/journal.json ] || break
		sleep 0.05
	done
	rm m/ran
	as_before
	for _ in $(seq 100); do
		kill -0 "$(cat child)" 2>/dev/null || break
		sleep 0.05
	done
	! kill -0 "$(cat child)" 2>/dev/null
}

@test "cpuset: create, list, destroy" {
	machine small-v2
	kb cpuset create mine --cpus 2-3 --partition root
	[ "$status" -eq 0 ]
	kb cpuset list --json
	echo "$output" >c.json
	assert_eq "$(json c.json '[(c["name"], c["cpus"], c["kind"]) for c in d["cpusets"]]')" \
		"[('/', '0-3', 'root'), ('mine', '2-3', 'root')]"
	kb cpuset create mine --cpus 2
	[ "$status" -eq 1 ]
	kb cpuset destroy mine
	[ "$status" -eq 0 ]
	[ ! -e m/sys/fs/cgroup/mine ]
	kb cpuset create other --cpus 1
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "irq: who fires where, and whose they are" {
	machine t630
	kb irq list --device mlx5_1 --json
	[ "$status" -eq 0 ]
	echo "$output" >i.json
	assert_eq "$(json i.json '[i["irq"] for i in d["irqs"]] == list(range(100, 108)), d["irqs"][0]["devices"], d["irqs"][0]["pci"]')" \
		"(True, 'mlx5_1 ib1', '0000:04:00.0')"
	kb irq list
	assert_contains "$output" "mlx5_comp0@pci:0000:03:00.0  mlx5_0 ib0"
}

@test "irq: set by number, by device near and away; restored alone or with everything" {
	machine t630
	kb irq set 4 9 --cpus 2
	[ "$status" -eq 0 ]
	assert_eq "$(value /proc/irq/9/smp_affinity_list)" 2
	kb irq set --device mlx5_0 --near
	assert_eq "$(value /proc/irq/60/smp_affinity_list)" 0,2,4,6,8,10,12,14,16,18,20,22
	kb irq set --device mlx5_1 --away
	assert_eq "$(value /proc/irq/100/smp_affinity_list)" 0,2,4,6,8,10,12,14,16,18,20,22
	kb irq set 4 --cpus 3
	assert_eq "$(value /proc/irq/4/smp_affinity_list)" 3
	kb irq restore
	[ "$status" -eq 0 ]
	as_before
	rm -rf m m.before
	machine managed-eperm
	kb irq set 40 --cpus 3
	[ "$status" -eq 77 ]
	assert_contains "$output" "the kernel manages it"
}

@test "single commands on top of a profile are restored with it, the last first" {
	machine small-v2
	kb apply isolated
	kb irq set 9 --cpus 1
	kb verify
	[ "$status" -eq 3 ]
	kb restore
	as_before
}

@test "dma-latency show: the value and its holders, or why not" {
	run "$KBTUNE" dma-latency show --json
	if [ -r /dev/cpu_dma_latency ]; then
		[ "$status" -eq 0 ]
		echo "$output" >l.json
		[ "$(json l.json 'd["us"] >= 0 and type(d["holders"]) is list')" = True ]
	else
		[ "$status" -eq 77 ]
		assert_contains "$output" "/dev/cpu_dma_latency"
	fi
}

@test "tuned: list, what a profile changes, apply, verify, off" {
	machine small-v2
	kb tuned list
	assert_contains "$output" "latency-performance"
	kb tuned show latency-performance --json
	[ "$status" -eq 0 ]
	echo "$output" >t.json
	assert_eq "$(json t.json '[(g["path"], g["now"], g["want"]) for g in d][-1]')" "('/proc/sys/vm/swappiness', '60', '10')"
	kb tuned apply latency-performance
	[ "$status" -eq 0 ]
	kb tuned verify
	[ "$status" -eq 0 ]
	# as if tuned had been killed, and had forgotten its profile
	echo 10 >m/proc/sys/vm/swappiness
	echo latency-performance >m/etc/tuned/active_profile
	kb tuned off
	[ "$status" -eq 0 ]
	as_before
	kb tuned verify
	[ "$status" -eq 3 ]
}

@test "profiles: those there are, and what they may say" {
	run "$KBTUNE" profiles --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json 'all(p["good"] and p["title"] for p in d), sorted(p["name"] for p in d)')" \
		"(True, ['baseline', 'isolated', 'low-latency-laptop', 'network-card', 'thesis', 'thesis-aspm-off', 'thesis-dma-latency-0', 'thesis-no-force-latency', 'thesis-tuned-only'])"
	run "$KBTUNE" profiles --settings
	assert_contains "$output" "governor"
	while read -r f; do
		grep -q '^\[main\]' "$f"
	done < <(find "$ROOT/profiles" -name tuned.conf)
}

@test "run --in a shield that the profile does not have: nothing is changed, and the nearest is named" {
	machine small-v2
	kb run isolated --in rtt -- true
	assert_eq "$status" 2
	assert_contains "$output" "--in: profile isolated has no shield 'rtt'; did you mean 'rt'?"
	[[ $output != *restored* ]]
	as_before
	# Not even what is applied already.
	kb apply isolated
	cp -a m applied
	kb run isolated --replace --in rtt -- true
	assert_eq "$status" 2
	diff -r --no-dereference -x 'lock*' applied m
	kb restore
	as_before
}

@test "plan and apply count the same, apply names what is not possible, and restore counts what changes" {
	machine small-v2
	kb plan isolated
	[[ $output =~ ([0-9]+)\ changes,\ ([0-9]+)\ not\ possible\ here ]]
	local changes=${BASH_REMATCH[1]} not=${BASH_REMATCH[2]}
	kb apply isolated
	assert_contains "$output" ": $changes changes, $not not possible here"
	assert_eq "$(grep -c '^  not possible here: ' <<<"$output")" "$not"
	assert_contains "$output" "not possible here: governor performance: "
	kb status
	assert_eq "$(awk '$1 == "changes" {print $2}' <<<"$output")" "$changes"
	assert_contains "$output" "governor performance: "
	kb verify
	assert_contains "$output" "isolated: $changes changes, 0 drifted"
	kb restore
	assert_contains "$output" ": $changes changes undone"
	as_before
}
