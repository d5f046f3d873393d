#!/usr/bin/env bats
# The knob `bind` and `kbtune card`, on a recorded machine: what is bound and put back, and what is refused because the system
# needs it. tests/vm/dpdk.bats does it with cards.

load helper
load kbtune_helper

# driver CARD: the one that has it.
driver() {
	basename "$(readlink "m/sys/bus/pci/devices/0000:$1:00.0/driver")"
}

# refused CARD WORDS
refused() {
	profile one <<-YAML
		bind: {$1: vfio-pci}
	YAML
	for command in "apply ./one" "plan ./one" "card bind $1"; do
		# shellcheck disable=SC2086
		kb $command
		echo "$command: $output"
		[ "$status" -eq 77 ]
		assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "$2"
		as_before
	done
}

@test "bind: a card is planned, bound, seen by status and verify, and put back with its interface's settings" {
	machine pci-cards
	profile dpdk <<-YAML
		bind: {eth1: vfio-pci, 09:00.0: uio_pci_generic}
		interfaces: [eth0, eth1]
		rings: {rx: 256}
		sysctl: {net.ipv4.conf.*.rp_filter: 1}
	YAML
	kb plan ./dpdk
	echo "$output"
	[ "$status" -eq 0 ]
	said=$(tr -s ' \n' ' ' <<<"$output")
	assert_contains "$said" "bind /sys/bus/pci/devices/0000:06:00.0/driver: e1000e -> vfio-pci"
	assert_contains "$said" "bind /sys/bus/pci/devices/0000:09:00.0/driver: no driver -> uio_pci_generic"
	assert_contains "$said" "while 0000:06:00.0 is bound to vfio-pci, the system does not have eth1; restored with the card: name,"
	assert_contains "$said" "0000:09:00.0 is behind an IOMMU, which does not let it use the physical addresses"
	# What will be gone has no other changes.
	assert_contains "$said" "eth0 rings: rx 512 -> rx 256"
	[[ $said != *"eth1 rings:"* && $said != *"conf/eth1/rp_filter: 2 -> 1"* ]]
	kb plan ./dpdk --json
	echo "$output" >p.json
	assert_eq "$(json p.json 'd["gone"]')" "['eth1']"
	as_before

	kb apply ./dpdk
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(driver 06) $(driver 09) $(value /sys/bus/pci/devices/0000:06:00.0/driver_override)" "vfio-pci uio_pci_generic vfio-pci"
	kb verify
	[ "$status" -eq 0 ]
	kb status
	assert_contains "$(tr -s ' ' <<<"$output")" "bound_cards 0000:06:00.0 vfio-pci, 0000:09:00.0 uio_pci_generic"
	kb card list
	assert_contains "$(tr -s ' ' <<<"$output")" "0000:06:00.0 vfio-pci eth1 no"

	# Somebody takes it, and an interface that comes back is a new one.
	ln -sfn ../../../bus/pci/drivers/pcieport m/sys/bus/pci/devices/0000:06:00.0/driver
	kb verify
	[ "$status" -eq 3 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "/sys/bus/pci/devices/0000:06:00.0/driver: vfio-pci -> pcieport"
	ln -sfn ../../../bus/pci/drivers/vfio-pci m/sys/bus/pci/devices/0000:06:00.0/driver
	echo 1500 >m/sys/class/net/eth1/mtu
	echo 512 >m/sys/class/net/eth1/tx_queue_len
	echo 1 >m/proc/sys/net/ipv4/conf/eth1/rp_filter
	echo 64 >m/ethtool/eth1/rings/rx
	echo 1 >m/ethtool/eth1/channels/combined
	kb restore
	echo "$output"
	[ "$status" -eq 0 ]
	as_before
}

@test "bind: a card that carries something, or is up, is refused, with the command that frees it where nothing depends on it" {
	machine pci-cards
	refused eth0 "0000:05:00.0: cannot take it from the kernel: the default route goes over eth0"
	[[ $output != *"ip link"* ]]
	refused 0000:07:00.0 "0000:07:00.0: cannot take it from the kernel: eth2 is part of bond0, or below it; take it out of that first"
	# The bond carries the default route, then the session, then a mount; and in the end nothing but itself.
	sed -i 's/^eth0/bond0/' m/proc/net/route
	cp m/proc/net/route m.before/proc/net/route
	refused eth2 "the default route goes over bond0"
	echo 198.51.100.9 | tee m/addresses/bond0 >m.before/addresses/bond0
	printf 'bond0\t006433C6\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n' | tee m/proc/net/route >m.before/proc/net/route
	SSH_CONNECTION='203.0.113.1 50000 198.51.100.9 22' refused eth2 "your session comes over bond0"
	chmod u+w m{,.before}/proc/self/mountinfo
	echo '41 1 0:40 / / rw shared:1 - nfs4 198.51.100.10:/srv rw,vers=4.2,clientaddr=198.51.100.9,addr=198.51.100.10' |
		tee -a m/proc/self/mountinfo >>m.before/proc/self/mountinfo
	refused eth2 "storage of the host 198.51.100.10 is mounted over bond0"
	sed -i 's/addr=198.51.100.10/addr=203.0.113.10/' m{,.before}/proc/self/mountinfo
	rm m{,.before}/sys/class/net/eth2/upper_bond0
	refused eth2 "its interface eth2 is up; run \`ip link set eth2 down\` first, and see to it that nothing sets it up again"
	echo 0x1002 | tee m/sys/class/net/eth2/flags >m.before/sys/class/net/eth2/flags
	echo 192.0.2.9 | tee m/addresses/eth2 >m.before/addresses/eth2
	refused eth2 "its interface eth2 is down, with 192.0.2.9; run \`ip address flush dev eth2\` first"
	# An IPv6 default route, iSCSI, NVMe over TCP, virtual functions, and an interface in another namespace.
	printf '%032d 00 %032d 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth1\n' 0 0 |
		tee m/proc/net/ipv6_route >m.before/proc/net/ipv6_route
	refused eth1 "the default route goes over eth1"
	printf '20010db8000000000000000000000000 40 %032d 00 %032d 00000400 00000001 00000000 00000001     eth1\n' 0 0 |
		tee m/proc/net/ipv6_route >m.before/proc/net/ipv6_route
	for root in m m.before; do
		mkdir -p $root/sys/class/nvme/nvme7
		echo 'traddr=2001:db8::5,trsvcid=4420' >$root/sys/class/nvme/nvme7/address
	done
	refused eth1 "storage of the host '2001:db8::5' is mounted over eth1"
	rm -r m{,.before}/proc/net/ipv6_route
	echo 2 | tee m/sys/bus/pci/devices/0000:06:00.0/sriov_numvfs >m.before/sys/bus/pci/devices/0000:06:00.0/sriov_numvfs
	refused eth1 "it has 2 virtual functions, which would be gone; first \`echo 0 >/sys/bus/pci/devices/0000:06:00.0/sriov_numvfs\`"
	rm m{,.before}/sys/class/net/eth1 m{,.before}/sys/bus/pci/devices/0000:06:00.0/sriov_numvfs
	refused 06:00.0 "e1000e has it, and it has no interface here: that is in another network namespace"
}

@test "bind: what the machine lacks is said with what helps, and left out; the rest of the profile is applied" {
	machine pci-cards
	profile some <<-YAML
		bind: {eth3: vfio-pci, eth5: vfio-pci, "0000:0f:00.0": vfio-pci}
		ksm: off
		thp: never
	YAML
	kb plan ./some
	said=$(tr -s ' \n' ' ' <<<"$output")
	echo "$said"
	[ "$status" -eq 0 ]
	assert_contains "$said" "bind 0000:08:00.0: vfio-pci needs an IOMMU, and this card has none"
	assert_contains "$said" "bind 0000:0a:00.0: DPDK uses cards of mlx5_core without taking them from the kernel"
	assert_contains "$said" "bind 0000:0f:00.0: it is no network card"
	kb card bind eth3
	[ "$status" -eq 77 ]
	assert_contains "$output" "uio_pci_generic needs none"
	kb apply ./some --strict
	[ "$status" -eq 77 ]
	as_before
	kb apply ./some
	[ "$status" -eq 0 ]
	assert_eq "$(driver 08) $(value /sys/kernel/mm/transparent_hugepage/enabled)" "virtio-pci always madvise [never]"
	kb restore
	as_before
	rm -r m{,.before}/sys/bus/pci/drivers/vfio-pci
	kb card bind eth1
	[ "$status" -eq 77 ]
	assert_contains "$output" "the driver vfio-pci is not loaded; \`modprobe vfio-pci\` does that"
	# All of an IOMMU group, or nothing.
	for root in m m.before; do
		mkdir $root/sys/bus/pci/drivers/vfio-pci
		ln -s ../../../../devices/pci0000:00/0000:09:00.0 $root/sys/kernel/iommu_groups/1/devices/0000:09:00.0
		ln -s ../../../bus/pci/drivers/pcieport $root/sys/bus/pci/devices/0000:09:00.0/driver
	done
	kb card bind eth1 --dry-run
	[[ $output != *"IOMMU group"* ]]
	ln -sfn ../../../bus/pci/drivers/e1000e m/sys/bus/pci/devices/0000:09:00.0/driver
	kb card bind eth1 --dry-run
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "0000:06:00.0 is in IOMMU group 1 together with 0000:09:00.0, which e1000e has: no program can use the card"
}

@test "bind: faults of a profile are told together, at their lines" {
	machine pci-cards
	profile wrong <<-YAML
		bind:
		  eth9: vfio-pci
		  eth1: e1000e
		  eth3: [vfio-pci]
		  09:00.0: uio_pci_generic
		  0000:09:00.0: vfio-pci
	YAML
	kb apply ./wrong
	echo "$output"
	[ "$status" -eq 2 ]
	assert_contains "$output" "there is no network card 'eth9' here"
	assert_contains "$output" "'eth1' must be vfio-pci or uio_pci_generic, not 'e1000e'"
	assert_contains "$output" "'eth3' must be vfio-pci or uio_pci_generic"
	assert_contains "$output" "'0000:09:00.0' is the card 0000:09:00.0, which has a driver already"
	for value in vfio-pci '[eth1]' '{}'; do
		profile wrong <<<"bind: $value"
		kb apply ./wrong
		[ "$status" -eq 2 ]
		assert_contains "$output" "'bind' must be a mapping {card: driver}"
	done
	kb card bind eth9
	[ "$status" -eq 2 ]
	assert_contains "$output" "there is no such card, see kbtune card list"
	kb card bind eth1 --driver e1000e
	[ "$status" -eq 2 ]
	as_before
}

@test "bind: a driver that refuses the card, or whose module is gone, undoes all; --without leaves it out" {
	machine pci-cards
	echo '/sys/bus/pci/drivers/vfio-pci/bind write EINVAL' | tee m/habits >m.before/habits
	profile one <<-YAML
		bind: {eth1: vfio-pci}
		ksm: off
	YAML
	kb apply ./one
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "0000:06:00.0: cannot bind it: vfio-pci: invalid argument; this kernel has no VFIO without an IOMMU; everything is as before"
	as_before
	kb apply ./one --without bind
	[ "$status" -eq 0 ]
	assert_eq "$(driver 06)" e1000e
	kb restore
	as_before
	# The way back is closed: it says so, and works later.
	echo '/sys/bus/pci/drivers/e1000e/bind write ENOENT' | tee m/habits >m.before/habits
	kb card bind eth1
	[ "$status" -eq 0 ]
	kb card restore
	[ "$status" -eq 1 ]
	assert_contains "$output" "the driver e1000e is not there; \`modprobe e1000e\` loads it"
	rm m{,.before}/habits
	kb card restore
	[ "$status" -eq 0 ]
	assert_contains "$output" "1 cards are as before"
	as_before
}

# bats test_tags=long
@test "bind: killed after any of its writes, in apply, in restore and as a single command, restore puts everything back" {
	machine pci-cards
	profile dpdk <<-YAML
		bind: {eth1: vfio-pci, eth3: uio_pci_generic, 09:00.0: vfio-pci}
		ksm: off
	YAML
	killed_everywhere 8 apply ./dpdk
	killed_everywhere 5 card bind eth1 09:00.0
	APPLIED=./dpdk killed_everywhere 8 restore
}
