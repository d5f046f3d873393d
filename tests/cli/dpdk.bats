#!/usr/bin/env bats
# The transport dpdk: both sides joined by memif, for which they need no rights, or by af_packet over two cards: a veth pair in
# namespaces that a test makes.

load helper

# A point that lasts until it is ended.
long=(--set messages=60000 --set pause=1ms)

setup() {
	kblat_setup
	need_feature DPDK
	spec x <<-'YAML'
		settings: {kernel: pingpong, transport: dpdk, size: 64, messages: 500, repetitions: 1, warmup: 50, check: yes}
	YAML
	run "$KBLAT" run x.yaml --no-state --out first
	[[ $(tr -s ' \n' ' ' <<<"$output") != *"cannot load:"*"install the package dpdk"* ]] || skip "DPDK is not installed: librte-net-memif23, librte-mempool-ring23"
	rm -rf first
}

teardown() {
	end_namespaces "${A:-}" "${B:-}"
	cd /
	rm -rf "$T"
}

# cards: two, joined, each in a namespace.
cards() {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to make network namespaces"
	A=kblat-test-$$-$BATS_TEST_NUMBER-a B=kblat-test-$$-$BATS_TEST_NUMBER-b
	ip netns add "$A" 2>/dev/null && ip netns add "$B" || skip "network namespaces cannot be made on this machine"
	ip -n "$A" link add card type veth peer name card netns "$B" || skip "veth pairs cannot be made on this machine"
	for side in "$A" "$B"; do
		ip -n "$side" link set card up
	done
}

# between OPTION…: runs x.yaml from A to B, over af_packet.
between() {
	"$KBLAT" run x.yaml --no-state --out runs --source "ip netns exec $A" --sink "ip netns exec $B" \
		--set source_device=net_af_packet0,iface=card --set sink_device=net_af_packet0,iface=card "$@"
}

has_endpoints() { [ "$(endpoints "$1" | wc -l)" -ge 2 ]; }

# received NAMESPACE: frames that its card has received.
received() {
	ip -n "$1" -j -s link show card | /usr/bin/python3 -IS -c 'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["rx"]["packets"])'
}

# has_received NAMESPACE FRAMES: so many at least. The sides need a few to meet.
has_received() { [ "$(received "$1")" -ge "$2" ]; }

# traces: files, sockets and directories that an EAL may leave.
traces() {
	ls -A /var/run/dpdk /run/dpdk /tmp/dpdk /nonexistent /dev/hugepages 2>/dev/null || true
	grep dpdk /proc/net/unix || true
	find /dev/shm /tmp -maxdepth 1 \( -name 'rte*' -o -name 'dpdk' \) 2>/dev/null || true
}

# bats test_tags=long
@test "every kernel that sends runs over memif, in small and large rings, and every frame is accounted for" {
	spec x <<-'YAML'
		settings: {transport: dpdk, messages: 2000, repetitions: 2, warmup: 50}
		matrix:
		  - {kernel: [oneway, pingpong, stream, exchange], size: 64}
		  - {kernel: rate, rate: 100kHz}
		  - {kernel: stream, depth: 32, batch: 8, size: [64, 1400], check: yes}
		  - {kernel: handoff, ack: [yes, no], hand: direct, size: 64}
		  - {kernel: pingpong, check: yes, size: [12, 1472]}
		  - {kernel: [stream, oneway], descriptors: 64, mempool: 64, cache: 0, rx_burst: [1, 32], size: 64}
		  - {kernel: stream, descriptors: 4096, rx_burst: 512, cache: 512, size: 64, queue: 1, udp_port: 9}
	YAML
	run "$KBLAT" run x.yaml --no-state --out runs
	assert_measured
	run_dir=$(tail -n 1 <<<"$output")
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import glob, json, sys
		def account(name, handed):
		    d = json.load(open(name))
		    device = d["device"]
		    rise = lambda side, key: device[side]["after"][key] - device[side]["before"][key]
		    for one, other in ("source", "sink"), ("sink", "source"):
		        assert rise(one, "opackets") == rise(other, "ipackets"), name
		        if not handed:
		            assert rise(other, "ipackets") == d[other]["received"] + rise(other, "late_messages"), name
		        for key in "imissed", "ierrors", "oerrors", "rx_nombuf", "stranger_messages", "other_frames":
		            assert rise(one, key) == 0, (name, key)
		for point in json.load(open(sys.argv[1] + "/summary.json"))["points"]:
		    assert point["loss"]["lost"] == 0, point
		    for name in glob.glob(f"{sys.argv[1]}/points/{point['id']:04}/rep-*/counters.json"):
		        account(name, point["params"]["kernel"] == "handoff")
		    granted = json.load(open(f"{sys.argv[1]}/points/{point['id']:04}/point.json"))["granted"]
		    for side in "source", "sink":
		        assert granted[side]["driver"] == "net_memif" and granted[side]["library"].startswith("DPDK "), granted
	PY
}

@test "a sink that is stopped loses nothing over memif: the source waits, and says how often" {
	"$KBLAT" run x.yaml --no-state --out runs --set kernel=stream --set check=no --set messages=3000000 --set descriptors=64 --set warmup=0 >out 2>err &
	pid=$!
	await_run has_endpoints $pid
	mapfile -t sides < <(endpoints $pid)
	for _ in 1 2 3; do
		kill -STOP "${sides[1]}" || break
		sleep 0.2
		kill -CONT "${sides[1]}"
		sleep 0.1
	done
	status=0
	wait $pid || status=$?
	output=$(cat out err)
	assert_measured
	run_dir=$(tail -n 1 out)
	# While a side has no CPU, others' frames may fill its ring.
	assert_eq "$(json "$run_dir/summary.json" '(d["points"][0]["loss"]["duplicates"], d["points"][0]["loss"]["lost"] <= 15)')" "(0, True)"
	[ "$(json "$run_dir/points/0000/rep-00/counters.json" 'd["device"]["source"]["after"]["full_buffers"]')" -gt 0 ]
}

@test "the EAL is heard by nobody, leaves nothing, and needs no home and no rights" {
	traces >before
	need_others "$KBLAT"
	mkdir -m 1777 other
	chmod 755 .
	cd other
	status=0
	env -u XDG_RUNTIME_DIR HOME=/nonexistent "${as_other[@]}" prlimit --memlock=65536 "$KBLAT" run ../x.yaml --no-state --out runs >../out 2>../err || status=$?
	cd ..
	output=$(cat out err)
	assert_measured
	[ -z "$(grep -E 'EAL|memif_|ETHDEV' out err)" ]
	# What cannot be locked has been touched: before, each message met a new page. Sanitizers have some of their own.
	[ "$(json other/runs/*/points/0000/rep-00/counters.json 'max(d[s]["page_faults_minor"] for s in ("source", "sink"))')" -lt 100 ]
	traces >after
	diff before after
}

# bats test_tags=long
@test "sides that are killed leave nothing, and the next run works" {
	traces >before
	for i in 1 2 3 4 5 6; do
		"$KBLAT" run x.yaml --no-state --out runs "${long[@]}" >out 2>err &
		pid=$!
		await_run has_endpoints $pid
		sleep 0.$((i * 2 % 10))
		mapfile -t sides < <(endpoints $pid)
		kill -KILL "${sides[@]}"
		wait $pid && false
		traces >after
		diff before after
	done
	run "$KBLAT" run x.yaml --no-state --out runs
	assert_measured
}

# bats test_tags=long
@test "over cards that others use: their frames, and those with another token, never are messages" {
	cards
	cat >talk.py <<-'PY'
		import socket, time
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("card", 0))
		headers = bytes.fromhex("ffffffffffff0200000000010800") + bytes.fromhex("4500005c00004000401100009c120001c6120002") + bytes.fromhex("4e204e2000480000")
		while True:
		    for payload in b"a stranger with another token" * 2 + b"      ", b"short":
		        s.send(headers + payload)
		    time.sleep(0.001)
	PY
	ip netns exec "$A" /usr/bin/python3 -IS talk.py &
	status=0
	between --set messages=1500 --set pause=1ms >out 2>err || status=$?
	kill $!
	output=$(cat out err)
	assert_measured
	run_dir=$(tail -n 1 out)
	# While a side has no CPU, others' frames may fill its ring.
	assert_eq "$(json "$run_dir/summary.json" '(d["points"][0]["loss"]["duplicates"], d["points"][0]["loss"]["lost"] <= 15)')" "(0, True)"
	[ "$(json "$run_dir/points/0000/rep-00/counters.json" 'd["device"]["sink"]["after"]["stranger_messages"] - d["device"]["sink"]["before"]["stranger_messages"]')" -gt 10 ]
	assert_contains "$(tr -s ' \n' ' ' <out)" "messages of another program came while messages were measured"
}

# bats test_tags=long
@test "a link that goes down, or a card that goes, ends a run with one message; one that is down is named before" {
	cards
	for how in "link set card down" "link del card"; do
		for kernel in "pingpong" "oneway --set burst=1"; do
			before=$(received "$B")
			# shellcheck disable=SC2086
			between "${long[@]}" --set kernel=$kernel --set check=no >out 2>err &
			pid=$!
			await_run has_received "$B" $((before + 300))
			ip -n "$B" $how
			status=0
			wait $pid || status=$?
			output=$(tr -s ' \n' ' ' <err)
			echo "$how, $kernel: $output"
			[ "$status" -eq 1 ]
			assert_contains "$output" "the port has lost its link"
			[ "$(grep -c 'point 0 (1 of 1): failed' err)" -eq 1 ]
			[ -z "$(ip netns pids "$A")$(ip netns pids "$B")" ]
			ip -n "$B" link set card up 2>/dev/null || {
				ip -n "$A" link add card type veth peer name card netns "$B"
				ip -n "$A" link set card up
				ip -n "$B" link set card up
			}
		done
	done
	ip -n "$B" link set card down
	run between
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "the port has had no link for 8 s; is its cable plugged in"
}

@test "settings that contradict each other are refused, before anything is started" {
	refuses x <<-'LINES'
		size=11|size 11 and transport dpdk: 12 bytes of a message hold its token and number
		size=8973|a frame holds at most 8972 bytes
		sink_device=net_memif0|source_device memif and sink_device net_memif0: memif joins both sides
		mempool=64|mempool 64, rx_burst 32 and cache 128: more than 416 buffers are needed
		source_ip=localhost|source_ip must be an IPv4 address such as 198.18.0.1
		poll=event|the transport dpdk does not support 'poll: event'
		descriptors=63|descriptors
	LINES
}

# bats test_tags=long
@test "one side over DPDK and the other over AF_XDP measure each other, whichever is the source" {
	cards
	ip -n "$A" address add 198.18.0.1/24 dev card
	ip -n "$B" address add 198.18.0.2/24 dev card
	spec y <<-'YAML'
		settings: {transport: dpdk, messages: 2000, repetitions: 1, warmup: 50, size: 64}
		matrix:
		  - {kernel: pingpong, size: [12, 64, 1472], check: yes}
		  - {kernel: oneway, pause: 100us}
		  - {kernel: exchange}
		  - {kernel: stream, depth: 8}
	YAML
	for sides in net_af_packet0,iface=card:xdp xdp:net_af_packet0,iface=card; do
		run "$KBLAT" run y.yaml --no-state --out runs --source "ip netns exec $A" --sink "ip netns exec $B" \
			--set source_device="${sides%%:*}" --set sink_device="${sides##*:}"
		assert_measured "lost"
		run_dir=$(tail -n 1 <<<"$output")
		assert_eq "$(json "$run_dir/summary.json" 'max(p["loss"]["duplicates"] for p in d["points"])')" 0
		assert_eq "$(json "$run_dir/points/0000/point.json" 'sorted([s.get("driver"), s.get("library", "")[:5], s.get("mode", "")] for s in (d["granted"]["source"], d["granted"]["sink"]))')" \
			"[['net_af_packet', 'DPDK ', ''], ['veth', '', 'native']]"
		assert_eq "$(json "$run_dir/summary.json" 'd["points"][2]["loss"]["lost"] <= 15')" True
	done
	run "$KBLAT" run y.yaml --no-state --out runs --set source_device=xdp --set sink_device=xdp
	[ "$status" -eq 2 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "source_device and sink_device are both xdp: that is transport xdp"
	run "$KBLAT" run y.yaml --no-state --out runs --set source_device=xdp
	[ "$status" -eq 2 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "memif joins both sides"
}

@test "the sides of two runs at a time do not meet, and sides with different versions say so" {
	"$KBLAT" run x.yaml --no-state --out runs --set messages=300000 --set repetitions=1 >out 2>err &
	pid=$!
	await_run has_endpoints $pid
	run "$KBLAT" run x.yaml --no-state --out runs
	assert_measured
	status=0
	wait $pid || status=$?
	output=$(cat out err)
	assert_measured

	cat >older <<-'SH'
		#!/bin/bash
		"$@" | sed -u 's/DPDK [0-9.]*/DPDK 19.11.2/'
	SH
	chmod +x older
	run "$KBLAT" run x.yaml --no-state --out runs --sink "$PWD/older"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "the other DPDK 19.11.2; install the same on both"
}

# impossible WORDS OPTION…
impossible() {
	run "$KBLAT" run x.yaml --no-state --out runs "${@:2}"
	output=$(tr -s ' \n' ' ' <<<"$output")
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "$1"
}

@test "what cannot be: no such card, one that the kernel has, no huge pages, no such driver or argument, an MTU, a queue" {
	impossible ": no PCI device here has this address; \`lspci -D\` lists them" --set source_device=0f:1e.7 --set sink_device=0f:1e.6
	for card in /sys/bus/pci/devices/*; do
		[[ $(readlink "$card/driver") == */@(virtio-pci|e1000|e1000e|ixgbe|ice|pcieport) ]] || continue
		card=${card##*/}
		impossible "dpdk $card: the card is bound to the kernel's driver" --set source_device="$card" --set sink_device="$card"
		assert_contains "$output" "\`kbtune card bind $card"
		break
	done
	if [ "$(cat /sys/kernel/mm/hugepages/*/free_hugepages | sort -n | tail -n 1)" -eq 0 ]; then
		impossible "huge: yes, and no huge page is free; \`sysctl vm.nr_hugepages=" --set huge=yes
	fi
	impossible "cannot make the port: EAL: failed to parse device \"vdev:net_nosuch" --set source_device=net_nosuch0,a=b --set sink_device=net_nosuch1
	impossible "Unknown role: king" --set source_device=net_memif5,role=king --set sink_device=net_memif5,role=king
	# Its words once, beside the line that says how the point went.
	assert_eq "$(grep -o 'not possible here.*' <<<"$output" | grep -o 'Unknown role' | wc -l)" 1
	impossible "messages of this size need an MTU of 1501, and that of the port is 1500" --set size=1473
	# Who may have raw sockets.
	! /usr/bin/python3 -IS -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' 2>/dev/null ||
		impossible "the port has no queue 3: it receives from 1, and sends from 1" --set source_device=net_af_packet0,iface=lo --set sink_device=net_af_packet0,iface=lo --set queue=3
}

@test "who never hears the other side says so, and memory that is not there is named" {
	run "$KBLAT" run x.yaml --no-state --out runs --set source_device=net_null0 --set sink_device=net_null1
	output=$(tr -s ' \n' ' ' <<<"$output")
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "none of its frames has arrived at queue 0; both ports must be on one Ethernet segment"
	# AddressSanitizer takes more addresses than that.
	! ldd "$KBLAT" | grep -q libasan || return 0
	run "$KBLAT" run x.yaml --no-state --out runs --source "prlimit --as=1500000000" --set mempool=1000000
	output=$(tr -s ' \n' ' ' <<<"$output")
	echo "$output"
	[ "$status" -ne 0 ]
	assert_contains "$output" "dpdk: cannot start the EAL: "
	assert_contains "$output" "memory"
}

@test "a library that is too old or not there is named, with its package" {
	echo 'int nothing;' >old.c
	file=librte_ethdev.so.$("$KBLAT" --version | sed -n 's/.*librte_ethdev.so.\([0-9]*\).*/\1/p' | head -n 1)
	cc -shared -fPIC -o "$file" old.c
	LD_LIBRARY_PATH=$PWD impossible "$file: cannot use: it has no function rte_eal_init; install the package dpdk (Debian, Ubuntu) or dpdk (Fedora, RHEL)"
}
