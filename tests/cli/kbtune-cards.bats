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
	killed_everywhere 16 apply ./cards
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

# -- what drivers let be set -------------------------------------------------------------------------------------------

# driver_knobs [FIRST LINE]: a profile of what is set by netlink, and of masks that depend on it.
driver_knobs() {
	profile driver <<-YAML
		${1:-}
		channels: {combined: 2}
		rings: {rx: max, tx: 256}
		coalesce: {adaptive_rx: off, rx_us: 0}
		offloads: {gro: off, tso: off, rx-gro-hw: on}
		rps: {cpus: 2-3}
		xps: spread
	YAML
}

# said CARD GROUP NAME…: the card's values.
said() {
	local name
	for name in "${@:3}"; do
		echo "$name=$(<"m/ethtool/$1/$2/$name")"
	done | tr '\n' ' '
}

@test "cards: channels, rings, coalescing and offloads are planned, applied, verified, and restored" {
	machine cards
	driver_knobs 'interfaces: eth1'
	kb plan ./driver
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "eth1 channels: combined 4 -> combined 2"
	assert_contains "$output" "eth1 rings: rx 512, tx 512 -> rx 4096, tx 256"
	assert_contains "$output" "eth1 coalesce: adaptive_rx on, rx_us 50 -> adaptive_rx off, rx_us 0"
	assert_contains "$output" "tx-tcp-segmentation on, tx-tcp6-segmentation on, rx-gro-hw off -> rx-gro off,"
	# Only the queues that are left have masks.
	assert_contains "$output" "/sys/class/net/eth1/queues/rx-{0-1}/rps_cpus: 0 -> c"
	[[ $output != *tx-2/xps_cpus* ]]
	as_before
	kb apply ./driver
	[ "$status" -eq 0 ]
	assert_eq "$(said eth1 channels combined) $(said eth1 rings rx tx)" "combined=2  rx=4096 tx=256 "
	assert_eq "$(said eth1 coalesce adaptive_rx rx_us adaptive_tx tx_us)" "adaptive_rx=off rx_us=0 adaptive_tx=on tx_us=50 "
	assert_eq "$(said eth1 offloads rx-gro tx-tcp-segmentation tx-tcp6-segmentation rx-gro-hw tx-generic-segmentation)" \
		"rx-gro=off tx-tcp-segmentation=off tx-tcp6-segmentation=off rx-gro-hw=on tx-generic-segmentation=on "
	assert_eq "$(cat m/sys/class/net/eth1/queues/tx-?/xps_cpus | tr '\n' ' ')" "5 a 4 8 "
	kb verify
	[ "$status" -eq 0 ]
	echo 2048 >m/ethtool/eth1/rings/rx
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "drift    eth1 rings: rx 4096, tx 256 -> rx 2048"
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "cards: what other channels reset in a driver is put back, too, after the channels" {
	machine cards
	echo 6 | tee m/sys/class/net/eth1/queues/rx-3/rps_cpus >m.before/sys/class/net/eth1/queues/rx-3/rps_cpus
	echo off | tee m/ethtool/eth1/coalesce/adaptive_rx >m.before/ethtool/eth1/coalesce/adaptive_rx
	profile fewer <<-YAML
		interfaces: eth1
		channels: {combined: 1}
	YAML
	kb apply ./fewer
	[ "$status" -eq 0 ]
	# As such a driver does. A queue's masks go with it.
	echo 0 | tee m/sys/class/net/eth1/queues/[rt]x-?/[rx]ps_cpus
	echo 128 >m/ethtool/eth1/rings/rx
	echo 3 >m/ethtool/eth1/coalesce/rx_frames
	echo 3 >m/ethtool/eth1/coalesce/tx_us
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	# While tx is adapted, its times are the driver's.
	assert_eq "$(value /ethtool/eth1/coalesce/tx_us)" 3
	echo 50 >m/ethtool/eth1/coalesce/tx_us
	as_before
}

@test "cards: a queue that comes with more channels is not forgotten in silence" {
	machine cards
	profile more <<-YAML
		interfaces: eth0
		channels: {combined: max}
		rps: {cpus: 1}
	YAML
	kb plan ./more
	[ "$status" -eq 0 ]
	assert_contains "$output" "eth0 channels: combined 4 -> combined 8"
	assert_contains "$output" "rps of eth0 is for the 4 queues that it has now; 4 more are as its driver makes them"
}

@test "cards: what a driver lacks, fixes, adapts or limits is not possible, and the rest is planned" {
	machine cards
	profile much <<-YAML
		interfaces: [eth0, eth2]
		channels: {rx: 1}
		rings: {rx: 8192, tx: 1024}
		coalesce: {rx_us: 0, tx_frames: 1, adaptive_tx: off, tx_us: 1}
		offloads: {lro: on, gro: on, hw-magic: on}
	YAML
	kb plan ./much
	echo "$output"
	[ "$status" -eq 0 ]
	for said in "eth0 channels: its driver has no rx" "eth0 rings: rx may be 4096 at most" "eth0 rings: tx 512 -> tx 1024" \
		"eth0 coalesce: its driver adapts rx_us; that takes 'adaptive_rx: off', too" "eth0 coalesce: its driver has no tx_frames" \
		"eth0 coalesce: adaptive_tx on, tx_us 50 -> adaptive_tx off, tx_us 1" "eth0 offloads: rx-lro is off, and its driver cannot change that" \
		"eth0 offloads: its driver has no hw-magic" "eth2 channels: its driver has no such settings"; do
		assert_contains "$output" "$said"
	done
	[[ $output != *rx-gro* ]]
	kb apply ./much --strict
	[ "$status" -eq 77 ]
	as_before
}

@test "cards: a driver that refuses, one that rounds, and a card that is gone are said; --strict undoes all" {
	machine cards
	driver_knobs 'interfaces: [eth0, eth1]'
	cat >m/habits <<-END
		/ethtool/eth0/channels write EBUSY
		/ethtool/eth0/rings/tx reads 512
		/ethtool/eth0/rings/rx reads 2048
		/ethtool/eth1/coalesce write ENOENT
	END
	cp m/habits m.before
	kb apply ./driver
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "eth0 channels: the card's driver does not allow it (device or resource busy): it stays combined 4"
	assert_contains "$output" "eth0 rings: the card's driver made it rx 2048, tx 512, not rx 4096, tx 256"
	assert_contains "$output" "eth1 coalesce: it has disappeared meanwhile"
	assert_eq "$(said eth1 rings rx tx) $(said eth0 coalesce rx_us)" "rx=4096 tx=256  rx_us=0 "
	kb verify
	[ "$status" -eq 0 ]
	echo 4096 >m/ethtool/eth0/rings/rx
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "eth0 rings: rx 2048, tx 512 -> rx 4096"
	sed -i '/reads/d' m/habits m.before/habits
	kb restore
	[ "$status" -eq 0 ]
	as_before
	kb apply ./driver --strict
	[ "$status" -eq 77 ]
	assert_contains "$output" "eth0 channels: cannot change: the card's driver does not allow it"
	as_before
}

@test "cards: what a driver makes of a value that is put back is said; one that it does not let go is an error" {
	machine cards
	driver_knobs 'interfaces: eth0'
	echo 'gro_flush_timeout: 20us' >>driver/profile.yaml
	kb apply ./driver
	cat >m/habits <<-END
		/ethtool/eth0/rings/tx reads 480
		/sys/class/net/eth0/gro_flush_timeout reads 1000
	END
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "eth0 rings: the card's driver made it tx 480 when it was put back to rx 512, tx 512"
	assert_contains "$output" "/sys/class/net/eth0/gro_flush_timeout: the card's driver made it 1000 when it was put back to 0"
	assert_eq "$(said eth0 rings rx tx)$(value /sys/class/net/eth0/gro_flush_timeout)" "rx=512 tx=480 1000"
	rm m/habits
	echo 512 >m/ethtool/eth0/rings/tx
	echo 0 >m/sys/class/net/eth0/gro_flush_timeout
	as_before
	kb apply ./driver
	echo "/ethtool/eth0/coalesce/rx_us reads 0" >m/habits
	echo "/ethtool/eth0/coalesce/adaptive_rx reads off" >>m/habits
	kb restore
	[ "$status" -eq 1 ]
	assert_contains "$output" "eth0 coalesce: cannot put back: wrote 'adaptive_rx on, rx_us 50', but read back 'adaptive_rx off, rx_us 0'"
	rm m/habits
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "cards: one that vanished has drifted, and its driver's values need no undoing" {
	machine cards
	driver_knobs 'interfaces: [eth0, eth1]'
	kb apply ./driver
	rm -r m{,.before}/sys/class/net/eth1 m{,.before}/sys/devices/pci0000:00/0000:06:00.0/net m{,.before}/ethtool/eth1
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$output" "eth1 rings: rx 4096, tx 256 -> unreadable: no such device"
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "no longer exist"
	as_before
}

# bats test_tags=long
@test "cards: apply and restore killed after every single write leave every value of drivers as before" {
	machine cards
	driver_knobs 'interfaces: [eth0, eth1]'
	killed_everywhere 20 apply ./driver
	APPLIED=./driver killed_everywhere 20 restore
}

@test "cards: wrong names and values of what drivers let be set" {
	machine cards
	profile wrong <<-YAML
		channels: {combind: 2}
		rings: {rx: many, tx: -1}
		coalesce: {adaptive_rx: 3, rx_us: max}
		offloads: [gro]
	YAML
	kb plan ./wrong
	echo "$output"
	[ "$status" -eq 2 ]
	for said in "unknown key 'combind' in 'channels'; did you mean 'combined'?" "'rx' must be a number from 0, or max, not 'many'" \
		"'adaptive_rx' must be on or off, not '3'" "'rx_us' must be a number from 0, not 'max'" "'offloads' must be a mapping {name: value}, not a list"; do
		assert_contains "$output" "$said"
	done
	for one in 'offloads: {gro: maybe}' 'channels: {combined: 4294967296}' 'rings: {rx: 1k}' 'coalesce: {}' 'offloads: {gro: [on]}'; do
		profile wrong <<<"$one"
		kb apply ./wrong
		echo "$one: $output"
		[ "$status" -eq 2 ]
	done
	as_before
}

@test "cards: each offload by itself is a knob" {
	machine cards
	driver_knobs 'interfaces: eth1'
	kb plan ./driver --json
	echo "$output" >p.json
	assert_eq "$(json p.json '[s["name"] for s in d["settings"] if s["knob"] == "offloads"], d["settings"][3]["setting"]')" \
		"(['offloads gro', 'offloads tso', 'offloads rx-gro-hw'], {'offloads': {'gro': 'off'}, 'interfaces': 'eth1'})"
}

@test "cards: the profile network-card, and kblat knobs takes it apart" {
	machine cards
	kb apply network-card
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(said eth0 coalesce adaptive_rx rx_us adaptive_tx tx_us)$(said eth0 offloads rx-gro)" \
		"adaptive_rx=off rx_us=0 adaptive_tx=off tx_us=0 rx-gro=off "
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	as_before
	spec small <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200, repetitions: 1, warmup: 0, touch: no}
	YAML
	echo 200 | tee m/sys/class/net/eth0/napi_defer_hard_irqs m.before/sys/class/net/eth0/napi_defer_hard_irqs
	KBTUNE_SYSROOT=$T/m run "$KBLAT" knobs small.yaml --profile network-card --dry-run
	echo "$output"
	[ "$status" -eq 0 ]
	for knob in coalesce 'offloads gro' napi_defer_irqs busy_read busy_poll; do
		[[ $output =~ \'$knob\'\ +tested ]]
	done
	[[ $output =~ \'gro_flush_timeout\'\ +not\ tested:\ changes\ nothing ]]
	# Each has its own reason.
	profile own <<-YAML
		interfaces: eth0
		offloads: {gro: off, gso: off, lro: on, hw-magic: on}
	YAML
	KBTUNE_SYSROOT=$T/m run "$KBLAT" knobs small.yaml --profile own --profile-path "$T" --dry-run
	echo "$output"
	[[ $output =~ \'offloads\ lro\'\ +not\ tested:\ not\ possible\ here:\ rx-lro\ is\ off ]]
	[[ $output =~ \'offloads\ hw-magic\'\ +not\ tested:\ not\ possible\ here:\ its\ driver\ has\ no\ hw-magic ]]
	as_before
}

# -- a real kernel -----------------------------------------------------------------------------------------------------

# in_namespace COMMAND…: in network and mount namespaces of its own, where kbtune has folders of its own.
in_namespace() {
	unshare --net --mount bash -ec 'mount -t tmpfs -o mode=755 t /run; mount -t tmpfs -o mode=755 t /var/lib; mount -t sysfs s /sys; "$@"' - "$@"
}

# What a veth pair of this kernel is set to, as ethtool and sysfs say.
cat_veth() {
	local device
	for device in v0 v1; do
		ethtool -k "$device"
		ethtool -l "$device"
		grep -s . "/sys/class/net/$device"/queues/*/[rx]ps_cpus "/sys/class/net/$device"/{threaded,gro_flush_timeout,napi_defer_hard_irqs} || true
	done
}

on_veth() {
	ip link add v0 numtxqueues 4 numrxqueues 4 type veth peer name v1 numtxqueues 4 numrxqueues 4
	ip link set v0 up
	ip link set v1 up
	echo 1 >/sys/class/net/v0/queues/rx-3/rps_cpus
	echo 1 >/sys/class/net/v1/queues/tx-2/xps_cpus
	cat_veth >before
	"$ROOT/tests/sysroots/machine" record >veth.machine
	"$KBTUNE" plan ./veth --json >live.json
	"$KBTUNE" plan ./veth
	"$KBTUNE" apply ./veth
	"$KBTUNE" verify
	cat_veth >applied
	ethtool -K v1 tso on
	"$KBTUNE" verify && return 1
	"$KBTUNE" restore
	cat_veth >after
	"$KBTUNE" apply ./veth
	ip link del v0
	"$KBTUNE" verify && return 1
	"$KBTUNE" restore
}

@test "cards: a veth pair in a namespace of its own is changed, verified, and restored; then it is removed" {
	need_feature libmnl
	command -v ethtool >/dev/null || skip "needs ethtool"
	in_namespace true 2>/dev/null || skip "needs rights to make namespaces"
	profile veth <<-YAML
		interfaces: [v0, v1]
		channels: {rx: 2, tx: 1}
		rings: {rx: 64}
		coalesce: {rx_us: 0}
		offloads: {tso: off, gro: on, lro: on}
		napi_defer_irqs: 2
		gro_flush_timeout: 20us
		napi_threaded: on
		rps: {cpus: 0}
		xps: spread
	YAML
	export ROOT
	export -f on_veth cat_veth
	run in_namespace bash -exc on_veth
	echo "$output"
	[ "$status" -eq 0 ]
	diff before after
	said=$output
	# Recorded, the same machine has the same plan.
	"$ROOT/tests/sysroots/machine" unpack ./veth.machine m
	kb plan ./veth --json
	echo "$output" >recorded.json
	values='[(s["path"], [sorted(v.items()) if isinstance(v, dict) else v for v in (s["data"].get("had", s["before"]), s["data"].get("want", s["after"]))]) for s in d["steps"]]'
	for part in 'd["impossible"]' "$values"; do
		assert_eq "$(json recorded.json "$part")" "$(json live.json "$part")"
	done
	[ "$(json live.json 'len(d["steps"])')" -ge 20 ]
	for line in 'tx-tcp-segmentation: off' 'generic-receive-offload: on'; do
		[ "$(grep -c -- "$line" applied)" -eq 2 ]
	done
	assert_eq "$(grep -c 'rx-2/rps_cpus' applied) $(grep -h /threaded applied | cut -d: -f2 | tr '\n' ' ')" "0 1 1 "
	output=$said
	assert_contains "$output" "v0 rings: its driver has no such settings"
	assert_contains "$output" "v1 offloads: rx-lro is off, and its driver cannot change that"
	assert_contains "$output" "v0 offloads: tx-tcp-segmentation off"
	assert_contains "$output" "no longer exist: nothing to restore there"
}
