#!/usr/bin/env bats
# tuned's daemon is slow, and kbtune is killed meanwhile. In the guest, where tuned-adm takes seconds itself:
#
#     tests/vm/guest --no-rdma --timeout 600 --env KBTUNE=$PWD/build/kbtune --env HOST_VIEW=$PWD/build/vm-host-view -- bats tests/vm/tuned.bats

load host

# start_tuned PROFILE: tuned's daemon, with it.
start_tuned() {
	rm -f /run/dbus/pid
	dbus-daemon --system --fork --print-pid >"$T/dbus" 3>&-
	tuned --daemon --pid "$T/tuned.pid" --log "$T/tuned.log" 3>&-
	for _ in $(seq 100); do
		tuned-adm profile "$1" >/dev/null 2>&1 && break
		sleep 0.3
	done
}

end_tuned() {
	tuned-adm off
	kill "$(cat "$T/tuned.pid")" "$(cat "$T/dbus")"
	sleep 1
}

@test "tuned is slow, and kbtune is killed while it asks: what it asked for is awaited, and taken back" {
	start_tuned virtual-guest
	mkdir "$T/slow"
	# When kbtune is killed, its request has not reached tuned yet.
	printf '#!/bin/sh\n[ "$1" != profile ] || { : >"%s/asked"; sleep 3; }\nexec %s "$@"\n' "$T" "$(command -v tuned-adm)" >"$T/slow/tuned-adm"
	chmod +x "$T/slow/tuned-adm"
	for command in "apply thesis" "run thesis -- sleep 100"; do
		rm -f "$T/asked"
		# shellcheck disable=SC2086
		PATH=$T/slow:$PATH "$KBTUNE" $command >/dev/null 3>&- &
		pid=$!
		until [ -e "$T/asked" ] || ! kill -0 $pid; do sleep 0.1; done
		kill -KILL $pid
		wait $pid || true
		if [ "$command" = "apply thesis" ]; then
			"$KBTUNE" restore
		else
			for _ in $(seq 300); do
				[ -e /run/kbtune/journal.json ] || break
				sleep 0.1
			done
		fi
		[ ! -e /run/kbtune/journal.json ]
		# Longer than the request needs to arrive.
		sleep 4
		[[ $(tuned-adm active) == *virtual-guest* ]]
	done
	end_tuned
	as_before
}

# What tuned changes, besides what the other tests of the guest compare.
values() {
	local f
	for f in /proc/sys/vm/{dirty_ratio,dirty_background_ratio,dirty_bytes,swappiness,stat_interval} \
		/proc/sys/net/core/{busy_read,busy_poll,somaxconn} /proc/sys/net/ipv4/tcp_fastopen /proc/sys/kernel/{hung_task_timeout_secs,sched_rt_runtime_us,timer_migration} \
		/sys/kernel/mm/transparent_hugepage/{enabled,defrag} /sys/devices/virtual/workqueue/{,*/}cpumask /proc/irq/default_smp_affinity /proc/irq/*/smp_affinity \
		/etc/tuned/{active_profile,profile_mode,post_loaded_profile,bootcmdline} /etc/systemd/system.conf /var/lib/tuned/systemd /boot/grub/grub.cfg /etc/default/grub /etc/modprobe.d/tuned.conf; do
		echo "$f: $(cat "$f" 2>&1)"
	done
	ls $TUNED
	# Threads that come and go are left out.
	ps -eLo cls,rtprio,comm | grep -vE 'kworker|bash|bats|ps$|sort|grep|tuned|cat$' | sort | uniq
}

# tuned_profile NAME: writes a profile of tuned's.
tuned_profile() {
	mkdir -p "$TUNED/$1"
	cat >"$TUNED/$1/tuned.conf"
}

as_before_values() {
	values >"$T/values.now"
	diff "$T/values" "$T/values.now"
}

# The process of the one-shot tuned.
oneshot_pid() {
	cut -d' ' -f1 /run/kbtune/hold-tuned
}

@test "tuned is killed, and everything that its profile changed is as before: includes, own, post-loaded, cpu-partitioning, realtime, a script" {
	printf 'isolated_cores=1\nno_balance_cores=1\n' >/etc/tuned/cpu-partitioning-variables.conf
	printf 'isolated_cores=1\nisolate_managed_irq=Y\n' >/etc/tuned/realtime-variables.conf
	mkdir -p /boot/grub /etc/grub.d
	[ -e /etc/grub.d/00_tuned ] || : >/etc/grub.d/00_tuned
	printf '### END /etc/grub.d/00_header ###\nlinux /vmlinuz root=/dev/vda\n' >/boot/grub/grub.cfg
	printf 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n' >/etc/default/grub
	printf '[Manager]\n#CPUAffinity=\n' >/etc/systemd/system.conf
	tuned_profile t-base <<-'CONF'
		[variables]
		ratio = 7
		[sysctl]
		vm.dirty_ratio = ${ratio}   # behind the value
		vm.stat_interval = 5
		[vm]
		transparent_hugepages = never
	CONF
	tuned_profile t-several <<-'CONF'
		[main]
		include = network-latency, t-base
		[variables]
		rest = ${f:cpulist2hex:0}
		[more]
		type = sysctl
		net.core.somaxconn = >8192
		vm.swappiness = "3"
		[masks]
		type = sysfs
		/sys/devices/virtual/workqueue/*mask = ${rest}
		[off]
		type = sysctl
		enabled = false
		kernel.panic = 3
	CONF
	tuned_profile t-post <<-'CONF'
		[sysctl]
		vm.dirty_background_ratio = 4
	CONF
	tuned_profile t-script <<-'CONF'
		[main]
		include = t-base
		[script]
		script = ${i:PROFILE_DIR}/change
	CONF
	printf '#!/bin/sh\necho "$@" >>%s/script\n' "$T" >$TUNED/t-script/change
	chmod +x $TUNED/t-script/change
	mkdir "$T/mine"
	printf 'kbtune: 1\ntuned: own\n' >"$T/mine/profile.yaml"
	printf '[main]\ninclude=t-several\n[scheduler]\nisolated_cores=1\ngroup.ksoftirqd=0:f:2:*:^\\[ksoftirqd\n' >"$T/mine/tuned.conf"
	tuned_profile t-own </dev/null
	cp "$T/mine/tuned.conf" $TUNED/t-own/tuned.conf
	sleep 1000 3>&- &
	sleeper=$!
	snapshot >"$T/before"
	values >"$T/values"
	for what in "tuned apply t-several" "apply $T/mine" "tuned apply t-own" "tuned apply cpu-partitioning" "tuned apply realtime" "tuned apply t-script" "tuned apply t-base t-post" post; do
		echo "== $what"
		command=$what
		if [ "$what" = post ]; then
			echo t-post >/etc/tuned/post_loaded_profile
			values >"$T/values"
			command="tuned apply t-base"
		fi
		# shellcheck disable=SC2086
		run "$KBTUNE" $command 3>&-
		echo "$output"
		[ "$status" -eq 0 ]
		values >"$T/values.now"
		run diff "$T/values" "$T/values.now"
		[ "$status" -ne 0 ]
		[[ $what != *cpu-part* ]] || [[ $output == *nohz_full=1* && $output == *CPUAffinity=0* ]]
		[[ $what != post ]] || [[ $output == *dirty_background_ratio:\ 4* ]]
		# Started meanwhile, with the CPUs that its parent has.
		sleep 1000 3>&- &
		heir=$!
		kill -KILL "$(oneshot_pid)"
		run "$KBTUNE" restore
		echo "$output"
		[ "$status" -eq 0 ]
		[ "$(taskset -p $heir | sed 's/.* //')" = "$(taskset -p 1 | sed 's/.* //')" ]
		kill $heir
		wait $heir || true
		as_before_values
		as_before
		[ "$(taskset -p $sleeper | sed 's/.* //')" = "$(taskset -p 1 | sed 's/.* //')" ]
	done
	: >/etc/tuned/post_loaded_profile
	kill $sleeper
}

@test "what only tuned could undo is in the plan, each thing with a line, and --strict refuses it" {
	printf 'isolated_cores=1\n' >/etc/tuned/cpu-partitioning-variables.conf
	mkdir -p /etc/grub.d
	[ -e /etc/grub.d/00_tuned ] || : >/etc/grub.d/00_tuned
	run "$KBTUNE" tuned apply cpu-partitioning --dry-run
	echo "$output"
	[ "$status" -eq 0 ]
	for said in "[bootloader] initrd_add_dir: an initrd image in /boot" "$TUNED_OWN/cpu-partitioning/script.sh: a script" \
		"tuned changes /etc/tuned/bootcmdline, which survives a reboot" "mktemp -d: the profile runs this program"; do
		[[ $output == *"$said"* ]]
	done
	run "$KBTUNE" tuned apply cpu-partitioning --strict
	echo "$output"
	[ "$status" -eq 77 ]
	[ ! -e /run/kbtune/journal.json ]
	[ -z "$(cat /etc/tuned/active_profile)" ]
}

@test "daemon = 0: tuned would end at once and hold nothing, so that is not possible" {
	cp /etc/tuned/tuned-main.conf "$T/main.conf"
	sed -i 's/^ *daemon *=.*/daemon = 0/' /etc/tuned/tuned-main.conf
	run "$KBTUNE" tuned apply latency-performance
	cp "$T/main.conf" /etc/tuned/tuned-main.conf
	echo "$output"
	[ "$status" -eq 77 ]
	[[ $output == *"daemon = 0"* ]]
	as_before
}

@test "a post-loaded profile: what is applied verifies, and the daemon's profiles, its mode and its files are as before; the daemon is killed" {
	tuned_profile t-post <<-'CONF'
		[sysctl]
		vm.dirty_background_ratio = 4
	CONF
	echo t-post >/etc/tuned/post_loaded_profile
	start_tuned virtual-guest
	[[ $(tuned-adm active) == *"virtual-guest t-post"* ]]
	values >"$T/values"
	"$KBTUNE" tuned apply balanced latency-performance
	[[ $(tuned-adm active) == *"balanced latency-performance t-post"* ]]
	"$KBTUNE" verify
	"$KBTUNE" tuned verify
	"$KBTUNE" tuned off
	[[ $(tuned-adm active) == *"virtual-guest t-post"* ]]
	as_before_values
	# Chosen by tuned itself.
	tuned-adm auto_profile
	was=$(tuned-adm active)
	values >"$T/values"
	"$KBTUNE" tuned apply latency-performance
	"$KBTUNE" restore
	[ "$(tuned-adm active)" = "$was" ]
	[[ $(tuned-adm profile_mode) == *auto* ]]
	as_before_values
	# Nothing but the post-loaded one.
	tuned-adm profile latency-performance
	"$KBTUNE" tuned apply balanced
	kill -KILL "$(cat "$T/tuned.pid")"
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(cat /etc/tuned/active_profile)" = latency-performance ]
	[ ! -e /run/kbtune/journal.json ]
	: >/etc/tuned/post_loaded_profile
	kill "$(cat "$T/dbus")"
}

@test "tuned runs without D-Bus: its profile is not changed beside it" {
	tuned --no-dbus --profile balanced --log "$T/tuned.log" 3>&- &
	pid=$!
	until grep -q applied "$T/tuned.log" 2>/dev/null; do sleep 0.3; done
	run "$KBTUNE" tuned apply latency-performance
	echo "$output"
	kill $pid
	wait $pid || true
	[ "$status" -eq 77 ]
	[[ $output == *"does not answer"* ]]
}

@test "a user who is not root is told that root has a profile applied, and that verify and restore take root" {
	mkdir "$T/mild"
	printf 'kbtune: 1\nsysctl: {vm.swappiness: 7}\n' >"$T/mild/profile.yaml"
	chmod -R a+rX "$T"
	"$KBTUNE" apply "$T/mild"
	for command in status verify restore "tuned verify"; do
		# shellcheck disable=SC2086
		run setpriv --reuid 65534 --clear-groups "$KBTUNE" $command
		echo "$output"
		[[ $output == *"user 0 (root) has the profile mild here, applied since"* ]]
		[ "$command" = status ] || [ "$status" -eq 77 ]
	done
	[ "$(cat /proc/sys/vm/swappiness)" = 7 ]
	"$KBTUNE" restore
	run setpriv --reuid 65534 --clear-groups "$KBTUNE" restore
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to restore"* ]]
	as_before
}

@test "tuned sets a ratio where there were bytes, and loses them: they are as before, also if it was killed" {
	echo 8388608 >/proc/sys/vm/dirty_bytes
	echo 4194304 >/proc/sys/vm/dirty_background_bytes
	values >"$T/values"
	snapshot >"$T/before"
	for kill in no yes; do
		"$KBTUNE" tuned apply latency-performance
		[ "$(cat /proc/sys/vm/dirty_bytes)" = 0 ]
		[ $kill = no ] || kill -KILL "$(oneshot_pid)"
		run "$KBTUNE" restore
		echo "$output"
		[ "$status" -eq 0 ]
		[ "$(cat /proc/sys/vm/dirty_bytes /proc/sys/vm/dirty_background_bytes)" = $'8388608\n4194304' ]
		as_before_values
	done
	# And the other way round.
	echo 20 >/proc/sys/vm/dirty_ratio
	echo 10 >/proc/sys/vm/dirty_background_ratio
	printf '[sysctl]\nvm.dirty_background_bytes = 4194304\nvm.dirty_bytes = 8388608\n' >"$T/conf"
	tuned_profile t-bytes <"$T/conf"
	values >"$T/values"
	"$KBTUNE" tuned apply t-bytes
	[ "$(cat /proc/sys/vm/dirty_ratio)" = 0 ]
	kill -KILL "$(oneshot_pid)"
	"$KBTUNE" restore
	as_before_values
}
