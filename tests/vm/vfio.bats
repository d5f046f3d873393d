#!/usr/bin/env bats
# The transport dpdk over two cards behind an IOMMU, bound to vfio-pci by kbtune: without huge pages, and for a user who is not root. By hand:
#
#   tests/vm/guest --no-rdma --cards --iommu --env KBLAT=$PWD/build/kblat --env KBTUNE=$PWD/build/kbtune -- bats tests/vm/vfio.bats

load dpdk_helper

setup() {
	setup_cards vfio-pci
	[ -e "/sys/bus/pci/devices/${cards[0]}/iommu_group" ] || skip "this machine has no IOMMU"
}

# group_of CARD: the file that programs use it by.
group_of() {
	echo "/dev/vfio/$(basename "$(readlink "/sys/bus/pci/devices/$1/iommu_group")")"
}

# drivers: of both cards, with the names of their interfaces.
drivers() {
	"$KBTUNE" card list
}

@test "vfio-pci: cards carry messages both ways without huge pages, every frame is accounted for, and they come back" {
	drivers >before
	impossible "the card is bound to the kernel's driver e1000e; \`kbtune card bind ${cards[0]}\` hands it over" "${cards[0]}"
	hand_over
	[ "$(drivers | grep -c vfio-pci)" -eq 2 ]
	over "${cards[@]}"
	account
	over "${cards[1]}" "${cards[0]}" --set kernel=stream --set messages=5000 --set check=no
	account
	"$KBTUNE" restore
	drivers | diff before -
}

@test "vfio-pci: a user without rights to an IOMMU group is told which; with them, and locked memory, he needs no others" {
	hand_over
	chmod 777 .
	# over(), as a function, is not there for setpriv.
	as_user() {
		rm -rf runs
		setpriv --reuid=nobody --regid=nogroup --clear-groups "$KBLAT" run c.yaml --no-state --out runs \
			--set source_device="${cards[0]}" --set sink_device="${cards[1]}"
	}
	run as_user
	[[ $output == *"cannot open its IOMMU group: $(group_of "${cards[0]}")"* || $output == *"cannot open its IOMMU group: $(group_of "${cards[1]}")"* ]]
	says "Permission denied; run as root, or give this user the rights to that file"
	[ "$status" -eq 77 ]
	chown nobody "$(group_of "${cards[0]}")" "$(group_of "${cards[1]}")"
	as_user
	account
	ulimit -l 8192
	run as_user
	says "of locked memory and the limit is 8MiB (RLIMIT_MEMLOCK); raise it with \`ulimit -l unlimited\`"
	[ "$status" -eq 77 ]
}

@test "vfio-pci: a card that another program uses is refused, and says by whom, or what the kernel said" {
	hand_over
	sleep 1000 9<>"$(group_of "${cards[1]}")" 3>&- &
	pid=$!
	run over "${cards[@]}"
	says "the program sleep (process $pid) uses this card already"
	[ "$status" -eq 1 ]
	chmod 777 .
	chown nobody "$(group_of "${cards[0]}")" "$(group_of "${cards[1]}")"
	run setpriv --reuid=nobody --regid=nogroup --clear-groups "$KBLAT" run c.yaml --no-state --out theirs \
		--set source_device="${cards[0]}" --set sink_device="${cards[1]}"
	kill $pid
	says "no driver of DPDK here has taken this card: EAL: "
	says "Device or resource busy"
	[ "$status" -eq 77 ]
}
