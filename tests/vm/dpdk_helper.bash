# Two cards that QEMU emulates and joins, an e1000e and a virtio-net, which are handed over to DPDK. To be sourced by tests.
# shellcheck shell=bash

# setup_cards DRIVER: of kbtune's; needs the kernel's modules of its name and of the cards.
setup_cards() {
	driver=$1
	T=$(mktemp -d)
	cd "$T" || return 1
	KBTUNE=${KBTUNE:-$(dirname -- "$KBLAT")/kbtune}
	[[ $("$KBLAT" --version) != *"without DPDK"* ]] || skip "this build is without DPDK"
	modprobe -a e1000e virtio_net "$driver" || skip "the kernel has no $driver"
	mapfile -t cards < <(grep -l 0x020000 /sys/bus/pci/devices/*/class | xargs -n 1 dirname | xargs -n 1 basename)
	cat >c.yaml <<-'YAML'
		kblat: 1
		name: c
		settings: {transport: dpdk, kernel: pingpong, size: 64, messages: 300, repetitions: 1, warmup: 20, check: yes, descriptors: 256, cache: 32}
	YAML
	for card in "${cards[@]}"; do
		[ -e "/sys/bus/pci/devices/$card/driver" ] || echo "$card" >/sys/bus/pci/drivers_probe
	done
}

teardown() {
	"$KBTUNE" restore || true
	cd /
	rm -rf "$T"
}

# interface_of CARD: the kernel's.
interface_of() {
	local link
	for link in /sys/class/net/*; do
		[[ $(readlink "$link") != */"$1"/* ]] || basename "$link"
	done
}

hand_over() {
	"$KBTUNE" card bind --driver "$driver" "${cards[@]}"
}

# over SOURCE SINK OPTION…: the only run in the folder runs.
over() {
	rm -rf runs
	"$KBLAT" run c.yaml --no-state --out runs --set source_device="$1" --set sink_device="$2" "${@:3}"
}

# says WORDS: the output, whatever its lines.
says() {
	echo "$output"
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"$1"* ]]
}

# impossible WORDS SINK OPTION…
impossible() {
	run over "${cards[0]}" "${@:2}"
	says "$1"
	[ "$status" -eq 77 ]
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
