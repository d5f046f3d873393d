#!/usr/bin/env bats
# The transport dpdk over two cards that QEMU emulates and joins, an e1000e and a virtio-net, taken from the kernel by
# uio_pci_generic, with kbtune. By hand:
#
#   tests/vm/guest --no-rdma --cards --env KBLAT=$PWD/build/kblat --env KBTUNE=$PWD/build/kbtune -- bats tests/vm/dpdk.bats

setup() {
	T=$(mktemp -d)
	cd "$T" || return 1
	KBTUNE=${KBTUNE:-$(dirname -- "$KBLAT")/kbtune}
	[[ $("$KBLAT" --version) != *"without DPDK"* ]] || skip "this build is without DPDK"
	modprobe -a e1000e virtio_net uio_pci_generic || skip "the kernel has no uio_pci_generic"
	mapfile -t cards < <(grep -l 0x020000 /sys/bus/pci/devices/*/class | xargs -n 1 dirname | xargs -n 1 basename)
	cat >c.yaml <<-'YAML'
		kblat: 1
		name: c
		settings: {transport: dpdk, kernel: pingpong, size: 64, messages: 300, repetitions: 1, warmup: 20, check: yes, huge: yes, descriptors: 256, cache: 32}
	YAML
	echo 100 >/proc/sys/vm/nr_hugepages
	for card in "${cards[@]}"; do
		[ -e "/sys/bus/pci/devices/$card/driver" ] || echo "$card" >/sys/bus/pci/drivers_probe
	done
}

teardown() {
	"$KBTUNE" restore || true
	cd /
	rm -rf "$T"
}

hand_over() {
	"$KBTUNE" card bind --driver uio_pci_generic "${cards[@]}"
}

# over SOURCE SINK OPTION…: the only run in the folder runs.
over() {
	rm -rf runs
	"$KBLAT" run c.yaml --no-state --out runs --set source_device="$1" --set sink_device="$2" "${@:3}"
}

# impossible WORDS SINK OPTION…
impossible() {
	run over "${cards[0]}" "${@:2}"
	echo "$output"
	[ "$status" -eq 77 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"$1"* ]]
}

# account: every message of a run was received or is lost, and the ports sent and received as many frames, but for those lost.
account() {
	/usr/bin/python3 -IS - <<-'PY'
		import glob, json
		(summary,), points = glob.glob("runs/*/summary.json"), 0
		for point in json.load(open(summary))["points"]:
		    counters, = glob.glob(f"runs/*/points/{point['id']:04}/rep-00/counters.json")
		    d = json.load(open(counters))
		    device = d["device"]
		    rise = lambda side, key: device[side]["after"][key] - device[side]["before"][key]
		    for one, other in ("source", "sink"), ("sink", "source"):
		        assert rise(one, "opackets") == d[one]["posted"], (one, device)
		        received = d[other]["received"] + rise(other, "late_messages") + rise(other, "other_frames")
		        assert rise(other, "ipackets") == received, (other, device)
		    assert d["source"]["posted"] == d["sink"]["received"] + point["loss"]["lost"], (d, point)
		    points += 1
		assert points
	PY
}

@test "dpdk: cards that the kernel has, that nobody has, and without huge pages, are refused with the command that helps" {
	impossible "dpdk ${cards[0]}: the card is bound to the kernel's driver e1000e; \`kbtune card bind ${cards[0]} --driver uio_pci_generic\` hands it over" "${cards[0]}"
	echo "${cards[0]}" >"/sys/bus/pci/devices/${cards[0]}/driver/unbind"
	impossible "dpdk ${cards[0]}: the card is bound to no driver; \`kbtune card bind" "${cards[0]}"
	echo "${cards[0]}" >/sys/bus/pci/drivers_probe
	hand_over
	impossible "a card that is bound to uio_pci_generic uses physical addresses: set huge: yes" "${cards[1]}" --set huge=no
	echo 0 >/proc/sys/vm/nr_hugepages
	impossible "huge: yes, and no huge page is free" "${cards[1]}"
}

@test "dpdk: an e1000e and a virtio-net carry messages both ways, and every frame is accounted for" {
	hand_over
	over "${cards[@]}"
	account
	over "${cards[1]}" "${cards[0]}" --set kernel=oneway --set check=no
	account
	over "${cards[@]}" --set kernel=stream --set messages=20000
	account
}

@test "dpdk: a card that another program or another run drives is refused, and says by whom" {
	hand_over
	sleep 1000 9<>/dev/uio0 3>&- &
	pid=$!
	run over "${cards[@]}"
	echo "$output"
	kill $pid
	[ "$status" -eq 1 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"the program sleep (process $pid) uses this card already"* ]]
	run over "${cards[0]}" "${cards[0]}"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"another side of a point uses this card; each side needs its own"* ]]
}

# interface_of CARD
interface_of() {
	local link
	for link in /sys/class/net/*; do
		[[ $(readlink "$link") != */"$1"/* ]] || basename "$link"
	done
}

# settings CARD: what is to come back with its interface.
settings() {
	local name
	name=$(interface_of "$1")
	echo "$1 $(readlink "/sys/bus/pci/devices/$1/driver") $(cat "/sys/bus/pci/devices/$1/driver_override") $name"
	grep -s . /sys/class/net/"$name"/{address,mtu,tx_queue_len,flags,gro_flush_timeout} /proc/sys/net/ipv[46]/conf/"$name"/* || true
	for what in -g -k -c -l; do
		ethtool $what "$name" 2>&1 || true
	done
}

# both_settings
both_settings() {
	settings "${cards[0]}"
	settings "${cards[1]}"
}

@test "kbtune card: one that is used is refused; what was set for it comes back, also its name and address" {
	name=$(interface_of "${cards[0]}")
	ip link set "$name" up
	run "$KBTUNE" card bind "$name" --driver uio_pci_generic
	echo "$output"
	[ "$status" -eq 77 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"${cards[0]}: cannot take it from the kernel: its interface $name is up"*"run \`ip link set $name down"* ]]
	ip link set "$name" down
	ip address add 192.0.2.77/24 dev "$name"
	run "$KBTUNE" card bind "$name" --driver uio_pci_generic
	[ "$status" -eq 77 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"is down, with 192.0.2.77; run \`ip address flush dev $name\` first"* ]]
	ip address flush dev "$name"
	ip link set "$name" name lan7 address 02:00:00:00:00:77 mtu 1400
	echo 1 >/proc/sys/net/ipv4/conf/lan7/rp_filter
	ethtool -G lan7 rx 512
	ethtool -K lan7 tso off
	both_settings >before
	run "$KBTUNE" card list
	echo "$output"
	run "$KBTUNE" card bind lan7 "${cards[1]}"
	echo "$output"
	# Debian's kernel has no VFIO without an IOMMU.
	[ "$status" -eq 77 ]
	both_settings | diff before -
	run hand_over
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"the system does not have lan7"* ]]
	[ ! -e /sys/class/net/lan7 ]
	"$KBTUNE" verify
	[[ $("$KBTUNE" status | tr -s ' ') == *"bound_cards ${cards[0]} uio_pci_generic, ${cards[1]} uio_pci_generic"* ]]

	# Somebody gives one back himself, and it gets another name.
	echo >"/sys/bus/pci/devices/${cards[1]}/driver_override"
	echo "${cards[1]}" >"/sys/bus/pci/devices/${cards[1]}/driver/unbind"
	echo "${cards[1]}" >/sys/bus/pci/drivers_probe
	run "$KBTUNE" verify
	echo "$output"
	[ "$status" -eq 3 ]
	sleep 1000 9<>/dev/uio0 3>&- &
	pid=$!
	run "$KBTUNE" restore
	echo "$output"
	kill $pid
	[ "$status" -eq 1 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"the program sleep (process $pid) uses it"* ]]
	"$KBTUNE" restore
	both_settings | diff before -
}

@test "kbtune card: killed after any of its writes, restore brings the cards back" {
	both_settings >before
	killed=137
	for ((n = 0; killed == 137; n++)); do
		killed=0
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" card bind --driver uio_pci_generic "${cards[@]}") >/dev/null 2>&1 || killed=$?
		"$KBTUNE" restore
		both_settings | diff before -
	done
	[ $n -gt 6 ]
	killed=137
	for ((n = 0; killed == 137; n++)); do
		hand_over
		killed=0
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" restore) >/dev/null 2>&1 || killed=$?
		"$KBTUNE" restore || [ $killed -eq 0 ]
		both_settings | diff before -
	done
	[ $n -gt 6 ]
}
