#!/usr/bin/env bats
# kbtune on recorded machines: plan, apply, verify, restore, and what happens when something goes wrong in the middle.

load helper
load kbtune_helper

@test "the thesis' shields are on the CPUs they were on, from a profile that names none" {
	machine t630
	kb plan thesis --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json '[(s["name"], s["cpus"], s["memory_nodes"]) for s in d["shields"]]')" \
		"[('real-time-0', '16,18,20,22', '0'), ('real-time-1', '17,19,21,23', '1')]"
	assert_eq "$(json p.json 'd["housekeeping_cpus"]')" "0-15"
	as_before
}

@test "the thesis' three other environments change what its text says, on its own machine" {
	machine t630
	kb plan thesis-tuned-only
	[ "$status" -eq 0 ]
	assert_contains "$output" "1 changes"
	assert_contains "$output" "-> latency-performance"
	[[ $output != *real-time-0* ]]
	kb plan thesis-aspm-off
	assert_contains "$output" "real-time-0"
	[[ $output =~ aspm.*performance ]]
	kb plan thesis-dma-latency-0
	assert_contains "$output" "real-time-0"
	assert_contains "$output" "-> 0 us, held"
	[[ $output =~ state[1-9]/disable:\ 0\ -\>\ 1 ]]
	as_before
}

@test "a plan changes nothing, not even a journal, and says everything before and after" {
	machine small-v2
	kb plan isolated
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/irq/default_smp_affinity: f -> 7"
	assert_contains "$output" "/sys/fs/cgroup/rt: absent -> CPUs 3, memory 1, isolated"
	assert_contains "$output" "/sys/kernel/mm/transparent_hugepage/enabled: always -> never"
	assert_contains "$output" "no cpufreq driver"
	assert_contains "$output" "isolcpus=3: is not there; add it and reboot"
	diff -r "$T/m.before" "$T/m"
}

@test "shields that leave the threads alone: affinities are kept to be put back, and nobody is moved" {
	machine guest-v2
	profile alone <<-YAML
		shields: [{name: rt, place: {node: 0, take: 1/2}}]
		tasks: leave
	YAML
	kb plan ./alone
	[ "$status" -eq 0 ]
	assert_contains "$output" "threads: 4 with an affinity of their own -> as the cpusets make them"
	[[ $output != *"threads, again"* ]]
}

# bats test_tags=long
@test "every profile that is shipped can be planned, applied, verified and restored on every machine" {
	for m in $("$ROOT/tests/sysroots/machine" list | cut -d' ' -f1); do
		# Tested in other places: large ones, and one whose pods have the CPUs.
		[[ $m != container && $m != server-512 && $m != epyc-7742 && $m != kubernetes-node ]] || continue
		machine "$m"
		for p in thesis thesis-no-force-latency thesis-tuned-only thesis-aspm-off thesis-dma-latency-0 isolated low-latency-laptop baseline network-card; do
			kb apply "$p"
			echo "$m $p: $output"
			[ "$status" -eq 0 ]
			kb verify
			[ "$status" -eq 0 ]
			kb restore
			[ "$status" -eq 0 ]
			as_before
		done
		rm -rf "$T/m" "$T/m.before"
	done
}

@test "apply makes what plan says, in the machine's own forms" {
	machine small-v2
	kb apply isolated
	[ "$status" -eq 0 ]
	assert_eq "$(value /sys/kernel/mm/transparent_hugepage/enabled)" "always madvise [never]"
	assert_eq "$(value /proc/irq/default_smp_affinity)" 7
	assert_eq "$(value /proc/irq/4/smp_affinity_list)" 0-2
	assert_eq "$(value /sys/fs/cgroup/rt/cpuset.cpus)" 3
	assert_eq "$(value /sys/fs/cgroup/rt/cpuset.cpus.partition)" isolated
	assert_eq "$(value /proc/sys/kernel/sched_rt_runtime_us)" -1
	assert_eq "$(stat -c %a m/run/kbtune m/run/kbtune/journal.json | tr '\n' ' ')" "700 600 "
	assert_eq "$(json m/run/kbtune/journal.json 'd["schema"], d["state"], d["profile"]')" "(1, 'applied', 'isolated')"
	kb status --json
	echo "$output" >s.json
	assert_eq "$(json s.json 'd["state"], d["profile"], d["shields"][0]["cpus"]')" "('applied', 'isolated', '3')"
}

# bats test_tags=long
@test "killed after every single write, restore leaves every file byte for byte as before" {
	for pair in small-v2:thesis small-v2:isolated small-v1:isolated t630-v1:thesis smt-laptop:thesis-no-force-latency managed-eio:isolated; do
		machine "${pair%:*}"
		killed_everywhere 15 apply "${pair#*:}"
		rm -rf m m.before
	done
}

@test "restore itself killed after every single write: the next one finishes it" {
	machine small-v2
	APPLIED=isolated killed_everywhere 15 restore
}

@test "a cut-short apply is known: verify says no, another apply is refused, restore puts it back" {
	machine small-v2
	(exec env KBTUNE_KILL_AFTER=5 "$KBTUNE" apply isolated --sysroot m) 2>/dev/null || true
	kb verify
	[ "$status" -eq 3 ]
	kb apply thesis
	[ "$status" -eq 1 ]
	assert_contains "$output" "was interrupted"
	assert_contains "$output" "kbtune restore"
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "a write that fails undoes all, and says which and why" {
	for habit in '/proc/sys/kernel/numa_balancing write EBUSY' '/proc/sys/kernel/numa_balancing reads 1' \
		'/sys/fs/cgroup/rt/cpuset.cpus.partition reads isolated invalid (Cpu list in cpuset.cpus not exclusive)' \
		'/proc/irq/4/smp_affinity_list write ENOSPC'; do
		machine small-v2
		echo "$habit" | tee m/habits >m.before/habits
		kb apply isolated
		echo "$output"
		[ "$status" -eq 1 ]
		assert_contains "$output" "${habit%% *}"
		assert_contains "$output" "everything is as before"
		as_before
		[ ! -e m/run/kbtune/journal.json ]
		rm -rf m m.before
	done
}

@test "a partition that is accepted and then invalid says the kernel's reason" {
	machine small-v2
	echo '/sys/fs/cgroup/rt/cpuset.cpus.partition reads isolated invalid (Cpu list in cpuset.cpus not exclusive)' >m/habits
	kb apply isolated
	assert_contains "$output" "isolated invalid (Cpu list in cpuset.cpus not exclusive)"
}

@test "verify names what drifted, with status 3, and restore still puts it back" {
	machine small-v2
	kb apply isolated
	kb verify
	[ "$status" -eq 0 ]
	echo 0 >m/proc/sys/vm/stat_interval
	echo 0-3 >m/proc/irq/9/smp_affinity_list
	echo member >m/sys/fs/cgroup/rt/cpuset.cpus.partition
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "/proc/sys/vm/stat_interval: 120 -> 0"
	assert_contains "$output" "/proc/irq/9/smp_affinity_list: 0-2 -> 0-3"
	assert_contains "$output" "member"
	kb verify --json
	[ "$status" -eq 3 ]
	echo "$output" >v.json
	assert_eq "$(json v.json 'd["as_applied"], d["drifted"]')" "(False, 3)"
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "an interrupt born later that fires on the shield is drift" {
	machine small-v2
	kb apply isolated
	sed -i '2i\  77:          0          0          0          5  IR-PCI-MSI 77-edge      eth9' m/proc/interrupts
	mkdir m/proc/irq/77
	echo 0-3 >m/proc/irq/77/smp_affinity_list
	echo 3 >m/proc/irq/77/effective_affinity_list
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "interrupt 77 (eth9), which is new"
}

@test "nothing applied: verify says no, restore does nothing" {
	machine small-v2
	kb verify
	[ "$status" -eq 3 ]
	kb restore
	[ "$status" -eq 0 ]
	assert_contains "$output" "nothing to restore"
	diff -r m.before m
}

@test "a second apply is refused; --replace restores first" {
	machine small-v2
	kb apply isolated
	kb apply thesis
	[ "$status" -eq 1 ]
	assert_contains "$output" "profile isolated has been applied since"
	kb apply thesis --replace
	[ "$status" -eq 0 ]
	assert_eq "$(value /proc/sys/vm/stat_interval)" 1
	[ -d m/sys/fs/cgroup/real-time-0 ]
	[ ! -e m/sys/fs/cgroup/rt ]
	kb restore
	as_before
}

@test "two at once: the second is locked out, and says by whom" {
	machine small-v2
	kb apply isolated
	(
		exec 9<>m/run/kbtune/lock
		flock 9
		for c in "restore" "apply thesis"; do
			# shellcheck disable=SC2086
			kb $c
			[ "$status" -eq 1 ]
			assert_contains "$output" "another kbtune"
		done
	)
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "managed interrupts, in both kernels' manners, are named and left" {
	machine managed-eio
	kb apply isolated
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/irq/43/smp_affinity_list: the kernel manages it"
	kb verify
	[ "$status" -eq 0 ]
	rm -rf m m.before
	# One shield with only interrupts: everything is possible, until the kernel refuses.
	machine managed-eio
	profile irqs <<-'YAML'
		shields: [{name: rt, place: {cpus: 3}}]
		irqs: {all: housekeeping}
	YAML
	kb apply ./irqs --strict
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "/proc/irq/43/smp_affinity_list"
	assert_contains "$output" "(--strict); everything is as before"
	as_before
	rm -rf m m.before
	machine managed-eperm
	kb plan isolated
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/irq/43/smp_affinity_list: nvme0q4: the kernel manages it (mode 0444); it stays on CPUs 3"
	kb apply isolated --strict
	[ "$status" -eq 77 ]
	as_before
}

@test "kernel arguments are compared, never written" {
	machine small-v2
	echo 'root=/dev/sda1 isolcpus=managed_irq,domain,3 nohz_full=2-3 rcu_nocbs=3' >m/proc/cmdline
	kb plan isolated --json
	echo "$output" >p.json
	assert_eq "$(json p.json '[(b["argument"], b["met"]) for b in d["reboot"]]')" \
		"[('isolcpus', True), ('nohz_full', False), ('rcu_nocbs', True)]"
}

@test "read-only control groups are a reason why not; --strict makes that status 77" {
	machine small-v2
	sed -i 's| rw,nosuid | ro,nosuid |' m/proc/self/mountinfo m.before/proc/self/mountinfo
	kb plan isolated
	[ "$status" -eq 0 ]
	assert_contains "$output" "rt: the control groups are mounted read-only (a container?)"
	kb apply isolated --strict
	[ "$status" -eq 77 ]
	as_before
}

@test "a file that nobody may write has nothing to set: it is named, and the rest is applied" {
	machine small-v2
	chmod 444 m/proc/sys/kernel/nmi_watchdog m.before/proc/sys/kernel/nmi_watchdog
	kb apply isolated
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/sys/kernel/nmi_watchdog: nobody may write it"
	[ "$(value /proc/sys/kernel/nmi_watchdog)" = 1 ]
	[ "$(value /proc/sys/vm/stat_interval)" != 1 ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "no rights: status 77 and the capability, and nothing is half-applied" {
	machine small-v2
	chmod -R a+rX "$T"
	[ "$(id -u)" -eq 0 ] || chmod 464 m/proc/sys/vm/stat_interval
	need_others "$KBTUNE"
	run "${as_other[@]}" "$KBTUNE" apply isolated --sysroot "$T/m"
	echo "$output"
	[ "$status" -eq 77 ]
	as_before
	if [ "$(id -u)" -eq 0 ]; then
		run "${as_other[@]}" "$KBTUNE" apply baseline
		echo "$output"
		[ "$status" -eq 77 ]
		assert_contains "$output" "run it as root, or with CAP_"
	fi
}

@test "links in a sysroot that point outside change nothing outside" {
	machine small-v2
	echo untouched >outside
	mkdir folder
	ln -sf "$T/outside" m/proc/sys/vm/stat_interval
	ln -sf ../../../../../../../../../../../../../../../..$T/outside m/proc/sys/kernel/numa_balancing
	kb apply isolated
	assert_eq "$(cat outside)" untouched
	kb restore
	assert_eq "$(cat outside)" untouched
	rm -rf m/run
	ln -s "$T/folder" m/run
	kb apply isolated
	[ "$status" -ne 0 ]
	assert_eq "$(ls folder)" ""
}

@test "an idle state whose exit latency cannot be read is named" {
	machine smt-laptop
	profile awake <<<'cstates: 10us'
	rm m/sys/devices/system/cpu/cpu3/cpuidle/state2/latency
	kb plan ./awake
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "cpu3/cpuidle/state2/latency"
	assert_contains "$output" "the exit latency of this idle state cannot be read: no such file or directory"
	kb apply ./awake --strict
	[ "$status" -eq 77 ]
}

bats_require_minimum_version 1.5.0

@test "what cannot be undone is named in the plan, refused with --strict before anything is changed, and said by restore" {
	machine small-v2
	for dir in m m.before; do
		mkdir -p $dir/proc/sys/net/ipv6/conf/all $dir/sys/block/sda/queue
		echo 0 >$dir/proc/sys/kernel/modules_disabled
		echo 0 >$dir/proc/sys/net/ipv6/conf/all/disable_ipv6
		echo '[none] mq-deadline' >$dir/sys/block/sda/queue/scheduler
	done
	profile switches <<-'YAML'
		sysctl: {kernel.modules_disabled: 1, net.ipv6.conf.all.disable_ipv6: 1, vm.swappiness: 10}
		sysfs: {/sys/block/sda/queue/scheduler: mq-deadline}
	YAML
	kb plan ./switches
	echo "$output"
	[ "$status" -eq 0 ]
	for said in "cannot be undone (refused with --strict):" \
		"/proc/sys/kernel/modules_disabled: the kernel loads no module again before a reboot" \
		"/proc/sys/net/ipv6/conf/all/disable_ipv6: the IPv6 addresses and routes" \
		"/sys/block/sda/queue/scheduler: the settings of the scheduler that it had"; do
		assert_contains "$output" "$said"
	done
	[ "$(grep -c swappiness <<<"$output")" -eq 1 ]
	run --separate-stderr "$KBTUNE" plan ./switches --json --sysroot "$T/m"
	echo "$output" >p.json
	assert_eq "$(json p.json '[(b["knob"], b["object"].split("/")[-1], b["lasts"]) for b in d["irreversible"]]')" \
		"[('sysctl', 'modules_disabled', False), ('sysctl', 'disable_ipv6', False), ('sysfs', 'scheduler', False)]"
	for command in "plan ./switches" "apply ./switches" "apply ./switches --dry-run" "apply ./switches --replace" "run ./switches"; do
		what=()
		[[ $command != run* ]] || what=(-- touch ran)
		# shellcheck disable=SC2086
		run "$KBTUNE" $command --strict --sysroot "$T/m" "${what[@]}"
		echo "$output"
		[ "$status" -eq 77 ]
		assert_contains "$output" "3 things cannot be undone (--strict)"
		assert_contains "$output" "modules_disabled: the kernel loads no module"
		as_before
	done
	[ ! -e ran ]
	# What is applied stays so, too.
	profile quiet <<<'sysctl: {vm.swappiness: 10}'
	kb apply ./quiet --strict
	[ "$status" -eq 0 ]
	kb apply ./switches --strict --replace
	[ "$status" -eq 77 ]
	assert_eq "$(value /proc/sys/vm/swappiness)" 10
	kb apply ./switches --replace
	[ "$status" -eq 0 ]
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "not undone, or not known: /sys/block/sda/queue/scheduler: the settings of the scheduler"
	# A value that is already there changes nothing.
	for dir in m m.before; do
		echo 1 >$dir/proc/sys/kernel/modules_disabled
		echo 1 >$dir/proc/sys/net/ipv6/conf/all/disable_ipv6
		echo 'none [mq-deadline]' >$dir/sys/block/sda/queue/scheduler
	done
	kb apply ./switches --strict
	[ "$status" -eq 0 ]
	kb restore
	as_before
}

@test "a partition that changes the masks of bound kernel threads is not to be undone" {
	machine small-v2
	for dir in m m.before; do
		mkdir -p $dir/proc/77/task/77
		echo '77 (kworker/u9:0) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 10 0 0' >$dir/proc/77/task/77/stat
		cp $dir/proc/77/task/77/stat $dir/proc/77/stat
		printf 'Name:\tkworker/u9:0\nCpus_allowed_list:\t0-1\n' >$dir/proc/77/task/77/status
	done
	profile rt <<<'shields: [{name: rt, place: {cpus: 3}, partition: isolated}]'
	kb plan ./rt --strict
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "threads: the partition may change the masks of 1 threads that the kernel lets nobody place, such as kworker/u9:0"
	profile member <<<'shields: [{name: rt, place: {cpus: 3}, partition: member}]'
	kb plan ./member --strict
	[ "$status" -eq 0 ]
}
