#!/usr/bin/env bats
# Why a message was slow: messages are delayed on purpose, and must be explained. Needs access to tracefs, where it only makes a trace instance,
# and removes it.

load helper
load tracefs_helper
bats_require_minimum_version 1.5.0

# trips SETTING…: measures round trips over shared memory for two seconds, in the background; sets $pid.
trips() {
	local -a sets
	set_flags "$@"
	spec trips <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, messages: 20000000, duration: 2s, repetitions: 1, warmup: 100, limit: 20us, source_cpu: 0,
		           sink_cpu: 1, explain: 'yes', explain_buffer: 64MiB}
	YAML
	"$KBLAT" run trips.yaml --no-state --out "$T/runs" "${sets[@]}" >"$T/out" 2>"$T/err" 3>&- &
	pid=$!
}

are_traced() {
	mapfile -t endpoints < <(leftovers)
	[ "${#endpoints[@]}" -eq 2 ] && exists "$T/runs/*/points/0000/rep-00"
}

# Waits for the traced repetition; sets $endpoints, the source first.
await_trips() { await_run are_traced; }

# Waits until they have run long enough.
end_trips() {
	kill -INT "$pid"
	wait "$pid" || true
	rm -f "$T/explain.json"
	cat "$T/out" "$T/err"
	run_dir=$(tail -n 1 "$T/out")
}

# causes EXPRESSION: a value of `x`, the output of `kblat explain --json` for the point.
causes() {
	[ -s "$T/explain.json" ] || "$KBLAT" explain "$run_dir" --json --worst 100000 >"$T/explain.json"
	json "$T/explain.json" "(lambda x: $1)(d[0])"
}

@test "without rights: explain says that nothing was recorded, and why, with a status of its own" {
	need_others "$KBLAT"
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 2000, burst: 1, pause: 10us, repetitions: 1, limit: 10ns, explain: 'yes'}
	YAML
	chmod 777 .
	run "${as_other[@]}" "$KBLAT" run s.yaml --no-state --out runs
	run_dir=$(tail -n 1 <<<"$output")
	[[ $output != *"% explained"* ]]
	run "$KBLAT" explain "$run_dir"
	echo "$output"
	[ "$status" -eq 4 ]
	assert_contains "$output" "nothing was recorded, so there is no cause to name: "
	[[ $output != *"% explained"* ]]
	run "$KBLAT" explain "$run_dir" --json
	[ "$status" -eq 4 ]
}

# bats test_tags=long
@test "an endpoint that was stopped, and a task that took the CPU, are what is named" {
	needs_tracefs
	for _ in {1..4}; do # a machine can be so busy that hardly a message is sent meanwhile, or only while it is traced
		rm -rf "$T/runs"
		trips duration=5s # once with tracing, and once without
		await_trips
		"$BATS_TEST_DIRNAME/disturb.py" stop "${endpoints[0]}" 30000 20 8 >/dev/null 3>&-
		"$BATS_TEST_DIRNAME/disturb.py" task 1 4000 20 10 >/dev/null 3>&-
		end_trips
		[ "$(causes '0.1 < x["p50_ratio"] < 10 and all(cause in str(x["worst"]) for cause in ("stopped by a signal", "preempted by disturb.py"))')" != True ] ||
			break
	done
	"$KBLAT" explain "$run_dir"
	# On a busy machine, other programs may delay a message for longer.
	assert_eq "$(causes 'max(p["time_ns"] for m in x["worst"] for p in m["source"] + m["sink"] if "stopped by a signal" in p["cause"]) > 3e6')" True
	assert_eq "$(causes 'max(p["time_ns"] for m in x["worst"] for p in m["sink"] if "preempted by disturb.py on the sink" in p["cause"]) > 1e6')" True
	assert_eq "$(causes 'x["explained_share"] >= 0.9')" True
	assert_eq "$(own_instances)" ""
	# First, a repetition without tracing is measured.
	[ -s "$run_dir/points/0000/untraced/t_back.npy" ] && [ ! -e "$run_dir/points/0000/untraced/trace-sink.npy" ]
	assert_eq "$(causes '0.1 < x["p50_ratio"] < 10')" True
	assert_eq "$(json "$run_dir/points/0000/rep-00/trace-sink.json" 'd["gaps"], d["why"]')" "(True, '')"

	run "$KBLAT" verify "$run_dir"
	echo "$output"
	assert_eq "$status" 0
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["causes"]["explained_share"]')" "$(causes 'x["explained_share"]')"
	run "$KBLAT" explain "$run_dir" 0 --worst 1
	assert_eq "$status" 0
	assert_contains "$output" "point 0: "
	assert_contains "$output" "% explained"
	assert_contains "$output" "the source's CPU is 0; the sink's CPU is 1"
	grep -qE "^ +[0-9]+ .* on CPU 1 \(sink\)$" <<<"$output"
	assert_contains "$output" "-> knobs shields and tasks: a cpuset that excludes other tasks"
	assert_contains "$output" "'kbtune plan isolated' shows what these knobs and boot parameters would change here"
	assert_eq "$(grep -c "^  repetition 0, message " <<<"$output")" 1
	"$KBLAT" report "$run_dir"
	grep -q "<h2>Late messages</h2>" "$run_dir/derived/report.html"
	grep -q "stopped by a signal\|preempted by" "$run_dir/derived/report.html"
	[ -s "$run_dir/derived/figures/point-0000-tail.svg" ] && [ -s "$run_dir/derived/figures/point-0000-timeline.svg" ]
	assert_eq "$(awk -F'\t' 'NR > 1 {print $1}' "$run_dir/derived/figures/point-0000-timeline.tsv" | sort -u | wc -l)" 5
	assert_eq "$(awk -F'\t' 'NR == 2 {print $2}' "$run_dir/derived/figures/point-0000-tail.tsv")" "$(causes 'round(x["worst"][0]["took_ns"] // 2)')"
	run "$KBLAT" explain "$run_dir" 7
	assert_eq "$status" 2
	assert_contains "$output" "has no point 7"
}

# With pauses, for tests of the trace itself.
resting=(poll=event pause=1ms messages=10000)

# bats test_tags=long
@test "an endpoint that is killed leaves no trace instance" {
	needs_tracefs
	trips "${resting[@]}"
	await_trips
	kill -9 "${endpoints[1]}"
	wait "$pid" || true
	assert_eq "$(own_instances)" ""
}

# Kills a run while it traces: $left. Beside other suites, the runs of which sweep too, what it leaves may be gone at once.
leave_instances() {
	trips "${resting[@]}"
	await_trips
	kill -9 "$pid" "${endpoints[@]}"
	wait "$pid" || true
	left=$(instances | grep -E -- "-(${endpoints[0]}|${endpoints[1]})-" || true)
	for endpoint in "${endpoints[@]}"; do
		rm -rf /dev/shm/kblat-"$(id -u)"-"$endpoint"-* /dev/shm/kblat-"$(id -u)"-*-"$endpoint"
	done
}

# instance_of PID START: the name of the first instance of a process, which was started then.
instance_of() { echo "kblat-$(readlink /proc/self/ns/pid | tr -dc 0-9)-$1-$2-0"; }

are_gone() { [ -z "$(instances | grep -Fx -- "$left" || true)" ]; }

# bats test_tags=long
@test "what a killed run leaves, and would trace on, is removed by the next run, explained or not, and by doctor" {
	needs_tracefs
	local left endpoint said name leaving
	for next in yes no; do
		for _ in 1 2 3 4 5; do
			leave_instances
			[ -z "$left" ] || break
		done
		[ -n "$left" ]
		trips "${resting[@]}" duration=100ms explain=$next
		wait "$pid" || true
		are_gone
	done
	state_of_this_machine
	# It comes again until doctor has removed it, as other runs do that, too.
	leave_instances
	name=$(instance_of "$pid" 1)
	touch leaving
	in_tracefs "while [ -e $T/leaving ]; do mkdir instances/$name && touch $T/left; sleep 0.02; done" 3>&- &
	leaving=$!
	until [ -e left ]; do sleep 0.01; done
	for _ in 1 2 3 4 5; do
		"$KBLAT" doctor --json >doctor.json || true
		said=$(json doctor.json '[c["data"]["removed"] >= 1 for c in d["checks"] if c["name"] == "trace instances"]')
		[ "$said" != "[True]" ] || break
	done
	rm leaving
	wait "$leaving" || true
	left=$left$'\n'$name
	"$KBLAT" doctor --json >doctor.json || true
	are_gone
	assert_eq "$said" "[True]"
}

@test "an instance whose process hidepid hides is not taken for one that was left; it goes once the process has ended" {
	needs_tracefs
	state_of_this_machine
	setpriv --reuid=65534 --regid=65534 --clear-groups sleep 100 3>&- &
	hidden=$!
	until [ "$(cat /proc/$hidden/comm)" = sleep ]; do sleep 0.01; done
	name=$(instance_of "$hidden" "$(cut -d ' ' -f 22 /proc/$hidden/stat)")
	in_tracefs "mkdir instances/$name"
	# Root without the capabilities that show it all processes.
	hiding() {
		unshare --mount sh -c 'mount -t proc -o hidepid=2,gid=65533 proc /proc && exec setpriv --bounding-set=-sys_ptrace,-kill "$@"' sh "$@"
	}
	run ! hiding test -e "/proc/$hidden"
	hiding "$KBLAT" doctor --json >/dev/null || true
	left=$(instances)
	kill "$hidden"
	wait "$hidden" || true
	hiding "$KBLAT" doctor --json >/dev/null || true
	[[ $left == *"$name"* ]]
	[[ $(instances) != *"$name"* ]]
}

@test "inside a PID namespace there are no causes, and the run says why" {
	needs_tracefs
	spec trips <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, messages: 200, repetitions: 1, warmup: 10, limit: 20us, explain: 'yes'}
	YAML
	need_namespaces --pid --fork --mount-proc
	run unshare --pid --fork --mount-proc "$KBLAT" run trips.yaml --no-state --out "$T/runs"
	[[ $output == *"in a PID namespace (a container) the kernel's events name threads by IDs"* ]]
	run -77 unshare --pid --fork --mount-proc "$KBLAT" run trips.yaml --no-state --out "$T/runs" --set explain=required
	[[ $output == *"in a PID namespace"* ]]
}

# faults_of SIDE: the number of page faults in the trace.
faults_of() {
	/usr/bin/python3 -IS - "$run_dir/points/0000/rep-00/trace-$1" <<-'END'
		import array, json, sys
		with open(sys.argv[1] + ".json") as about, open(sys.argv[1] + ".npy", "rb") as words:
		    fault = json.load(about)["kinds"].index("fault")
		    head = words.read(10)
		    words.read(int.from_bytes(head[8:], "little"))
		    print(array.array("q", words.read())[2::5].tolist().count(fault))
	END
}

# bats test_tags=long
@test "page faults of other processes of the same name are not kept" {
	needs_tracefs
	/usr/bin/python3 -IS -c 'import ctypes, mmap
ctypes.CDLL(None).prctl(15, b"kblat", 0, 0, 0)
while True:
    with mmap.mmap(-1, 4 << 20) as memory:
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1' 3>&- &
	other=$!
	trips "${resting[@]}" messages=1000 duration=1s
	wait "$pid" || true
	kill "$other"
	run_dir=$(tail -n 1 "$T/out")
	cat "$T/out" "$T/err"
	for side in source sink; do
		echo "$side: $(faults_of "$side")"
		[ "$(faults_of "$side")" -lt 100 ]
	done
}

@test "without tracing a point is measured with a warning, but not with explain: required" {
	need_feature libtracefs
	need_root "to be somebody else"
	chmod 755 "$T"
	need_others "$KBLAT"
	install -d -m 777 others
	spec mine <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 1000, burst: 1, repetitions: 1, poll: event, explain: 'yes'}
	YAML
	run "${as_other[@]}" "$KBLAT" run mine.yaml --out "$T/others"
	assert_measured
	assert_contains "$output" "explain: tracefs: you have no access"
	run_dir=$(tail -n 1 <<<"$output")
	# Events that are not recorded do not take room.
	assert_eq "$(json "$run_dir/summary.json" '[d["points"][0]["causes"][k] for k in ("p50_ratio", "p99_ratio")]')" "[None, None]"
	run "$KBLAT" explain "$run_dir"
	assert_eq "$status" 4
	assert_contains "$output" "nothing was recorded, so there is no cause to name: tracefs: you have no access"
	run "${as_other[@]}" "$KBLAT" run mine.yaml --out "$T/others" --set explain=required
	assert_eq "$status" 77
	assert_contains "$output" "explain: tracefs: you have no access"
}

@test "over a transport with a clock of its own nothing can be explained" {
	scripted explain=yes
	assert_eq "$status" 0
	assert_contains "$output" "explain: the transport scripted has a clock of its own"
	scripted explain=required
	assert_eq "$status" 77
	scripted
	run "$KBLAT" explain "$run_dir"
	assert_eq "$status" 3
	assert_contains "$output" "--set explain=yes"
	run "$KBLAT" explain "$run_dir" all
	assert_eq "$status" 2
	assert_contains "$output" "POINT must be the number of a point"
}

@test "noise: who takes time from a CPU is named" {
	needs_tracefs
	"$BATS_TEST_DIRNAME/disturb.py" task 1 3000 30 3000 >/dev/null 3>&- &
	disturber=$!
	"$KBLAT" noise --cpus 1 --seconds 1 --json >noise.json
	kill "$disturber" || true
	cat noise.json
	assert_eq "$(json noise.json '[c["cpu"] for c in d["cpus"]]')" "[1]"
	assert_eq "$(json noise.json 'any(c["class"] == "task" and c["name"] == "disturb.py" and c["longest_ns"] > 1e6 and "shields" in c["advice"] for c in d["cpus"][0]["causes"])')" True
	assert_eq "$(json noise.json '0 < d["cpus"][0]["taken_ns"] <= 1.01 * d["cpus"][0]["watched_ns"]')" True
	assert_eq "$(own_instances)" ""
	run "$KBLAT" noise --cpus none
	assert_eq "$status" 2
	assert_contains "$output" "--cpus: must be a list of CPUs"
}
