#!/usr/bin/env bats
# kblat knobs, with a recorded machine for kbtune: nothing is changed on this one. Latencies are scripted and depend on one file of that machine, so the truth
# is known.

load helper
load kbtune_helper

setup() {
	kbtune_setup
	machine two-cpus
	export KBTUNE KBTUNE_SYSROOT=$T/m
	spec small <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200, repetitions: 1, warmup: 0, touch: no}
	YAML
	profile several <<-'YAML'
		title: One that helps, and others
		sysctl: {vm.swappiness: 10, vm.dirty_ratio: 33}
		kernel_arguments: {nohz_full: 1}
	YAML
	# A little over 1000 ns, and 20 % longer unless vm.swappiness is 10.
	cat >machine-speed <<-SH
		#!/bin/bash
		delay=\$((1000 + RANDOM % 8))
		[ "\$(cat "$T/m/proc/sys/vm/swappiness")" = 10 ] || delay=\$((delay + 200))
		sed -u "s/\"delay_ns\":[0-9]*/\"delay_ns\":\$delay/" | "\$@"
	SH
	chmod +x machine-speed
}

knobs() {
	run "$KBLAT" knobs "$@" --profile-path "$T" --out "$T/out"
	echo "$output"
	dir=$(tail -n 1 <<<"$output")
}

# answer EXPRESSION: of `d`, the study's answer; runs EXPRESSION: of `d`, the list of its runs.
answer() {
	json "$dir/study.json" "[$1 for d in [{**d['answer'], **d['plan'], **d}]][0]"
}

runs() {
	cells "$dir" "$1"
}

@test "killed while it tries knobs: its folder of trial profiles goes, too" {
	cat >killer <<-SH
		#!/bin/bash
		if [[ \${!#} == /dev/shm/kblat-*/profile.yaml ]]; then
			[ -s "\${!#}" ] && dirname "\${!#}" >"$T/tried"
			kill -KILL \$PPID
		fi
		exec "$KBTUNE" "\$@"
	SH
	chmod +x killer
	KBTUNE=$T/killer run "$KBLAT" knobs small.yaml --profile several --dry-run --profile-path "$T"
	[ "$status" -eq 137 ]
	folder=$(<tried)
	[[ $folder == /dev/shm/kblat-$(id -u)-*-knobs* ]]
	for _ in $(seq 100); do
		[ -d "$folder" ] || break
		sleep 0.1
	done
	[ ! -e "$folder" ]
}

@test "so it does if the process that is to remove it is killed" {
	cat >killer <<-SH
		#!/bin/bash
		dirname "\${!#}" >>"$T/tried"
		pgrep -P "\$PPID" | grep -vx "\$\$" | xargs -r kill -KILL
		exec "$KBTUNE" "\$@"
	SH
	chmod +x killer
	KBTUNE=$T/killer run "$KBLAT" knobs small.yaml --profile several --dry-run --profile-path "$T"
	echo "$output"
	[ "$status" -eq 0 ]
	folder=$(grep -m 1 '^/dev/shm/' tried)
	[[ $folder == /dev/shm/kblat-$(id -u)-*-knobs* ]]
	[ ! -e "$folder" ]
}

# bats test_tags=long
@test "an interrupted study goes on, finds the knob that helps, and writes the smallest profile" {
	"$KBLAT" knobs small.yaml --profile several --blocks 6 --sink "$T/machine-speed" --profile-path "$T" --out "$T/out" >first 2>&1 3>&- &
	pid=$!
	for _ in $(seq 600); do
		! grep -q 'run 3:' first || break
		sleep 0.1
	done
	kill -INT "$pid"
	wait "$pid" && return 1
	dir=$(tail -n 1 first)
	cat first
	assert_eq "$(json "$dir/study.json" 'd["status"]')" INTERRUPTED
	as_before
	before=$(runs '[r["run"] for r in d if r["state"] == "completed"]')
	assert_contains "$before" ", "

	# What the directory brings in is shown, and a profile that was changed in it is not what is applied.
	sed -i 's/vm.swappiness: .*10/vm.swappiness: 77/' "$dir"/profiles/*/profile.yaml
	run "$KBLAT" knobs --resume "$dir"
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "sink endpoints will be started by '$T/machine-speed'"
	assert_contains "$output" "a spec is '$T/small.yaml'"
	assert_contains "$output" "kbtune will apply the profile, or parts of it, in '$dir/profiles/whole/profile.yaml'"
	assert_contains "$output" "vm.dirty_ratio"
	[ "$(grep -c '77' "$dir"/profiles/*/profile.yaml | grep -vc ':0')" -eq 0 ]
	assert_eq "$(tail -n 1 <<<"$output")" "$dir"
	assert_contains "$output" "found: of several you need: sysctl vm.swappiness"
	assert_contains "$output" "kernel_arguments: takes a reboot"
	assert_eq "$(answer '[(k["id"], k["verdict"]) for k in d["result"]["knobs"]]')" \
		"[('sysctl-vm.swappiness', 'needed'), ('sysctl-vm.dirty_ratio', 'no effect'), ('kernel_arguments', 'untested')]"
	assert_eq "$(answer '[c["verdict"] for c in d["result"]["comparisons"] if c["what"] == "whole"]')" "['improvement']"
	assert_eq "$(answer '{(c["knob"], c["what"]): round(c["points"][0]["quantities"][0]["effect_percent"] / 10) for c in d["result"]["comparisons"]}["sysctl-vm.swappiness", "without"]')" 2
	assert_eq "$(runs "[r for r in $before if r not in [x['run'] for x in d]]")" "[]"
	# For a test lab, from the runs that are there.
	run "$KBLAT" knobs --resume "$dir" --format tap --exit kselftest
	assert_eq "$status" 0
	assert_contains "$output" "sysctl-vm.swappiness"
	assert_contains "$output" "kernel_arguments # SKIP not possible here: takes a reboot"
	assert_contains "$output" "ok 4 - overall"
	as_before

	# Each block has every arm once, in varying order.
	assert_eq "$(runs '{len({r["name"] for r in d if r["block"] == b and r["stage"] == "blocks"}) for b in range(6)}')" "{4}"
	[ "$(runs 'len({tuple(r["name"] for r in d if r["block"] == b and r["stage"] == "blocks") for b in range(6)})')" -gt 1 ]

	kb plan "$dir/smallest" --json
	[ "$status" -eq 0 ]
	assert_eq "$(/usr/bin/python3 -c 'import json, sys; print([s["setting"] for s in json.load(sys.stdin)["settings"]])' <<<"$output")" \
		"[{'sysctl': {'vm.swappiness': '10'}}]"
	run "$KBLAT" compare "$dir/runs/none" --with "$dir/runs/alone-sysctl-vm.swappiness" --ignore environment --quantity p50
	[ "$status" -eq 0 ]
	assert_contains "$output" improvement
	grep -q 'sysctl vm.swappiness' "$dir/derived/report.html"
	looked_at "$dir/derived/report.html"
}

@test "a dry run shows the knobs, what they cost, what is not tested, the time; nothing is made" {
	profile shielded <<-'YAML'
		shields:
		  - {name: rt, place: {cpus: 1}, partition: isolated}
		tasks: away
		irqs: {all: housekeeping}
		cpu_latency: {cpus: rt, value: 0}
		sysctl: {vm.swappiness: 10}
		stat_interval: 1
	YAML
	knobs small.yaml --profile shielded --dry-run
	[ "$status" -eq 0 ]
	assert_contains "$output" "costs: CPUs 1 of 0-1, which no other program may use"
	assert_contains "$output" "about"
	[ ! -e out ]
	knobs small.yaml --profile shielded --dry-run --json
	assert_eq "$(/usr/bin/python3 -c 'import json, sys; print([(k["id"], k["shields"], k["tested"]) for k in json.load(sys.stdin)["plan"]["knobs"]])' <<<"$output")" \
		"[('shields', False, True), ('tasks', True, True), ('irqs', True, True), ('cpu_latency', True, True), ('sysctl-vm.swappiness', False, True), ('stat_interval', False, False)]"
	knobs small.yaml --profile shielded --dry-run --json
	assert_eq "$(/usr/bin/python3 -c '
import json, sys
d = json.load(sys.stdin)["plan"]
print({c["what"]: (c["base"], c["with"]) for c in d["comparisons"] if c["knob"] == "tasks"})
print([c["with"] for c in d["comparisons"] if c["knob"] == "shields"])' <<<"$output")" \
		"{'alone': ('alone-shields', 'alone-tasks'), 'without': ('whole', 'without-tasks')}
['alone-shields', 'without-shields']"
	as_before
}

@test "refused, naming what to do: no profile, knobs that cannot be separated, nothing to test, a budget below one block" {
	knobs small.yaml
	[ "$status" -eq 2 ]
	assert_contains "$output" "no --profile given"
	knobs small.yaml --profile severall
	[ "$status" -eq 2 ]
	assert_contains "$output" "unknown profile 'severall'"
	profile single <<<'sysctl: {vm.swappiness: 10, vm.dirty_ratio: 20}'
	knobs small.yaml --profile single
	[ "$status" -eq 2 ]
	assert_contains "$output" "its knobs cannot be separated: only sysctl vm.swappiness changes anything here"
	profile idle <<<'sysctl: {vm.swappiness: 60}'
	knobs small.yaml --profile idle
	[ "$status" -eq 77 ]
	assert_contains "$output" "none of its knobs changes anything on this machine"
	knobs small.yaml --profile several --budget 1s
	[ "$status" -eq 2 ]
	assert_contains "$output" "1 s is too short: one block, a run of each of 4 arms, needs about"
	knobs small.yaml --profile several --set environment=several
	[ "$status" -eq 2 ]
	knobs small.yaml --profile several --quantity p51
	[ "$status" -eq 2 ]
	assert_contains "$output" "--quantity"
	run "$KBLAT" knobs --resume "$T"
	[ "$status" -ne 0 ]
	assert_contains "$output" "study.json"
	[ ! -e out ]
	as_before
}

@test "a run that fails ends it, says which arm, and leaves the machine as it was" {
	echo '/proc/sys/vm/swappiness write EBUSY' | tee m/habits >m.before/habits
	knobs small.yaml --profile several --blocks 6 --quiet
	[ "$status" -eq 1 ]
	assert_contains "$output" "cannot measure it: its run failed"
	assert_contains "$output" "kblat knobs --resume $T/out/small-knobs-"
	as_before
}

@test "nobody else may write to the profiles that it makes, whatever the umask" {
	echo '/proc/sys/vm/swappiness write EBUSY' | tee m/habits >m.before/habits
	umask 0
	knobs small.yaml --profile several --blocks 6 --quiet
	[ "$status" -eq 1 ]
	[ -s "$(echo out/small-knobs-*/profiles/whole/profile.yaml)" ]
	run find out/small-knobs-*/profiles -perm /022
	assert_eq "$output" ""
}
