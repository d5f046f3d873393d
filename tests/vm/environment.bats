#!/usr/bin/env bats
# A spec's `environment: PROFILE` on a real kernel: applied around the points that want it, and put back whatever happens to kblat.
#
#   tests/vm/guest --no-rdma --env KBLAT=$PWD/build/kblat --env KBTUNE=$PWD/build/kbtune -- bats tests/vm/environment.bats

load ../cli/helper
load host

setup() {
	host_setup
	export KBTUNE
	KBLAT=${KBLAT:-$ROOT/build/kblat}
	cat >"$T/spec.yaml" <<-'YAML'
		kblat: 1
		name: environment
		settings: {kernel: oneway, transport: shmem, poll: busy, messages: 2000, burst: 2000, repetitions: 2, warmup: 100}
		matrix:
		  - environment: [none, thesis]
		    size: [32B, 64B]
	YAML
}

# with_recorded_state COMMAND…: kbtune changes this machine, but runs capture the state of a small recorded one, because each run captures it twice.
with_recorded_state() {
	[ -d "$BATS_FILE_TMPDIR/recorded" ] || "$ROOT/tests/sysroots/machine" unpack two-cpus "$BATS_FILE_TMPDIR/recorded"
	KBLAT_SYSROOT=$BATS_FILE_TMPDIR/recorded "$@"
}

# begin: starts a long run in the background; returns when its endpoints are in the shield.
begin() {
	with_recorded_state exec "$KBLAT" run "$T/spec.yaml" --out "$T" --set environment=isolated --set poll=event --set burst=1 --set pause=1ms --reps 200 >"$T/out" 2>&1 3>&- &
	run_pid=$!
	for _ in $(seq 600); do
		[ "$(cat /proc/[0-9]*/cpuset 2>/dev/null | grep -c '^/rt$')" -lt 2 ] || return 0
		kill -0 "$run_pid" || break
		sleep 0.1
	done
	cat "$T/out"
	return 1
}

await_restored() {
	for _ in $(seq 600); do
		[ -e /run/kbtune/journal.json ] || return 0
		sleep 0.1
	done
	echo "still applied:"
	"$KBTUNE" status
	return 1
}

# The process that restores the machine, and the endpoints of a run that was killed, end a moment later.
await_ended() {
	for _ in $(seq 600); do
		pgrep -x 'kblat|kbtune' >/dev/null || return 0
		sleep 0.1
	done
	return 1
}

@test "points with and without an environment: endpoints in its shields, changes recorded, the machine put back" {
	run "$KBLAT" run "$T/spec.yaml" --out "$T"
	assert_measured
	dir=$(tail -n 1 <<<"$output")
	/usr/bin/python3 -IS - "$dir" "$dir/state/$(hostname)/changes.json" <<-'PY'
		import json, sys
		run = sys.argv[1]
		points = [json.load(open(f"{run}/points/000{p}/point.json")) for p in range(4)]
		assert [p["outcome"] for p in points] == ["completed"] * 4, points
		for p in points[2:]:
		    assert [(side["cpu"], side["shared_cpu"]) for side in p["placement"].values()] == [(1, False), (3, False)], p
		environments = json.load(open(sys.argv[2]))["environments"]
		assert [(e["profile"], e["points"], e["verified"]["as_applied"], e["restored"]["state"]) for e in environments] == \
		       [("thesis", [2, 3], True, "restored")], environments
		assert [s["after"] for s in environments[0]["applied"]["steps"] if s["op"] == "tuned" and "swappiness" in str(s["data"])] == \
		       ["latency-performance"], environments
		assert json.load(open(f"{run}/run.json"))["clock"]["skew_ns"] is not None
	PY
	"$KBLAT" verify "$dir"
	as_before
}

@test "kblat killed in the middle: the machine is put back" {
	begin
	kill -KILL "$run_pid"
	wait "$run_pid" || true
	await_restored
	await_ended
	as_before
}

@test "interrupted: what was measured is kept, the machine is put back" {
	begin
	kill -INT "$run_pid"
	wait "$run_pid" && return 1
	dir=$(tail -n 1 "$T/out")
	[ "$(json "$dir/run.json" 'd["status"]')" = INTERRUPTED ]
	[ "$(json "$dir/state/$(hostname)/changes.json" 'd["environments"][0]["restored"]["state"]')" = restored ]
	as_before
}

@test "kbtune killed in the middle: the point fails and says so, the machine is put back" {
	begin
	pkill -KILL -P "$run_pid" -f 'kbtune hold'
	await_restored
	kill -INT "$run_pid"
	wait "$run_pid" && return 1
	grep -q 'kbtune' "$(tail -n 1 "$T/out")/state/$(hostname)/changes.json"
	as_before
}

@test "a profile is applied already: refused before anything is measured" {
	"$KBTUNE" apply low-latency-laptop
	run "$KBLAT" run "$T/spec.yaml" --out "$T/runs"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"environment thesis: "*"profile low-latency-laptop has been applied since"* ]]
	[ ! -e "$T/runs" ] || [ -z "$(ls "$T/runs")" ]
	"$KBTUNE" restore
	as_before
}

@test "kblat knobs takes the profile thesis apart: every knob alone and left out, within a small budget; the machine put back" {
	with_recorded_state run "$KBLAT" knobs "$T/spec.yaml" --profile thesis --only size=32B --reps 1 --set messages=200 --set burst=200 --budget 80s --out "$T" --quiet
	echo "$output"
	[ "$status" -eq 4 ] || [ "$status" -eq 0 ] # if there is time for six blocks, all are measured
	dir=$(tail -n 1 <<<"$output")
	[ "$(json "$dir/study.json" 'sorted((k["id"], k["tested"], k["shields"]) for k in d["plan"]["knobs"] if k["id"] in ("shields", "tasks", "tuned"))')" = \
		"[('shields', True, False), ('tasks', True, True), ('tuned', True, False)]" ]
	[ "$(json "$dir/study.json" 'len(d["plan"]["arms"]) >= 8, d["cells"] % len(d["plan"]["arms"])')" = "(True, 0)" ]
	[ "$(grep -c '"state":"completed"' "$dir/cells.jsonl")" = "$(json "$dir/study.json" 'd["cells"]')" ]
	for arm in without-shields without-tasks; do
		changes=$(echo "$dir/runs/$arm"/*/state/*/changes.json)
		[ "$(json "$changes" '[(e["profile"], e["verified"]["as_applied"], e["restored"]["state"]) for e in d["environments"]]')" = "[('$arm', True, 'restored')]" ]
	done
	as_before
}
