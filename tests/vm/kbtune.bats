#!/usr/bin/env bats
# kbtune on a real kernel, as root, inside the guest: 4 CPUs, 2 nodes, cpusets of version 1 or 2. To run it by hand:
#
#   tests/vm/guest --no-rdma --cgroup v2 --env KBTUNE=$PWD/build/kbtune -- bats tests/vm/kbtune.bats

load host

@test "thesis: shields really empty, interrupts really elsewhere, swappiness and PM QoS tuned's; all back afterwards" {
	run "$KBTUNE" apply thesis
	echo "$output"
	[ "$status" -eq 0 ]
	"$KBTUNE" verify
	for cpu in 1 3; do
		run "$HOST_VIEW" "$cpu"
		echo "may run on CPU $cpu: $output"
		[ -z "$output" ]
	done
	[ "$(cat /proc/sys/vm/swappiness)" = 10 ]
	[ "$(latency)" != 'PM QoS 2000000000 us' ]
	echo 60 >/proc/sys/vm/swappiness
	run "$KBTUNE" verify
	[ "$status" -eq 3 ]
	[[ $output == *"/proc/sys/vm/swappiness is 60, no longer 10"* ]]
	echo 10 >/proc/sys/vm/swappiness
	"$KBTUNE" verify
	if is_v1; then
		[ "$(cat /dev/cpuset/real-time-0/cpus /dev/cpuset/real-time-1/mems | tr '\n' ' ')" = "1 1 " ]
	else
		[ "$(cat /sys/fs/cgroup/real-time-1/cpuset.cpus.partition)" = isolated ]
	fi
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
}

# on_all: how many threads may run on all four CPUs, but for those that the kernel lets nobody place.
on_all() {
	snapshot | grep -cE '^[^/].* 0,1,2,3$'
}

@test "a CPU that is offline during apply is not lost to the threads that may run on it" {
	cpu3=/sys/devices/system/cpu/cpu3/online
	[ "$(on_all)" -gt 3 ]
	echo 0 >"$cpu3"
	"$KBTUNE" apply isolated
	echo 1 >"$cpu3"
	"$KBTUNE" restore
	as_before
	# A kernel thread that was started meanwhile has what kthreadd had before.
	[[ $(taskset -pc "$(pgrep -x khugepaged)") == *": 0-3" ]]
}

@test "a CPU that is offline during restore: it says so, stays pending, and is done once the CPU is back" {
	cpu3=/sys/devices/system/cpu/cpu3/online
	before=$(on_all)
	"$KBTUNE" apply isolated
	[ "$(on_all)" -lt $((before / 2)) ]
	echo 0 >"$cpu3"
	run "$KBTUNE" restore
	echo "$output"
	echo 1 >"$cpu3"
	[ "$status" -eq 1 ]
	[[ $output == *"CPU 3 is offline; bring it online"* ]]
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
}

# masks: where threads may run that the kernel lets be placed, and that stay.
masks() {
	local at pid=0
	for at in /proc/[0-9]*/task/[0-9]*; do
		read -r -a stat < <(sed 's/.*) //' "$at/stat" 2>/dev/null) || continue
		((stat[6] & 0x04000000)) || echo "${at##*/} $(<"$at/comm") $(awk '/Cpus_allowed_list/ { print $2 }' "$at/status")"
	done 2>/dev/null | grep -E ' (sleep|kthreadd|kswapd[01]|kcompactd[01]|ksmd) '
}

@test "a CPU that is offline all the while: all is restored at once, and threads have it when it is online again" {
	cpu1=/sys/devices/system/cpu/cpu1/online
	for cpus in 0-1 0,3 0-3; do
		taskset -c "$cpus" sleep 300 3>&- &
	done
	before=$(masks)
	echo 0 >"$cpu1"
	while_offline=$(masks)
	SECONDS=0
	run "$KBTUNE" run isolated -- true
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$SECONDS" -lt 15 ]
	"$KBTUNE" apply isolated
	"$KBTUNE" verify
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	echo 1 >"$cpu1"
	sleep 0.2
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	diff <(echo "$before") <(masks)
	[ "$while_offline" = "$before" ]
	run "$KBTUNE" status
	[[ $output != *"given up"* ]]
	kill %1 %2 %3
	as_before
}

@test "a CPU that went offline is given up: the rest is restored, later profiles work, and it comes back to threads" {
	cpu1=/sys/devices/system/cpu/cpu1/online
	taskset -c 0-1 sleep 300 3>&- &
	taskset -c 1 sleep 300 3>&- &
	before=$(masks)
	"$KBTUNE" apply isolated
	echo 0 >"$cpu1"
	run "$KBTUNE" restore
	[ "$status" -eq 1 ]
	run "$KBTUNE" restore --give-up 1
	echo "$output"
	[ "$status" -eq 0 ]
	run "$KBTUNE" run isolated -- true
	echo "$output"
	[ "$status" -eq 0 ]
	echo 1 >"$cpu1"
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	diff <(echo "$before") <(masks)
	kill %1 %2
	as_before
}

# settings: all sysctls that change each other, and what else does, as text.
settings() {
	grep -rs . /proc/sys/vm/{dirty_*,overcommit_*,nr_hugepages,nr_overcommit_hugepages,min_free_kbytes} \
		/proc/sys/kernel/{watchdog,nmi_watchdog,soft_watchdog,sched_rt_*_us,perf_cpu_*,perf_event_max_*} \
		/proc/sys/net/ipv4/{ip_forward,tcp_congestion_control,tcp_allowed_congestion_control} \
		/proc/sys/net/ipv4/conf/*/{forwarding,accept_redirects,send_redirects,rp_filter} \
		/proc/sys/net/ipv6/conf/*/{forwarding,disable_ipv6,accept_ra} /proc/sys/net/ipv4/neigh/*/{retrans_time*,base_*} \
		/sys/kernel/mm/transparent_hugepage/{enabled,defrag} /sys/kernel/mm/hugepages/*/nr_hugepages \
		/sys/devices/system/node/node*/hugepages/*/nr_hugepages /sys/block/vda/queue/{scheduler,nr_requests,wbt_lat_usec} \
		/sys/block/vda/queue/iosched/* | sort
}

@test "settings that change each other are all as before" {
	ip link add left type veth peer name right
	sysctl -q net.ipv4.conf.left.forwarding=1 net.ipv4.conf.all.accept_redirects=0 vm.nr_hugepages=0
	echo 3 >/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
	before=$(settings)
	for one in 'vm.dirty_bytes: 8388608, vm.dirty_background_bytes: 4194304' 'vm.dirty_background_bytes: 4194304' \
		'vm.overcommit_kbytes: 1000000' 'net.ipv4.ip_forward: 1' 'net.ipv4.conf.all.forwarding: 1' \
		'net.ipv4.conf.default.rp_filter: 2' 'net.ipv6.conf.all.forwarding: 1' 'vm.nr_hugepages: 6' \
		'net.ipv4.neigh.default.retrans_time_ms: 500' 'kernel.watchdog: 0' \
		'kernel.sched_rt_runtime_us: 400000, kernel.sched_rt_period_us: 500000' \
		'kernel.perf_cpu_time_max_percent: 0' 'vm.dirty_ratio: 5, vm.dirty_bytes: 8388608'; do
		mkdir -p "$T/p"
		printf 'kbtune: 1\nsysctl: {%s}\n' "$one" >"$T/p/profile.yaml"
		"$KBTUNE" run "$T/p" -- true
		diff <(echo "$before") <(settings)
	done
	printf 'kbtune: 1\nthp: %s\nsysfs: {/sys/block/vda/queue/scheduler: mq-deadline}\n' \
		"$(grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled && echo always || echo never)" >"$T/p/profile.yaml"
	"$KBTUNE" run "$T/p" -- true
	diff <(echo "$before") <(settings)
	# Both ends of a family, each of which changes the other.
	local node=/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages size=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
	sysctl -q vm.nr_hugepages=0
	before=$(settings)
	for one in "sysctl: {vm.nr_hugepages: 4}+sysfs: {$node: 3}" "sysctl: {vm.nr_hugepages: 4}+sysfs: {$size: 5}" \
		"sysctl: {vm.nr_hugepages_mempolicy: 6}+sysfs: {$size: 5, $node: 3}"; do
		printf 'kbtune: 1\n%s\n' "${one/+/$'\n'}" >"$T/p/profile.yaml"
		"$KBTUNE" apply "$T/p"
		"$KBTUNE" restore
		diff <(echo "$before") <(settings)
	done
	# And where the other one of two is the one that counts.
	sysctl -q vm.dirty_bytes=16777216 vm.dirty_background_bytes=8388608 vm.overcommit_kbytes=500000
	before=$(settings)
	for one in 'vm.dirty_ratio: 10' 'vm.dirty_background_ratio: 3' 'vm.overcommit_ratio: 70' 'vm.dirty_bytes: 8388608'; do
		printf 'kbtune: 1\nsysctl: {%s}\n' "$one" >"$T/p/profile.yaml"
		"$KBTUNE" run "$T/p" -- true
		diff <(echo "$before") <(settings)
	done
	# Putting back one that an earlier setting has changed changes a third, which was as it should be.
	before=$(settings)
	printf 'kbtune: 1\nsysctl: {net.ipv4.ip_forward: 1, net.ipv4.conf.default.forwarding: 1}\n' >"$T/p/profile.yaml"
	"$KBTUNE" apply "$T/p"
	"$KBTUNE" restore
	diff <(echo "$before") <(settings)
	sysctl -q vm.dirty_ratio=0
	before=$(settings)
	printf 'kbtune: 1\nsysctl: {vm.dirty_bytes: 8388608}\n' >"$T/p/profile.yaml"
	"$KBTUNE" run "$T/p" -- true
	diff <(echo "$before") <(settings)
	sysctl -q vm.dirty_ratio=20 vm.dirty_background_ratio=10 vm.overcommit_ratio=50 vm.nr_hugepages=0
	ip link delete left
}

@test "an interface of the same name is another one; one of another name is the same; so are cpusets" {
	ip link add left type veth peer name right
	printf 'kbtune: 1\ninterfaces: [left, right]\ngro_flush_timeout: 20us\noffloads: {tso: off}\n' >"$T/profile.yaml"
	"$KBTUNE" apply "$T"
	[ "$(cat /sys/class/net/left/gro_flush_timeout)" = 20000 ]
	ip link set left name far
	"$KBTUNE" verify
	"$KBTUNE" restore
	[ "$(cat /sys/class/net/far/gro_flush_timeout /sys/class/net/right/gro_flush_timeout | tr '\n' ' ')" = "0 0 " ]
	ethtool -k far | grep -q 'tcp-segmentation-offload: on'
	ip link set far name left
	"$KBTUNE" apply "$T"
	ip link delete left
	ip link add left type veth peer name right
	echo 7000 | tee /sys/class/net/left/gro_flush_timeout >/sys/class/net/right/gro_flush_timeout
	ethtool -K left tso off
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(cat /sys/class/net/left/gro_flush_timeout)" = 7000 ]
	ethtool -k left | grep -q 'tcp-segmentation-offload: off'
	ip link delete left
	"$KBTUNE" cpuset create mine --cpus 3
	group=$(is_v1 && echo /dev/cpuset/mine || echo /sys/fs/cgroup/mine)
	rmdir "$group"
	mkdir "$group"
	"$KBTUNE" restore
	[ -d "$group" ]
	rmdir "$group"
}

@test "an interrupt's effective CPU really moves" {
	irq=$(awk '/virtio.*requests/ { sub(":", "", $1); print $1 }' /proc/interrupts | head -n 1)
	for cpu in 0 2; do
		"$KBTUNE" irq set "$irq" --cpus "$cpu"
		for _ in $(seq 50); do
			find "$ROOT/docs" -type f -exec cat {} + >/dev/null
			ls "$BATS_TEST_DIRNAME" >/dev/null
			[ "$(cat "/proc/irq/$irq/effective_affinity_list")" != "$cpu" ] || break
		done
		[ "$(cat "/proc/irq/$irq/effective_affinity_list")" = "$cpu" ]
	done
	"$KBTUNE" irq restore
	as_before
}

@test "PM QoS reads 0 while it is held, its holder is named and uses no CPU, and it goes back" {
	"$KBTUNE" apply low-latency-laptop
	[ "$(latency)" = 'PM QoS 0 us' ]
	run "$KBTUNE" dma-latency show
	pid=$(grep -oE 'kbtune \(process [0-9]+' <<<"$output" | grep -oE '[0-9]+$')
	used=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
	sleep 1
	[ "$(awk '{ print $14 + $15 }' "/proc/$pid/stat")" = "$used" ]
	"$KBTUNE" restore
	as_before
	[ "$("$KBTUNE" dma-latency hold 5 -- sh -c '"$KBTUNE" dma-latency show --json' | tr -d ' ' | grep -o '"us":[0-9]*')" = '"us":5' ]
	as_before
}

@test "the holder killed: verify says so, restore puts the rest back" {
	"$KBTUNE" apply low-latency-laptop
	kill -KILL "$("$KBTUNE" dma-latency show | grep -oE '[0-9]+\)' | tr -d ')')"
	sleep 0.2
	run "$KBTUNE" verify
	[ "$status" -eq 3 ]
	"$KBTUNE" restore
	as_before
}

@test "killed after every single write: restore puts the machine back" {
	n=${KILL_FROM:-0}
	while :; do
		status=0
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" apply isolated >"$T/out" 2>&1) 2>/dev/null || status=$?
		killed=$status
		"$KBTUNE" restore >/dev/null
		as_before
		[ "$killed" -eq 137 ] || break
		n=$((n + ${KILL_EVERY:-1}))
	done
	cat "$T/out"
	[ "$killed" -eq 0 ]
	[ "$n" -ge 15 ]
}

@test "run: inside the shield, with its status; and undone when kbtune is killed" {
	run "$KBTUNE" run isolated --in rt -- sh -c 'cat /proc/self/cpuset; grep Cpus_allowed_list /proc/self/status; exit 5'
	echo "$output"
	[ "$status" -eq 5 ]
	[ "${lines[0]}" = /rt ]
	[[ ${lines[1]} == *3 ]]
	as_before
	"$KBTUNE" run isolated --in rt -- sleep 100 3>&- &
	pid=$!
	for _ in $(seq 100); do
		[ "$(cat /proc/[0-9]*/cpuset 2>/dev/null | grep -c '^/rt$')" -eq 0 ] || break
		sleep 0.1
	done
	kill -KILL $pid
	wait $pid || true
	for _ in $(seq 100); do
		[ -e /run/kbtune/journal.json ] || break
		sleep 0.1
	done
	as_before
}

@test "a control group that is killed takes kbtune with it, and not the guardian, which restores" {
	group=/sys/fs/cgroup/doomed
	is_v1 && skip "control groups of version 1 cannot be killed as a whole"
	mkdir "$group"
	sh -c 'echo 0 >"$1/cgroup.procs"; exec "$2" run low-latency-laptop -- sleep 100' sh "$group" "$KBTUNE" 3>&- &
	for _ in $(seq 100); do
		[ "$(latency)" != 'PM QoS 0 us' ] || break
		sleep 0.1
	done
	[ "$(latency)" = 'PM QoS 0 us' ]
	echo 1 >"$group/cgroup.kill"
	wait $! || true
	for _ in $(seq 100); do
		[ -e /run/kbtune/journal.json ] || break
		sleep 0.1
	done
	[ ! -e /run/kbtune/journal.json ]
	# A process that was killed leaves the group a moment later.
	for _ in $(seq 100); do
		! rmdir "$group" 2>/dev/null || break
		sleep 0.1
	done
	[ ! -e "$group" ]
	as_before
}

@test "a guardian that cannot leave its control group is named before anything is applied, and refused with --strict" {
	is_v1 && skip "control groups of version 1 cannot be killed as a whole"
	group=/sys/fs/cgroup/kept
	mkdir "$group"
	# in_group COMMAND…: in that group, with the control groups read-only, as by ProtectControlGroups=yes.
	in_group() {
		sh -c 'echo 0 >"$1/cgroup.procs"; shift; exec unshare --mount sh -c "mount -o remount,bind,ro /sys/fs/cgroup; exec \"\$@\"" sh "$@"' sh "$group" "$@"
	}
	run in_group "$KBTUNE" run low-latency-laptop -- "$KBTUNE" dma-latency show
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"the guardian cannot leave the control group /kept: if all of it is killed, nobody restores"* ]]
	run in_group "$KBTUNE" run low-latency-laptop --strict -- touch "$T/ran"
	echo "$output"
	[ "$status" -eq 77 ]
	[[ $output == *"/kept cannot be left (--strict)"* ]]
	[ ! -e "$T/ran" ]
	for _ in $(seq 50); do
		! rmdir "$group" 2>/dev/null || break
		sleep 0.1
	done
	as_before
}

# Starts systemd, with a message bus and one service, in namespaces of its own; the service runs $T/probe and prints to $T/said.
under_systemd() {
	local units=/run/systemd/system
	cat >"$T/systemd" <<-SH
		mount -t tmpfs none /run
		mkdir -p $units /run/dbus
		printf '%s\n' '[Unit]' DefaultDependencies=no 'Wants=probe.service dbus.socket dbus.service' >$units/probe.target
		printf '%s\n' '[Unit]' DefaultDependencies=no '[Socket]' ListenStream=/run/dbus/system_bus_socket >$units/dbus.socket
		printf '%s\n' '[Unit]' DefaultDependencies=no Requires=dbus.socket After=dbus.socket '[Service]' Type=notify NotifyAccess=main \
			'ExecStart=dbus-daemon --system --address=systemd: --nofork --nopidfile --systemd-activation' >$units/dbus.service
		printf '%s\n' '[Unit]' DefaultDependencies=no After=dbus.service '[Service]' Type=oneshot ProtectControlGroups=yes \
			StandardOutput=file:$T/said StandardError=file:$T/said "Environment=KBTUNE=$KBTUNE KBTUNE_PROFILES=$KBTUNE_PROFILES" \
			'ExecStart=/bin/sh $T/probe' >$units/probe.service
		mount -t proc proc /proc
		umount /sys/fs/cgroup
		mount -t cgroup2 none /sys/fs/cgroup
		exec env container=kbtune-test /lib/systemd/systemd --system --unit=probe.target --log-target=kmsg
	SH
	unshare --pid --fork --kill-child --mount --uts sh "$T/systemd" >"$T/log" 2>&1 3>&- &
	init=$!
	for _ in {1..600}; do
		! grep -q '^status' "$T/said" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$init"
	wait "$init" || true
	cat "$T/said"
}

@test "where a service may not change control groups, systemd moves the guardian into a scope of its own" {
	is_v1 && skip "systemd's own hierarchy is not mounted"
	[ -x /lib/systemd/systemd ] && command -v busctl >/dev/null || skip "systemd is not installed"
	cat >"$T/probe" <<-'SH'
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			busctl list | grep -q systemd1 && break
			sleep 1
		done
		"$KBTUNE" run low-latency-laptop --strict -- sh -c 'for p in /proc/[0-9]*; do ! grep -q kbtune $p/comm || cat $p/cgroup; done'
		echo status $?
	SH
	run under_systemd
	echo "$output"
	[[ $output == *"0::/system.slice/kbtune-guardian-"*".scope"* ]]
	[[ $output == *"status 0" ]]
}

@test "a value of several pages goes back whole" {
	file=/proc/sys/net/ipv4/ip_local_reserved_ports
	/usr/bin/python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
text = ",".join(map(str, range(1, 3000, 2))).encode()
while text:
    text = text[os.write(fd, text):]' "$file"
	dd if="$file" of="$T/ports" bs=64k count=1 2>/dev/null
	[ "$(stat -c %s "$T/ports")" -gt 6000 ]
	mkdir "$T/ports-profile"
	printf 'kbtune: 1\nsysctl: {net.ipv4.ip_local_reserved_ports: "%s"}\n' "$(seq -s , 30001 2 34999)" >"$T/ports-profile/profile.yaml"
	"$KBTUNE" apply "$T/ports-profile"
	"$KBTUNE" verify
	"$KBTUNE" restore
	dd if="$file" bs=64k count=1 2>/dev/null | cmp - "$T/ports"
	echo >"$file"
}

@test "tuned killed has forgotten what was; the journal has not" {
	"$KBTUNE" tuned apply latency-performance
	[ "$(cat /proc/sys/vm/swappiness)" = 10 ]
	"$KBTUNE" tuned verify
	kill -KILL "$(cut -d " " -f 1 /run/kbtune/hold-tuned)"
	sleep 0.2
	[ "$(cat /proc/sys/vm/swappiness)" = 10 ]
	run "$KBTUNE" tuned verify
	[ "$status" -eq 3 ]
	"$KBTUNE" tuned off
	as_before
}

@test "tuned killed: settings that change with those of its profile are as before, too" {
	ip link add left type veth peer name right
	sysctl -q net.ipv4.conf.left.forwarding=1 net.ipv4.conf.all.accept_redirects=0 vm.dirty_ratio=17
	before=$(settings)
	mkdir -p $TUNED/routing
	printf '[main]\nsummary=routing\n[sysctl]\nnet.ipv4.ip_forward=1\nnet.ipv4.conf.default.rp_filter=2\nvm.dirty_bytes=8388608\n' \
		>$TUNED/routing/tuned.conf
	"$KBTUNE" tuned apply routing
	run -1 diff <(echo "$before") <(settings)
	kill -KILL "$(cut -d " " -f 1 /run/kbtune/hold-tuned)"
	"$KBTUNE" tuned off
	diff <(echo "$before") <(settings)
	rm -r $TUNED/routing
	sysctl -q vm.dirty_ratio=20
	ip link delete left
}

@test "a profile of our own for tuned: without force_latency, PM QoS stays" {
	"$KBTUNE" apply thesis-no-force-latency
	[ "$(cat /proc/sys/vm/swappiness)" = 10 ]
	[ "$(latency)" = 'PM QoS 2000000000 us' ]
	"$KBTUNE" restore
	[ ! -e $TUNED/kbtune-thesis-no-force-latency ]
	as_before
}

# ask_daemon METHOD: calls a method of tuned's daemon. tuned-adm would take four seconds on an emulated CPU, and kbtune uses it often enough.
ask_daemon() {
	dbus-send --system --print-reply=literal --dest=com.redhat.tuned /Tuned "com.redhat.tuned.control.$1" 2>/dev/null | tr -d ' '
}

# The active profile according to the daemon, and the values in the kernel.
daemons_profile() {
	echo "$(ask_daemon active_profile) $(</proc/sys/vm/swappiness)"
}

@test "where tuned's daemon runs it is asked, and asked to go back" {
	dbus-daemon --system --fork --print-pid >"$T/dbus" 3>&-
	tuned --daemon --profile virtual-guest --pid "$T/tuned.pid" --log "$T/tuned.log" 3>&-
	for _ in $(seq 300); do
		[ "$(daemons_profile)" != 'virtual-guest 30' ] || break
		sleep 0.2
	done
	run "$KBTUNE" apply thesis
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(daemons_profile)" = 'latency-performance 10' ]
	"$KBTUNE" verify
	"$KBTUNE" restore
	[ "$(daemons_profile)" = 'virtual-guest 30' ]
	ask_daemon disable
	kill "$(cat "$T/tuned.pid")" "$(cat "$T/dbus")"
	sleep 1
}

@test "irqbalance is stopped meanwhile and runs afterwards; one that somebody has stopped stays stopped" {
	cp /bin/sleep "$T/irqbalance"
	"$T/irqbalance" 100 3>&- &
	pid=$!
	"$KBTUNE" apply isolated
	[ "$(awk '{ print $3 }' /proc/$pid/stat)" = T ]
	"$KBTUNE" restore
	[ "$(awk '{ print $3 }' /proc/$pid/stat)" = S ]
	kill -STOP $pid
	"$KBTUNE" apply isolated
	"$KBTUNE" restore
	[ "$(awk '{ print $3 }' /proc/$pid/stat)" = T ]
	kill -KILL $pid
}

@test "a cpuset that others have: refused, and nothing is changed" {
	base=/sys/fs/cgroup prefix=cpuset.
	! is_v1 || base=/dev/cpuset prefix=
	# systemd, where it has run before, takes it away.
	is_v1 || echo +cpuset >$base/cgroup.subtree_control
	mkdir $base/batch
	echo 2-3 >$base/batch/${prefix}cpus
	snapshot >"$T/before"
	run "$KBTUNE" apply isolated
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"overlap with CPUs 2-3 of the cpuset $base/batch"* ]]
	as_before
	rmdir $base/batch
}

@test "pins of programs stay through a shield that leaves them alone, are verified, and put back" {
	local -a pids=()
	local last=$(($(nproc) - 1)) cpus
	mkdir -p pins
	printf 'kbtune: 1\nshields: [{name: rt, place: %s}]\n' "$last" >pins/profile.yaml
	for cpus in 0 "0-$last" 1; do
		taskset -c "$cpus" sleep 300 3>&- &
		pids+=($!)
	done
	pinned() {
		local pid
		for pid in "${pids[@]}"; do sed -n 's/Cpus_allowed_list:\t//p' "/proc/$pid/status"; done | paste -sd' '
	}
	until [ "$(pinned)" = "0 0-$last 1" ]; do sleep 0.1; done
	run "$KBTUNE" apply ./pins
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(pinned)" = "0 0-$((last - 1)) 1" ]
	"$KBTUNE" verify
	taskset -pc 0 "${pids[2]}"
	run "$KBTUNE" verify
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"1 threads are pinned to other CPUs: sleep (${pids[2]}) on 0"* ]]
	"$KBTUNE" restore
	[ "$(pinned)" = "0 0-$last 1" ]
	kill "${pids[@]}"
}
