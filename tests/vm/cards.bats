#!/usr/bin/env bats
# kbtune on network cards whose drivers are real: an e1000e and a virtio-net that QEMU emulates, and a veth pair. By hand:
#
#   tests/vm/guest --no-rdma --cards --env KBTUNE=$PWD/build/kbtune --env KBLAT=$PWD/build/kblat -- bats tests/vm/cards.bats

load host

# card_of DRIVER: the name of its interface.
card_of() {
	local link
	for link in /sys/class/net/*/device/driver; do
		[[ $(readlink "$link") != */"$1" ]] || basename "${link%/device/driver}"
	done
}

setup() {
	T=$(mktemp -d)
	modprobe -a e1000e virtio_net veth
	INTEL=$(card_of e1000e)
	VIRTIO=$(card_of virtio_net)
	[ -e /sys/class/net/v0 ] || ip link add v0 numtxqueues 4 numrxqueues 4 type veth peer name v1 numtxqueues 4 numrxqueues 4
	for card in "$INTEL" "$VIRTIO" v0 v1; do
		ip link set "$card" up
	done
	cards >"$T/before"
}

# What ethtool and sysfs say of all cards.
cards() {
	local card
	for card in "$INTEL" "$VIRTIO" v0; do
		for what in -c -g -l -k; do
			ethtool "$what" "$card" 2>&1 || true
		done
		grep -s . "/sys/class/net/$card"/queues/*/[rx]ps_cpus "/sys/class/net/$card"/{threaded,gro_flush_timeout,napi_defer_hard_irqs} || true
	done
	cat /proc/sys/net/core/busy_read /proc/sys/net/core/busy_poll
}

cards_as_before() {
	cards | diff "$T/before" -
}

# profile NAME <<YAML
profile() {
	mkdir -p "$T/$1"
	{
		echo 'kbtune: 1'
		cat
	} >"$T/$1/profile.yaml"
}

@test "cards: an e1000e rounds what it is asked for and lacks some of it; all is verified and restored" {
	profile intel <<-YAML
		interfaces: $INTEL
		channels: {combined: 2}
		rings: {rx: 300, tx: max}
		coalesce: {rx_us: 0, adaptive_rx: off}
		offloads: {tso: off, gro: off, lro: off}
		napi_defer_irqs: 2
		gro_flush_timeout: 20us
		napi_threaded: on
		rps: {cpus: 2-3}
	YAML
	run "$KBTUNE" apply "$T/intel"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"$INTEL rings: the card's driver made it rx 304, tx 4096, not rx 300, tx 4096"* ]]
	"$KBTUNE" plan "$T/intel" | grep -F "$INTEL coalesce: its driver has no adaptive_rx"
	[ "$(ethtool -c "$INTEL" | awk '/^rx-usecs:/ { print $2 }')" = 0 ]
	[ "$(ethtool -g "$INTEL" | awk '/^RX:/ { print $2 }' | tr '\n' ' ')" = "4096 304 " ]
	ethtool -k "$INTEL" | grep -q 'tx-tcp-segmentation: off'
	[ "$(cat "/sys/class/net/$INTEL"/{threaded,queues/rx-0/rps_cpus} | tr '\n' ' ')" = "1 c " ]
	"$KBTUNE" verify
	ethtool -G "$INTEL" rx 512
	run "$KBTUNE" verify
	[ "$status" -eq 3 ]
	[[ $output == *"$INTEL rings: rx 304, tx 4096 -> rx 512"* ]]
	"$KBTUNE" restore
	cards_as_before
}

@test "cards: what a driver refuses is said in its words, and the rest is applied; --strict undoes all" {
	profile refused <<-YAML
		interfaces: $INTEL
		coalesce: {rx_us: 20000}
		offloads: {gro: off}
	YAML
	run "$KBTUNE" apply "$T/refused"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"$INTEL coalesce: the card's driver does not allow it ("*"): it stays rx_us "* ]]
	ethtool -k "$INTEL" | grep -q 'generic-receive-offload: off'
	"$KBTUNE" verify
	"$KBTUNE" restore
	cards_as_before
	run "$KBTUNE" apply "$T/refused" --strict
	[ "$status" -eq 77 ]
	cards_as_before
}

@test "cards: the profile network-card, and more, on all of them at once, virtio-net and a veth pair included" {
	profile all <<-YAML
		include: network-card
		interfaces: [$INTEL, $VIRTIO, v0]
		channels: {rx: 2, tx: 1}
		rings: {rx: 128}
		napi_threaded: on
		rps: {cpus: 1}
	YAML
	echo 4 >/sys/class/net/v0/queues/rx-3/rps_cpus
	cards >"$T/before"
	run "$KBTUNE" apply "$T/all"
	echo "$output"
	[ "$status" -eq 0 ]
	"$KBTUNE" verify
	[ "$(cat /proc/sys/net/core/busy_poll)" = 50 ]
	[ ! -e /sys/class/net/v0/queues/rx-3 ]
	[ "$(cat "/sys/class/net/$VIRTIO/threaded" /sys/class/net/v0/queues/rx-1/rps_cpus | tr '\n' ' ')" = "1 2 " ]
	"$KBTUNE" restore
	cards_as_before
	[ "$(cat /sys/class/net/v0/queues/rx-3/rps_cpus)" = 4 ]
	echo 0 >/sys/class/net/v0/queues/rx-3/rps_cpus
}

@test "cards: killed after writes, restore puts all of them back" {
	profile all <<-YAML
		interfaces: [$INTEL, v0]
		channels: {rx: 2, tx: 1}
		rings: {rx: 128, tx: 128}
		coalesce: {rx_us: 0}
		offloads: {tso: off}
		gro_flush_timeout: 20us
		rps: {cpus: 1}
	YAML
	n=1
	while :; do
		status=0
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" apply "$T/all" >"$T/out" 2>&1) 2>/dev/null || status=$?
		"$KBTUNE" restore
		cards_as_before
		[ "$status" -eq 137 ] || break
		n=$((n + 2))
	done
	[ "$status" -eq 0 ]
	[ "$n" -ge 7 ]
}

@test "cards: one whose driver is unbound has drifted, and there is nothing to restore" {
	profile intel <<-YAML
		interfaces: [$INTEL, $VIRTIO]
		rings: {rx: 128}
		gro_flush_timeout: 20us
	YAML
	"$KBTUNE" apply "$T/intel"
	device=$(basename "$(readlink -f "/sys/class/net/$INTEL/device")")
	echo "$device" >/sys/bus/pci/drivers/e1000e/unbind
	run "$KBTUNE" verify
	[ "$status" -eq 3 ]
	[[ $output == *"$INTEL rings: rx 128 -> unreadable:"* ]]
	run "$KBTUNE" restore
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"no longer exist"* ]]
	[ "$(cat "/sys/class/net/$VIRTIO/gro_flush_timeout")" = 0 ]
	echo "$device" >/sys/bus/pci/drivers/e1000e/bind
}

# pollers: the CPUs on which threads that poll cards may run.
pollers() {
	local name
	for name in /proc/[0-9]*/comm; do
		[[ $(<"$name") != napi/* ]] || grep -h Cpus_allowed_list "${name%/comm}/status"
	done 2>/dev/null | cut -f 2 | sort -u
}

@test "cards: the threads that poll them stay off the shields, too" {
	profile quiet <<-YAML
		include: isolated
		interfaces: [$INTEL, $VIRTIO]
		napi_threaded: on
	YAML
	run "$KBTUNE" apply "$T/quiet"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(pollers)" = 0-2 ]
	"$KBTUNE" verify
	"$KBTUNE" restore
	# They are still there, asleep.
	[ "$(pollers)" = 0-3 ]
	cards_as_before
}

@test "cards: kblat state diff shows what was changed" {
	profile intel <<-YAML
		interfaces: $INTEL
		rings: {rx: 128}
		coalesce: {rx_us: 0}
		offloads: {gro: off}
		napi_defer_irqs: 2
		gro_flush_timeout: 20us
		napi_threaded: on
		rps: {cpus: 1}
		busy_read: 50us
	YAML
	"$KBLAT" state capture "$T/old"
	"$KBTUNE" apply "$T/intel"
	"$KBLAT" state capture "$T/new"
	run "$KBLAT" state diff "$T/old" "$T/new"
	echo "$output" | grep -E "net\.|busy"
	for key in ring.rx coalesce.rx_us feature.rx-gro defer_irqs gro_flush_ns threaded rps.; do
		[[ $output == *"net.$INTEL.$key"* ]]
	done
	[[ $output == *net.core.busy_read* ]]
	"$KBTUNE" restore
}
