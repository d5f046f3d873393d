#!/usr/bin/env bats
# kbtune restores what changes with what it has changed, and the thing it has changed rather than another one that has its
# name now.

load helper
load kbtune_helper

# file PATH VALUE: of the machine m and of its copy.
file() {
	local root
	for root in m m.before; do
		mkdir -p "$root${1%/*}"
		printf '%s\n' "$2" >"$root$1"
	done
}

vm=/proc/sys/vm
ipv4=/proc/sys/net/ipv4

@test "bytes and a ratio: what cannot be written back is put back by writing the other one" {
	machine small-v2
	file $vm/dirty_bytes 0
	file $vm/dirty_ratio 20
	cat >m/habits <<-END
		$vm/dirty_bytes sets $vm/dirty_ratio 0
		$vm/dirty_ratio sets $vm/dirty_bytes 0
	END
	cp m/habits m.before/habits
	profile bytes <<<'sysctl: {vm.dirty_bytes: 8388608}'
	kb apply ./bytes
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "$vm/dirty_ratio has changed with it, and is put back with it"
	assert_eq "$(value $vm/dirty_bytes) $(value $vm/dirty_ratio)" "8388608 0"
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
	# Killed after every write.
	for n in 0 1 2 3; do
		KBTUNE_KILL_AFTER=$n "$KBTUNE" apply ./bytes --sysroot m || true
		kb restore
		[ "$status" -eq 0 ]
		as_before
		"$KBTUNE" apply ./bytes --sysroot m
		KBTUNE_KILL_AFTER=$n "$KBTUNE" restore --sysroot m || true
		kb restore
		[ "$status" -eq 0 ]
		as_before
	done
}

@test "what a switch changes elsewhere is as before, also where only switching it back changes it" {
	machine small-v2
	file $ipv4/ip_forward 0
	file $ipv4/conf/all/forwarding 0
	file $ipv4/conf/all/accept_redirects 0
	file $ipv4/conf/eth0/forwarding 1
	file $ipv4/conf/eth1/forwarding 0
	for net in eth0 eth1; do
		file /sys/class/net/$net/ifindex 1${net#eth}
	done
	# The kernel sets all of them at each write; these are the values of the last one.
	cat >m/habits <<-END
		$ipv4/ip_forward sets $ipv4/conf/all/accept_redirects 1
		$ipv4/ip_forward sets $ipv4/conf/eth0/forwarding 0
	END
	cp m/habits m.before/habits
	profile route <<<'sysctl: {net.ipv4.ip_forward: 1}'
	kb apply ./route
	[ "$status" -eq 0 ]
	# Somebody else's, which stays, as it is not of our making.
	echo 1 | tee m.before$ipv4/conf/eth1/forwarding >m$ipv4/conf/eth1/forwarding
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
}

@test "what changes with it and cannot be put back is an error that names it, and can be given up" {
	machine small-v2
	file $vm/overcommit_kbytes 0
	file $vm/overcommit_ratio 50
	profile kbytes <<<'sysctl: {vm.overcommit_kbytes: 1000000}'
	echo "$vm/overcommit_kbytes sets $vm/overcommit_ratio 0" >m/habits
	kb apply ./kbytes
	[ "$status" -eq 0 ]
	echo "$vm/overcommit_ratio write EBUSY" >>m/habits
	kb restore
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "$vm/overcommit_ratio: cannot put back: it changes with $vm/overcommit_kbytes, and is '0' instead of '50'"
	kb restore --give-up $vm/overcommit_kbytes
	[ "$status" -eq 0 ]
	assert_contains "$output" "is '0' instead of '50'"
	assert_eq "$(value $vm/overcommit_kbytes)" 0
}

@test "settings that a governor, a scheduler of a disk, or huge pages change with them are put back" {
	local cpu=/sys/devices/system/cpu/cpu0/cpufreq disk=/sys/block/sda/queue huge=/sys/kernel/mm/transparent_hugepage
	machine small-v2
	file $cpu/scaling_governor powersave
	file $cpu/scaling_available_governors 'performance powersave'
	file $cpu/energy_performance_preference balance_performance
	file $disk/scheduler '[mq-deadline] none'
	file $disk/nr_requests 256
	file $disk/iosched/read_expire 300
	file $huge/enabled 'always madvise [never]'
	file $vm/min_free_kbytes 1000
	cat >m/habits <<-END
		$cpu/scaling_governor sets $cpu/energy_performance_preference performance
		$disk/scheduler sets $disk/nr_requests 1023
		$disk/scheduler sets $disk/iosched/read_expire 500
		$huge/enabled sets $vm/min_free_kbytes 67584
	END
	cp m/habits m.before/habits
	profile all <<-END
		governor: {cpus: "0", value: performance}
		thp: always
		sysfs: {/sys/block/sda/queue/scheduler: none}
	END
	kb apply ./all
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(value $cpu/energy_performance_preference) $(value $vm/min_free_kbytes) $(value $disk/nr_requests)" \
		"performance 67584 1023"
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
}

# card FOLDER NAME PLACE DRIVER ADDRESS: a network card.
card() {
	local at="$1/sys/devices/pci0000:00/$3"
	mkdir -p "$at/net/$2" "$1/sys/class/net" "$1/sys/bus/pci/drivers/$4"
	ln -sfn "../../../$3" "$at/net/$2/device"
	ln -sfn "../../../bus/pci/drivers/$4" "$at/driver"
	ln -sfn "../../devices/pci0000:00/$3/net/$2" "$1/sys/class/net/$2"
	echo "$5" >"$at/net/$2/address"
	echo "${6:-0}" >"$at/net/$2/gro_flush_timeout"
	mkdir -p "$1/ethtool/$2/offloads"
	echo "${7:-on}" >"$1/ethtool/$2/offloads/tx-tcp-segmentation"
}

# unplug FOLDER NAME PLACE
unplug() {
	rm -r "$1/sys/class/net/$2" "$1/sys/devices/pci0000:00/$3" "$1/ethtool/$2"
}

@test "a card that has the name of one that was removed does not get its values" {
	for other in '0000:00:04.0 e1000e 52:54:00:00:00:01' '0000:00:03.0 e1000e 52:54:00:00:00:02' \
		'0000:00:03.0 virtio_net 52:54:00:00:00:01'; do
		machine small-v2
		card m eth0 0000:00:03.0 e1000e 52:54:00:00:00:01
		profile fast <<-'END'
			interfaces: eth0
			gro_flush_timeout: 20us
			offloads: {tx-tcp-segmentation: off}
			sysctl: {net.ipv4.conf.eth0.forwarding: 1}
		END
		mkdir -p m$ipv4/conf/eth0
		echo 0 >m$ipv4/conf/eth0/forwarding
		kb apply ./fast
		[ "$status" -eq 0 ]
		unplug m eth0 0000:00:03.0
		# shellcheck disable=SC2086
		card m eth0 $other 7 off
		echo 1 >m$ipv4/conf/eth0/forwarding
		kb verify
		[ "$status" -eq 3 ]
		kb restore
		echo "$output"
		[ "$status" -eq 0 ]
		assert_contains "$output" "/sys/class/net/eth0/gro_flush_timeout: another one has its name now, and stays as it is"
		assert_eq "$(value /sys/class/net/eth0/gro_flush_timeout) $(value /ethtool/eth0/offloads/tx-tcp-segmentation) $(value $ipv4/conf/eth0/forwarding)" \
			"7 off 1"
		rm -r m m.before
	done
}

@test "a card that has another name gets its values back, and so does an interface without a device" {
	machine small-v2
	card m eth0 0000:00:03.0 e1000e 52:54:00:00:00:01
	for name in br0 br1; do
		mkdir -p m/sys/class/net/$name m$ipv4/conf/$name
		echo 0 >m/sys/class/net/$name/gro_flush_timeout
		echo 4${name#br} >m/sys/class/net/$name/ifindex
		echo 0 >m$ipv4/conf/$name/forwarding
	done
	profile fast <<-'END'
		interfaces: [eth0, br0]
		gro_flush_timeout: 20us
		offloads: {tx-tcp-segmentation: off}
		sysctl: {net.ipv4.conf.br0.forwarding: 1}
	END
	kb apply ./fast
	echo "$output"
	[ "$status" -eq 0 ]
	unplug m eth0 0000:00:03.0
	card m lan0 0000:00:03.0 e1000e 52:54:00:00:00:01 20000 off
	card m eth0 0000:00:04.0 e1000e 52:54:00:00:00:02 5 off
	mv m/sys/class/net/br0 m/sys/class/net/br2
	mv m$ipv4/conf/br0 m$ipv4/conf/br2
	kb verify
	echo "$output"
	[ "$status" -eq 0 ]
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(value /sys/class/net/lan0/gro_flush_timeout) $(value /ethtool/lan0/offloads/tx-tcp-segmentation)" "0 on"
	assert_eq "$(value /sys/class/net/eth0/gro_flush_timeout) $(value /ethtool/eth0/offloads/tx-tcp-segmentation)" "5 off"
	assert_eq "$(value /sys/class/net/br2/gro_flush_timeout) $(value $ipv4/conf/br2/forwarding) $(value $ipv4/conf/br1/forwarding)" "0 0 0"
}

@test "an interrupt's number, a disk's name, an RDMA device's name that another one has now" {
	machine small-v2
	mkdir -p m/sys/kernel/irq/9 m/sys/devices/pci0000:00/0000:00:05.0/{block/sda/queue,infiniband/mlx5_0} \
		m/sys/block m/sys/class/infiniband
	echo IO-APIC >m/sys/kernel/irq/9/chip_name
	echo 9 >m/sys/kernel/irq/9/hwirq
	ln -s ../devices/pci0000:00/0000:00:05.0/block/sda m/sys/block/sda
	ln -s ../../devices/pci0000:00/0000:00:05.0/infiniband/mlx5_0 m/sys/class/infiniband/mlx5_0
	echo naa.1 >m/sys/block/sda/wwid
	echo 128 >m/sys/block/sda/queue/nr_requests
	echo 0002:c903 >m/sys/class/infiniband/mlx5_0/node_guid
	echo old >m/sys/class/infiniband/mlx5_0/node_desc
	profile all <<-'END'
		irqs: {all: "0"}
		sysfs: {/sys/block/sda/queue/nr_requests: 64, /sys/class/infiniband/mlx5_0/node_desc: new}
	END
	kb apply ./all
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(value /proc/irq/9/smp_affinity_list) $(value /sys/block/sda/queue/nr_requests)" "0 64"
	echo 17 >m/sys/kernel/irq/9/hwirq
	echo naa.2 >m/sys/block/sda/wwid
	echo 0002:c904 >m/sys/class/infiniband/mlx5_0/node_guid
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(value /proc/irq/9/smp_affinity_list) $(value /sys/block/sda/queue/nr_requests) $(value /sys/class/infiniband/mlx5_0/node_desc)" \
		"0 64 new"
}
