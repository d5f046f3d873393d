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
	[ "$(id -u)" -eq 0 ] && in_tracefs true || skip "tracefs may not be used by this user"
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
}

# --- kblat trace, of traced.c, which is built as ./traced ---

make_traced() {
	cc -std=gnu11 -O1 -g -pthread -D_GNU_SOURCE -I"$ROOT/harness" "$ROOT/tests/cli/traced.c" -o traced
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

# judge_truth: how many of the requests that were delayed are explained by that, and how many there are.
judge_truth() {
	./traced delays >delays
	"$KBLAT" explain "$run_dir" --json --worst 100000 >explain.json
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import json, struct, sys
		rows = [line.rstrip("\n").split("|") for line in open("delays")]
		data = open(sys.argv[1] + "/points/0000/rep-00/id.npy", "rb").read()[4096:]
		ids = struct.unpack(f"<{len(data) // 8}q", data)
		right = count = 0
		for m in json.load(open("explain.json"))[0]["worst"]:
		    name, cause = rows[ids[m["message"]] % 1000]
		    if cause:
		        count += 1
		        right += m["cause"].startswith(cause)
		        assert sum(part["time_ns"] for part in m["source"]) <= m["took_ns"], m
		    if cause and not m["cause"].startswith(cause):
		        print(f"{name}: {m['cause']}, {m['took_ns']} ns", file=sys.stderr)
		print(right, count)
	PY
}

# assert_mostly_right LEAST [PERCENT]: at least so many were delayed, and 95 % of them, or so many, are explained by that.
assert_mostly_right() {
	local right count
	read -r right count < <(judge_truth)
	echo "$right of $count"
	[ "$count" -ge "$1" ]
	[ $((100 * right)) -ge $((${2:-95} * count)) ]
}
