#!/usr/bin/env bats
# What a tuned profile changes, as tuned's own code reads it, on recorded machines.

load helper
load kbtune_helper

bats_require_minimum_version 1.5.0

# tuned_profile NAME: writes one of tuned's.
tuned_profile() {
	mkdir -p "m/$TUNED/$1"
	cat >"m/$TUNED/$1/tuned.conf"
}

# file PATH TEXT: a file of the recorded machine.
file() {
	mkdir -p "m$(dirname "$1")"
	echo "$2" >"m$1"
}

small_machine() {
	machine small-v2
	file /proc/sys/vm/dirty_ratio 20
	file /proc/sys/vm/dirty_background_ratio 10
	file /proc/sys/net/core/somaxconn 4096
	file /proc/sys/kernel/panic 0
	file /proc/sys/net/ipv4/conf/eth0.7/forwarding 0
	file /sys/kernel/mm/transparent_hugepage/enabled 'always [madvise] never'
	file /sys/devices/virtual/workqueue/cpumask f
	file /sys/devices/virtual/workqueue/writeback/cpumask f
	file /proc/irq/default_smp_affinity f
	tuned_profile t-base <<-'CONF'
		[main]
		summary = A base
		[variables]
		ratio = 7
		[sysctl]
		vm.dirty_ratio = ${ratio}   # behind the value
		vm.swappiness = 99
		vm.swappiness = 98
		[vm]
		transparent_hugepages = never
	CONF
	tuned_profile t-other <<-'CONF'
		[masks]
		type = sysfs
		/sys/devices/virtual/workqueue/*mask = ${f:cpulist2hex:0}
		/sys/devices/virtual/workqueue/*/cpumask = 00000001
		[sysctl]
		net.ipv4.conf.eth0/7.forwarding = 1
	CONF
	tuned_profile t-several <<-'CONF'
		[main]
		summary = Several includes
		include = t-base, t-other
		[more]
		type = sysctl
		net.core.somaxconn = >262144
		vm.swappiness = "3"
		[never]
		type = sysctl
		enabled = false
		kernel.panic = 3
	CONF
}


@test "a tuned profile is what tuned makes of it: several includes, variables, functions, comments, quotes, modifiers, repeated keys" {
	small_machine
	run --separate-stderr "$KBTUNE" tuned show t-several --json --sysroot m
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	echo "$output" >s.json
	assert_eq "$(json s.json 'sorted((b["path"].replace("/proc/sys/", "").replace("/sys/devices/virtual/", ""), b["want"]) for b in d if "eth0" not in b["path"])')" \
		"[('/sys/kernel/mm/transparent_hugepage/enabled', 'never'), ('net/core/somaxconn', '262144'), ('vm/dirty_ratio', '7'), ('vm/swappiness', '98'), ('workqueue/cpumask', '00000001'), ('workqueue/writeback/cpumask', '00000001')]"
	kb tuned list
	assert_contains "$output" "Several includes"
	# Merged by tuned, as tuned-adm does it.
	kb tuned apply t-base t-other --dry-run --json
	echo "$output" >p.json
	assert_eq "$(json p.json '(d["steps"][0]["after"], len(d["steps"][0]["data"]["guards"]) >= 5)')" "('t-base t-other', True)"
	profile both <<<'tuned: t-base t-other'
	kb plan ./both --json
	echo "$output" >p.json
	assert_eq "$(json p.json 'd["steps"][0]["after"]')" "t-base t-other"
	profile wrong <<<'tuned: t-base t-othr'
	kb plan ./wrong
	[ "$status" -eq 2 ]
	assert_contains "$output" "tuned has no profile 't-othr' here; did you mean 't-other'?"
}

@test "a tuned profile: what drops, replaces, is disabled or is for another processor counts, as tuned sees it" {
	small_machine
	tuned_profile t-less <<-'CONF'
		[main]
		include = t-base
		[sysctl]
		drop = vm.swappiness
		[vm]
		replace = true
		[elsewhere]
		type = sysctl
		cpuinfo_regex = no such processor
		kernel.panic = 4
	CONF
	kb tuned show t-less
	echo "$output"
	assert_contains "$output" "vm/dirty_ratio"
	for not in swappiness transparent panic; do
		[[ $output != *$not* ]]
	done
}

@test "planning runs no program that a profile names, and says which" {
	small_machine
	tuned_profile t-exec <<-CONF
		[variables]
		x = \${f:exec:touch:$T/ran}
		[sysctl]
		vm.swappiness = \${x}
	CONF
	kb tuned apply t-exec --dry-run
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "touch $T/ran: the profile runs this program to get a value, and planning does not run it"
	[ ! -e ran ]
	kb tuned apply t-exec --dry-run --strict
	[ "$status" -eq 77 ]
	kb tuned apply t-exec --strict
	[ "$status" -eq 77 ]
	[ ! -e m/run/kbtune/journal.json ]
}

@test "files that survive a reboot, scripts, and plugins that we do not know each have a line; --strict refuses the last two" {
	small_machine
	file /etc/grub.d/00_tuned '#'
	file /etc/default/grub 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"'
	file /boot/grub/grub.cfg 'set default=0'
	file /etc/systemd/system.conf '[Manager]'
	tuned_profile t-files <<-'CONF'
		[bootloader]
		cmdline = +nohz_full=1
		[systemd]
		cpu_affinity = 0
		[modules]
		kvm = nx_huge_pages=0
	CONF
	kb tuned apply t-files --dry-run
	echo "$output"
	for f in /etc/tuned/bootcmdline /boot/grub/grub.cfg /etc/default/grub /etc/systemd/system.conf /etc/modprobe.d/tuned.conf; do
		assert_contains "$output" "tuned changes $f, which survives a reboot; restoring puts it back"
	done
	assert_contains "$output" "[modules] kvm: kernel modules that it loads"
	kb tuned apply t-files --dry-run --json
	echo "$output" >p.json
	assert_eq "$(json p.json 'sorted(f["path"] for f in d["steps"][-1]["data"]["files"] if f.get("of_others"))[0:2]')" \
		"['/boot/grub/grub.cfg', '/etc/default/grub']"
	# What they contain is for the journal alone: grub.cfg may have a password.
	[[ $output != *default=0* ]]
	kb tuned apply t-files --json
	[ "$status" -eq 0 ]
	[[ $output != *default=0* ]]
	grep -q default=0 m/run/kbtune/journal.json
	echo nohz_full >>m/boot/grub/grub.cfg
	echo TUNED=1 >>m/etc/tuned/bootcmdline
	kb restore
	[ "$status" -eq 0 ]
	assert_eq "$(value /boot/grub/grub.cfg)" "set default=0"
	[ ! -e m/etc/tuned/bootcmdline ]
	tuned_profile t-unknown <<-'CONF'
		[script]
		script = ${i:PROFILE_DIR}/go.sh
		[frobnicator]
		speed = 3
		[service]
		service.cron = stop,disable
	CONF
	kb tuned apply t-unknown --dry-run
	echo "$output"
	# What survives a reboot comes first.
	assert_eq "$(sed -n '/^cannot be undone/,/^$/p' <<<"$output" | sed -n 2p | grep -c 'service.cron: whether the service runs.*survives a reboot')" 1
	assert_contains "$output" "/$TUNED/t-unknown/go.sh: a script, and what it changes is not known"
	assert_contains "$output" "[frobnicator] speed: kbtune does not know what it changes"
	kb tuned apply t-unknown --strict
	[ "$status" -eq 77 ]
	assert_contains "$output" "3 things cannot be undone (--strict)"
}

@test "sysctls that tuned sets again because sysctl.d has them are recorded, too" {
	small_machine
	file /etc/sysctl.d/10-here.conf 'kernel.panic = 10'
	kb tuned show t-base
	echo "$output"
	assert_contains "$output" "/proc/sys/kernel/panic"
	assert_contains "$output" "0 -> 10"
	file /etc/tuned/tuned-main.conf 'reapply_sysctl = 0'
	kb tuned show t-base
	[[ $output != *panic* ]]
}

@test "daemon = 0, and a profile that tuned does not load, are reasons why not" {
	small_machine
	file /etc/tuned/tuned-main.conf 'daemon = 0'
	kb tuned apply t-base
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "daemon = 0"
	profile base <<<'tuned: t-base'
	kb plan ./base
	assert_contains "$output" "not possible here:"
	rm m/etc/tuned/tuned-main.conf
	tuned_profile t-broken <<<$'[main]\ninclude = nowhere'
	kb tuned apply t-broken
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "tuned says: Cannot find profile 'nowhere'"
}

@test "a post-loaded profile is part of what is recorded" {
	small_machine
	file /etc/tuned/post_loaded_profile t-other
	kb tuned apply t-base --dry-run --json
	echo "$output" >p.json
	assert_eq "$(json p.json '("writeback" in str(d["steps"][0]["data"]["guards"]), d["steps"][0]["data"]["post"])')" "(True, 't-other')"
}

@test "threads that tuned moves are recorded before it is asked" {
	small_machine
	tuned_profile t-cores <<-'CONF'
		[scheduler]
		isolated_cores = 3
		group.ksoftirqd = 0:f:2:*:^\[ksoftirqd
	CONF
	kb tuned apply t-cores --dry-run --json
	echo "$output" >p.json
	assert_eq "$(json p.json '([s["op"] for s in d["steps"]], d["irreversible"], [g["path"] for g in d["steps"][1]["data"]["guards"] if "default" in g["path"]])')" \
		"(['affinity', 'tuned'], [], ['/proc/irq/default_smp_affinity'])"
}

@test "what tuned gives to network cards is recorded: rings take along what drivers reset with them" {
	machine cards
	file /usr/sbin/tuned '#'
	tuned_profile t-net <<-'CONF'
		[net]
		ring = rx 512
		wake_on_lan = d
	CONF
	kb tuned apply t-net --dry-run --json
	echo "$output" >p.json
	assert_eq "$(json p.json 'sorted({s["data"]["group"] for s in d["steps"] if s["op"] == "card"})')" "['channels', 'coalesce', 'rings']"
	assert_eq "$(json p.json '[b["object"] for b in d["irreversible"]]')" "['[net] wake_on_lan']"
	kb tuned apply t-net
	[ "$status" -eq 0 ]
	# As if tuned had done it, and been killed.
	echo 512 >m/ethtool/eth0/rings/rx
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	diff -r m.before/ethtool m/ethtool
}
