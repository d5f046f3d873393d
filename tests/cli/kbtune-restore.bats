#!/usr/bin/env bats
# kbtune restores a machine whatever happens meanwhile: things that disappear, changes by others, interruptions.

load helper
load kbtune_helper

# offline CPU: takes it offline like the kernel does, in the machine and in its copy.
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
	assert_contains "$output" "/cpu5/cpufreq/scaling_governor no longer exists: nothing to restore there"
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

@test "a governor of a CPU that is present but offline is pending: restore says so, and is done once the CPU is back" {
	machine t630
	echo 0-23 | tee m/sys/devices/system/cpu/present >m.before/sys/devices/system/cpu/present
	profile fast <<<'governor: performance'
	kb apply ./fast
	mv m/sys/devices/system/cpu/cpu5/cpufreq kept
	echo 0-4,6-23 >m/sys/devices/system/cpu/online
	kb restore
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "CPU 5 is offline; bring it online (echo 1 >/sys/devices/system/cpu/cpu5/online) and run kbtune restore again"
	mv kept m/sys/devices/system/cpu/cpu5/cpufreq
	echo 0-23 >m/sys/devices/system/cpu/online
	kb restore
	[ "$status" -eq 0 ]
	as_before
	# With SMT off its CPUs do not come back.
	kb apply ./fast
	rm -r m/sys/devices/system/cpu/cpu5/cpufreq m.before/sys/devices/system/cpu/cpu5/cpufreq
	echo 0-4,6-23 | tee m/sys/devices/system/cpu/online >m.before/sys/devices/system/cpu/online
	echo off | tee m/sys/devices/system/cpu/smt/control >m.before/sys/devices/system/cpu/smt/control
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
}

# cpus: the machine m has these CPUs, and in `online` those that the second list has.
cpus() {
	local root
	for root in m m.before; do
		echo "$1" >"$root/sys/devices/system/cpu/present"
		echo "$2" >"$root/sys/devices/system/cpu/online"
	done
}

@test "a CPU that was offline when it was planned is not waited for, whatever keeps it offline" {
	for name in small-v2 small-v1; do
		for smt in notsupported on off forceoff; do
			machine "$name"
			cpus 0-3 0,2-3
			mkdir -p m{,.before}/sys/devices/system/cpu/smt
			echo "$smt" | tee m{,.before}/sys/devices/system/cpu/smt/control >/dev/null
			kb plan isolated
			[ "$name" = small-v1 ] || assert_contains "$output" "CPU 1 is offline, and stays so"
			kb apply isolated
			[ "$status" -eq 0 ]
			kb verify
			[ "$status" -eq 0 ]
			kb restore
			echo "$output"
			[ "$status" -eq 0 ]
			as_before
			SECONDS=0
			run "$KBTUNE" run isolated --sysroot m -- true
			[ "$status" -eq 0 ]
			[ "$SECONDS" -lt 10 ]
			as_before
			# Those that come online meanwhile, and others that go, which are waited for.
			kb apply isolated
			cpus 0-3 0-3
			kb restore
			[ "$status" -eq 0 ]
			as_before
			kb apply isolated
			rm -rf m m.before
		done
	done
}

@test "a CPU that goes offline is waited for, and can be given up, which is recorded" {
	machine small-v2
	cpus 0-3 0,2-3
	kb apply isolated
	cpus 0-3 0,2
	kb restore
	[ "$status" -eq 1 ]
	assert_contains "$output" "CPU 3 is offline; bring it online"
	assert_contains "$output" "kbtune restore --give-up 3"
	kb restore --give-up 0
	[ "$status" -eq 2 ]
	assert_contains "$output" "CPU 0 is not offline, so nothing waits for it"
	kb restore --give-up 3
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
	kb apply isolated
	[ "$status" -eq 0 ]
}

@test "what is given up with a CPU is recorded and shown, everything else is restored, and others can be applied" {
	machine t630
	profile fast <<<'governor: performance'
	kb apply ./fast
	offline 5
	echo 0-23 | tee m/sys/devices/system/cpu/present >m.before/sys/devices/system/cpu/present
	kb restore
	[ "$status" -eq 1 ]
	kb apply ./fast
	[ "$status" -eq 1 ]
	kb restore --give-up 5
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
	path=/sys/devices/system/cpu/cpu5/cpufreq/scaling_governor
	assert_contains "$output" "$path stays as it is; it was powersave: CPU 5 is offline"
	for word in status restore; do
		kb "$word"
		[ "$status" -eq 0 ]
		assert_contains "$output" "$path stays as it is; it was powersave: CPU 5 is offline"
		"$KBTUNE" "$word" --json --sysroot m >j.json
		assert_eq "$(json j.json '[(g["knob"], g["path"], g["before"]) for g in d["given_up"]]')" \
			"[('governor', '$path', 'powersave')]"
	done
	kb apply ./fast
	[ "$status" -eq 0 ]
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
	# After a reboot nothing of it is left.
	echo 11111111-2222-4333-8444-555555555555 >m/proc/sys/kernel/random/boot_id
	kb status
	[[ $output != *"given up"* ]]
}

@test "a value that cannot be put back can be given up; others stay as they are meant" {
	machine small-v2
	profile two <<<'sysctl: {vm.swappiness: 1, vm.stat_interval: 7}'
	kb apply ./two
	echo '/proc/sys/vm/swappiness write EBUSY' >m/habits
	kb restore
	[ "$status" -eq 1 ]
	kb restore --give-up /proc/sys/vm/nothing
	[ "$status" -eq 2 ]
	assert_contains "$output" "/proc/sys/vm/nothing is neither a CPU nor something that is to be restored"
	kb restore --give-up /proc/sys/vm/swappiness
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/sys/vm/swappiness stays as it is; it was 60: "
	assert_eq "$(value /proc/sys/vm/swappiness) $(value /proc/sys/vm/stat_interval)" "1 1"
	kb apply ./two
	[ "$status" -eq 0 ]
	# What was given up and can be restored after all is restored.
	kb restore --give-up /proc/sys/vm/stat_interval
	[ "$status" -eq 0 ]
	[[ $output != *"stat_interval stays"* ]]
}

@test "sets of CPUs that are all offline are left alone, as nothing puts them back" {
	machine small-v2
	cpus 0-3 0-2
	for root in m m.before; do
		echo 3 >"$root/proc/irq/9/smp_affinity_list"
		echo 8 >"$root/proc/irq/default_smp_affinity"
	done
	profile one <<<'irqs: {default: "0", all: "0"}'
	kb apply ./one
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(value /proc/irq/9/smp_affinity_list) $(value /proc/irq/default_smp_affinity)" "3 8"
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "an interrupt goes with its device: restore puts the others back" {
	machine small-v2
	kb apply isolated
	rm -r m/proc/irq/9 m.before/proc/irq/9
	kb restore
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/irq/9/smp_affinity_list no longer exists"
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
	assert_contains "$(cat err)" "what was applied here was restored meanwhile, and second was applied, which is kept"
	assert_eq "$(value /proc/sys/vm/swappiness)" 2
}

@test "a value of several pages is applied and put back whole" {
	machine small-v2
	mkdir -p m/proc/sys/net/ipv4
	file=m/proc/sys/net/ipv4/ip_local_reserved_ports
	seq -s , 1 2 20000 | cut -c 1-6000 >"$file"
	[ "$(stat -c %s "$file")" -gt 6000 ]
	cp -a "$file" before
	profile ports <<-YAML
		sysctl: {net.ipv4.ip_local_reserved_ports: '$(seq -s , 30001 2 50000 | cut -c 1-5999)'}
	YAML
	kb apply ./ports
	[ "$status" -eq 0 ]
	assert_eq "$(wc -c <"$file")" 6000
	kb verify
	[ "$status" -eq 0 ]
	assert_eq "$(json m/run/kbtune/journal.json 'len(d["steps"][0]["before"])')" 6000
	kb restore
	[ "$status" -eq 0 ]
	cmp before "$file"
}

# many_cpus: 2048 CPUs on one node.
many_cpus() {
	local root
	for root in m m.before; do
		echo 0-2047 | tee "$root"/sys/devices/system/cpu/{online,possible} "$root/sys/devices/system/node/node0/cpulist" \
			>"$root/sys/fs/cgroup/cpuset.cpus.effective"
		rm -rf "$root/sys/devices/system/node/node1"
		echo 0-2047 >"$root/proc/irq/4/smp_affinity_list"
		echo 0 | tee "$root"/sys/devices/system/node/{online,has_memory} >/dev/null
	done
}

@test "every second of 2048 CPUs is a long list, and no CPU of it is lost" {
	machine small-v2
	many_cpus
	list=$(seq -s , 1 2 2047)
	profile half <<-YAML
		shields: [{name: rt, place: {cpus: '$list'}}]
		irqs: {all: housekeeping, default: housekeeping}
		tasks: away
	YAML
	kb plan ./half --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json 'd["shields"][0]["cpus"]')" "$list"
	kb apply ./half
	echo "$output" | cut -c 1-300
	[ "$status" -eq 0 ]
	assert_eq "$(value /sys/fs/cgroup/rt/cpuset.cpus)" "$list"
	assert_eq "$(value /proc/irq/4/smp_affinity_list)" "$(seq -s , 0 2 2046)"
	assert_eq "$(json m/run/kbtune/journal.json '[s["data"]["off"] for s in d["steps"] if s["op"] == "affinity"][0]')" "$list"
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	as_before
}

@test "512 CPUs: applied, killed in the middle of the way back, and put back byte for byte" {
	machine server-512
	kb apply isolated
	[ "$status" -eq 0 ]
	(exec env KBTUNE_KILL_AFTER=500 "$KBTUNE" restore --sysroot m >out 2>&1) 2>/dev/null && return 1
	kb restore
	[ "$status" -eq 0 ]
	[[ $output == *"1071 changes undone"* ]]
	as_before
}

# named NUMBER NAME: makes a thread of a program with that name, which may run on CPU 3.
named() {
	mkdir -p "m/proc/$1/task/$1"
	printf '%s (%s) S 2 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0\n' "$1" "$2" |
		tee "m/proc/$1/stat" >"m/proc/$1/task/$1/stat"
	printf 'Cpus_allowed_list:\t3\n' >"m/proc/$1/task/$1/status"
	echo "$2" >"m/proc/$1/comm"
}

@test "a thread is seen and written down whatever its name holds, and nothing of that reaches the terminal" {
	machine small-v2
	named 501 $'new\nline) S'
	named 502 $'bad\xff\xfeutf'
	named 503 $'esc\e[31m'
	profile away <<-'YAML'
		shields: [{name: rt, place: {cpus: 3}}]
		tasks: away
	YAML
	kb plan ./away
	[ "$status" -eq 0 ]
	[[ $output != *$'\e'* ]]
	assert_contains "$output" "3 threads are pinned to the shields' CPUs"
	kb apply ./away
	[ "$status" -eq 0 ]
	assert_eq "$(json m/run/kbtune/journal.json \
		'sorted((t["tid"], t["name"]) for t in d["steps"][0]["data"]["threads"] if t["tid"] > 500)' 2>&1)" \
		"[(501, 'new?line) S'), (502, 'bad??utf'), (503, 'esc?[31m')]"
}

# disk: makes a machine whose /var/lib is a disk.
disk() {
	machine "$1"
	mkdir -p m/var/lib m.before/var/lib
}

# power_cut: what is in memory is lost; /etc and /var are kept.
power_cut() {
	rm -rf m/run m/proc m/sys
	cp -a m.before/run m.before/proc m.before/sys m
	echo 00000000-0000-0000-0000-000000000002 | tee m/proc/sys/kernel/random/boot_id >m.before/proc/sys/kernel/random/boot_id
}

@test "a power cut while tuned has a profile of ours: restore knows of it, removes it, and leaves nothing" {
	disk small-v2
	kb apply thesis-no-force-latency
	[ "$status" -eq 0 ]
	[ -d m/$TUNED/kbtune-thesis-no-force-latency ]
	echo thesis >m/etc/tuned/active_profile
	power_cut
	kb status
	assert_contains "$output" "left by an earlier boot"
	kb verify
	[ "$status" -eq 3 ]
	kb irq set 4 --cpus 0
	[ "$status" -eq 1 ]
	assert_contains "$output" "kbtune restore"
	kb restore
	[ "$status" -eq 0 ]
	assert_contains "$output" "1 changes undone"
	as_before
	[ ! -e m/var/lib/kbtune ]
	kb restore
	assert_contains "$output" "nothing to restore"
}

@test "a power cut: the next apply puts back first what was left" {
	disk small-v2
	kb apply thesis-no-force-latency
	echo ours >m/etc/tuned/active_profile
	power_cut
	kb apply thesis-no-force-latency
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "what thesis-no-force-latency left behind in an earlier boot was restored first"
	kb restore
	[ "$status" -eq 0 ]
	as_before
	[ ! -e m/var/lib/kbtune ]
}

@test "a link in place of what tuned notes stays, wherever it leads, and what tuned wrote through it is put back" {
	disk small-v2
	echo manual | tee m/etc/mode >m.before/etc/mode
	for m in m m.before; do
		ln -sf ../mode $m/etc/tuned/profile_mode
		ln -sf ../nowhere $m/etc/tuned/active_profile
	done
	kb apply thesis-no-force-latency
	[ "$status" -eq 0 ]
	echo auto >m/etc/mode
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
	# For tuned, an empty file is the same as none.
	kb apply thesis-no-force-latency
	echo thesis >m/etc/tuned/active_profile
	kb restore
	[ "$status" -eq 0 ]
	: >m.before/etc/nowhere
	as_before
}

# unreadable PATH: replaces it by a folder, which cannot be read as a file; readable PATH: undoes that.
unreadable() {
	mv "m$1" kept
	mkdir "m$1"
}

readable() {
	rmdir "m$1"
	mv kept "m$1"
}

@test "where the boot cannot be read, a journal is not taken for another boot's, and none is begun" {
	boot=/proc/sys/kernel/random/boot_id
	machine small-v2
	unreadable $boot
	kb apply isolated
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "$boot: cannot read"
	readable $boot
	as_before
	kb apply isolated
	unreadable $boot
	kb restore
	[ "$status" -eq 1 ]
	assert_contains "$output" "$boot: cannot read"
	readable $boot
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "a value that takes no other back: restore says so, and keeps what is to be done" {
	machine small-v2
	profile calm <<<'sysctl: {vm.swappiness: 1}'
	kb apply ./calm
	echo '/proc/sys/vm/swappiness reads 7' >m/habits
	kb restore
	[ "$status" -eq 1 ]
	assert_contains "$output" "/proc/sys/vm/swappiness: cannot put back: wrote '60', but read back '7'"
	rm m/habits
	kb restore
	[ "$status" -eq 0 ]
	as_before
	kb apply isolated
	echo '/proc/irq/4/smp_affinity_list reads 1' >m/habits
	kb restore
	[ "$status" -eq 1 ]
	assert_contains "$output" "/proc/irq/4/smp_affinity_list: cannot put back: wrote '0-3', but read back '1'"
	rm m/habits
	kb restore
	as_before
}

@test "what cannot be looked at is not taken for gone: the next restore removes it" {
	for folder in sys/fs/cgroup etc/tuned; do
		machine small-v2
		kb apply thesis-no-force-latency
		mv "m/$folder" kept
		ln -s "${folder##*/}" "m/$folder"
		kb restore
		echo "$output"
		[ "$status" -eq 1 ]
		rm "m/$folder"
		mv kept "m/$folder"
		kb restore
		[ "$status" -eq 0 ]
		as_before
		rm -rf m m.before
	done
}

@test "killed while it wrote a journal: restore removes what was begun, on disk, too" {
	disk small-v2
	mkdir -m 700 m/run/kbtune m/var/lib/kbtune
	touch m/run/kbtune/journal.json.tmp m/var/lib/kbtune/journal.json.tmp
	kb restore
	[ "$status" -eq 0 ]
	assert_contains "$output" "nothing to restore"
	[ ! -e m/run/kbtune/journal.json.tmp ]
	[ ! -e m/var/lib/kbtune ]
}

# bats test_tags=long
@test "killed after every write, then a power cut: restore leaves every file on disk as before" {
	n=0
	killed=137
	while [ "$killed" -eq 137 ]; do
		disk small-v2
		killed=0
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" apply thesis-no-force-latency --sysroot m >out 2>&1) 2>/dev/null || killed=$?
		power_cut
		kb restore
		[ "$status" -eq 0 ]
		as_before
		[ ! -e m/var/lib/kbtune ]
		rm -rf m m.before
		n=$((n + 1))
	done
	[ "$killed" -eq 0 ]
	[ "$n" -ge 15 ]
}

@test "a tuned profile that says it is ours, with no journal left, is replaced and removed; an administrator's stays" {
	disk small-v2
	folder=m/$TUNED/kbtune-thesis-no-force-latency
	kb apply thesis-no-force-latency
	rm -r m/var/lib/kbtune
	power_cut
	echo '# of an earlier version' >>"$folder/tuned.conf"
	kb apply thesis-no-force-latency
	[ "$status" -eq 0 ]
	[ "$(grep -c 'earlier version' "$folder/tuned.conf")" -eq 0 ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
	mkdir "$folder" "m.before/${folder#m/}"
	cp "$ROOT/profiles/thesis-no-force-latency/tuned.conf" "$folder"
	cp "$ROOT/profiles/thesis-no-force-latency/tuned.conf" "m.before/${folder#m/}"
	kb apply thesis-no-force-latency
	[ "$status" -eq 0 ]
	kb restore
	as_before
}

@test "tuned's notes that were not there before are gone afterwards" {
	disk small-v2
	kb apply thesis
	echo manual >m/etc/tuned/profile_mode
	echo other >m/etc/tuned/active_profile
	kb restore
	as_before
}

@test "killed before a cpuset was made: one that somebody makes then is theirs, and stays" {
	for n in 0 1 2 3 4 5 6; do
		machine small-v2
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" apply isolated --sysroot m >out 2>&1) 2>/dev/null || true
		if [ -e m/sys/fs/cgroup/rt ]; then
			[ "$n" -gt 1 ]
			return 0
		fi
		mkdir m/sys/fs/cgroup/rt m.before/sys/fs/cgroup/rt
		echo 42 | tee m/sys/fs/cgroup/rt/cgroup.procs >m.before/sys/fs/cgroup/rt/cgroup.procs
		kb restore
		[ "$status" -eq 0 ]
		as_before
		rm -rf m m.before
	done
	false
}

@test "irqbalance is root's, and was started as irqbalance: others may have its name" {
	machine small-v2
	profile quiet <<<'irqbalance: pause'
	named 901 irqbalance
	kb plan ./quiet
	assert_contains "$output" "irqbalance (process 901)"
	printf 'Name:\tirqbalance\nUid:\t1000\t1000\t1000\t1000\n' >m/proc/901/status
	kb plan ./quiet
	[[ $output != *"process 901"* ]]
	printf 'Name:\tirqbalance\nUid:\t0\t0\t0\t0\n' >m/proc/901/status
	printf '/usr/bin/vi\0/etc/irqbalance.conf\0' >m/proc/901/cmdline
	kb plan ./quiet
	[[ $output != *"process 901"* ]]
	printf '/usr/bin/python3\0-Es\0/usr/sbin/irqbalance\0' >m/proc/901/cmdline
	kb plan ./quiet
	assert_contains "$output" "irqbalance (process 901)"
}

@test "irqbalance that somebody has stopped needs no step, and so is not continued by restore" {
	machine small-v2
	profile quiet <<<'irqbalance: pause'
	named 901 irqbalance
	kb plan ./quiet
	assert_contains "$output" "irqbalance (process 901)"
	sed -i 's/) S/) T/' m/proc/901/stat m/proc/901/task/901/stat
	kb plan ./quiet
	[ "$status" -eq 0 ]
	[[ $output != *"process 901"* ]]
}

# as_user NUMBER ARGUMENT…: kbtune as an unprivileged user on the machine m, where the folder of the journal exists.
as_user() {
	need_others "$KBTUNE"
	mkdir -p m/run/kbtune
	chmod 700 m/run/kbtune
	chown -R "$1" m/run/kbtune
	run setpriv --reuid "$1" --clear-groups --bounding-set=-all --inh-caps=-all "$KBTUNE" "${@:2}" --sysroot m
	echo "$output"
}

# stranger ARGUMENT…: kbtune as a user to whom nothing belongs.
stranger() {
	need_others "$KBTUNE"
	run setpriv --reuid 12346 --clear-groups --bounding-set=-all --inh-caps=-all "$KBTUNE" "$@" --sysroot m
	echo "$output"
}

# claimed BY PATH: another user has created the file that excludes others.
claimed() {
	mkdir -p "m${2%/*}" "m.before${2%/*}"
	chmod 1777 m/dev/shm
	touch "m$2"
	chown "$1" "m$2"
}

refused_for() {
	[ "$status" -eq 1 ]
	assert_contains "$output" "$1: cannot change this machine: user 12345 has changed it with kbtune"
	[ -e "m$1" ]
}

@test "what one user has applied excludes others until it is restored" {
	need_root "to give a file away"
	machine small-v2
	mkdir -p m/dev/shm m.before/dev/shm
	profile mild <<<'sysctl: {vm.swappiness: 7}'
	claimed 12345 /run/kbtune.owner
	for order in "apply ./mild" "run ./mild -- true" "irq set 9 --cpus 0"; do
		# shellcheck disable=SC2086
		run "$KBTUNE" ${order%% -- *} --sysroot m ${order#"${order%% -- *}"}
		echo "$output"
		refused_for /run/kbtune.owner
		diff -r -x 'kbtune*' m.before m
	done
	kb restore
	[ "$status" -eq 0 ]
	[ -e m/run/kbtune.owner ]
	rm m/run/kbtune.owner
	# Our file exists as long as the journal, also if one profile replaces another.
	kb apply ./mild
	[ "$status" -eq 0 ]
	kb apply ./mild --replace
	[ "$status" -eq 0 ]
	[ -e m/run/kbtune.owner ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "who may write to /run is not kept out by a file that anybody can make, but told of it; others are" {
	need_root "to give a file away"
	machine small-v2
	mkdir -p m/dev/shm
	profile mild <<<'sysctl: {vm.swappiness: 7}'
	chmod -R a+rX "$T"
	claimed 12345 /dev/shm/kbtune
	kb apply ./mild
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "kbtune: user 12345 may have changed this machine, too (/dev/shm/kbtune belongs to that user, but any user can create it)"
	kb restore
	[ "$status" -eq 0 ]
	[ -e m/dev/shm/kbtune ] && [ ! -e m/run/kbtune.owner ]
	as_user 12346 apply ./mild
	refused_for /dev/shm/kbtune
	rm m/dev/shm/kbtune
	# A profile applied by root excludes users; a user's file does not exclude others then.
	claimed 12345 /run/kbtune.owner
	as_user 12346 apply ./mild
	refused_for /run/kbtune.owner
	[ ! -e m/dev/shm/kbtune ]
	# If nobody else has changed the machine, users may, as far as they have the rights.
	rm m/run/kbtune.owner
	chown 12346 m/proc/sys/vm/swappiness
	as_user 12346 apply ./mild
	[ "$status" -eq 0 ]
	assert_eq "$(stat -c %u m/dev/shm/kbtune)" 12346
	as_user 12346 restore
	[ "$status" -eq 0 ]
	[ ! -e m/dev/shm/kbtune ] && [ ! -e m/run/kbtune.owner ]
}

@test "who cannot read a journal is told whose profile is applied, since when, and that it takes that user" {
	need_root "to be somebody else"
	machine small-v2
	mkdir -p m/dev/shm m/var/lib
	chmod 1777 m/dev/shm
	profile mild <<<'sysctl: {vm.swappiness: 7}'
	chmod -R a+rX "$T"
	stranger status
	[ "$status" -eq 0 ]
	[[ $output != *others* ]]
	kb apply ./mild
	[ "$status" -eq 0 ]
	stranger status
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "user 0 (root) has the profile mild here, applied since 20"
	assert_contains "$output" "the journal is in /run/kbtune"
	stranger status --json
	echo "$output" >s.json
	assert_eq "$(json s.json '(d["state"], d["others"]["user"], d["others"]["state"])')" "('nothing applied by this user', 0, 'applied')"
	for order in verify restore "restore --dry-run" "tuned verify"; do
		# shellcheck disable=SC2086
		stranger $order
		echo "$output"
		[ "$status" -eq 77 ]
		assert_contains "$output" "user 0 (root) has the profile mild here"
		assert_contains "$output" "run it as that user"
		assert_eq "$(value /proc/sys/vm/swappiness)" 7
	done
	kb restore
	[ "$status" -eq 0 ]
	rm -r m/run/kbtune
	for order in status "restore"; do
		# shellcheck disable=SC2086
		stranger $order
		[ "$status" -eq 0 ]
		[[ $output != *root* ]]
	done
	# And root of a user's.
	chown 12346 m/proc/sys/vm/swappiness
	as_user 12346 apply ./mild
	[ "$status" -eq 0 ]
	mv m/run/kbtune m/run/of-a-user
	kb status
	echo "$output"
	assert_contains "$output" "user 12346 has the profile mild here, applied since"
	# What such a file says is cleaned, and no link is followed.
	printf 'x\nprofile: \033[2Jevil\nstate: applied\n' >m/dev/shm/kbtune
	chown 12346 m/dev/shm/kbtune
	kb status
	[[ $output != *$'\033'* ]]
	# What an earlier boot left, for everybody.
	rm m/dev/shm/kbtune
	mkdir -m 700 m/var/lib/kbtune
	stranger status
	assert_contains "$output" "left by an earlier boot"
}

@test "a journal that is in another folder of the same user's is found again" {
	machine small-v2
	mkdir -p m/dev/shm
	profile mild <<<'sysctl: {vm.swappiness: 7}'
	kb apply ./mild
	sed -i 's|^journal: .*|journal: /run/user/elsewhere|' m/run/kbtune.owner
	mv m/run/kbtune m/run/aside
	kb status
	echo "$output"
	assert_contains "$output" "the profile mild here"
	assert_contains "$output" "the journal is in /run/user/elsewhere"
}

@test "a link in place of the file that excludes others is not followed" {
	machine small-v2
	mkdir -p m/etc
	ln -s ../etc/made m/run/kbtune.owner
	profile mild <<<'sysctl: {vm.swappiness: 7}'
	kb apply ./mild
	kb restore
	[ ! -e m/etc/made ]
}

# blocked SECONDS: shell code that puts a directory in the place of swappiness for so long. RENAME_EXCHANGE: the file is never
# missing, as that would need no undoing.
blocked() {
	local aside=$T/aside.$RANDOM
	echo "mkdir $aside
	exchange() { /usr/bin/python3 -IS -c 'import ctypes; assert not ctypes.CDLL(None).renameat2(-100, b\"$aside\", -100, b\"$T/m/proc/sys/vm/swappiness\", 2)'; }
	exchange
	(exec >&- 2>&-; sleep $1; exchange; rmdir $aside) &"
}

# bats test_tags=long
@test "what cannot be restored at once is tried again, at the end of run and by the guardian" {
	machine small-v2
	profile mild <<<'sysctl: {vm.swappiness: 7}'
	run "$KBTUNE" run ./mild --sysroot m -- sh -c "$(blocked 2)"
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
	run "$KBTUNE" run ./mild --sysroot m -- sh -c "$(blocked 2)
		kill -KILL \$PPID"
	[ "$status" -eq 137 ]
	for _ in $(seq 300); do
		[ -e m/run/kbtune/journal.json ] || break
		sleep 0.1
	done
	as_before
}

@test "what has been changed is said on standard error if standard output cannot be written" {
	[ -w /dev/full ] || skip "no /dev/full here"
	machine small-v2
	# full ARGUMENT…: kbtune on the machine m, with its standard output on a full disk.
	full() {
		run bash -c '"$@" >/dev/full' _ "$KBTUNE" "$@" --sysroot "$T/m"
		echo "$output"
		[ "$status" -eq 1 ]
	}
	for json in '' --json; do
		# shellcheck disable=SC2086
		full apply isolated $json
		assert_contains "$output" "isolated is applied ('kbtune restore' restores everything), but standard output cannot be written: "
		kb verify
		# shellcheck disable=SC2086
		full restore $json
		assert_contains "$output" "everything is restored, but standard output cannot be written"
		as_before
	done
	full cpuset create rt --cpus 3
	assert_contains "$output" "cpuset create is applied"
	full cpuset destroy rt
	assert_contains "$output" "/sys/fs/cgroup/rt is destroyed, but"
	full irq set 4 --cpus 1
	full irq restore
	assert_contains "$output" "1 interrupts are as before, but"
}

@test "what each released version has applied, and what it was killed while applying or restoring, can be restored" {
	local count=0 file name
	for file in "$ROOT"/tests/sysroots/applied/*/*; do
		name=${file##*/}
		rm -rf m m.before
		machine "${name%%.*}"
		mkdir -p m/var/lib m.before/var/lib
		"$ROOT/tests/sysroots/machine" change "$file" m
		[ -e m/run/kbtune/journal.json ]
		kb restore
		echo "$file: $output"
		[ "$status" -eq 0 ]
		assert_contains "$output" "restored "
		as_before
		[ -z "$(find m -name 'journal*')" ]
		count=$((count + 1))
	done
	[ "$count" -ge 6 ]
}

@test "what each released version leaves on disk for after a reboot can be restored" {
	local file name
	for file in "$ROOT"/tests/sysroots/applied/*/*; do
		grep -q '/var/lib/kbtune/journal.json' "$file" || continue
		name=${file##*/}
		rm -rf m m.before
		machine "${name%%.*}"
		mkdir -p m/var/lib m.before/var/lib
		"$ROOT/tests/sysroots/machine" change "$file" changed
		cp -a changed/var m
		[ ! -d changed/etc ] || cp -a changed/etc m
		echo 00000000-0000-0000-0000-000000000009 | tee m/proc/sys/kernel/random/boot_id >m.before/proc/sys/kernel/random/boot_id
		kb restore
		echo "$file: $output"
		[ "$status" -eq 0 ]
		assert_contains "$output" "restored "
		as_before
	done
	[ -n "$name" ]
}
