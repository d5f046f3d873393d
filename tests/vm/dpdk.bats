#!/usr/bin/env bats
# The transport dpdk over two cards that QEMU emulates and joins, an e1000e and a virtio-net, taken from the kernel by
# uio_pci_generic. By hand:
#
#   tests/vm/guest --no-rdma --cards --env KBLAT=$PWD/build/kblat -- bats tests/vm/dpdk.bats

setup() {
	T=$(mktemp -d)
	cd "$T" || return 1
	[[ $("$KBLAT" --version) != *"without DPDK"* ]] || skip "this build is without DPDK"
	modprobe -a e1000e virtio_net uio_pci_generic || skip "the kernel has no uio_pci_generic"
	mapfile -t cards < <(grep -l 0x020000 /sys/bus/pci/devices/*/class | xargs -n 1 dirname | xargs -n 1 basename)
	cat >c.yaml <<-'YAML'
		kblat: 1
		name: c
		settings: {transport: dpdk, kernel: pingpong, size: 64, messages: 300, repetitions: 1, warmup: 20, check: yes, huge: yes, descriptors: 256, cache: 32}
	YAML
	echo 100 >/proc/sys/vm/nr_hugepages
}

teardown() {
	cd /
	rm -rf "$T"
}

# bind_to DRIVER CARD
bind_to() {
	local path=/sys/bus/pci/devices/$2
	[ ! -e "$path/driver" ] || echo "$2" >"$path/driver/unbind"
	echo "$1" >"$path/driver_override"
	echo "$2" >/sys/bus/pci/drivers_probe
	[[ $(readlink "$path/driver") == */"$1" ]]
}

hand_over() {
	local card
	for card in "${cards[@]}"; do
		bind_to uio_pci_generic "$card"
	done
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
	bind_to e1000e "${cards[0]}"
	impossible "dpdk ${cards[0]}: the card is bound to the kernel's driver e1000e; \`dpdk-devbind.py --bind=vfio-pci ${cards[0]}\` hands it over" "${cards[0]}"
	echo "${cards[0]}" >"/sys/bus/pci/devices/${cards[0]}/driver/unbind"
	impossible "dpdk ${cards[0]}: the card is bound to no driver" "${cards[0]}"
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
