# For tests that record what the kernel does: they only make trace instances of their own, and remove them.

# Where kblat finds it: where it is mounted, or in a mount of its own.
in_tracefs() {
	unshare --mount sh -c 'mount -t tracefs none /mnt && cd /mnt && '"$1" 2>/dev/null
}

instances() {
	in_tracefs 'ls instances' | grep '^kblat-' || true
}

# The instances of this test's processes; other runs may have their own.
own_instances() {
	local name cwd
	for name in $(instances); do
		# A process that has ended cannot be read.
		cwd=$(readlink "/proc/$(cut -d- -f3 <<<"$name")/cwd" 2>/dev/null) && [[ "$cwd/" != "$T"/* ]] || echo "$name"
	done
}

needs_tracefs() {
	need_feature libtracefs
	[ "$(id -u)" -eq 0 ] && in_tracefs true || skip "tracefs may not be used by this user"
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
}

# --- kblat trace, of traced.c, which is built as ./traced ---

make_traced() {
	cc -std=gnu11 -O1 -g -pthread -D_GNU_SOURCE -I"$ROOT/harness" "$ROOT/tests/cli/traced.c" -o traced
}

# slow_link: sets $TRACED_PEER to an address where a process answers, beyond a link that is slow for two packets at a time, in namespaces that
# slow_link_end removes; and the list `in_namespace` to the words that run a command on this side of it. Fails where that is not possible.
slow_link() {
	link=kblat-traced-$$
	ip netns add "$link-1" && ip netns add "$link-2" && ip -n "$link-1" link add veth0 type veth peer veth0 netns "$link-2" || return 1
	ip -n "$link-1" addr add 198.18.0.1/30 dev veth0
	ip -n "$link-2" addr add 198.18.0.2/30 dev veth0
	ip -n "$link-1" link set veth0 up
	ip -n "$link-2" link set veth0 up
	# So many bits pass in a delay as a packet of traced.c has.
	tc -n "$link-1" qdisc add dev veth0 root tbf rate $((1400 * 8 * 1000000 / ${TRACED_DELAY_US:-6000}))bit burst 1600 limit 30000 || return 1
	ip netns exec "$link-2" ./traced echo 3>&- &
	in_namespace=(ip netns exec "$link-1")
	export TRACED_PEER=198.18.0.2
}

# Processes in a namespace that ends are killed by slow_link_end, too.
slow_link_end() {
	[ -n "${link:-}" ] || return 0
	local side
	for side in "$link-1" "$link-2"; do
		ip netns pids "$side" 2>/dev/null | xargs -r kill -9
		ip netns del "$side" 2>/dev/null || true
	done
}

# trace WORD…: kblat trace without the machine's state; sets $run_dir, $status and $output.
trace() {
	run "$KBLAT" trace --no-state --out "$T/runs" "$@"
	run_dir=$(tail -n 1 <<<"$output")
	[ ! -d "$run_dir" ] || "$KBLAT" summary "$run_dir"
}

# latency FIELD: of the run.
latency() {
	json "$run_dir/summary.json" "d['points'][0]['metrics']['lat_ns']['$1']"
}

# judge_truth: how many of the requests that were delayed are explained by that, how many there are, and how they were delayed.
judge_truth() {
	./traced delays >delays
	"$KBLAT" explain "$run_dir" --json --worst 100000 >explain.json
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import json, struct, sys
		rows = [line.rstrip("\n").split("|") for line in open("delays")]
		data = open(sys.argv[1] + "/points/0000/rep-00/id.npy", "rb").read()[4096:]
		ids = struct.unpack(f"<{len(data) // 8}q", data)
		counts = {}
		for m in json.load(open("explain.json"))[0]["worst"]:
		    name, cause = rows[ids[m["message"]] % 1000]
		    if cause:
		        right, count = counts.get(name, (0, 0))
		        counts[name] = right + m["cause"].startswith(cause), count + 1
		        assert sum(part["time_ns"] for part in m["source"]) <= m["took_ns"], m
		    if cause and not m["cause"].startswith(cause):
		        print(f"{name}: {m['cause']}, {m['took_ns']} ns", file=sys.stderr)
		print(counts, file=sys.stderr)
		print(*map(sum, zip(*counts.values())), *sorted(counts))
	PY
}

# assert_mostly_right LEAST [PERCENT]: at least so many were delayed, and 95 % of them, or so many, are explained by that. Sets $kinds.
assert_mostly_right() {
	local right count
	read -r right count kinds < <(judge_truth)
	echo "$right of $count: $kinds"
	[ "$count" -ge "$1" ]
	[ $((100 * right)) -ge $((${2:-95} * count)) ]
}
