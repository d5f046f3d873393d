#!/usr/bin/env bats
# The transport dpdk between two hosts, each with a card behind an IOMMU, as docs/cards.md says. In the first of two guests:
#
#     tests/vm/pair --cards --iommu --env KBLAT=$PWD/build/kblat -- bats tests/vm/pair_cards.bats

load ../cli/helper
load pair_helper
load dpdk_helper

# there COMMAND…: on the other host.
there() { ssh "$other" "$@"; }

setup() {
	need_two_guests
	setup_cards vfio-pci
	there modprobe -a virtio_net vfio-pci
	own=$(card_of) far=$(there "$(declare -f card_of); card_of")
}

# card_of: the card that is not the link's.
card_of() {
	grep -l 0x020000 /sys/bus/pci/devices/*/class | xargs -n 1 dirname | xargs -n 1 basename | grep -v "$(basename "$(readlink -f /sys/class/net/eth0/device/..)")"
}

@test "dpdk between two hosts: cards that kbtune has bound carry messages, every frame is accounted for, and they become the kernel's again" {
	"$KBTUNE" card list >before
	there "$KBTUNE" card list >before.there
	"$KBTUNE" card bind "$own"
	there "$KBTUNE" card bind "$far"
	over "$own" "$far" --sink "ssh $other"
	account
	sed -i "s/, check: yes//" c.yaml
	# A card has one user: the measured endpoints compare the clocks. The bound of the result is about the latency itself.
	run over "$own" "$far" --sink "ssh $other" --set kernel=exchange
	assert_measured "the error of the clock between"
	account
	assert_eq "$(json runs/*/points/0000/point.json 'd["clock"]["method"], d["clock"]["stepped"]')" "('exchange', False)"
	assert_eq "$(json runs/*/points/0000/point.json '"kblat-guest-2" in str(d)')" True
	"$KBTUNE" card restore
	there "$KBTUNE" card restore
	"$KBTUNE" card list | diff before -
	there "$KBTUNE" card list | diff before.there -
}

@test "xdp between two hosts: one way, the clocks are compared over the card" {
	ip address add 198.51.100.1/24 dev "$(interface_of "$own")"
	ip link set "$(interface_of "$own")" up
	there "$(declare -f interface_of); ip address add 198.51.100.2/24 dev \"\$(interface_of $far)\"; ip link set \"\$(interface_of $far)\" up"
	cat >c.yaml <<-'YAML'
		kblat: 1
		name: c
		settings: {transport: xdp, mode: generic, size: 64, messages: 100, repetitions: 1, warmup: 20, source_address: 198.51.100.1, sink_address: 198.51.100.2}
		matrix: [{kernel: [pingpong, oneway]}]
	YAML
	run "$KBLAT" run c.yaml --no-state --out runs --sink "ssh $other"
	assert_measured "the error of the clock between"
	[[ $output != *"! point 0"* ]]
	assert_eq "$(json runs/*/points/0001/point.json 'd["clock"]["method"], d["clock"]["stepped"]')" "('exchange', False)"
}
