#!/usr/bin/env bats
# Sockets of the kernel: whether a library takes the messages past it, and the stages of a message through it.

load helper

# alone COMMAND…: in a network namespace of its own, where nobody else uses loopback.
alone() {
	unshare --net sh -c 'ip link set lo up && exec "$@"' - "$@"
}

need_namespace() {
	alone true 2>/dev/null || skip "this machine does not let network namespaces be made"
}

@test "a bypass that is expected: not valid if the kernel's interface carried the messages, valid if a library did" {
	need_namespace
	local library preload
	library=$(dirname "$KBLAT")/past_kernel.so
	[ -e "$library" ] || skip "needs $library (make tests)"
	preload=$(preload "$library")
	spec b <<-'YAML'
		settings: {kernel: pingpong, messages: 300, repetitions: 2, warmup: 10, bypass: expected, poll: event, check: yes, transport: udp}
	YAML
	for transport in tcp udp; do
		run alone "$KBLAT" run b.yaml --no-state --out runs --set "transport=$transport"
		echo "$output"
		[ "$status" -eq 3 ]
		assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "bypass is expected, but the kernel carried messages: lo moved"
		assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "no library was preloaded (source, 2 of 2 repetitions)"
	done
	run alone env LD_PRELOAD="$preload" "$KBLAT" run b.yaml --no-state --out runs
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/summary.json" '[r for r in d["points"][0]["reasons"] if "bypass" in r]')" "[]"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["sink"]["bypass"]["libraries"][-1]')" "$library"
	# Named, but not there: the loader says so and goes on.
	run alone env LD_PRELOAD="${preload%"$library"}libabsent.so" "$KBLAT" run b.yaml --no-state --out runs
	echo "$output"
	[ "$status" -eq 3 ]
	assert_eq "$(json "${lines[-1]}/points/0000/point.json" '[x for x in d["granted"]["sink"]["bypass"]["libraries"] if "absent" in x]')" "[]"
}

# stages_of RUN [FIRST [SHARE]]: for each repetition, the order and the number of all stamps are checked, from a message on, and the medians of
# the stages printed, in us. SHARE of the first point's messages have their stamps, at least: TCP may put several into one segment, which has one
# stamp. The socket's stamps are there if the process may load a filter.
stages_of() {
	/usr/bin/python3 - "$1" "${2:-0}" "${3:-0.5}" <<-'PY'
		import glob, json, numpy, statistics, sys
		NEVER, stages = -2**63, []
		for rep in sorted(glob.glob(sys.argv[1] + "/points/*/rep-*")):
		    stamps = [numpy.load(f"{rep}/{name}.npy")[int(sys.argv[2]):] for name in ("t_subm", "t_sched", "t_sent", "t_driver", "t_recv")]
		    counters = json.load(open(rep + "/counters.json"))
		    error = sum(counters[side]["device_clock_error_ns"] for side in ("source", "sink"))
		    assert 0 < error < 100000, error
		    there = numpy.all([column != NEVER for column in stamps], axis=0)
		    share = float(sys.argv[3]) if "/0000/" in rep else 0.99
		    assert there.mean() > share, (rep, there.mean())
		    each = [(b - a)[there] for a, b in zip(stamps, stamps[1:])]
		    assert all((stage >= -error).all() for stage in each), (rep, [stage.min() for stage in each])
		    assert (sum(each) == (stamps[4] - stamps[0])[there]).all()
		    granted = json.load(open(rep + "/../point.json"))["granted"]["sink"]["socket_stamps"]
		    handed, driver, recv = (numpy.load(f"{rep}/{name}.npy")[int(sys.argv[2]):] for name in ("t_socket", "t_driver", "t_recv"))
		    known = handed != NEVER
		    assert known.mean() > (min(share, 0.4 if "/0000/" in rep else 0.99) if granted == "yes" else -1), (rep, known.mean())
		    assert known.any() == (granted == "yes"), granted
		    assert (handed - driver)[known].min(initial=0) >= -error and (recv - handed)[known].min(initial=0) >= -error, rep
		    stages.append([float(numpy.median(stage)) / 1000 for stage in each])
		print(*(round(statistics.median(column)) for column in zip(*stages)))
	PY
}

@test "stages: a message has the kernel's stamps in their order, tcp and udp, asleep and not, and only if they are wanted" {
	need_feature libbpf
	spec s <<-'YAML'
		settings: {kernel: oneway, messages: 200, burst: 1, pause: 1ms, repetitions: 2, warmup: 20, stages: yes, check: yes, poll: event, size: 100}
		matrix:
		  - {transport: [tcp, udp]}
		  - {transport: udp, poll: busy, burst: 10}
	YAML
	run "$KBLAT" run s.yaml --no-state --out runs
	assert_measured
	stages_of "$run_dir"
	assert_eq "$(json "$run_dir/summary.json" 'sorted(k for k in d["points"][0]["metrics"])')" "['comp_lat_ns', 'lat_ns', 'queue_ns', 'read_ns', 'socket_ns', 'stack_ns', 'take_ns', 'wire_ns']"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	# Their means add up to that of the latency, here of udp, where every message has all stamps.
	assert_eq "$(json "$run_dir/summary.json" '[(s["messages"] == p["metrics"]["lat_ns"]["n"], abs(sum(s[k + "_ns"] for k in ("stack", "queue", "wire", "read")) - p["metrics"]["lat_ns"]["mean"]) < 1) for p in d["points"][1:] for s in [p["stages"]]]')" "[(True, True), (True, True)]"
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
	assert_eq "$(wc -l <"$run_dir/derived/figures/stages.tsv")" 4
	grep -q "<h2>Stages</h2>" "$run_dir/derived/report.html" || [ "$status" -eq 77 ]
	run "$KBLAT" run s.yaml --no-state --out runs --set stages=no --only poll=busy
	[ ! -e "${lines[-1]}/points/0000/rep-00/t_sched.npy" ]
	rm -r runs
	refuses s <<-'LINES'
		transport=shmem|stages and transport shmem: the kernel does not stamp its messages; use tcp or udp
		transport=udp t_hw=yes|t_hw and transport udp: no device stamps its completions
	LINES
}

@test "stages: whoever may not load a filter has those of SO_TIMESTAMPING, and the point says why" {
	need_feature libbpf
	need_root "to be somebody else"
	spec u <<-'YAML'
		settings: {kernel: oneway, messages: 50, burst: 1, pause: 1ms, repetitions: 1, warmup: 5, stages: yes, poll: event, transport: udp}
	YAML
	need_others "$KBLAT"
	chmod 755 "$T" && mkdir -m 777 runs
	run "${as_other[@]}" "$KBLAT" run u.yaml --no-state --out "$T/runs"
	assert_measured
	[ "$(cat /proc/sys/kernel/unprivileged_bpf_disabled)" -ne 0 ] || skip "on this machine everybody may load filters"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["sink"]["socket_stamps"]')" "Operation not permitted"
	stages_of "$run_dir"
	assert_eq "$(json "$run_dir/summary.json" '[d["points"][0]["stages"][k] is None for k in ("read_ns", "socket_ns", "take_ns")]')" "[False, True, True]"
}

# bats test_tags=long
@test "stages: the kernel's keys of 32 bits, and TCP's numbers, wrap after 4 GiB; the stamps are those of their messages all the same" {
	need_feature libbpf
	spec w <<-'YAML'
		settings: {kernel: oneway, transport: tcp, messages: 4300, size: 1MiB, burst: 1, repetitions: 1, warmup: 0, stages: yes, poll: busy}
	YAML
	run "$KBLAT" run w.yaml --no-state --out runs
	assert_measured
	# 4096 messages are 4 GiB. Where others want the CPUs, too, messages queue, and most share a segment with the next one.
	stages_of "${lines[-1]}" 4000 0.05
}

@test "stages: what a queue of the source delays appears in that stage, and in no other" {
	need_feature libbpf
	need_namespace
	local side i at=198.18.214
	for side in source sink; do
		ip netns add "kblat-test-$$-$side"
	done
	ip -n "kblat-test-$$-source" link add veth0 type veth peer name veth0 netns "kblat-test-$$-sink"
	ip -n "kblat-test-$$-source" address add $at.1/30 dev veth0
	ip -n "kblat-test-$$-sink" address add $at.2/30 dev veth0
	for side in source sink; do
		ip -n "kblat-test-$$-$side" link set veth0 up
	done
	spec n <<-'YAML'
		settings: {kernel: oneway, messages: 100, burst: 1, pause: 15ms, repetitions: 2, warmup: 5, stages: yes, poll: event, size: 100, transport: udp}
	YAML
	set_flags source_address=$at.1 sink_address=$at.2
	measure() {
		run "$KBLAT" run n.yaml --no-state --out runs "${sets[@]}" --source "ip netns exec kblat-test-$$-source" --sink "ip netns exec kblat-test-$$-sink"
		echo "$output"
		run_dir=${lines[-1]}
		read -ra medians < <(stages_of "$run_dir")
		echo "us: ${medians[*]}"
	}
	measure
	for i in 0 1 2 3; do
		[ "${medians[i]}" -lt 3000 ]
	done
	# A queue that holds each message back, or one that lets a burst pass slowly.
	if ip netns exec "kblat-test-$$-source" tc qdisc add dev veth0 root netem delay 8ms 2>/dev/null; then
		measure
	elif ip netns exec "kblat-test-$$-source" tc qdisc add dev veth0 root tbf rate 1mbit burst 1540 latency 500ms 2>/dev/null; then
		sets+=(--set size=1000 --set burst=5 --set pause=80ms)
		measure
	else
		skip "this kernel has neither netem nor tbf"
	fi
	[ "${medians[0]}" -lt 3000 ]
	[ "${medians[1]}" -gt 7900 ]
	[ "${medians[2]}" -lt 3000 ]
	[ "${medians[3]}" -lt 3000 ]
}

@test "experiments/cards: every point is read, in full and quick, and each experiment has a README" {
	local folder
	for folder in "$ROOT"/experiments/cards/*/; do
		[ -s "$folder/README.md" ]
		for variant in "" --quick; do
			run "$KBLAT" run "$folder" --dry-run --json $variant
			[ "$status" -eq 0 ]
		done
	done
}

# bats test_tags=long
@test "experiments/cards: over a veth pair all points are measured; without one, those over sockets" {
	need_feature libbpf
	need_namespace
	run "$ROOT/experiments/launch/netns" "$KBLAT" run "$ROOT/experiments/cards/size" --quick --no-state --out runs --set messages=200 --set repetitions=2
	assert_measured
	assert_eq "$(json runs/cards-size-*/run.json 'd["points"]["completed"]')" 9
	# With sanitizers, there may be page faults in an interval.
	assert_eq "$(json runs/cards-size-*/summary.json '[r for p in d["points"] for r in p["reasons"] if "page fault" not in r]')" "[]"
	rm -r runs
	run "$KBLAT" run "$ROOT/experiments/cards/size" --quick --no-state --out runs --set messages=200 --set repetitions=2
	assert_eq "$(json runs/cards-size-*/run.json 'd["points"]["completed"]')" 3
	# Both sides say so, and either may be the first.
	[[ "$(tr -s ' \n' ' ' <<<"$output")" =~ "not possible here: "(source|sink)": xdp" ]]
}

teardown() {
	local side
	for side in source sink; do
		ip netns del "kblat-test-$$-$side" 2>/dev/null || true
	done
	cd /
	rm -rf "$T"
}
