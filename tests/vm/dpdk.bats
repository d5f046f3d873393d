#!/usr/bin/env bats
# The transport dpdk over two cards that QEMU emulates and joins, an e1000e and a virtio-net, taken from the kernel by
# uio_pci_generic, with kbtune. By hand:
#
#   tests/vm/guest --no-rdma --cards --env KBLAT=$PWD/build/kblat --env KBTUNE=$PWD/build/kbtune -- bats tests/vm/dpdk.bats

load dpdk_helper

setup() {
	setup_cards uio_pci_generic
	sed -i 's/check: yes/&, huge: yes/' c.yaml
	echo 100 >/proc/sys/vm/nr_hugepages
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

@test "dpdk: a card whose link goes while messages are measured ends the run with one message; without a link, none begins" {
	hand_over
	for card in e1000e virtio-net; do
		rm -rf runs
		over "${cards[@]}" --set repetitions=1000 >out 2>err &
		pid=$!
		for ((n = 0; n < 300; n++)); do
			! compgen -G "runs/*/points/0000/rep-00/counters.json" || break
			sleep 0.2
		done
		echo "$card off" >/run/cables
		status=0
		wait $pid || status=$?
		output=$(<err)
		says "the port has lost its link"
		[ "$status" -eq 1 ]
		[ "$(grep -c 'point 0 (1 of 1): failed' err)" -eq 1 ]
		run over "${cards[@]}"
		says "the port has had no link for 8 s; is its cable plugged in"
		[ "$status" -eq 1 ]
		echo "$card on" >/run/cables
		over "${cards[@]}"
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
