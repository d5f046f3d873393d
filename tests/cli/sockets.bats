#!/usr/bin/env bats
# Sockets of the kernel: whether a library takes the messages past it.

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
	# The sanitizers' library must be the first one.
	preload="$(ldd "$KBLAT" | awk '/libasan/ { printf "%s:", $3 }')$library"
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
	LD_PRELOAD=$preload run alone "$KBLAT" run b.yaml --no-state --out runs
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/summary.json" '[r for r in d["points"][0]["reasons"] if "bypass" in r]')" "[]"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["sink"]["bypass"]["libraries"][-1]')" "$library"
	# Named, but not there: the loader says so and goes on.
	LD_PRELOAD=${preload%"$library"}libabsent.so run alone "$KBLAT" run b.yaml --no-state --out runs
	echo "$output"
	[ "$status" -eq 3 ]
	assert_eq "$(json "${lines[-1]}/points/0000/point.json" '[x for x in d["granted"]["sink"]["bypass"]["libraries"] if "absent" in x]')" "[]"
}
