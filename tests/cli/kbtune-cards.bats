#!/usr/bin/env bats
# The knobs of network cards, on a recorded machine: eth0 and eth1 have four queues, eth2 has one, lo and br0 have no device.

load helper
load kbtune_helper

# all_knobs [FIRST LINE]: a profile of all knobs.
all_knobs() {
	profile cards <<-YAML
		${1:-}
		busy_read: 50us
		busy_poll: 0.1ms
		napi_defer_irqs: 100
		gro_flush_timeout: 20us
		napi_threaded: on
		rps: {cpus: 2-3}
		xps: spread
	YAML
}

@test "cards: values of each card are planned, applied in the kernel's forms, verified, and restored" {
	machine cards
	all_knobs 'interfaces: [eth1, eth2]'
	kb plan ./cards
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "/sys/class/net/eth1/gro_flush_timeout: 0 -> 20000"
	assert_contains "$output" "/sys/class/net/eth1/queues/rx-{0-3}/rps_cpus: 0 -> c"
	assert_contains "$output" "xps              eth2: it has one queue only"
	[[ $output != *eth0* ]]
	as_before
	rm m/sys/class/net/eth1/queues/tx-3/xps_cpus
	kb apply ./cards
	[ "$status" -eq 0 ]
	assert_eq "$(cat m/proc/sys/net/core/busy_read m/proc/sys/net/core/busy_poll | tr '\n' ' ')" "50 100 "
	assert_eq "$(cat m/sys/class/net/eth2/{napi_defer_hard_irqs,gro_flush_timeout,threaded,queues/rx-0/rps_cpus} | tr '\n' ' ')" "100 20000 1 c "
	# Four CPUs over three queues.
	assert_eq "$(cat m/sys/class/net/eth1/queues/tx-?/xps_cpus | tr '\n' ' ')" "9 2 4 "
	kb verify
	[ "$status" -eq 0 ]
	echo 0 >m/sys/class/net/eth1/gro_flush_timeout
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "/sys/class/net/eth1/gro_flush_timeout: 20000 -> 0"
	kb restore
	[ "$status" -eq 0 ]
	rm m.before/sys/class/net/eth1/queues/tx-3/xps_cpus
	as_before
}

@test "cards: without interfaces it is all cards, never what has no device; a wrong interface is a fault" {
	machine cards
	all_knobs
	kb plan ./cards --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json 'sorted({s["path"].split("/")[4] for s in d["steps"] if "/net/" in s["path"] and "/sys/class" in s["path"]})')" "['eth0', 'eth1', 'eth2']"
	for wrong in eth7 lo ../net/eth0 '[eth0, lo]' '[[eth0]]' '{eth0: 1}' '""'; do
		all_knobs "interfaces: $wrong"
		kb apply ./cards
		echo "$wrong: $output"
		[ "$status" -eq 2 ]
		as_before
	done
	all_knobs 'interfaces: eth7'
	kb plan ./cards
	assert_contains "$output" "there is no network interface 'eth7' here; did you mean 'eth"
	all_knobs 'interfaces: lo'
	kb plan ./cards
	assert_contains "$output" "'lo' is no network card"
	rm m/sys/class/net/eth?
	all_knobs
	kb plan ./cards
	[ "$status" -eq 0 ]
	assert_contains "$output" "rps              network cards: there are none here"
}

@test "cards: an interface without a device can be named" {
	machine cards
	profile named <<-YAML
		interfaces: br0
		gro_flush_timeout: 1ms
		napi_threaded: on
	YAML
	kb apply ./named
	[ "$status" -eq 0 ]
	assert_eq "$(value /sys/class/net/br0/gro_flush_timeout)" 1000000
	kb restore
	as_before
}

@test "cards: values that are none are said with what they may be" {
	machine cards
	profile wrong <<-YAML
		busy_read: 50
		busy_poll: 1500ns
		napi_defer_irqs: often
		gro_flush_timeout: 3s
		napi_threaded: maybe
		rps: spread
		xps: 9
	YAML
	kb plan ./wrong
	echo "$output"
	[ "$status" -eq 2 ]
	for said in "'busy_read' must be a time such as 50us, or off, not '50'" "'busy_poll' must be a time such as 50us" \
		"'napi_defer_irqs' must be a number from 0 to 2147483647, or off, not 'often'" "'gro_flush_timeout' must be a time" \
		"'napi_threaded' must be one of on, off" "'spread' is not a place" "there is no CPU 9 here"; do
		assert_contains "$output" "$said"
	done
}

@test "cards: a driver that refuses, one that rounds, and a queue that is gone are said, and the rest is applied" {
	machine cards
	all_knobs 'interfaces: [eth0, eth1]'
	cat >m/habits <<-END
		/sys/class/net/eth0/threaded write EOPNOTSUPP
		/sys/class/net/eth0/gro_flush_timeout reads 32000
		/sys/class/net/eth1/queues/rx-1/rps_cpus write ENOENT
	END
	cp m/habits m.before
	kb apply ./cards
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "/sys/class/net/eth0/threaded: the card's driver does not allow it (operation not supported): it stays 0"
	assert_contains "$output" "/sys/class/net/eth0/gro_flush_timeout: the card's driver made it 32000, not 20000"
	assert_contains "$output" "/sys/class/net/eth1/queues/rx-1/rps_cpus: it has disappeared meanwhile"
	assert_eq "$(value /sys/class/net/eth1/threaded)" 1
	kb verify
	[ "$status" -eq 0 ]
	echo 20000 >m/sys/class/net/eth0/gro_flush_timeout
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "/sys/class/net/eth0/gro_flush_timeout: 32000 -> 20000"
	sed -i /reads/d m/habits m.before/habits
	kb restore
	[ "$status" -eq 0 ]
	as_before
	for habit in 'threaded write EOPNOTSUPP' 'gro_flush_timeout reads 32000'; do
		echo "/sys/class/net/eth0/$habit" >m/habits
		kb apply ./cards --strict
		echo "$output"
		[ "$status" -eq 77 ]
		assert_contains "$output" "(--strict)"
		cp m.before/habits m/habits
		kb restore
		[ "$status" -eq 0 ]
		as_before
	done
}

@test "cards: a missing right is no refusal of the driver, and undoes all" {
	machine cards
	all_knobs 'interfaces: eth0'
	echo "/sys/class/net/eth0/threaded write EPERM" | tee m/habits >m.before/habits
	kb apply ./cards
	[ "$status" -eq 1 ]
	assert_contains "$output" "everything is as before"
	as_before
}

@test "cards: one that vanished is drift, and nothing to restore" {
	machine cards
	all_knobs 'interfaces: [eth0, eth1]'
	kb apply ./cards
	[ "$status" -eq 0 ]
	rm -r m/sys/class/net/eth1 m/sys/devices/pci0000:00/0000:06:00.0/net
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "/sys/class/net/eth1/threaded"
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "no longer exist: nothing to restore there"
	rm -r m.before/sys/class/net/eth1 m.before/sys/devices/pci0000:00/0000:06:00.0/net
	as_before
}

@test "cards: killed after every single write, restore leaves every file as before" {
	machine cards
	all_knobs 'interfaces: [eth0, eth1]'
	n=0
	while :; do
		status=0
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" apply ./cards --sysroot m >out 2>&1) 2>/dev/null || status=$?
		killed=$status
		kb restore
		[ "$status" -eq 0 ]
		as_before
		[ "$killed" -eq 137 ] || break
		n=$((n + 1))
	done
	[ "$killed" -eq 0 ]
	[ "$n" -ge 16 ]
}

@test "cards: each knob by itself is for the same interfaces" {
	machine cards
	all_knobs 'interfaces: [eth1]'
	kb plan ./cards --json
	echo "$output" >p.json
	assert_eq "$(json p.json '[s["name"] for s in d["settings"]]')" \
		"['busy_read', 'busy_poll', 'napi_defer_irqs', 'gro_flush_timeout', 'napi_threaded', 'rps', 'xps']"
	assert_eq "$(json p.json 'd["settings"][0]["setting"], d["settings"][6]["setting"]')" \
		"({'busy_read': '50us'}, {'xps': 'spread', 'interfaces': ['eth1']})"
}
