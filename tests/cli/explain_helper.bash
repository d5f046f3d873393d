# Round trips that `kblat explain` is asked about, and the trace instances that are made for them. `load helper` first.

# As kblat sees it: where it is mounted, or in a mount of one's own.
in_tracefs() {
	unshare --mount sh -c 'mount -t tracefs none /mnt && cd /mnt && '"$1" 2>/dev/null
}

instances() {
	in_tracefs 'ls instances' | grep '^kblat-' || true
}

# Those of this test's own processes; other runs may have theirs.
own_instances() {
	local name cwd
	for name in $(instances); do
		# Of a process that has ended nothing can be read.
		cwd=$(readlink "/proc/$(cut -d- -f3 <<<"$name")/cwd" 2>/dev/null) && [[ "$cwd/" != "$T"/* ]] || echo "$name"
	done
}

needs_tracefs() {
	[ "$(id -u)" -eq 0 ] && in_tracefs true || skip "tracefs may not be used by this user"
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
}

# trips SETTING…: round trips over shared memory for two seconds, in the background: $pid.
trips() {
	local -a sets=()
	local s
	for s in "$@"; do
		sets+=(--set "$s")
	done
	spec trips <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, messages: 20000000, duration: 2s, repetitions: 1, warmup: 100, limit: 20us, source_cpu: 0,
		           sink_cpu: 1, explain: 'yes', explain_buffer: 64MiB}
	YAML
	"$KBLAT" run trips.yaml --no-state --out "$T/runs" "${sets[@]}" >"$T/out" 2>"$T/err" 3>&- &
	pid=$!
}

# The repetition that is traced has begun: $endpoints, the source first.
await_trips() {
	local i
	for ((i = 0; i < 1000; i++)); do
		mapfile -t endpoints < <(leftovers)
		if [ "${#endpoints[@]}" -eq 2 ] && compgen -G "$T/runs/*/points/0000/rep-00" >/dev/null; then
			return
		fi
		kill -0 "$pid" || break
		sleep 0.02
	done
	echo "the run does not get on: $(cat "$T/out" "$T/err")"
	return 1
}

# They have gone on long enough.
end_trips() {
	kill -INT "$pid"
	wait "$pid" || true
	rm -f "$T/explain.json"
	cat "$T/out" "$T/err"
	run_dir=$(tail -n 1 "$T/out")
}

# causes EXPRESSION: in terms of `x`, what `kblat explain --json` says of the point.
causes() {
	[ -s "$T/explain.json" ] || "$KBLAT" explain "$run_dir" --json --worst 100000 >"$T/explain.json"
	json "$T/explain.json" "(lambda x: $1)(d[0])"
}
