#!/usr/bin/env bats
# Commands of programs for arm64, under an emulator ($EMULATOR); tests/arm64 calls this.

setup_file() {
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/.." && pwd)
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/kblat-arm64.XXXXXX")
	KBLAT_SYSROOT=$WORK/recorded
	export ROOT WORK KBLAT_SYSROOT KBTUNE_PROFILES=$ROOT/profiles
	"$ROOT/tests/sysroots/machine" unpack two-cpus "$KBLAT_SYSROOT"
	cat >"$WORK/spec.yaml" <<-'END'
		kblat: 1
		name: arm64
		settings: {kernel: oneway, messages: 50, pause: 100us, repetitions: 1, warmup: 5, timeout: 20s}
		matrix:
		  - {transport: scripted, delay: 3us}
		  - {transport: shmem, poll: [busy, event]}
		  - {kernel: pingpong, transport: tcp, poll: event}
	END
	"$KBLAT" run "$WORK/spec.yaml" --out "$WORK/runs" --source "$EMULATOR" --sink "$EMULATOR" >"$WORK/said" 2>&1 || echo "status $?" >>"$WORK/said"
	RUN=$(tail -n 1 "$WORK/said")
	export RUN
}

teardown_file() {
	rm -rf "$WORK"
}

# value EXPRESSION: a value of the summary S.
value() {
	"$KBLAT" summary "$RUN" --json | /usr/bin/python3 -c 'import json, sys; S = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

@test "arm64: a run over scripted, shared memory and TCP is complete, and verifies" {
	cat "$WORK/said"
	[ -d "$RUN" ]
	"$KBLAT" verify "$RUN"
	[ "$(value 'len(S["points"])')" -eq 4 ]
	[ "$(value 'sorted({p["metrics"].get("lat_ns", p["metrics"].get("rtt_ns"))["n"] for p in S["points"]})')" = '[50]' ]
	[ "$(value 'sum(m["lost"] for p in S["points"] for m in p["metrics"].values())')" -eq 0 ]
}

@test "arm64: the script's delay is what is measured" {
	[ "$(value '[S["points"][0]["metrics"]["lat_ns"][k] for k in ("min", "p50", "max")]')" = '[3000, 3000, 3000]' ]
}

@test "arm64: CSV and the report's page are made of it" {
	[ "$("$KBLAT" export "$RUN" --csv | wc -l)" -ge 5 ]
	"$KBLAT" report "$RUN"
	[ -s "$RUN/derived/report.html" ]
}

@test "arm64: kbtune applies a profile to a recorded machine, verifies it, and restores it byte for byte" {
	local m=$WORK/machine
	"$ROOT/tests/sysroots/machine" unpack t630 "$m"
	cp -a "$m" "$WORK/before"
	"$KBTUNE" plan isolated --sysroot "$m" | grep -q cpuset
	"$KBTUNE" apply isolated --sysroot "$m"
	run diff -rq --no-dereference "$m" "$WORK/before"
	[ "$status" -eq 1 ]
	"$KBTUNE" verify --sysroot "$m"
	"$KBTUNE" restore --sysroot "$m"
	rm -rf "$m/run/kbtune"
	mkdir -p "$WORK/before/run" "$m/run"
	diff -r --no-dereference "$m" "$WORK/before"
}

@test "arm64: kbtune run is killed, and its guardian restores" {
	local m=$WORK/killed
	"$ROOT/tests/sysroots/machine" unpack t630 "$m"
	cp -a "$m" "$WORK/unkilled"
	KBTUNE_KILL_AFTER=5 run "$KBTUNE" run isolated --sysroot "$m" -- true
	[ "$status" -eq 137 ]
	# The guardian holds the lock until it has finished.
	while [ -e "$m/run/kbtune/journal.json" ]; do
		sleep 0.05
	done
	flock "$m/run/kbtune/lock" true
	rm -rf "$m/run/kbtune"
	mkdir -p "$WORK/unkilled/run"
	diff -r --no-dereference "$m" "$WORK/unkilled"
}
