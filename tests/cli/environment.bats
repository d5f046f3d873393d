#!/usr/bin/env bats
# A spec's `environment: PROFILE`, with a recorded machine for kbtune: nothing is changed here. The guest has the real thing.

load helper
load kbtune_helper

setup() {
	kbtune_setup
	machine two-cpus
	export KBTUNE KBTUNE_SYSROOT=$T/m
	profile quiet <<-'YAML'
		shields:
		  - {name: rt, place: {cpus: 1}, partition: isolated}
		sysctl: {vm.swappiness: 10}
	YAML
	profile calm <<-'YAML'
		sysctl: {vm.swappiness: 20}
	YAML
	spec env <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 200, burst: 200, repetitions: 1, warmup: 0}
		matrix:
		  - environment: [none, quiet, calm]
		    size: [32B, 64B]
	YAML
}

changes() {
	json "$run_dir/state/$(hostname)/changes.json" "$1"
}

measure() {
	run "$KBLAT" run env.yaml --out "$T/runs" --profile-path "$T" "$@"
	run_dir=$(tail -n 1 <<<"$output")
}

measured() {
	measure
	assert_measured
}

@test "consecutive points share one application of a profile, and what was applied and restored is recorded" {
	spec env <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 200, burst: 200, repetitions: 1, warmup: 0}
		matrix:
		  - {environment: none}
		  - {environment: quiet, size: [32B, 64B]}
		  - {environment: calm}
		  - {environment: quiet, size: 128B}
	YAML
	measured
	assert_eq "$(changes '[(e["profile"], e["points"], e["restored"]["state"]) for e in d["environments"]]')" \
		"[('quiet', [1, 2], 'restored'), ('calm', [3], 'restored'), ('quiet', [4], 'restored')]"
	assert_eq "$(changes '[(s["before"], s["after"]) for s in d["environments"][1]["applied"]["steps"]]')" "[('60', '20')]"
	assert_eq "$(json "$run_dir/resolved.json" '[p["params"]["environment"] for p in d["points"]]')" \
		"['none', 'quiet', 'quiet', 'calm', 'quiet']"
	as_before
	"$KBLAT" verify "$run_dir"
}

@test "endpoints are started inside the shield" {
	spec env <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 200, burst: 200, repetitions: 1, warmup: 0, environment: quiet}
	YAML
	cat >kbtune <<-SH
		#!/bin/sh
		echo "\$*" >>"$T/asked"
		exec "$KBTUNE" "\$@"
	SH
	chmod +x kbtune
	KBTUNE=$T/kbtune measured
	assert_eq "$(grep -c '^cpuset exec rt -- .*endpoint$' asked)" 2
}

@test "a dry run shows it, and starts nothing" {
	measure --dry-run
	[ "$status" -eq 0 ]
	assert_contains "$output" 'environment="quiet"'
	[ ! -e m/run/kbtune ]
}

@test "a wrong profile, a CPU outside all shields and an applied profile are refused before anything starts" {
	measure --set environment=isolatd
	[ "$status" -eq 2 ]
	assert_contains "$output" "environment isolatd: unknown profile 'isolatd'; did you mean 'isolated'?"
	profile bad <<-'YAML'
		sysctl: {vm.swapiness: 10}
		nonsense: 3
	YAML
	measure --set environment=bad
	[ "$status" -eq 2 ]
	assert_contains "$output" "nonsense"
	assert_contains "$output" "bad/profile.yaml:3:1"
	measure --set environment=quiet --set source_cpu=0
	[ "$status" -eq 2 ]
	assert_contains "$output" "source_cpu: no shield of the environment quiet has CPU 0"
	"$KBTUNE" apply ./calm
	measure
	[ "$status" -eq 1 ]
	assert_contains "$output" "has been applied since"
	"$KBTUNE" restore
	KBTUNE=/nonexistent measure
	[ "$status" -eq 77 ]
	assert_contains "$output" "/nonexistent"
	[ ! -e runs ] || assert_eq "$(ls runs)" ""
	as_before
}

@test "a spec names profiles, it does not bring them: a path is refused" {
	sed -i 's/quiet, calm/.\/quiet, calm/' env.yaml
	for profile in ./quiet "$T/quiet" ../quiet .; do
		run "$KBLAT" run env.yaml --out "$T/runs" --set environment="$profile"
		echo "$output"
		[ "$status" -eq 2 ]
		assert_contains "$output" "must be the name of a profile, not a path"
	done
	run "$KBLAT" run env.yaml --out "$T/runs"
	[ "$status" -eq 2 ]
	assert_contains "$output" "env.yaml:"
	[ ! -e runs ]
	as_before
}

@test "a profile beside the spec is not found by its name alone" {
	run "$KBLAT" run env.yaml --out "$T/runs"
	[ "$status" -eq 2 ]
	assert_contains "$output" "unknown profile"
	as_before
}

@test "without the rights: refused, naming the right" {
	need_root "to give them up"
	unset KBTUNE_SYSROOT
	chmod -R a+rX "$T"
	need_others "$KBLAT"
	mkdir -m 777 others
	run "${as_other[@]}" "$KBLAT" run env.yaml --out "$T/others" --set environment=baseline
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "environment baseline:"
	assert_contains "$output" "CAP_"
	assert_eq "$(ls others)" ""
}

@test "an apply that fails fails its points, not the others" {
	echo '/proc/sys/vm/swappiness write EBUSY' | tee m/habits >m.before/habits
	measure
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "everything is as before"
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"], d["points"]["failed"]')" "(2, 4)"
	as_before
}

# lacking: a spec whose environment this machine can apply in part only, with a claim about its points, and one about those without it.
lacking() {
	profile lacking <<-'YAML'
		sysctl: {vm.swappiness: 30}
		tuned: latency-performance
	YAML
	spec env <<-'YAML'
		settings: {kernel: oneway, transport: tcp, poll: event, messages: 100, burst: 1, pause: 50us, repetitions: 2, warmup: 0, touch: no}
		matrix:
		  - environment: [none, lacking, calm]
		claims:
		  - {id: lacking, claim: so, origin: self-test, metric: lat_ns.n, points: {environment: lacking}, value: {min: 200}}
		  - {id: against, claim: so, origin: self-test, metric: lat_ns.n, points: {environment: lacking}, against: {environment: none}, ratio: {min: 0}}
		  - {id: none, claim: so, origin: self-test, metric: lat_ns.n, points: {environment: none}, value: {min: 200}}
		  - {id: calm, claim: so, origin: self-test, metric: lat_ns.n, points: {environment: calm}, value: {min: 200}}
	YAML
}

verdicts() { json "$run_dir/claims.json" '[(c["id"], c["verdict"]) for c in d["claims"]]'; }

@test "a part of an environment that could not be applied: a warning, and no claim that rests on it is judged" {
	lacking
	measure
	assert_eq "$(json "$run_dir/points/0001/point.json" '[(l["knob"], l["object"]) for l in d["environment"]["lacks"]]')" \
		"[('tuned', 'latency-performance')]"
	assert_eq "$(verdicts)" "[('lacking', 'not judged'), ('against', 'not judged'), ('none', 'holds'), ('calm', 'holds')]"
	text="the environment lacking was not applied in whole on $(hostname): tuned latency-performance: tuned is not installed"
	assert_contains "$(json "$run_dir/summary.json" 'd["warnings"]')" "point 1: $text"
	assert_contains "$(json "$run_dir/claims.json" 'd["claims"][1]["why"]')" "$text"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "$text"
	assert_eq "$(json "$run_dir/summary.json" '["environment" in p for p in d["points"]]')" "[False, True, False]"
	"$KBLAT" verify "$run_dir"
	as_before
}

@test "on another host the environment is somebody else's: it is asked for, and judged only where it is applied in whole" {
	lacking
	machine two-cpus far
	measure --sink "env KBTUNE_SYSROOT=$T/far $BATS_TEST_DIRNAME/far_host beta --" --set source_cpu=0 --set sink_cpu=1
	assert_contains "$(json "$run_dir/summary.json" 'd["warnings"]')" \
		"point 2: the environment calm was not applied in whole on beta: it is not applied there"
	assert_eq "$(verdicts | grep -o "('calm', [^)]*)")" "('calm', 'not judged')"
	KBTUNE_PROFILES=$T "$KBTUNE" apply calm --sysroot far
	measure --sink "env KBTUNE_SYSROOT=$T/far $BATS_TEST_DIRNAME/far_host beta --" --set source_cpu=0 --set sink_cpu=1
	assert_eq "$(json "$run_dir/points/0002/point.json" 'd["environment"]')" "{'profile': 'calm', 'lacks': []}"
	[[ $(json "$run_dir/summary.json" 'd["warnings"]') != *"environment calm"* ]]
	[[ $(json "$run_dir/claims.json" '[c["why"] for c in d["claims"] if c["id"] == "calm"]') != *environment* ]]
	"$KBTUNE" restore --sysroot far
	as_before far
	as_before
}

@test "an interrupt that the kernel does not let anybody move keeps no claim from being judged" {
	mkdir -p m/proc/irq/77
	echo 0-1 >m/proc/irq/77/smp_affinity_list
	printf '  77:  0  0  PCI-MSI  nvme0q1\n' >>m/proc/interrupts
	chmod 444 m/proc/irq/77/smp_affinity_list
	profile kept <<-'YAML'
		irqs: {all: 0}
	YAML
	spec env <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 200, burst: 200, repetitions: 1, warmup: 0, environment: kept}
		claims:
		  - {id: kept, claim: so, origin: self-test, metric: lat_ns.n, points: {}, value: {min: 200}}
	YAML
	measure
	assert_contains "$(json "$run_dir/points/0000/point.json" 'd["environment"]["lacks"]')" /proc/irq/77
	assert_eq "$(verdicts)" "[('kept', 'holds')]"
}

# begin NAME: starts a long run in the background, with results in the folder NAME; returns when it measures.
begin() {
	"$KBLAT" run env.yaml --out "$T/$1" --profile-path "$T" --set environment=calm --set burst=1 --set pause=10ms --reps 200 >out 2>&1 3>&- &
	run_pid=$!
	for _ in $(seq 600); do
		! compgen -G "$1/*/points/*/rep-*" >compgen || return 0
		kill -0 "$run_pid" || break
		sleep 0.1
	done
	cat out
	return 1
}

await_restored() {
	for _ in $(seq 600); do
		[ -e m/run/kbtune/journal.json ] || return 0
		sleep 0.1
	done
	return 1
}

@test "put back when kblat is killed, when it is interrupted, and when kbtune is killed" {
	begin killed
	assert_eq "$(value /proc/sys/vm/swappiness)" 20
	kill -KILL "$run_pid"
	wait "$run_pid" || true
	await_restored
	as_before

	begin interrupted
	kill -INT "$run_pid"
	wait "$run_pid" && return 1
	as_before
	run_dir=$(tail -n 1 out)
	assert_eq "$(changes 'd["environments"][0]["restored"]["state"]')" restored

	begin bereft
	pkill -KILL -P "$run_pid" -f 'kbtune.* hold'
	await_restored
	kill -INT "$run_pid"
	wait "$run_pid" && return 1
	run_dir=$(tail -n 1 out)
	assert_contains "$(changes 'd["environments"][0]["error"]')" "kbtune"
	as_before
}

@test "endpoints that may run on different CPUs alone know that they share none" {
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	unset KBTUNE_SYSROOT
	spec apart <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 200, burst: 200, repetitions: 1, warmup: 0}
	YAML
	run "$KBLAT" run apart.yaml --out "$T/runs" --source 'taskset -c 0' --sink 'taskset -c 1' --set source_cpu=0 --set sink_cpu=1
	echo "$output"
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/points/0000/point.json" '[(p["cpu"], p["shared_cpu"]) for p in d["placement"].values()]')" \
		"[(0, False), (1, False)]"
}

@test "--dry-run refuses a profile that there is not, as a run does, for one experiment and for a study" {
	mkdir -p study/env
	cp env.yaml study/env/spec.yaml
	for what in env.yaml study; do
		run "$KBLAT" run $what --dry-run --profile-path "$T" --set environment=quite
		[ "$status" -eq 2 ]
		assert_contains "$output" "unknown profile 'quite'; did you mean 'quiet'?"
		run "$KBLAT" run $what --dry-run --profile-path "$T" --set environment=quiet
		[ "$status" -eq 0 ]
	done
}
